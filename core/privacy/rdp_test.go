package privacy

import (
	"encoding/json"
	"math"
	"testing"
)

func mustEpsilon(t *testing.T, accountant string, delta float64, events ...Event) float64 {
	t.Helper()
	e, err := Epsilon(accountant, delta, events...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// within says whether got is at most rel above want and, unless low, as near
// from below.
func within(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }

func TestRDPKnownAnswers(t *testing.T) {
	for _, k := range knowns {
		got := mustEpsilon(t, RDP, k.delta, k.event())
		// More orders than the peers' lists: at or below them, never below
		// the truth.
		if got > k.rdp*(1+1e-6) || got < k.prvLow {
			t.Errorf("q=%v σ=%v T=%d: ε = %v, want %v … %v", k.q, k.sigma, k.steps, got, k.prvLow, k.rdp)
		}
	}
}

func TestRDPReference(t *testing.T) {
	r := loadReference(t)
	if r == nil {
		return
	}
	for _, c := range r.Cases {
		want := math.Min(*c.RDPGoogle.Epsilon, *c.RDPOpacus.Epsilon)
		got := mustEpsilon(t, RDP, c.Delta, SelfComposed{PoissonSampled{c.SampleRate, Gaussian{c.NoiseMultiplier}}, c.Steps})
		switch {
		case got > want*(1+1e-6):
			t.Errorf("case %d: ε = %v, want at most %v", c.ID, got, want)
		case got < want*(1-1e-3):
			t.Logf("case %d (q=%.3g σ=%v T=%d): ε = %.6g, reference %.6g (%+.2f %%): its orders fall short", c.ID, c.SampleRate, c.NoiseMultiplier, c.Steps, got, want, 100*(got/want-1))
			fallthrough
		default:
			if c.Optimistic.Epsilon != nil && got < *c.Optimistic.Epsilon {
				t.Errorf("case %d: ε = %v is below the lower bound %v", c.ID, got, *c.Optimistic.Epsilon)
			}
		}
	}
}

func TestSampledRDPKnownAnswers(t *testing.T) {
	// q=0.01, σ=2.5, 50 steps: constants of published unit tests.
	want := map[float64]float64{1.5: 6.70579741e-4, 2.5: 1.08548710e-3, 5: 2.18075656e-3, 50: 2.38460375e-2, 100: 167.416308}
	for order, rho := range want {
		// Their values at fractional orders are upper bounds: they add the
		// alternating series' absolute values.
		got, slack := 50*sampledRDP(0.01, 2.5, order), 1e-8
		if order != math.Trunc(order) {
			slack = 0.04
		}
		if got > rho*(1+1e-8) || got < rho*(1-slack) {
			t.Errorf("order %v: ρ = %v, want %v", order, got, rho)
		}
	}
}

func TestSampledRDPReference(t *testing.T) {
	r := loadReference(t)
	if r == nil {
		return
	}
	compared := 0
	for _, row := range r.PerStep {
		for i, order := range row.Orders {
			for _, list := range [][]*json.Number{row.Exact, row.Quadrature} {
				if i >= len(list) || list[i] == nil {
					continue
				}
				want, err := list[i].Float64()
				if err != nil {
					t.Fatal(err)
				}
				compared++
				if got := sampledRDP(row.SampleRate, row.NoiseMultiplier, order); !within(got, want, 1e-10) {
					t.Errorf("q=%v σ=%v α=%v: ρ = %v, want %v", row.SampleRate, row.NoiseMultiplier, order, got, want)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("compared only %d values", compared)
	}
}

// The integer sum and the integral share no code below logSum, so agreement
// checks both; it also stands in for the reference at fractional orders.
func TestIntegralEqualsSum(t *testing.T) {
	for _, q := range []float64{1e-7, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.999} {
		for _, sigma := range []float64{0.02, 0.1, 0.3, 0.5, 1, 2, 10, 100, 200} {
			for _, order := range []int{2, 3, 4, 7, 16, 63, 128} {
				sum, integral := logExcessSum(q, sigma, order), logExcessIntegral(q, sigma, float64(order))
				if math.IsNaN(sum) || math.IsNaN(integral) {
					t.Fatalf("q=%v σ=%v α=%d: %v %v", q, sigma, order, sum, integral)
				}
				if math.Abs(sum-integral) > 1e-11*math.Max(1, math.Abs(sum)) {
					t.Errorf("q=%v σ=%v α=%d: ln(A−1) = %v by sum, %v by integral", q, sigma, order, sum, integral)
				}
			}
		}
	}
}

// At fractional orders: against a plain, much finer quadrature of A itself.
func TestIntegralFractional(t *testing.T) {
	for _, q := range []float64{0.01, 0.2, 0.7} {
		for _, sigma := range []float64{0.5, 1, 3} {
			for _, order := range []float64{1.05, 1.5, 2.5, 7.3} {
				a, h := 0.0, sigma/200
				for z := -12 * sigma; z < order+12*sigma; z += h {
					a += h * math.Exp(-z*z/(2*sigma*sigma)+order*math.Log1p(q*math.Expm1((2*z-1)/(2*sigma*sigma)))) / (sigma * math.Sqrt(2*math.Pi))
				}
				want := math.Log(a) / (order - 1)
				if got := sampledRDP(q, sigma, order); math.Abs(got-want) > 1e-11/(order-1)+1e-10*want {
					t.Errorf("q=%v σ=%v α=%v: ρ = %v, want %v", q, sigma, order, got, want)
				}
			}
		}
	}
}

func TestRDPNoOverflow(t *testing.T) {
	for _, q := range []float64{1e-7, 1e-4, 0.01, 0.5, 1} {
		for _, sigma := range []float64{0.02, 0.05, 0.2, 1, 20, 200} {
			for _, steps := range []int{1, 1000, 1_000_000} {
				e := mustEpsilon(t, RDP, 1e-6, SelfComposed{PoissonSampled{q, Gaussian{sigma}}, steps})
				if math.IsNaN(e) || math.IsInf(e, 0) || e < 0 {
					t.Errorf("q=%v σ=%v T=%d: ε = %v", q, sigma, steps, e)
				}
			}
		}
	}
}
