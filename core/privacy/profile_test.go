package privacy

import (
	"math"
	"testing"
)

// TestProfileIsNeverBelowSinglePoints: a profile lies at most 3 % below the δ of single points, which is
// rounding, and at most 15 % above it. It never rises with ε.
func TestProfileIsNeverBelowSinglePoints(t *testing.T) {
	sweep(t)
	for _, k := range knowns {
		if k.steps > 10000 {
			continue
		}
		var epsilons []float64
		for i := range 5 {
			epsilons = append(epsilons, k.pld*float64(i)/2)
		}
		for _, name := range Names() {
			got, err := Profile(name, epsilons, k.event())
			if err != nil {
				t.Fatal(err)
			}
			last := 1.0
			for i, e := range epsilons {
				d, err := Delta(name, e, k.event())
				if err != nil {
					t.Fatal(err)
				}
				// Both are upper bounds; either may be the tighter one.
				if d > 1e-12 && (got[i] < d*0.97 || got[i] > d*1.15) {
					t.Errorf("%s q=%v σ=%v T=%d: δ(%v) = %v in the profile, %v alone", name, k.q, k.sigma, k.steps, e, got[i], d)
				}
				if got[i] > last*(1+1e-9) {
					t.Errorf("%s q=%v σ=%v T=%d: δ rises to %v at ε = %v", name, k.q, k.sigma, k.steps, got[i], e)
				}
				last = got[i]
			}
		}
	}
}

func TestEpsilonsEqualSinglePoints(t *testing.T) {
	for _, step := range []Event{PoissonSampled{0.01, Gaussian{1}}, Gaussian{30}, PoissonSampled{0.2, Gaussian{0.8}}} {
		steps := []int{0, 1, 1, 7, 100, 1000}
		for _, name := range Names() {
			got, err := Epsilons(name, 1e-5, step, steps)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range steps {
				want := mustEpsilon(t, name, 1e-5, SelfComposed{step, n})
				if got[i] < want*(1-2e-3) || got[i] > want*1.03+1e-4 {
					t.Errorf("%s, %v × %d: ε = %v, alone %v", name, step, n, got[i], want)
				}
				if i > 0 && got[i] < got[i-1] {
					t.Errorf("%s, %v: ε falls at %d steps", name, step, n)
				}
			}
		}
	}
}

func TestProfileRefusesBadArguments(t *testing.T) {
	if _, err := Profile(PLD, []float64{-1}, Gaussian{1}); err == nil {
		t.Error("no error for ε < 0")
	}
	if _, err := Profile("x", []float64{1}, Gaussian{1}); err == nil {
		t.Error("no error for an unknown accountant")
	}
	if _, err := Epsilons(PLD, 1e-5, Gaussian{1}, []int{2, 1}); err == nil {
		t.Error("no error for steps that fall")
	}
	if _, err := Epsilons("x", 1e-5, Gaussian{1}, []int{1}); err == nil {
		t.Error("no error for an unknown accountant")
	}
	d, err := Profile(PLD, []float64{0, 5}, NonPrivate{})
	if err != nil || d[0] != 1 || d[1] != 1 {
		t.Errorf("without noise: δ = %v, %v", d, err)
	}
	e, err := Epsilons(PLD, 1e-5, PoissonSampled{0.1, NonPrivate{}}, []int{0, 1})
	if err != nil || e[0] != 0 || !math.IsInf(e[1], 1) {
		t.Errorf("without noise: ε = %v, %v", e, err)
	}
}
