package words

import (
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

func TestClippedSaysAngleAndLength(t *testing.T) {
	for _, c := range []struct {
		name   string
		c      Clipped
		says   string
		advice string
	}{
		{"turned", Clipped{C: 0.03, True: 2, Along: 0.01, Across: 0.01 * math.Tan(77*math.Pi/180), Bias2: 3, Variance: 1e-4, Least: 1.8},
			"At C = 0.03 clipping turns the mean gradient by 77° and leaves 2.2 % of its length; the noise is 0.005 times as long as the true mean.",
			"Clipping is 100 % of the error, which would be least at C = 1.8."},
		{"untouched", Clipped{C: 100, True: 2, Along: 2, Bias2: 0, Variance: 400, Least: 1.8},
			"At C = 100 clipping leaves the mean gradient as it is; the noise is 10 times as long as that.",
			"Noise is 100 % of the error, which would be least at C = 1.8."},
		{"hardly turned", Clipped{C: 2, True: 2, Along: 1.5, Across: 1e-6, Bias2: 0.25, Variance: 0.25, Least: 1.8},
			"At C = 2 clipping turns the mean gradient by less than 0.1° and leaves 75 % of its length; the noise is 0.25 times as long as the true mean.",
			"The error is about as small as it gets: clipping is 50 % of it."},
		{"noise of its length", Clipped{C: 2, True: 2, Along: 2, Variance: 4},
			"At C = 2 clipping leaves the mean gradient as it is; the noise is as long as that.", ""},
		{"backwards", Clipped{C: 1, True: 1, Along: -1, Bias2: 4, Least: 2},
			"At C = 1 clipping turns the mean gradient by 180° and leaves 100 % of its length; there is no noise.",
			"Clipping is 100 % of the error, which would be least at C = 2."},
		{"no error", Clipped{C: 20, True: 1, Along: 1, Least: 10},
			"At C = 20 clipping leaves the mean gradient as it is; there is no noise.",
			"There is no error: nothing is clipped, and there is no noise."},
		{"nothing left", Clipped{C: 1, True: 1, Bias2: 1, Variance: 1},
			"At C = 1 clipping leaves nothing of the mean gradient; the noise is as long as the true mean.", ""},
		{"no mean", Clipped{C: 1, Along: 1}, "", ""},
		{"no threshold", Clipped{True: 1, Along: 1}, "", ""},
		{"NaN", Clipped{C: 1, True: 1, Along: nan, Bias2: nan, Least: 1}, "", ""},
		{"infinite", Clipped{C: 1, True: 1, Along: inf, Variance: inf}, "", ""},
	} {
		if got := c.c.String(); got != c.says {
			t.Errorf("%s: says %q, want %q", c.name, got, c.says)
		}
		if got := c.c.Advice(); got != c.advice {
			t.Errorf("%s: advises %q, want %q", c.name, got, c.advice)
		}
	}
}

func TestWalkSaysFromAndTo(t *testing.T) {
	for _, c := range []struct {
		of              string
		from, to, least float64
		says            string
	}{
		{"", 1, 2.84, 3.11, "The run’s own C went from 1, the ring, to 2.84, the dot; for the model as it stands here the error is least at 3.1."},
		{"dc-e", 30, 2, 0, "C of the run “dc-e” went from 30, the ring, to 2, the dot."},
		{"", 1, nan, 1, ""}, {"", inf, 1, 1, ""}, {"", 0, 1, 1, ""}, {"", 1, inf, 1, ""},
		{"", 1, 2, inf, "The run’s own C went from 1, the ring, to 2, the dot."},
	} {
		if got := Walk(c.of, c.from, c.to, c.least); got != c.says {
			t.Errorf("says %q, want %q", got, c.says)
		}
	}
}

func TestChangesSayWhatChanged(t *testing.T) {
	c := run.Changed{Step: 1200, Field: "max_grad_norm", From: 1, To: 0.3}
	for n, want := range map[int]string{0: "", 1: "C 1 → 0.3 from step 1,200", 2: "C 1 → 0.3 from step 1,200; C 1 → 0.3 from step 1,200", 4: "changed 4 times, at last C 1 → 0.3 from step 1,200"} {
		if got := strings.Join(Changes(slices.Repeat([]run.Changed{c}, n)), "; "); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := Symbol("noise_multiplier") + Symbol("learning_rate"); got != "ση" {
		t.Error(got)
	}
}

func TestLengthsSayHowManyAreLonger(t *testing.T) {
	for _, c := range []struct {
		share, median, longest, noise, left float64
		says                                string
	}{
		{0.31, 6.2, 9.1, 0.5, 2, "31 % of the gradients are longer than C; the median is 6.2 long, the longest 9.1. The noise is 0.25 times as long as what clipping leaves of their mean."},
		{0, 0, 0, 0, 0, "0 % of the gradients are longer than C; the median is 0 long, the longest 0."},
		{nan, 1, 2, 1, 1, ""},
		{0.5, nan, 2, 1, 1, ""},
		{0.5, 1, 2, inf, 1, "50 % of the gradients are longer than C; the median is 1 long, the longest 2."},
	} {
		if got := Lengths(c.share, c.median, c.longest, c.noise, c.left); got != c.says {
			t.Errorf("says %q, want %q", got, c.says)
		}
	}
}
