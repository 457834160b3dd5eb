package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

// TestMemoryChangesNothing: what is recalled is what would be said, for the question that
// is asked and not for another.
func TestMemoryChangesNothing(t *testing.T) {
	m := &Memory{}
	for range 2 {
		for _, delta := range []float64{1e-5, 1e-6} {
			for _, accountant := range Names() {
				for _, sigma := range []float64{1, 1.0000000000000002} {
					step := PoissonSampled{0.1, Gaussian{sigma}}
					for _, once := range [][]Event{nil, {Gaussian{5}}} {
						want, err := NewCurve(accountant, delta, step, 50, once...)
						if err != nil {
							t.Fatal(err)
						}
						got, err := m.Curve(accountant, delta, step, 50, once...)
						if err != nil || got.Epsilon(20) != want.Epsilon(20) || got.Epsilon(50) != want.Epsilon(50) {
							t.Fatalf("%s, δ = %g, σ = %v, %v: a curve to %v, want %v; %v", accountant, delta, sigma, once, got.Epsilon(50), want.Epsilon(50), err)
						}
						events := append([]Event{SelfComposed{step, 50}}, once...)
						if got, err := m.Epsilon(accountant, delta, events...); err != nil || got != mustEpsilon(t, accountant, delta, events...) {
							t.Fatalf("%s, δ = %g, σ = %v, %v: ε = %v, %v", accountant, delta, sigma, once, got, err)
						}
					}
				}
				b := Budget{Accountant: accountant, Epsilon: 2, Delta: delta}
				want, err := b.NoiseMultiplier(0.1, 50)
				if got, e := m.NoiseMultiplier(b, 0.1, 50); err != nil || e != nil || got != want {
					t.Errorf("%s, δ = %g: σ = %v, want %v; %v", accountant, delta, got, want, e)
				}
			}
		}
	}
	if len(m.answers) > mostRemembered || len(m.questions) != len(m.answers) {
		t.Errorf("%d answers, %d questions", len(m.answers), len(m.questions))
	}
}

// TestMemoryKeepsTheWordsOfEachStatement: what only the words depend on is each statement's own.
func TestMemoryKeepsTheWordsOfEachStatement(t *testing.T) {
	m := &Memory{}
	for _, s := range []Statement{
		{Steps: 20, Planned: 30, Clipping: "C = 1"},
		{Steps: 20, Planned: 30, Clipping: "C = 2", Broken: []string{"a fixed seed"}},
		{Steps: 30, Clipping: "C = 2"},
		{Steps: 20, Planned: 30, PerStep: NonPrivate{}},
	} {
		s.Delta, s.Accountant = 1e-5, PLD
		if s.PerStep == nil {
			s.PerStep = PoissonSampled{0.1, Gaussian{1}}
		}
		want, err := NewStatement(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := m.Statement(s)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(want)
			if !bytes.Equal(a, b) {
				t.Errorf("%+v:\n%s\nwant\n%s", s, a, b)
			}
		}
	}
	// Three of accountants, and one of attackers, for the two that have a guarantee.
	if len(m.answers) != 4 {
		t.Errorf("%d questions were told apart, want 4", len(m.answers))
	}
	if _, err := m.Statement(Statement{Steps: 2, Planned: 1, Delta: 1e-5, Accountant: PLD}); err == nil {
		t.Error("more steps than were planned")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m, calls := &Memory{}, 0
	ask := func(i int) {
		got, err := recall(m, func() (int, error) { calls++; return i, nil }, "what", i)
		if err != nil || got != i {
			t.Fatalf("%d: %d, %v", i, got, err)
		}
	}
	for i := range 3 * mostRemembered {
		ask(i)
		ask(i)
	}
	if calls != 3*mostRemembered || len(m.answers) != mostRemembered || len(m.questions) != mostRemembered {
		t.Errorf("%d calls, %d answers, %d questions", calls, len(m.answers), len(m.questions))
	}
	ask(0) // which was forgotten
	if calls != 3*mostRemembered+1 {
		t.Errorf("%d calls", calls)
	}
	for range 2 {
		if _, err := recall(m, func() (int, error) { calls++; return 0, fmt.Errorf("no") }, "no"); err == nil {
			t.Error("an error was lost")
		}
	}
	if calls != 3*mostRemembered+3 {
		t.Error("an error was remembered")
	}
}

// TestMemoryMayBeShared has goroutines share a curve, for the race detector.
func TestMemoryMayBeShared(t *testing.T) {
	m := &Memory{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := m.Curve(PLD, 1e-5, PoissonSampled{0.1, Gaussian{1}}, 200)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 200 {
				c.Epsilon(i)
			}
		})
	}
	wg.Wait()
}
