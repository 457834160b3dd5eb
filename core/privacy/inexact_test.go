package privacy

import (
	"math"
	"testing"
)

// steps are n of DP-SGD's, each off by distance.
func inexactSteps(distance float64, n int) Event {
	return SelfComposed{Inexact{PoissonSampled{0.01, Gaussian{1}}, distance}, n}
}

// TestInexactIsChargedToDelta: nothing where it is exact, next to nothing where it
// nearly is, +Inf where δ does not pay: the same by every way of asking.
func TestInexactIsChargedToDelta(t *testing.T) {
	t.Parallel()
	const delta, n = 1e-5, 500
	for _, accountant := range Names() {
		exact := mustEpsilon(t, accountant, delta, inexactSteps(0, n))
		if plain := mustEpsilon(t, accountant, delta, SelfComposed{PoissonSampled{0.01, Gaussian{1}}, n}); plain != exact {
			t.Errorf("%s: ε = %v with a distance of 0, and %v without", accountant, exact, plain)
		}
		// What is kept of δ pays for this, and for no more.
		limit := delta * reserve / (1 + math.Exp(exact)) / n
		for _, c := range []struct {
			distance float64
			paid     bool
		}{{1e-80, true}, {limit * 0.999, true}, {limit * 1.01, false}, {1, false}} {
			step := Inexact{PoissonSampled{0.01, Gaussian{1}}, c.distance}
			e := mustEpsilon(t, accountant, delta, SelfComposed{step, n})
			if got := !math.IsInf(e, 1); got != c.paid || got && !(e >= exact && e <= exact*(1+1e-5)) {
				t.Errorf("%s: ε = %v at a distance of %g a step, %v without", accountant, e, c.distance, exact)
			}
			if Pays(n*c.distance, exact, delta) != c.paid {
				t.Errorf("Pays(%g) is not %t", n*c.distance, c.paid)
			}
			curve, err := NewCurve(accountant, delta, step, n)
			if err != nil {
				t.Fatal(err)
			}
			if last := curve.Epsilon(n); math.IsInf(last, 1) == c.paid || c.paid && math.Abs(last/e-1) > 1e-3 {
				t.Errorf("%s: a curve ends at %v, ε is %v", accountant, last, e)
			}
			points, err := Epsilons(accountant, delta, step, []int{1, n})
			if err != nil || math.IsInf(points[1], 1) == c.paid || c.paid && math.Abs(points[1]/e-1) > 1e-3 {
				t.Errorf("%s: Epsilons are %v (%v), ε is %v", accountant, points, err, e)
			}
			if g := mustGroup(t, accountant, 2, delta, SelfComposed{step, n}); g < e || c.distance == 1e-80 && math.IsInf(g, 1) {
				t.Errorf("%s: ε = %v for two rows, %v for one", accountant, g, e)
			}
			if c.paid {
				if d, err := Delta(accountant, e, SelfComposed{step, n}); err != nil || d > delta*(1+1e-9) || accountant == RDP && d < delta*0.9 {
					t.Errorf("%s: δ = %v at ε = %v (%v)", accountant, d, e, err)
				}
				if p, err := Profile(accountant, []float64{e}, SelfComposed{step, n}); err != nil || p[0] < n*c.distance*(1+math.Exp(e)) {
					t.Errorf("%s: a profile of %v (%v)", accountant, p, err)
				}
				b := Budget{Accountant: accountant, Epsilon: e, Delta: delta, Distance: c.distance}
				if got, err := b.Steps(0.01, 1); err != nil || got < n*99/100 || got > n+1 {
					t.Errorf("%s: %d steps fit ε = %v (%v)", accountant, got, e, err)
				}
			}
			r, err := NewReport(delta, SelfComposed{step, n})
			if err != nil || float64(r.Low) > float64(r.PLD) || c.distance == 1 && r.Low > 1e-6 {
				t.Errorf("the report says %v … %v (%v)", r.Low, r.PLD, err)
			}
		}
	}
}

// TestInexactBoundHolds: δ of a mechanism that is off, by brute force, is at most δ of
// the one it is priced as and what the proof adds; without that it would be more.
func TestInexactBoundHolds(t *testing.T) {
	const s, far = 5, 80
	exact, off := map[int]float64{}, map[int]float64{}
	total := 0.0
	for x := -far; x <= far; x++ {
		exact[x] = math.Exp(-float64(x*x) / (2 * s * s))
		total += exact[x]
	}
	kept := 0.0
	for x := range exact {
		exact[x] /= total
		if x >= -12 && x <= 12 { // a table that ends there
			off[x] = exact[x]
			kept += exact[x]
		}
	}
	for x := range off {
		off[x] /= kept
	}
	distance := 0.0
	for x, p := range exact {
		distance += math.Abs(p-off[x]) / 2
	}
	without := false
	for _, shift := range []int{1, 3, 8} {
		for _, e := range []float64{0, 0.1, 0.5, 1, 2, 4} {
			deltaOf := func(p map[int]float64) (d float64) {
				for x := -far; x <= far+shift; x++ {
					d += max(0, p[x-shift]-math.Exp(e)*p[x])
				}
				return d
			}
			priced, actual := deltaOf(exact), deltaOf(off)
			if s := (spent{distance: distance}); actual > priced+s.beside(e) {
				t.Errorf("shift %d, ε = %g: δ is %g, at most %g is said", shift, e, actual, priced+s.beside(e))
			}
			without = without || actual > priced
		}
	}
	if !without {
		t.Error("the test would not have noticed if nothing were charged")
	}
}

func TestInexactEventsAreReadBackOrRefused(t *testing.T) {
	for name, e := range map[string]Event{
		"negative":      inexactSteps(-1e-9, 2),
		"more than 1":   inexactSteps(1.5, 2),
		"no number":     inexactSteps(math.NaN(), 2),
		"in a sample":   PoissonSampled{0.1, Inexact{Gaussian{1}, 1e-9}},
		"of a stranger": Inexact{nil, 1e-9},
	} {
		if _, err := Epsilon(PLD, 1e-5, e); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	want := Inexact{PoissonSampled{0.01, Gaussian{1}}, 3e-80}
	b, err := MarshalEvent(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := UnmarshalEvent(b); err != nil || got != Event(want) {
		t.Errorf("%s is read as %v (%v)", b, got, err)
	}
	for _, bad := range []string{`{"kind":"inexact","distance":2,"of":{"kind":"non_private"}}`, `{"kind":"inexact","distance":1e-9}`, `{"kind":"inexact","of":{"kind":"non_private"}}`} {
		if _, err := UnmarshalEvent([]byte(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if _, err := NewTuningCosts(1e-5, want, 10); err == nil {
		t.Error("tuning is priced without a proof")
	}
	if _, err := RepeatAndSelect(1e-5, want, 10, 1); err == nil {
		t.Error("a selection is priced without a proof")
	}
}
