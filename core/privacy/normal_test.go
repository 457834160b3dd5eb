package privacy

import (
	"math"
	"testing"
)

// Known answers to 17 digits and limits where the textbook's form has no digits
// left: small μ, large ε, both tails.
func TestGaussianDeltaGivesKnownAnswers(t *testing.T) {
	for _, c := range []struct{ mu, epsilon, want float64 }{
		{2, 1, 0.50986166005467015308},
		{1e-9, 0, 1e-9 / math.Sqrt(2*math.Pi)},
		{1e-3, 0, 0.00039894226377886},
		{1, 0, 0.38292492254802620728},
		{0, 1, 0},
		{math.Inf(1), 1e300, 1},
		{1e9, 5e17, 0.5}, // near = 0
		{1, math.Inf(1), 0},
		{5e-324, 1, 0},
		{1e9, 1e30, 0},
	} {
		if got := gaussianDelta(c.mu, c.epsilon); !within(got, c.want, 3e-7) {
			t.Errorf("μ=%g: δ(%g) = %v, want %v", c.mu, c.epsilon, got, c.want)
		}
	}
}

func TestLogOfTinyNumbersIsExact(t *testing.T) {
	for e := -1074; e < 0; e += 7 {
		if got, want := ln(math.Ldexp(1, e)), float64(e)*math.Ln2; !within(got, want, 1e-14) {
			t.Errorf("ln 2^%d = %v, want %v", e, got, want)
		}
	}
}

// Where the textbook's form still has digits, the forms agree with it, on both
// sides of the place where they change.
func TestGaussianDeltaFormsAgree(t *testing.T) {
	for _, mu := range []float64{0.05, 0.0999, 0.1001, 0.5, 1, 3, 10} {
		for u := -mu / 2; u < 6; u += 0.31 {
			epsilon := mu * (u + mu/2)
			if epsilon < 0 {
				continue
			}
			x, y := epsilon/mu-mu/2, epsilon/mu+mu/2
			want := math.Erfc(x/math.Sqrt2)/2 - math.Exp(epsilon)*math.Erfc(y/math.Sqrt2)/2
			if got := gaussianDelta(mu, epsilon); !within(got, want, 1e-11) {
				t.Errorf("μ=%g: δ(%g) = %v, want %v", mu, epsilon, got, want)
			}
		}
	}
}

func TestLogUpperIsContinuous(t *testing.T) {
	for _, x := range []float64{0, 36} {
		a, b := logUpper(math.Nextafter(x, -1)), logUpper(x)
		if math.Abs(a-b) > 1e-11 {
			t.Errorf("ln P(Z > %v) jumps from %v to %v", x, a, b)
		}
	}
}

// Tests have at least the power and at most the level that they claim: against
// the exact trade-off of one step, and by hand for atLeast.
func TestLowerBoundIsBelowTheExactTradeOff(t *testing.T) {
	for _, q := range []float64{1e-6, 0.01, 0.5, 0.999} {
		for _, sigma := range []float64{0.02, 0.3, 1, 30} {
			tried := 0
			term{q, sigma, 1, nil}.tests(func(power, logLevel float64) bool {
				tried++
				for _, e := range []float64{0, 0.1, 1, 10, 100} {
					if d := sampledDelta(q, sigma, e); power-math.Exp(e+logLevel) > d*(1+1e-9) {
						t.Errorf("q=%v σ=%v: a test shows δ(%v) = %v, the truth is %v", q, sigma, e, power-math.Exp(e+logLevel), d)
					}
				}
				return true
			})
			if tried == 0 {
				t.Errorf("q=%v σ=%v: no test", q, sigma)
			}
		}
	}
	for _, n := range []float64{1, 5, 40} {
		for _, q := range []float64{0.01, 0.3, 0.9} {
			tail := 0.0
			for m := n; m >= 1; m-- {
				tail += math.Exp(logBinomial(n, m) + m*math.Log(q) + (n-m)*math.Log1p(-q))
				if got := atLeast(n, q, m); got > tail*(1+1e-12) || got <= 0 {
					t.Errorf("P(Binomial(%v, %v) ≥ %v) = %v, not %v or less", n, q, m, tail, got)
				}
			}
		}
	}
}

// Answers, or refusals, for every legal number, not only those of use.
func TestEveryLegalNumberIsAnswered(t *testing.T) {
	for _, delta := range []float64{5e-324, 1e-310, 1e-300, 1 - 1e-16} {
		for _, q := range []float64{5e-324, 1e-300, 0.5, 1 - 1e-16, 1} {
			for _, sigma := range []float64{5e-324, 1e-150, 1e-9, 1, 1e150, math.MaxFloat64} {
				for _, steps := range []int{1, 2, math.MaxInt} {
					run := setting{q, sigma, steps, delta}
					s := run.spent(t)
					low, gdp, rdp := s.low(delta), s.gdp(delta), s.rdp().epsilon(delta)
					pld, notice := s.pld(delta)
					if !(0 <= low && low <= pld && (pld <= rdp || s.exact() != nil) && gdp >= 0) {
						t.Errorf("%v: %v … %v, RDP %v, GDP %v, %q", run, low, pld, rdp, gdp, notice)
					}
				}
			}
		}
	}
}

// What an answer takes is bounded: the nodes of the moments and the points of the
// grid, at every corner inside the limits of PLD.
func TestWorkIsBoundedAtEveryCorner(t *testing.T) {
	sweep(t)
	for _, q := range []float64{1e-9, 0.5} {
		for _, sigma := range []float64{leastNoise, 1, 1e9} {
			for _, steps := range []int{2, mostCounts} {
				for _, delta := range []float64{leastDelta, 0.5} {
					p := setting{q, sigma, steps, delta}
					s := p.spent(t)
					if why := s.beyond(delta); why != "" {
						t.Fatalf("%v: %s", p, why)
					}
					terms := s.terms()
					r := reach(terms, delta, s.rdp().epsilon(delta))
					if n := len(terms[0].losses(r)); n > 25_000 {
						t.Errorf("%v: %d nodes", p, n)
					}
					m := newMoments(terms, r)
					for _, sd := range []side{remove, add} {
						a := m.aim(sd, counts(terms), delta)
						w := a.window(0, maxSize)
						if lo, hi := terms[0].span(sd, w); hi-lo > 5*maxSize {
							t.Errorf("%v: %d grid points", p, hi-lo)
						}
					}
				}
			}
		}
	}
}

// lossPoint is the inverse of lossAt, also where the loss is far below 0, as it can be where
// nearly every row is in the sample.
func TestLossPointInvertsLossAt(t *testing.T) {
	for _, q := range []float64{1e-9, 0.01, 0.3, 0.5, 0.6, 0.999, 1 - 1e-9, 1 - 0x1p-50, 1 - 0x1p-53, 1} {
		for _, sigma := range []float64{0.05, 1, 30} {
			for x := -690.0; x < 690; x += 0.37 {
				z := lossPoint(q, sigma, x)
				if below := q < 1 && x < 0 && exp(x) <= (1-q)*(1-1e-15); below != math.IsInf(z, -1) && math.Abs(exp(x)/(1-q)-1) > 1e-14 {
					t.Fatalf("q=%v σ=%v: the loss %v is at %v", q, sigma, x, z)
				}
				if math.IsInf(z, -1) {
					continue
				}
				// Beside ln(1−q), where all outputs that are low have about the same loss,
				// rounding of exp(x) is that much of what is left.
				far := 1.0
				if x < 0 {
					far = q * exp((2*z-1)/(2*sigma*sigma)) / exp(x)
				}
				if back := lossAt(q, sigma, z); math.Abs(back-x) > 1e-12*(1+math.Abs(x))*max(1, 1/(sigma*sigma))+1e-15/max(far, 1e-3) {
					t.Errorf("q=%v σ=%v: the loss %v is at %v, where it is %v", q, sigma, x, z, back)
				}
			}
		}
	}
}
