package privacy

import (
	"math"
	"testing"
)

func TestPLDReference(t *testing.T) {
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

func TestPLDKnownAnswers(t *testing.T) {
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
