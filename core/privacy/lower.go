package privacy

import "math"

// This file holds the lower bounds that the PLD accountant's figures are held
// against. They share nothing with it but normal tails, so that a fault in the
// transform, its windows or its precision cannot hide in both.

// low is a lower bound on ε at delta: the most that one of the events costs by
// itself, for one row of a group. To tell only what one of them released is post-processing, so the whole
// never costs less.
//
// Guarantee: at most the truth. 0 is always a bound.
func (s *spent) low(delta float64) float64 {
	const slack = 1e-9 // far above the rounding of the closed forms
	if s.infinite {
		return math.Inf(1)
	}
	alone := func(exact func(float64) float64) float64 {
		return smallestEpsilon(delta*(1+slack), exact) * (1 - slack)
	}
	mu := math.Sqrt(s.precision)
	best := alone(func(e float64) float64 { return gaussianDelta(mu, e) })
	for _, t := range s.sampled {
		best = max(best, alone(func(e float64) float64 { return sampledDelta(t.sampleRate, t.noiseMultiplier, e) }))
		t.tests(func(power, logLevel float64) bool {
			if power <= delta {
				return false
			}
			e := ln(power-delta) - logLevel
			best = max(best, e-slack*math.Abs(e))
			return true
		})
	}
	return best
}

// lowDelta is a lower bound on δ at epsilon ≥ 0, for the same reason.
//
// Guarantee: at most the truth. 0 is always a bound.
func (s *spent) lowDelta(epsilon float64) float64 {
	const slack = 1e-9
	if s.infinite {
		return 1
	}
	best := gaussianDelta(math.Sqrt(s.precision), epsilon)
	for _, t := range s.sampled {
		best = max(best, sampledDelta(t.sampleRate, t.noiseMultiplier, epsilon))
		t.tests(func(power, logLevel float64) bool {
			best = max(best, power-exp(epsilon+logLevel))
			return power > best
		})
	}
	return best * (1 - slack)
}

// tests calls bound with the power and the log level of some tests of whether an
// example was there: an event of at least probability power with it and at most
// exp(logLevel) without. Any such event S shows δ ≥ P(S) − exp(ε)·Q(S) and
// ε ≥ ln((P(S) − δ)/Q(S)), by the definition of differential privacy, however
// badly it was chosen. Where bound answers false, it is not asked about events of
// less power of the same kind.
//
// The T outputs are z₁ … z_T, N(0,σ²) each, shifted by 1 in the K steps that drew
// the example, K ~ Binomial(T, q) independent of the noise. The events are
//
//   - the sum of all z is above a threshold t. With K ≥ m its distribution is
//     N(K, Tσ²), so P(S) ≥ P(K≥m)·P(Z > (t−m)/σ√T) and Q(S) = P(Z > t/σ√T).
//     It is near the best where σ is large;
//   - some m of the z sum to more than t. With K ≥ m, m of those that drew it
//     have a sum of N(m, mσ²), so P(S) ≥ P(K≥m)·P(Z > (t−m)/σ√m), and
//     Q(S) ≤ C(T,m)·P(Z > t/σ√m) as there are C(T,m) choices. It is near the
//     best where σ is small.
func (t term) tests(bound func(power, logLevel float64) bool) {
	steps, mean := float64(t.count), float64(t.count)*t.sampleRate
	slack := gammaRounding(steps)
	for _, j := range [...]float64{-8, -5, -3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9} {
		m := max(1, math.Floor(mean*(1-1e-12)+j*(math.Sqrt(mean)+1)))
		if m > steps {
			return
		}
		drawn := atLeast(steps, t.sampleRate, m) * exp(-slack)
		choices := logBinomial(steps, m) + slack
		some, all := math.Sqrt(m)/t.noiseMultiplier, m/math.Sqrt(steps)/t.noiseMultiplier
		for v := -4.0; v < 38; v += 0.5 {
			power := drawn * exp(logUpper(v))
			if !bound(power, choices+logUpper(v+some)) || !bound(power, logUpper(v+all)) {
				break
			}
		}
	}
}

// atLeast is a lower bound on P(K ≥ m), m ≥ 1, for K ~ Binomial(n, q), 0 < q < 1:
// exact for m = 1; up to ⌊nq⌋, which no median of it is below (Kaas & Buhrman
// 1980), ½ or 1 − exp(−(nq−m)²/2nq) (Chernoff), and P(K = m) beyond.
func atLeast(n, q, m float64) float64 {
	switch mean := n * q; {
	case m == 1:
		return -math.Expm1(n * math.Log1p(-q))
	case m <= mean:
		return max(0.5, -math.Expm1(-(mean-m)*(mean-m)/(2*mean)))
	}
	return exp(logBinomial(n, m) + m*ln(q) + (n-m)*math.Log1p(-q))
}

// gammaRounding is far above that of logBinomial(n, m) for any m: each logarithm of a
// factorial is good to a few units in the last place.
func gammaRounding(n float64) float64 { return 0x1p-48*logGamma(n+1) + 1e-12 }

// logBinomial is ln C(n, m).
func logBinomial(n, m float64) float64 {
	return logGamma(n+1) - logGamma(m+1) - logGamma(n-m+1)
}

func logGamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}
