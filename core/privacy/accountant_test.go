package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestNamesExist(t *testing.T) {
	for _, name := range Names() {
		if _, err := NewAccountant(name); err != nil {
			t.Error(err)
		}
		_, err := NewAccountant("moments")
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %q", err, name)
		}
	}
}

func TestEdgesCostNothingOrEverything(t *testing.T) {
	inf := math.Inf(1)
	for _, name := range Names() {
		for _, c := range []struct {
			what string
			e    Event
			want float64
		}{
			{"nothing", Composed{}, 0},
			{"σ=0", Gaussian{0}, inf},
			{"σ=∞", Gaussian{inf}, 0},
			{"σ=0 sampled", PoissonSampled{0.1, Gaussian{0}}, inf},
			{"q=0", PoissonSampled{0, Gaussian{0.1}}, 0},
			{"q=0, no noise", PoissonSampled{0, NonPrivate{}}, 0},
			{"no privacy", NonPrivate{}, inf},
			{"no privacy, sampled", PoissonSampled{0.5, NonPrivate{}}, inf},
			{"no steps", SelfComposed{NonPrivate{}, 0}, 0},
			{"empty joint", Joint{}, 0},
			{"among others", Composed{[]Event{Gaussian{1}, NonPrivate{}}}, inf},
		} {
			if got := mustEpsilon(t, name, 1e-5, c.e); got != c.want {
				t.Errorf("%s: %s: ε = %v, want %v", name, c.what, got, c.want)
			}
		}
	}
}

type unknownEvent struct{ Event }

func TestRefusedEventsCostNothing(t *testing.T) {
	for _, name := range Names() {
		a, err := NewAccountant(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Compose(Gaussian{2}); err != nil {
			t.Fatal(err)
		}
		before, err := a.Epsilon(1e-5)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []Event{
			nil,
			unknownEvent{},
			Gaussian{-1},
			Gaussian{math.NaN()},
			PoissonSampled{0.5, PoissonSampled{0.5, Gaussian{1}}},
			PoissonSampled{-0.1, Gaussian{1}},
			PoissonSampled{1.1, Gaussian{1}},
			PoissonSampled{math.NaN(), Gaussian{1}},
			PoissonSampled{0.1, nil},
			SelfComposed{Gaussian{1}, -1},
			SelfComposed{SelfComposed{PoissonSampled{0.1, Gaussian{1}}, math.MaxInt}, 2},
			Composed{[]Event{Gaussian{1}, Gaussian{-1}}}, // adds nothing, not half
			Joint{[]Gaussian{{1}, {-1}}},
		} {
			if err := a.Compose(e); err == nil {
				t.Errorf("%s: composed %#v", name, e)
			}
		}
		if after, _ := a.Epsilon(1e-5); after != before {
			t.Errorf("%s: refused events changed ε from %v to %v", name, before, after)
		}
		for _, delta := range []float64{0, 1, -1, 2, math.NaN()} {
			if _, err := a.Epsilon(delta); err == nil {
				t.Errorf("%s: no error for δ = %v", name, delta)
			}
		}
	}
}

// A statistic released from the same sample costs what the joint multiplier
// says: σ⁻² = σ_T⁻² + (σ_s/s)⁻² for `quantile` (s = ½) and `dc-*` (s = 1).
func TestJointCostsItsJointMultiplier(t *testing.T) {
	for _, name := range Names() {
		for _, c := range []struct{ sigma, statistic float64 }{{1.5, 2}, {1, 5}, {2, 8}, {0.8, 30}} {
			rest := math.Pow(math.Pow(c.sigma, -2)-math.Pow(c.statistic, -2), -0.5)
			for _, q := range []float64{1, 0.01} {
				run := func(of Event) float64 {
					return mustEpsilon(t, name, 1e-5, SelfComposed{PoissonSampled{q, of}, 500})
				}
				want := run(Gaussian{c.sigma})
				for _, of := range []Event{
					Joint{[]Gaussian{{rest}, {c.statistic}}},
					Composed{[]Event{Gaussian{rest}, Gaussian{c.statistic}}},
				} {
					if got := run(of); !within(got, want, 1e-9) {
						t.Errorf("%s: σ=%v with statistic at %v: ε = %v, want %v", name, c.sigma, c.statistic, got, want)
					}
				}
			}
		}
	}
	// z=1.5, σ_b=1: the gradient's noise is 2.268.
	if z := math.Pow(math.Pow(1.5, -2)-math.Pow(2, -2), -0.5); math.Abs(z-2.268) > 5e-4 {
		t.Errorf("gradient noise %v", z)
	}
}

func TestEpsilonRisesWithEveryArgument(t *testing.T) {
	sweep(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range Names() {
		for range 6 {
			q := math.Exp(-7 * rng.Float64())
			sigma := math.Exp(2*rng.Float64() - 0.7)
			steps := 1 + rng.IntN(2000)
			delta := math.Exp(-8 - 6*rng.Float64())
			eps := func(q, sigma float64, steps int, delta float64) float64 {
				return mustEpsilon(t, name, delta, SelfComposed{PoissonSampled{q, Gaussian{sigma}}, steps})
			}
			e := eps(q, sigma, steps, delta)
			slack := 1 - 1e-3
			if name == RDP {
				slack = 1 - 1e-9
			}
			for what, more := range map[string]float64{
				"T": eps(q, sigma, steps+1+steps/10, delta),
				"q": eps(math.Min(1, q*1.1), sigma, steps, delta),
				"σ": eps(q, sigma*0.9, steps, delta),
				"δ": eps(q, sigma, steps, delta/2),
			} {
				if more < e*slack {
					t.Errorf("%s: q=%v σ=%v T=%d δ=%v: ε falls from %v to %v with %s", name, q, sigma, steps, delta, e, more, what)
				}
			}
			parts := []Event{
				SelfComposed{PoissonSampled{q, Gaussian{sigma}}, steps},
				Gaussian{3 * sigma},
				SelfComposed{PoissonSampled{q / 2, Gaussian{sigma}}, steps / 2},
			}
			one := mustEpsilon(t, name, delta, parts...)
			two := mustEpsilon(t, name, delta, parts[2], Composed{parts[:2]})
			if !within(one, two, 1e-6) {
				t.Errorf("%s: order matters: %v, %v", name, one, two)
			}
			if one < e*slack {
				t.Errorf("%s: composing more costs less: %v, %v", name, one, e)
			}
		}
	}
}

func TestCurveEqualsAccountant(t *testing.T) {
	for _, name := range Names() {
		step, once := PoissonSampled{0.01, Gaussian{1.2}}, Gaussian{4}
		const max = 3000
		c, err := NewCurve(name, 1e-5, step, max, once)
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for _, steps := range []int{-1, 0, 1, 2, 10, 100, 999, 2500, max, max + 1} {
			got := c.Epsilon(steps)
			want := mustEpsilon(t, name, 1e-5, once, SelfComposed{step, within0(steps, max)})
			if got < want*(1-1e-3) || got > want*1.15+1e-3 || name == RDP && !within(got, want, 1e-12) {
				t.Errorf("%s: after %d steps ε = %v, want %v", name, steps, got, want)
			}
			if got < last {
				t.Errorf("%s: ε falls at step %d", name, steps)
			}
			last = got
		}
		if _, err := NewCurve(name, 1e-5, PoissonSampled{2, Gaussian{1}}, 1); err == nil {
			t.Errorf("%s: no error for q = 2", name)
		}
		if _, err := NewCurve(name, 0, step, 1); err == nil {
			t.Errorf("%s: no error for δ = 0", name)
		}
		if _, err := NewCurve(name, 0.1, step, -1); err == nil {
			t.Errorf("%s: no error for -1 steps", name)
		}
		free, err := NewCurve(name, 1e-5, NonPrivate{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := free.Epsilon(0), free.Epsilon(1); a != 0 || !math.IsInf(b, 1) {
			t.Errorf("%s: without noise ε goes from %v to %v", name, a, b)
		}
	}
	if _, err := NewCurve("moments", 1e-5, Gaussian{1}, 1); err == nil {
		t.Error("no error for an unknown accountant")
	}
}

func within0(steps, max int) int {
	if steps < 0 {
		return 0
	}
	return min(steps, max)
}

// sweep marks a test that takes many accounts: the legs with the race detector
// and in Node, where it would take minutes, leave it to the plain native one.
func sweep(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a long sweep: left to the plain native tests")
	}
}

// BenchmarkCurve is what the live ε of a whole run costs: making the curve, all
// its answers, and one that had to be worked out.
func BenchmarkCurve(b *testing.B) {
	for _, steps := range []int{469, 4690, 10_000} {
		b.Run(fmt.Sprint(steps), func(b *testing.B) {
			var setup, answers time.Duration
			worked := 0
			for b.Loop() {
				began := time.Now()
				c, err := NewCurve(PLD, 1e-5, PoissonSampled{128. / 60000, Gaussian{1}}, steps)
				if err != nil {
					b.Fatal(err)
				}
				setup += time.Since(began)
				began = time.Now()
				last := 0.0
				for i := range steps {
					if e := c.Epsilon(i + 1); e != last {
						last = e
						worked++
					}
				}
				answers += time.Since(began)
			}
			ms := func(d time.Duration, n int) float64 { return d.Seconds() * 1000 / float64(n) }
			b.ReportMetric(ms(setup, b.N), "ms-setup")
			b.ReportMetric(ms(answers, b.N), "ms-answers")
			b.ReportMetric(ms(answers, worked), "ms-worked-out")
		})
	}
}
