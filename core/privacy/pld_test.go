package privacy

import (
	"math"
	"testing"
)

func TestPLDEqualsTheReference(t *testing.T) {
	r := loadReference(t)
	if r == nil {
		return
	}
	for _, c := range r.Cases {
		lo, hi := 0.0, math.Inf(1)
		if e := c.Optimistic.Epsilon; e != nil {
			lo = max(lo, *e)
		}
		if e := c.ExactGaussian.Epsilon; e != nil {
			lo = max(lo, *e)
		}
		for _, e := range []*float64{c.Pessimistic.Epsilon, c.Fine.Epsilon} {
			if e != nil {
				hi = min(hi, *e)
			}
		}
		got := mustEpsilon(t, PLD, c.Delta, SelfComposed{PoissonSampled{c.SampleRate, Gaussian{c.NoiseMultiplier}}, c.Steps})
		if !(got >= lo*0.9999 && got <= hi*1.005+2e-4) {
			t.Errorf("case %d (q=%.3g σ=%v T=%d δ=%v): ε = %v, want %v … %v", c.ID, c.SampleRate, c.NoiseMultiplier, c.Steps, c.Delta, got, lo, hi)
		}
	}
}

func TestPLDGivesKnownAnswers(t *testing.T) {
	for _, k := range knowns {
		got := mustEpsilon(t, PLD, k.delta, k.event())
		if got < k.prvLow || got > k.pld*(1+5e-4)+1e-5 {
			t.Errorf("q=%v σ=%v T=%d: ε = %v, want %v … %v", k.q, k.sigma, k.steps, got, k.prvLow, k.pld)
		}
		if rdp := mustEpsilon(t, RDP, k.delta, k.event()); got > rdp {
			t.Errorf("q=%v σ=%v T=%d: ε = %v, above RDP's %v", k.q, k.sigma, k.steps, got, rdp)
		}
	}
}

func TestAnalyticGaussianGivesKnownAnswers(t *testing.T) {
	// 40-digit values.
	for eps, want := range map[float64]float64{0: 0.68268949213708589717, 0.5: 0.59918561853393326306, 1: 0.50986166005467015308, 4: 0.084953318671071062843} {
		got, err := Delta(PLD, eps, Gaussian{0.5})
		if err != nil || !within(got, want, 1e-13) {
			t.Errorf("δ(%v) = %v, %v; want %v", eps, got, err, want)
		}
	}
	for _, c := range []struct{ sigma, want float64 }{{0.3, 19.13076783436193}, {0.5, 9.997256146434315}, {50, 0.05863225530608184}} {
		if got := mustEpsilon(t, PLD, 1e-5, Gaussian{c.sigma}); !within(got, c.want, 1e-10) {
			t.Errorf("σ=%v: ε = %v, want %v", c.sigma, got, c.want)
		}
	}
	sigma, err := (Budget{Accountant: PLD, Epsilon: 0.1, Delta: 1e-5}).NoiseMultiplier(1, 1)
	if err != nil || sigma < 30.749566131977448*(1-1e-9) || sigma > 30.749566131977448*1.001 {
		t.Errorf("σ = %v, %v; want just above 30.7496", sigma, err)
	}
}

func TestSingleStepsGiveKnownAnswers(t *testing.T) {
	// One step, closed form in Φ, 40 digits.
	for _, c := range []struct{ q, sigma, delta, want float64 }{
		{1. / 60000, 0.3, 1e-5, 0.0006575737929035635},
		{1. / 60000, 4, 1e-6, 1.7716359461230526e-06},
		{0.001, 0.7, 1e-5, 0.0410592570860043},
		{0.2, 1.1, 1e-6, 2.5232027312179124},
		{256. / 60000, 50, 1e-5, 7.046057183867453e-05},
	} {
		if got := mustEpsilon(t, PLD, c.delta, PoissonSampled{c.q, Gaussian{c.sigma}}); !within(got, c.want, 1e-7) {
			t.Errorf("%+v: ε = %v", c, got)
		}
	}
}

// The transform against closed forms: Gaussians that are sent through it as if
// they were sampled at rate 1, and one sampled step.
func TestTransformEqualsClosedForms(t *testing.T) {
	sweep(t)
	for _, c := range []struct {
		t     term
		delta float64
	}{
		{term{1, 10, 100, nil}, 1e-5}, {term{1, 2, 3, nil}, 1e-6}, {term{1, 30, 10000, nil}, 1e-10}, {term{0.01, 1, 1, nil}, 1e-5}, {term{0.2, 0.6, 1, nil}, 1e-7},
		{term{1, 0.1, 1, nil}, 1e-5}, {term{1, 0.3, 1, nil}, 1e-9},
	} {
		s := spent{sampled: []term{c.t}}
		exact := s.exact()
		if exact == nil {
			mu := math.Sqrt(float64(c.t.count)) / c.t.noiseMultiplier
			exact = func(e float64) float64 { return gaussianDelta(mu, e) }
		}
		want := smallestEpsilon(c.delta, exact)
		terms := []term{c.t}
		m := newMoments(terms, reach(terms, c.delta, want*1.2+1))
		worst, low := 0.0, 0.0
		for _, sd := range []side{remove, add} {
			a := m.aim(sd, counts(terms), c.delta)
			e, ok := refine(terms, sd, a, 0)
			if !ok {
				t.Errorf("%+v: no answer", c)
			}
			if c.t.sampleRate == 1 && e < want*(1-1e-12) { // to add or to remove a row is all the same
				t.Errorf("%+v: side %d: %v, exact %v", c, sd, e, want)
			}
			worst = max(worst, e)
			if e, ok := newSpectrum(terms, sd, lower, a.window(0, 1<<16)).compose(counts(terms)).epsilon(lower, c.delta); ok {
				low = max(low, e)
			}
		}
		if worst < want*(1-1e-12) || worst > want*1.002 {
			t.Errorf("%+v: upper bound %v, exact %v", c, worst, want)
		}
		if low > want*(1+1e-12) || low < want*0.99 {
			t.Errorf("%+v: lower bound %v, exact %v", c, low, want)
		}
	}
}

// The lower bound comes from another discretisation, so a narrow bracket checks
// both.
func TestReportBracketIsNarrow(t *testing.T) {
	sweep(t)
	for _, k := range knowns {
		if k.sigma < 0.7 {
			continue // there the lower bound can be 0
		}
		r, err := NewReport(k.delta, k.event())
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Low <= r.PLD && r.PLD <= r.RDP && r.Low > r.PLD*0.85) || r.Notice != "" {
			t.Errorf("q=%v σ=%v T=%d: %+v", k.q, k.sigma, k.steps, r)
		}
		// At rate 1 ours is exact, not the central limit.
		if k.q < 1 && !within(float64(r.GDP), k.gdp, 2e-4) {
			t.Errorf("q=%v σ=%v T=%d: GDP %v, want %v", k.q, k.sigma, k.steps, r.GDP, k.gdp)
		}
		d, err := Delta(PLD, float64(r.PLD), k.event())
		if err != nil || d > k.delta*1.01 || d < k.delta*0.98 {
			t.Errorf("q=%v σ=%v T=%d: δ(ε(δ)) = %v, %v; want %v", k.q, k.sigma, k.steps, d, err, k.delta)
		}
		if d, err := Delta(RDP, float64(r.RDP), k.event()); err != nil || d > k.delta*(1+1e-9) {
			t.Errorf("q=%v σ=%v T=%d: RDP δ(ε(δ)) = %v, %v", k.q, k.sigma, k.steps, d, err)
		}
	}
}

// No corner of σ ∈ [0.2, 100], q ∈ [1e−6, 1], T ≤ 1e6 gives up or falls back.
func TestPLDAnswersAtEveryCorner(t *testing.T) {
	sweep(t)
	for _, q := range []float64{1e-6, 1e-3, 0.5} {
		for _, sigma := range []float64{0.2, 0.8, 100} {
			for _, steps := range []int{2, 1_000_000} {
				s, err := flatten(PoissonSampled{q, Gaussian{sigma}}, steps)
				if err != nil {
					t.Fatal(err)
				}
				e, notice := s.pld(1e-6)
				if rdp := s.rdp().epsilon(1e-6); !(e >= 0 && e <= rdp) || notice != "" {
					t.Errorf("q=%v σ=%v T=%d: ε = %v (RDP %v) %s", q, sigma, steps, e, rdp, notice)
				}
			}
		}
	}
}

func BenchmarkPLD(b *testing.B) {
	for b.Loop() {
		if _, err := Epsilon(PLD, 1e-5, SelfComposed{PoissonSampled{256. / 60000, Gaussian{1.1}}, 4690}); err != nil {
			b.Fatal(err)
		}
	}
}

// What was spent before the first step is told by another bound than the whole, which may
// be the better one.
func TestCurveRisesFromItsStart(t *testing.T) {
	c, err := NewCurve(PLD, 1e-5, PoissonSampled{1e-6, Gaussian{100}}, 10000, SelfComposed{PoissonSampled{0.01, Gaussian{1}}, 1000})
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for steps := 0; steps <= 10000; steps += 100 {
		e := c.Epsilon(steps)
		if e < last {
			t.Errorf("after %d steps ε falls from %v to %v", steps, last, e)
		}
		last = e
	}
}
