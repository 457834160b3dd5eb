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

func TestRDPGivesKnownAnswers(t *testing.T) {
	for _, k := range knowns {
		got := mustEpsilon(t, RDP, k.delta, k.event())
		// More orders than the peers' lists: at or below them, never below
		// the truth.
		if got > k.rdp*(1+1e-6) || got < k.prvLow {
			t.Errorf("q=%v σ=%v T=%d: ε = %v, want %v … %v", k.q, k.sigma, k.steps, got, k.prvLow, k.rdp)
		}
	}
}

func TestRDPEqualsTheReference(t *testing.T) {
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

func TestSampledRDPGivesKnownAnswers(t *testing.T) {
	// q=0.01, σ=2.5, 50 steps: constants of published unit tests.
	want := map[float64]float64{1.5: 6.70579741e-4, 2.5: 1.08548710e-3, 5: 2.18075656e-3, 50: 2.38460375e-2, 100: 167.416308}
	for order, rho := range want {
		// Their values at fractional orders are upper bounds: they add the
		// alternating series' absolute values.
		got, slack := 50*newSampling(0.01, 2.5).rdp(order), 1e-8
		if order != math.Trunc(order) {
			slack = 0.04
		}
		if got > rho*(1+1e-8) || got < rho*(1-slack) {
			t.Errorf("order %v: ρ = %v, want %v", order, got, rho)
		}
	}
}

func TestSampledRDPEqualsTheReference(t *testing.T) {
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
				if got := newSampling(row.SampleRate, row.NoiseMultiplier).rdp(order); !within(got, want, 1e-10) {
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
			one := newSampling(q, sigma)
			for _, order := range []int{2, 3, 4, 7, 16, 63, 128} {
				sum, integral := logExcessSum(q, sigma, order), one.logExcessIntegral(float64(order))
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
func TestIntegralEqualsQuadratureAtFractionalOrders(t *testing.T) {
	for _, q := range []float64{0.01, 0.2, 0.7} {
		for _, sigma := range []float64{0.5, 1, 3} {
			one := newSampling(q, sigma)
			for _, order := range []float64{1.05, 1.5, 2.5, 7.3} {
				a, h := 0.0, sigma/200
				for z := -12 * sigma; z < order+12*sigma; z += h {
					a += h * math.Exp(-z*z/(2*sigma*sigma)+order*math.Log1p(q*math.Expm1((2*z-1)/(2*sigma*sigma)))) / (sigma * math.Sqrt(2*math.Pi))
				}
				want := math.Log(a) / (order - 1)
				if got := one.rdp(order); math.Abs(got-want) > 1e-11/(order-1)+1e-10*want {
					t.Errorf("q=%v σ=%v α=%v: ρ = %v, want %v", q, sigma, order, got, want)
				}
			}
		}
	}
}

// Orders share their nodes, and most terms are added without logarithms: no order may
// be the other for it than where each is asked alone and everything is a logarithm.
func TestIntegralEqualsPlain(t *testing.T) {
	for _, q := range []float64{5e-324, 1e-310, 1e-200, 1e-160, 1e-100, 1e-30, 1e-7, 1e-3, 0.04, 0.3, 0.9, 1 - 1e-9, 1 - 0x1p-53} {
		for _, sigma := range []float64{0.011, 0.05, 0.3, 0.7, 1, 1.3, 5, 80, 1e4} {
			one := newSampling(q, sigma)
			for _, order := range []float64{1.001, 1.03, 1.5, 2, 3.7, 10.9, 64, 129, 960, 1 << 14, 1 << 17} {
				if order > 2000*sigma {
					continue // not by the integral
				}
				got, want := one.logExcessIntegral(order), plainExcessIntegral(q, sigma, order)
				if got != want && !(math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want))) {
					t.Errorf("q=%v σ=%v α=%v: ln(A−1) = %v, plainly %v", q, sigma, order, got, want)
				}
			}
		}
	}
}

// plainExcessIntegral is logExcessIntegral as it was first written.
func plainExcessIntegral(q, sigma, order float64) float64 {
	step := 0.4 * min(1, sigma)
	per := int(3.2/step + 0.5) // nodes in a stretch
	lo, hi := -12.0, order/sigma+12
	stretches := int((hi-lo)/(step*float64(per))) + 1
	at := func(i int) float64 {
		x := lo + float64(i)*step
		return plainPowerExcess(order, q, x/sigma-1/(2*sigma*sigma)) - x*x/2
	}
	ends := make([]float64, stretches+1)
	peak := math.Inf(-1)
	for i := range ends {
		ends[i] = at(i * per)
		peak = max(peak, ends[i])
	}
	var sum logSum
	for i := range stretches {
		if max(ends[i], ends[i+1]) < peak-60 {
			continue
		}
		sum.addLog(ends[i])
		for j := 1; j < per; j++ {
			sum.addLog(at(i*per + j))
		}
	}
	return sum.log() + math.Log(step) - math.Log(2*math.Pi)/2
}

// plainPowerExcess is ln((1+u)^a − 1 − a·u) for u = q·(exp(y)−1), a > 1: −Inf at
// u = 0.
func plainPowerExcess(a, q, y float64) float64 {
	if l := y + ln(q); l > 550 { // 1+u is q·exp(y) to all digits
		return a*l + math.Log1p(-math.Exp(math.Log(a)-(a-1)*l))
	}
	u := q * math.Expm1(y)
	if y > 600 { // u is q·exp(y), which overflows on the way for tiny q
		u = math.Exp(y + ln(q))
	}
	l := math.Log1p(u)
	switch {
	case math.Abs(u) <= 0.1 && math.Abs(a*u) <= 0.5:
		// The binomial series, from its quadratic term on.
		sum, t := 0.0, 1.0
		for k := 2.0; math.Abs(t) > 1e-17*math.Abs(sum); k++ {
			sum += t
			t *= (a - k) / (k + 1) * u
		}
		return math.Log(a*(a-1)/2*sum) + 2*math.Log(math.Abs(u))
	case a*l < 30:
		return math.Log(math.Expm1(a*l) - a*u)
	default:
		return a*l + math.Log1p(-(1+a*u)*math.Exp(-a*l))
	}
}

func TestRDPDoesNotOverflow(t *testing.T) {
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

// What is left of large numbers has lost digits where the peak of the integrand far from 0
// begins to count, and near order 1: no more of them than the guarantee of rdp says. The
// answers are of 40 digits, by the trapezium rule with other steps.
func TestSampledRDPLosesNoMoreDigitsThanStated(t *testing.T) {
	for _, c := range []struct{ q, sigma, order, want float64 }{
		{8.555327814896648e-14, 33.0, 65536, 1.5259021898493229451e-8},
		{2.2855998132241004e-52, 8.3, 16384, 6.1038881771074583166e-11},
		{0.00011142189796189766, 60.0, 65536, 0.000015259021895823281166},
		{1.6334404616900997e-18, 10.0, 8192, 1.2208521547200740758e-7},
		{0.2540224527505604, 1.8500778403439757, 1.001, 0.010191617490584208019},
		{0.83018801568135, 7.322541412696755, 1.001, 0.006435041344004961525},
		{9.337751893764334e-305, 0.3, 127, 7.9365079364890390741e-6},
	} {
		got := newSampling(c.q, c.sigma).rdp(c.order)
		if ratio := c.order / c.sigma; !within(got, c.want, 2e-12+0x1p-52*ratio*ratio) {
			t.Errorf("q=%v σ=%v α=%v: ρ = %v, want %v, which is off by %.2g of it", c.q, c.sigma, c.order, got, c.want, got/c.want-1)
		}
	}
}

// TestSampledRDPMemoryStaysSmall: however small noise is, what orders share stays small.
func TestSampledRDPMemoryStaysSmall(t *testing.T) {
	for _, sigma := range []float64{6e-4, 3e-3, 0.019, 0.02, 0.05, 1} {
		one := newSampling(0.01, sigma)
		for _, order := range orders {
			one.rdp(order)
		}
		nodes := len(one.ends) + cap(one.spare)
		for _, b := range one.between {
			nodes += len(b)
		}
		if nodes > 150_000 {
			t.Errorf("σ=%v: %d nodes are kept", sigma, nodes)
		}
	}
}
