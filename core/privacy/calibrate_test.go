package privacy

import (
	"math"
	"strings"
	"testing"
)

func TestCalibrateByRDPGivesKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		q      float64
		steps  int
		sigmas map[float64]float64 // by ε at δ = 1e-5
	}{
		{256. / 60000, 3515, map[float64]float64{.5: 2.09304, 1: 1.26304, 2: .89902, 3: .77376, 8: .57124}},
		{256. / 60000, 14062, map[float64]float64{.5: 3.95912, 1: 2.17842, 2: 1.29523, 3: 1.01401, 8: .67810}},
		{.01, 1000, map[float64]float64{.5: 2.58421, 1: 1.51312, 2: 1.02230, 3: .86461, 8: .61585}},
		{.04, 2250, map[float64]float64{8: 1.416}},
		{.04, 2000, map[float64]float64{8: 1.3562}},
	} {
		for eps, want := range c.sigmas {
			checkNoise(t, Budget{Accountant: RDP, Epsilon: eps, Delta: 1e-5}, c.q, c.steps, want, 1e-3)
		}
	}
}

// checkNoise also holds the promise: never over, within 1e-3 of ε.
func checkNoise(t *testing.T, b Budget, q float64, steps int, want, rel float64) float64 {
	t.Helper()
	got, err := b.NoiseMultiplier(q, steps)
	if err != nil {
		t.Errorf("%+v: %v", b, err)
		return 0
	}
	if !within(got, want, rel) {
		t.Errorf("%s ε=%v q=%v T=%d: σ = %v, want %v", b.Accountant, b.Epsilon, q, steps, got, want)
	}
	e := mustEpsilon(t, b.Accountant, b.Delta, SelfComposed{PoissonSampled{q, Gaussian{got}}, steps})
	if e > b.Epsilon || e < b.Epsilon*(1-1e-3) {
		t.Errorf("%s ε=%v q=%v T=%d: σ = %v spends %v", b.Accountant, b.Epsilon, q, steps, got, e)
	}
	return got
}

func TestCalibrateByPLDGivesKnownAnswers(t *testing.T) {
	sweep(t)
	for _, c := range []struct {
		q      float64
		steps  int
		sigmas map[float64]float64
	}{
		{256. / 60000, 3515, map[float64]float64{.5: 1.96095, 8: .54647}},
		{256. / 60000, 14062, map[float64]float64{1: 2.05441, 3: .96965}},
		{.01, 1000, map[float64]float64{.5: 2.39077, 2: .95924}},
	} {
		for eps, want := range c.sigmas {
			// Their grid of 1e-3 costs up to 5 % where T is large, so ours is at
			// or below theirs.
			got := checkNoise(t, Budget{Accountant: PLD, Epsilon: eps, Delta: 1e-5}, c.q, c.steps, want, 0.06)
			if got > want*1.001 {
				t.Errorf("q=%v T=%d ε=%v: σ = %v, want at most %v", c.q, c.steps, eps, got, want)
			}
		}
	}
}

func TestCalibrateEqualsTheReference(t *testing.T) {
	sweep(t)
	r := loadReference(t)
	if r == nil {
		return
	}
	for _, c := range r.Calibration {
		b := Budget{Accountant: RDP, Epsilon: c.TargetEpsilon, Delta: c.Delta}
		want := checkNoise(t, b, c.SampleRate, c.Steps, c.SigmaRDP, 0.3)
		if c.SigmaPLD > 0 {
			checkNoise(t, Budget{Accountant: PLD, Epsilon: c.TargetEpsilon, Delta: c.Delta}, c.SampleRate, c.Steps, c.SigmaPLD, 5e-3)
		}
		// Our orders are more, so σ may be smaller, never larger.
		if want > c.SigmaRDP*1.001 || want < c.SigmaPLD {
			t.Errorf("ε=%v q=%v T=%d: σ = %v, want %v … %v", c.TargetEpsilon, c.SampleRate, c.Steps, want, c.SigmaPLD, c.SigmaRDP)
		}
	}
}

func TestCalibrateLeavesRoomForWhatIsSpent(t *testing.T) {
	for _, name := range Names() {
		b := Budget{Accountant: name, Epsilon: 2, Delta: 1e-5, Spent: []Event{Gaussian{4}}}
		alone := b
		alone.Spent = nil
		with, err := b.NoiseMultiplier(0.01, 500)
		if err != nil {
			t.Fatal(err)
		}
		without, err := alone.NoiseMultiplier(0.01, 500)
		if err != nil {
			t.Fatal(err)
		}
		if with <= without {
			t.Errorf("%s: σ = %v after spending, %v before", name, with, without)
		}
		if e := mustEpsilon(t, name, 1e-5, Gaussian{4}, SelfComposed{PoissonSampled{0.01, Gaussian{with}}, 500}); e > 2 || e < 2*(1-1e-3) {
			t.Errorf("%s: spends %v of 2", name, e)
		}
	}
}

func TestCalibrateSpendsNoMoreOverStepsAndRate(t *testing.T) {
	for _, name := range Names() {
		b := Budget{Accountant: name, Epsilon: 3, Delta: 1e-5}
		steps, err := b.Steps(0.02, 1.1)
		if err != nil {
			t.Fatal(err)
		}
		eps := func(q float64, steps int) float64 {
			return mustEpsilon(t, name, 1e-5, SelfComposed{PoissonSampled{q, Gaussian{1.1}}, steps})
		}
		if a, b := eps(0.02, steps), eps(0.02, steps+1+steps/500); a > 3 || b <= 3 {
			t.Errorf("%s: %d steps spend %v, a few more %v", name, steps, a, b)
		}
		q, err := b.SampleRate(1.1, 800)
		if err != nil {
			t.Fatal(err)
		}
		if e := eps(q, 800); e > 3 || e < 3*(1-1e-3) {
			t.Errorf("%s: q = %v spends %v", name, q, e)
		}
		// Cheap enough for all rows.
		if q, err := (Budget{Accountant: name, Epsilon: 5, Delta: 1e-5}).SampleRate(100, 10); err != nil || q != 1 {
			t.Errorf("%s: q = %v, %v; want 1", name, q, err)
		}
	}
}

func TestCalibrateErrorsSayWhatToDo(t *testing.T) {
	good := Budget{Accountant: RDP, Epsilon: 1, Delta: 1e-5}
	for _, c := range []struct {
		what string
		call func() error
		say  string
	}{
		{"δ = 0", func() error { b := good; b.Delta = 0; _, err := b.NoiseMultiplier(.1, 1); return err }, "1/N"},
		{"δ = 1", func() error { b := good; b.Delta = 1; _, err := b.Steps(.1, 1); return err }, "1/N"},
		{"ε = 0", func() error { b := good; b.Epsilon = 0; _, err := b.NoiseMultiplier(.1, 1); return err }, "positive"},
		{"ε NaN", func() error { b := good; b.Epsilon = math.NaN(); _, err := b.SampleRate(1, 1); return err }, "positive"},
		{"q = 2", func() error { _, err := good.NoiseMultiplier(2, 1); return err }, "sample_rate"},
		{"q < 0", func() error { _, err := good.Steps(-1, 1); return err }, "sample_rate"},
		{"σ = 0", func() error { _, err := good.Steps(.1, 0); return err }, "noise_multiplier"},
		{"σ < 0", func() error { _, err := good.SampleRate(-1, 1); return err }, "noise_multiplier"},
		{"T < 0", func() error { _, err := good.NoiseMultiplier(.1, -1); return err }, "times"},
		{"ε out of reach", func() error {
			b := good
			b.Epsilon = 1e-9
			b.Delta = 1e-12
			_, err := b.NoiseMultiplier(1, 1_000_000)
			return err
		}, "raise target_epsilon"},
		{"not one step", func() error { _, err := good.Steps(1, 0.1); return err }, "raise noise_multiplier"},
		{"spent before", func() error {
			b := good
			b.Spent = []Event{Gaussian{.1}}
			_, err := b.NoiseMultiplier(.1, 1)
			return err
		}, "raise target_epsilon"},
		{"accountant", func() error { b := good; b.Accountant = "x"; _, err := b.NoiseMultiplier(.1, 1); return err }, "there is"},
	} {
		err := c.call()
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: error %v does not say %q", c.what, err, c.say)
		}
	}
}

// What is worked out once for all numbers of steps is what is worked out for one.
func TestCostsEqualThoseOfTheWholeRun(t *testing.T) {
	for _, name := range Names() {
		for _, sigma := range []float64{1e-3, 0.5, 2} {
			b := Budget{Accountant: name, Epsilon: 1, Delta: 1e-5, Spent: []Event{Gaussian{4}}}
			cost, err := b.costs(0.01, sigma)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{0, 1, 300} {
				got, err := cost(n)
				if want := mustEpsilon(t, name, 1e-5, Gaussian{4}, SelfComposed{PoissonSampled{0.01, Gaussian{sigma}}, n}); err != nil || !within(got, want, 1e-9) {
					t.Errorf("%s σ=%v: %d steps cost %v (%v), want %v", name, sigma, n, got, err, want)
				}
			}
			if _, err := cost(-1); err == nil {
				t.Errorf("%s: -1 steps have a price", name)
			}
		}
	}
}
