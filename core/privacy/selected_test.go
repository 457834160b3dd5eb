package privacy

import (
	"math"
	"strings"
	"testing"
)

// dpsgd is a run of DP-SGD.
func dpsgd(q, sigma float64, steps int) Event {
	return SelfComposed{PoissonSampled{q, Gaussian{sigma}}, steps}
}

// TestSelectedIsRepeatAndSelect: of a choice alone, both accountants give what
// RepeatAndSelect does, which known answers hold.
func TestSelectedIsRepeatAndSelect(t *testing.T) {
	for _, c := range []struct{ q, sigma, runs, delta float64 }{
		{256. / 60000, 2, 10, 1e-5}, {0.01, 1.5, 10, 1e-5}, {0.04, 3, 1, 1e-6}, {0.2, 8, 40, 1e-4},
	} {
		one := dpsgd(c.q, c.sigma, 1000)
		want, err := RepeatAndSelect(c.delta, one, c.runs, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range Names() {
			got, err := Epsilon(name, c.delta, Selected{[]Event{one}, c.runs})
			if err != nil || !within(got, want, 1e-12) {
				t.Errorf("%+v: %s gives %v, not %v (%v)", c, name, got, want, err)
			}
		}
		alone, err := Epsilon(RDP, c.delta, one)
		if err != nil || want <= alone {
			t.Errorf("%+v: the best of several costs %v, one %v (%v)", c, want, alone, err)
		}
	}
}

// TestSelectedComposes: a choice beside other events costs what the Rényi curves add up
// to, by any accountant, and never less than either.
func TestSelectedComposes(t *testing.T) {
	choice, other := Selected{[]Event{dpsgd(0.01, 2, 500)}, 5}, dpsgd(0.02, 1.5, 300)
	var s spent
	for _, e := range []Event{choice, other, Gaussian{20}} {
		if err := s.addEvent(e, 1); err != nil {
			t.Fatal(err)
		}
	}
	want := s.rdp().epsilon(1e-5)
	least := 0.0
	for _, e := range []Event{choice, other} {
		alone, err := Epsilon(PLD, 1e-5, e)
		if err != nil {
			t.Fatal(err)
		}
		least = max(least, alone)
	}
	for name, e := range map[string]Event{
		"together": Composed{[]Event{choice, other, Gaussian{20}}},
		"nested":   Composed{[]Event{Composed{[]Event{Gaussian{20}, choice}}, SelfComposed{other, 1}}},
	} {
		for _, accountant := range Names() {
			got, err := Epsilon(accountant, 1e-5, e)
			if err != nil || !within(got, want, 1e-12) || got < least {
				t.Errorf("%s by %s: %v, want %v, at least %v (%v)", name, accountant, got, want, least, err)
			}
		}
		if d, err := Delta(PLD, want, e); err != nil || d > 1e-5*(1+1e-9) {
			t.Errorf("%s: δ = %v at ε = %v (%v)", name, d, want, err)
		}
	}
	twice, err := Epsilon(RDP, 1e-5, SelfComposed{choice, 2})
	both, err2 := Epsilon(RDP, 1e-5, choice, choice)
	if err != nil || err2 != nil || !within(twice, both, 1e-12) {
		t.Errorf("twice %v, both %v (%v, %v)", twice, both, err, err2)
	}
	curve, err := NewCurve(PLD, 1e-5, PoissonSampled{0.02, Gaussian{1.5}}, 300, choice, Gaussian{20})
	if err != nil || !within(curve.Epsilon(300), want, 1e-9) || curve.Epsilon(0) <= 0 || curve.Epsilon(100) > want {
		t.Errorf("by steps %v … %v, want %v (%v)", curve.Epsilon(0), curve.Epsilon(300), want, err)
	}
}

// TestSelectedPartsAreOnRowsOfTheirOwn: the dearer part alone is paid for, and a part that
// costs no more at any order nothing.
func TestSelectedPartsAreOnRowsOfTheirOwn(t *testing.T) {
	run := dpsgd(0.01, 2, 500)
	sigma, err := NoMoreThan(run)
	if err != nil {
		t.Fatal(err)
	}
	alone, _ := Epsilon(RDP, 1e-5, Selected{[]Event{run}, 5})
	free, err := Epsilon(RDP, 1e-5, Selected{[]Event{run, Gaussian{sigma}}, 5})
	if err != nil || !within(free, alone, 1e-12) {
		t.Errorf("beside Gaussian noise of %v: %v, alone %v (%v)", sigma, free, alone, err)
	}
	dear, err := Epsilon(RDP, 1e-5, Selected{[]Event{run, Gaussian{sigma * 0.98}}, 5})
	if err != nil || dear < alone {
		t.Errorf("beside less noise: %v, alone %v (%v)", dear, alone, err)
	}
	little, err := Epsilon(RDP, 1e-5, Selected{[]Event{run, Gaussian{sigma / 4}}, 5})
	if other, _ := Epsilon(RDP, 1e-5, Selected{[]Event{Gaussian{sigma / 4}}, 5}); err != nil || little <= alone || little < other {
		t.Errorf("beside little noise: %v, which alone costs %v (%v)", little, other, err)
	}
}

// TestSelectedGroupsPayByTheGeneralArgument: rows of one person pay by the general argument, more
// than one row.
func TestSelectedGroupsPayByTheGeneralArgument(t *testing.T) {
	e := Selected{[]Event{dpsgd(0.01, 4, 500)}, 5}
	last, err := Epsilon(PLD, 1e-5, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{2, 5, 20} {
		got, err := GroupEpsilon(PLD, rows, 1e-5, e)
		if err != nil || got <= last {
			t.Errorf("%d rows: %v after %v (%v)", rows, got, last, err)
		}
		last = got
	}
}

func TestSelectedRefusesWhatHasNoProof(t *testing.T) {
	one := dpsgd(0.01, 2, 10)
	for name, e := range map[string]Event{
		"no part":        Selected{nil, 5},
		"half a run":     Selected{[]Event{one}, 0.5},
		"no number":      Selected{[]Event{one}, math.NaN()},
		"endless":        Selected{[]Event{one}, math.Inf(1)},
		"inexact noise":  Selected{[]Event{Inexact{one, 1e-9}}, 5},
		"in a sample":    PoissonSampled{0.5, Selected{[]Event{one}, 5}},
		"unknown events": Selected{[]Event{nil}, 5},
	} {
		if got, err := Epsilon(PLD, 1e-5, e); err == nil {
			t.Errorf("%s costs %v", name, got)
		}
	}
	for _, name := range Names() {
		if e, err := Epsilon(name, 1e-5, Selected{[]Event{one, NonPrivate{}}, 5}); err != nil || !math.IsInf(e, 1) {
			t.Errorf("without noise: %v by %s (%v)", e, name, err)
		}
	}
}

func TestSelectedCostsTheSameOnceStored(t *testing.T) {
	e := Selected{[]Event{dpsgd(0.01, 2, 10), Gaussian{3}}, 5}
	b, err := MarshalEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	back, err := UnmarshalEvent(b)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := Epsilon(RDP, 1e-5, e)
	if got, err := Epsilon(RDP, 1e-5, back); err != nil || got != want {
		t.Errorf("%s: ε %v, was %v (%v)", b, got, want, err)
	}
	r, err := NewReport(1e-5, e)
	if err != nil || float64(r.PLD) != want || float64(r.RDP) != want || float64(r.Low) > want || !math.IsNaN(float64(r.GDP)) || !strings.Contains(r.Notice, "a choice among several runs") {
		t.Errorf("%+v (%v)", r, err)
	}
}

// TestSelectedCoversTheBestOfMany: of runs that are one Gaussian release each, of which the
// greatest, or the least, is released, the divergence is known but for an integral. It is no
// more than δ at the ε that is charged, and the charge is no multiple of what it would take.
func TestSelectedCoversTheBestOfMany(t *testing.T) {
	const delta = 1e-5
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, sigma := range []float64{0.7, 2, 8} {
		for _, mean := range []float64{1, 5, 100} {
			// best is the density of the best of K ~ Poisson(mean) draws of N(at, σ²); with
			// probability exp(−mean), whatever at is, there is none.
			best := func(x, at, sign float64) float64 {
				z := (x - at) / sigma
				return mean * math.Exp(-z*z/2-mean*normal(-sign*z)) / (sigma * math.Sqrt(2*math.Pi))
			}
			// over is the hockey-stick divergence of at from other.
			over := func(epsilon, at, other, sign float64) float64 {
				sum, step := 0.0, sigma/1000
				for x := -12 * sigma; x < 1+12*sigma; x += step {
					sum += step * max(0, best(x, at, sign)-math.Exp(epsilon)*best(x, other, sign))
				}
				return sum
			}
			most := func(epsilon float64) float64 {
				return max(over(epsilon, 0, 1, 1), over(epsilon, 1, 0, 1), over(epsilon, 0, 1, -1), over(epsilon, 1, 0, -1))
			}
			for _, accountant := range Names() {
				charged, err := Epsilon(accountant, delta, Selected{[]Event{Gaussian{sigma}}, mean})
				if err != nil {
					t.Fatal(err)
				}
				if d := most(charged); d > delta {
					t.Errorf("σ %v, %v runs: δ = %v at the ε of %v that %s charges", sigma, mean, d, charged, accountant)
				}
				if d := most(charged / 3); d < delta {
					t.Errorf("σ %v, %v runs: a third of the ε of %v that %s charges would do", sigma, mean, charged, accountant)
				}
			}
		}
	}
}
