package privacy

import (
	"math"
	"testing"
)

// TestAttackOnGaussianIsTheExactTradeOff: on one Gaussian release the bounds are the exact
// trade-off, Φ(Φ⁻¹(α) + μ) (Dong, Roth & Su 2022, equation 6), and never below it.
func TestAttackOnGaussianIsTheExactTradeOff(t *testing.T) {
	for _, sigma := range []float64{0.3, 1, 3.7, 20} {
		mu := 1 / sigma
		a, err := Attack(1e-5, Gaussian{sigma})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range a.FalsePositive {
			want, got := normalCDF(normalQuantile(float64(f))+mu), float64(a.TruePositive[i])
			if f == 1 {
				want = 1
			}
			if got < want*(1-1e-9) || got > want*1.01+1e-6 {
				t.Errorf("σ = %g: at %v a test finds %v, want %v", sigma, f, got, want)
			}
		}
		right, half := normalCDF(mu/2), normalCDF(-mu)
		if got := float64(a.Right); got < right*(1-1e-9) || got > right*1.0001 {
			t.Errorf("σ = %g: right %v, want %v", sigma, got, right)
		}
		if got := float64(a.HalfCosts); got > half*(1+1e-9) || got < half*0.99-1e-9 {
			t.Errorf("σ = %g: half costs %v, want %v", sigma, got, half)
		}
		// The exact chance of a posterior above the bound: of being sure of what is true and of
		// what is not. The loss is N(±μ²/2, μ²).
		odds := math.Log(float64(a.Sure)) - math.Log1p(-float64(a.Sure))
		chance := normalCDF(mu/2-odds/mu) + normalCDF(-mu/2-odds/mu)
		if chance > 1e-5*(1+1e-9) || chance < 1e-7 {
			t.Errorf("σ = %g: posterior %v is passed with probability %v", sigma, a.Sure, chance)
		}
	}
}

// TestAttackOnSampledGaussianKnowsOnlyDrawnRows: a test of one sampled release knows the row only
// where the row was drawn: (1−q)·α + q·Φ(Φ⁻¹(α) + 1/σ) with the row removed, and the inverse of
// that with the row added.
func TestAttackOnSampledGaussianKnowsOnlyDrawnRows(t *testing.T) {
	const q, sigma = 0.2, 0.7
	removed := func(alpha float64) float64 { return (1-q)*alpha + q*normalCDF(normalQuantile(alpha)+1/sigma) }
	// P and Q exchanged: a test that misses the share α finds what the first leaves.
	added := func(alpha float64) float64 {
		lo, hi := 0.0, 1.0 // of the share that is not found
		for range 200 {
			if mid := (lo + hi) / 2; removed(mid) < 1-alpha {
				lo = mid
			} else {
				hi = mid
			}
		}
		return 1 - lo
	}
	a, err := Attack(1e-6, PoissonSampled{q, Gaussian{sigma}})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.FalsePositive {
		if f >= 1 {
			continue
		}
		want, got := max(removed(float64(f)), added(float64(f))), float64(a.TruePositive[i])
		// One profile for both sides is their hull: a little above either.
		if got < want*(1-1e-9) || got > want*1.06+1e-6 {
			t.Errorf("at %v a test finds %v, want %v", f, got, want)
		}
	}
}

// TestAttackComposes: figures of a run are bounds that grow with its steps, lie above what a
// random guess has, and are 1 without noise.
func TestAttackComposes(t *testing.T) {
	lastRight, lastSure := 0.5, 0.5
	for _, steps := range []int{1, 30, 1000} {
		a, err := Attack(1e-5, SelfComposed{PoissonSampled{0.02, Gaussian{1.1}}, steps})
		if err != nil {
			t.Fatal(err)
		}
		if right, sure := float64(a.Right), float64(a.Sure); !(right > lastRight && right < 1 && sure > lastSure && sure < 1) {
			t.Errorf("%d steps: right %v after %v, sure %v after %v", steps, right, lastRight, sure, lastSure)
		} else {
			lastRight, lastSure = right, sure
		}
		last := 0.0
		for i, f := range a.FalsePositive {
			got := float64(a.TruePositive[i])
			if got < float64(f) || got < last || got > 1 {
				t.Errorf("%d steps: at %v a test finds %v after %v", steps, f, got, last)
			}
			last = got
		}
		if got := a.TruePositiveAt(0.001); !(got >= 0.001) || got != float64(a.TruePositive[16]) {
			t.Errorf("at 0.001: %v", got)
		}
		e := mustEpsilon(t, PLD, 1e-5, SelfComposed{PoissonSampled{0.02, Gaussian{1.1}}, steps})
		if most := 1e-3*math.Exp(e) + 1e-5; a.TruePositiveAt(0.001) > most*1.01 {
			t.Errorf("%d steps: the curve is above what ε alone says, %v", steps, most)
		}
	}
	a, err := Attack(1e-5, NonPrivate{})
	if err != nil || a.Sure != 1 || a.Right != 1 || a.HalfCosts != 0 || a.TruePositiveAt(1e-5) != 1 {
		t.Errorf("without noise: %+v, %v", a, err)
	}
	// A choice among runs has Rényi's bounds alone.
	a, err = Attack(1e-5, Selected{[]Event{SelfComposed{PoissonSampled{0.02, Gaussian{2}}, 100}, Gaussian{10}}, 3})
	if err != nil || !(a.Sure > 0.5 && a.Sure < 1 && a.Right > 0.5) {
		t.Errorf("of several: %+v, %v", a, err)
	}
	if _, err := Attack(0, Gaussian{1}); err == nil {
		t.Error("no error without exceptions")
	}
}
