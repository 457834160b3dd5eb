package train

import (
	"fmt"
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// TestDCEForgetsItsStart is TestPapersDCEStart in small, on drawn digits. The threshold is
// chosen among steps of a tenth of the present one under a noisy histogram, so
// that it wanders by a few tenths; a rule that kept any trace of C₀ would be off
// by orders of magnitude.
func TestDCEForgetsItsStart(t *testing.T) {
	t.Parallel()
	ds := builtin.Digits(1, 400, 0)
	settle := func(start float64) float64 {
		cfg := run.Config{
			Method: "dc-e", NoiseMultiplier: ptr(1.0), MaxGradNorm: start,
			ExpectedBatchSize: 200, Steps: 24, LearningRate: 0.1, Seed: ptr(uint64(1)),
		}
		o := outcomeOf(t, func() compute.Backend { return computetest.Fast(t) }, cfg, ds)
		late := sample{}
		for _, e := range o.events[len(o.events)/2:] {
			late = append(late, float64(e.Diag.ClipFraction))
		}
		c := o.thresholds
		typical := geometricMean(c[len(c)/2:])
		t.Logf("C₀ = %g: C = %.3g in the end, %.0f %% clipped", start, typical, 100*late.mean())
		if f := late.mean(); !(f > 0.02 && f < 0.98) {
			t.Errorf("from C₀ = %g, %.0f %% of gradients are clipped in the end", start, 100*f)
		}
		return typical
	}
	want := settle(1)
	for _, start := range []float64{0.01, 100} {
		if got := settle(start); got > 1.5*want || want > 1.5*got {
			t.Errorf("from C₀ = %g the threshold goes to %g, from 1 to %g", start, got, want)
		}
	}
}

func geometricMean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(v)))
}

// TestPapersDCEStart lets dc-e start four orders of magnitude apart: the
// threshold must come to the same size by itself.
func TestPapersDCEStart(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	starts := []float64{0.01, 1, 100}
	show := []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 469}
	type moment struct{ c, clipped float64 }
	seen := map[float64]map[int]moment{}
	accuracy, typical := map[float64]float64{}, map[float64]float64{}
	for _, start := range starts {
		cfg := perceptron("dc-e", start, 1)
		cfg.LearningRate = 0.1
		seen[start] = map[int]moment{}
		o := once(t, cfg, ds, 1)
		for _, e := range o.events {
			seen[start][e.Step] = moment{e.Released.MaxGradNorm, float64(e.Diag.ClipFraction)}
		}
		typical[start] = geometricMean(o.thresholds[len(o.thresholds)/2:])
		accuracy[start] = 100 * float64(o.test.Accuracy)
	}
	say("\n### dc-e on MNIST: MLP 784-128-10, B = 128, σ = 1, η = 0.1, one epoch; C_t and the share of gradients clipped\n")
	cells := []any{"step"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("C₀ = %g", s))
	}
	header(cells...)
	for _, step := range show {
		cells := []any{step}
		for _, s := range starts {
			m := seen[s][step]
			cells = append(cells, fmt.Sprintf("%.3g (%.0f %%)", m.c, 100*m.clipped))
		}
		row(cells...)
	}
	cells = []any{"test accuracy %"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("%.2f", accuracy[s]))
	}
	row(cells...)
	for _, s := range starts {
		// The threshold moves at every step; its typical size must not depend
		// on where it started.
		a, b := typical[s], typical[1]
		say("- C₀ = %g: geometric mean of C over the second half %.3g", s, a)
		if a/b > 1.5 || b/a > 1.5 {
			t.Errorf("from C₀ = %g the threshold goes to %g, from 1 to %g", s, a, b)
		}
	}
}
