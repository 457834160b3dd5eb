package privacy

import (
	"fmt"
	"math"
)

// Within endRadius standard deviations the pairs of normals of package chacha are ideal
// ones that rounding alone has moved: see its comment. A pair lies beyond with probability
// endBelow = e^(−endRadius²/2).
const endBelow = 0x1p-83

var endRadius = math.Sqrt(2 * 83 * math.Ln2) // 10.73

// addFloatNoise adds times runs of e.
//
// # Guarantee
//
// Ideal Gaussian noise has no end, and the noise of package chacha has one: an output that
// it cannot reach from the one data set, and can from the other, tells them apart with
// certainty. What that takes of δ is charged, so that ε and δ hold for noise that ends.
//
// Let M be the mechanism with ideal noise and M̂ with noise that is the ideal one
// where no pair of its normals is longer than R = endRadius standard deviations, and
// anything elsewhere. On any data D, let μ be the part of M(D) with no such pair, so that
// μ ≤ M(D) and μ ≤ M̂(D) ≤ μ + τ in total mass, where τ is the sum of 2⁻⁸³ over all pairs.
// Let D′ be a neighbour, f and f′ the sums beneath the noise, s_k the
// distance of the two in pair k, in standard deviations, and B the
// outcomes x where in any step and pair x − f or x − f′ is longer than R. Outside B, M(D′)
// has the density of its own μ′. With M (ε, δ₀)-DP,
//
//	P(M̂(D) ∈ S) ≤ τ + μ(B) + P(M(D) ∈ S∖B) ≤ τ + μ(B) + e^ε·P(M(D′) ∈ S∖B) + δ₀
//	            ≤ e^ε·P(M̂(D′) ∈ S) + δ₀ + τ + μ(B)
//
// so what is added to δ₀ has no factor of e^ε. In a Poisson sample this holds given the
// rows that both have, for D and D′ alike, and averaging over those adds nothing; in
// steps that depend on each other it holds for the whole transcript.
//
// μ(B) is at most the sum of P(‖z + s_k‖ > R) over steps and pairs, z a pair of normals.
// That is Marcum's Q, and with J Poisson of mean ‖s_k‖²/2 and y = R²/2
//
//	P(‖z + s_k‖ > R) = e⁻ʸ·Σ_i y^i/i!·P(J ≥ i) ≤ e⁻ʸ·Σ_i (y·‖s_k‖²/2)^i/i!² = 2⁻⁸³·I₀(R·‖s_k‖)
//
// as P(J ≥ i) ≤ (‖s_k‖²/2)^i/i!. I₀ − 1 is a power series in ‖s_k‖² with terms above 0 and
// none of order 0, so its sum over pairs is at most its value at Σ‖s_k‖² ≤ s². The numbers
// of a tensor may be halves of pairs, so n numbers are of at most n pairs: a step of n
// numbers and sensitivity s adds at most 2⁻⁸³·(2n + I₀(R·s)).
//
// For s ≥ 1 there is a second bound. At most s² pairs have s_k ≥ 1, each with a probability of
// at most e^(−(R−s)²/2), as ‖z‖ > R − s; over the others I₀ − 1, convex in ‖s_k‖², is at most
// ‖s_k‖²·I₀(R). So the step adds at most 2⁻⁸³·(2n + s²·I₀(R)) + s²·e^(−(R−s)²/2).
//
// What rounding moves a normal by is not covered, as is said wherever float noise is
// described: whoever sees the last digits of a release may learn more.
func (s *spent) addFloatNoise(e FloatNoise, times int) error {
	if e.Values < 0 {
		return fmt.Errorf("privacy: noise of %d numbers", e.Values)
	}
	of, rate := e.Of, 1.0
	if sampled, ok := of.(PoissonSampled); ok {
		of, rate = sampled.Of, sampled.SampleRate
	}
	p, err := precision(of)
	if err != nil {
		return err
	}
	if times > 0 && !math.IsInf(p, 1) {
		s.addEnd(end{e.Values, rate, math.Sqrt(p) * (1 + 0x1p-40), float64(times)})
	}
	return s.addEvent(e.Of, times)
}

// An end is count releases of values numbers whose noise ends, on samples at a rate, that
// a row in the sample moves by up to shift standard deviations.
type end struct {
	values             int
	rate, shift, count float64
}

func (s *spent) addEnd(e end) {
	for i, f := range s.ends {
		if f.values == e.values && f.rate == e.rate && f.shift == e.shift {
			ends := append([]end(nil), s.ends...) // which another may share
			ends[i].count += e.count
			s.ends = ends
			return
		}
	}
	s.ends = append(s.ends[:len(s.ends):len(s.ends)], e)
}

// NoiseEnd bounds what the ends of noise take of δ over all events, whatever ε is: 0 where
// no [FloatNoise] is among them.
//
// Guarantee: an upper bound, with the proof of addFloatNoise.
func NoiseEnd(events ...Event) (delta float64, err error) {
	s, err := flatten(Composed{events}, 1)
	return s.endMass(), err
}

func (e end) mass() float64 { return e.count * e.massAt(e.shift) }

// massAt is the mass of one release that is moved by shift.
func (e end) massAt(shift float64) float64 {
	mass := endBelow * besselI0(endRadius*shift)
	if s2 := shift * shift; shift >= 1 && shift < endRadius {
		mass = min(mass, endBelow*s2*besselI0(endRadius)+s2*exp((endRadius-shift)*(shift-endRadius)/2))
	}
	return min(1, mass+2*endBelow*float64(e.values)) * (1 + 1e-12)
}

// endsOf is ε at delta for a group of rows, of which price answers for ideal noise.
//
// Guarantee: an upper bound if price's answer is. The proof of addFloatNoise holds with
// rows·s for s. In Poisson samples there is another. Let D′ have the rows and D not. What is
// impossible for D and not for D′ has at most the mass of P(J = j) times that with j·s,
// summed over the number J of rows in a sample. The other way round, an outcome of D within R of f is at least
// P(J = 0) times as likely for D′, in each step: with Λ = −Σ ln P(J = 0) over all steps,
// M̂ is (Λ, τ)-DP that way. So ε is at most the larger of Λ and the price at what the
// first mass leaves of δ.
func (s *spent) endsOf(rows, delta float64, price func(delta float64) float64) float64 {
	far := spent{distance: s.distance}
	mass, lambda := 0.0, 0.0
	for _, e := range s.ends {
		far.addEnd(end{e.values, e.rate, rows * e.shift, e.count})
		lambda -= e.count * rows * math.Log1p(-e.rate) * (1 + 1e-12)
		one := e.massAt(0)
		for j := 1.0; j <= rows && e.rate < 1; j++ {
			l := logBinomial(rows, j) + j*ln(e.rate) + (rows-j)*math.Log1p(-e.rate)
			one += exp(l) * (1 + weightError) * e.massAt(j*e.shift)
		}
		mass += e.count * one
	}
	epsilon := far.at(delta, price)
	if len(s.ends) > 0 && !math.IsInf(lambda, 1) && mass < delta {
		sampled := spent{distance: s.distance}
		epsilon = min(epsilon, max(lambda, sampled.at(delta-mass, price)))
	}
	return epsilon
}

// endMass is the part of δ that the ends of all noise take.
func (s *spent) endMass() (mass float64) {
	for _, e := range s.ends {
		mass += e.mass()
	}
	return mass
}

// unlike bounds in total variation what noise that ends lies off ideal noise.
func (s *spent) unlike() (distance float64) {
	for _, e := range s.ends {
		distance += e.count * endBelow * float64(e.values)
	}
	return distance
}

// besselI0 is I₀(x) = Σ (x²/4)^i/i!² for x ≥ 0, +Inf where that is beyond any use.
func besselI0(x float64) float64 {
	if !(x < 600) {
		return math.Inf(1)
	}
	sum, term := 1.0, 1.0
	for i := 1.0; term > sum*0x1p-60; i++ {
		term *= x / 2 / i * (x / 2 / i)
		sum += term
	}
	return sum
}
