package privacy

import (
	"fmt"
	"math"

	"clipscope/core/run"
)

// GroupEpsilon is ε at δ = delta of running the events one after the other for
// neighbours that differ by adding or removing rows rows, those of one person for
// instance, by the accountant of that name. With one row it is [Epsilon].
//
// A release on all rows moves by rows times the sensitivity. A release on a
// Poisson sample moves by that of the J rows that the sample holds, J ~
// Binomial(rows, q): the PLD accountant composes the mixture over J, which is far
// less than what the rows would cost one after the other.
//
// Guarantee: an upper bound, also when the rows' contributions point wherever they
// like, and adaptively: a Gaussian mixture with vectors of at most those lengths is
// dominated by the one with the lengths themselves (Choquette-Choo et al. 2024,
// Ganesh 2024, "Tight group-level DP guarantees for DP-SGD with sampling via mixture
// of Gaussians mechanisms").
func GroupEpsilon(accountant string, rows int, delta float64, events ...Event) (float64, error) {
	if rows < 1 || rows > run.MaxGroup {
		return 0, fmt.Errorf("privacy: a group of %d rows: from 1 to %d are supported", rows, run.MaxGroup)
	}
	if rows == 1 {
		return Epsilon(accountant, delta, events...)
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	s, err := flatten(Composed{events}, 1)
	if err != nil {
		return 0, err
	}
	if accountant != PLD && accountant != RDP {
		return 0, unknownAccountant(accountant)
	}
	return s.endsOf(float64(rows), delta, func(delta float64) float64 {
		if s.selected != nil {
			return chain(rows, delta, s.rdp().delta)
		}
		g := s.grouped(rows, delta)
		rho := g.renyi()
		loose := min(rho.epsilon(delta), chain(rows, delta, s.rdp().delta))
		if accountant == RDP {
			return loose
		}
		e, _ := g.pldOr(rho, delta)
		return min(e+g.weightRounding(), loose)
	}), nil
}

// chain is ε for a group by the general argument, from the δ(ε) of one row: a
// chain of neighbours from one data set to the other shows
//
//	(k·ε, δ(ε)·(exp(kε)−1)/(exp(ε)−1))
//
// for k rows (Vadhan 2017, Lemma 2.2). It holds at every ε, so whatever the search
// finds is a bound; +Inf where it finds none.
func chain(rows int, delta float64, one func(epsilon float64) float64) float64 {
	k := float64(rows)
	e := smallestEpsilon(delta, func(e float64) float64 {
		if e == 0 {
			return k * one(0)
		}
		grow := (k-1)*e + math.Log(math.Expm1(-k*e)/math.Expm1(-e))
		if grow > 600 {
			return 1
		}
		return exp(grow) * max(one(e), 1e-300) // δ may have underflowed
	})
	return k * e
}

// A group is the distribution of how many rows of some a Poisson sample holds.
// Only few can be in one sample with a probability that matters: the others are
// dropped.
type group struct {
	rows    float64
	weights []float64 // P(J = j), j = 0, 1 …
	logs    []float64 // their logarithms
	some    float64   // P(J > 0)
	dropped float64   // P(J ≥ len(weights))
}

// grouped is s for neighbours that differ in rows rows, with what is dropped
// negligible at delta.
func (s *spent) grouped(rows int, delta float64) *spent {
	k := float64(rows)
	g := &spent{precision: k * k * s.precision, infinite: s.infinite || math.IsInf(k*k*s.precision, 1), distance: s.distance}
	for _, t := range s.sampled {
		t.group = newGroup(rows, t.sampleRate, delta*negligible/float64(t.count))
		g.sampled = append(g.sampled, t)
	}
	return g
}

func newGroup(rows int, q, little float64) *group {
	k := float64(rows)
	g := &group{rows: k, some: -math.Expm1(k * math.Log1p(-q))}
	for j := 0.0; j <= k; j++ {
		l := logBinomial(k, j) + j*ln(q) + (k-j)*math.Log1p(-q)
		g.logs, g.weights = append(g.logs, l), append(g.weights, exp(l))
	}
	for last := rows; last > 1 && g.dropped+g.weights[last] <= little; last-- {
		g.dropped += g.weights[last] * (1 + weightError)
		g.weights, g.logs = g.weights[:last], g.logs[:last]
	}
	return g
}

// weightError bounds the relative rounding of a weight: logBinomial of at most
// mostRows is within a few units in the last place of ln 1000! = 5912.
const weightError = 1e-11

// weightRounding bounds what that adds to ε: it moves the loss of each release by
// no more.
func (s *spent) weightRounding() float64 {
	n := 0.0
	for _, t := range s.sampled {
		n += float64(t.count)
	}
	return 2 * weightError * n
}

// left is the probability that was dropped. It counts as infinite loss where P is
// the mixture, and is left out where Q is, which both raise δ.
func (g *group) left() float64 {
	if g == nil {
		return 0
	}
	return g.dropped
}

// tails returns the tails beyond z of N(j, σ²) for j = 2, 3 …
func (g *group) tails(z, sigma float64) []float64 {
	if g == nil || len(g.weights) < 3 {
		return nil
	}
	more := make([]float64, len(g.weights)-2)
	for i := range more {
		more[i] = tail((z - float64(i+2)) / sigma)
	}
	return more
}

// massBetween returns the mixture's mass in an interval, and a bound on its error.
func (g *group) massBetween(sigma float64, m mass, a, b edge) (mix, err float64) {
	mix, err = g.weights[0]*m.zero, g.weights[0]*m.zeroErr
	mix += g.weights[1] * between(a.z1, b.z1, a.t1, b.t1)
	err += g.weights[1] * rounding * roundoff(a.z1, b.z1, a.t1, b.t1)
	for i := range a.more {
		w, mean := g.weights[i+2], float64(i+2)
		from, to := (a.z-mean)/sigma, (b.z-mean)/sigma
		mix += w * between(from, to, a.more[i], b.more[i])
		err += w * rounding * roundoff(from, to, a.more[i], b.more[i])
	}
	return mix, err + weightError*mix
}

// rows returns the number of rows that neighbours differ in, shift the number of them that may be in
// one sample.
func (t term) rows() float64 {
	if t.group == nil {
		return 1
	}
	return t.group.rows
}

func (t term) shift() float64 {
	if t.group == nil {
		return 1
	}
	return float64(len(t.group.weights) - 1)
}

// one is the sampled release of one row that dominates the group's. With
// probability q′ = 1 − (1−q)^k the sample holds some of the k rows, and then the
// sum moves by at most k: the pair is a mixture, over the shift v ≤ k, of pairs
// ((1−q′)·N(0,σ²) + q′·N(v,σ²), N(0,σ²)). Divergences are jointly quasi-convex, so
// it diverges no more than the worst of these, which is that of v = k: the rate q′
// at the noise multiplier σ/k.
func (t term) one() (q, sigma float64) {
	if t.group == nil {
		return t.sampleRate, t.noiseMultiplier
	}
	return t.group.some, t.noiseMultiplier / t.group.rows
}

// lossAt is the privacy loss of removing at the output z, which rises with z.
func (t term) lossAt(z float64) float64 {
	if t.group == nil {
		return lossAt(t.sampleRate, t.noiseMultiplier, z)
	}
	var sum logSum
	for j := range t.group.weights {
		sum.addLog(t.group.logTerm(j, z, t.noiseMultiplier))
	}
	return sum.log()
}

// logTerm is the logarithm of the j-th term of the mixture over N(0,σ²).
func (g *group) logTerm(j int, z, sigma float64) float64 {
	x := float64(j)
	return g.logs[j] + x*(2*z-x)/(2*sigma*sigma)
}

// A tangent is a point of a rising curve, and the slope there.
type tangent struct{ z, f, slope float64 }

// lossPoint is the inverse of lossAt, −Inf where x is below everything. For who asks
// for one after the other, near keeps what the last has come to; it may be zero.
//
// For a group the sum over j ≥ 1 has to be exp(x) − P(J=0). Its logarithm f is
// convex and rises with z, so that any tangent is there after f, and so is each of
// the terms: Newton's steps from the nearest of those fall towards the answer.
func (t term) lossPoint(x float64, near *tangent) float64 {
	g, sigma := t.group, t.noiseMultiplier
	if g == nil {
		return lossPoint(t.sampleRate, sigma, x)
	}
	want := x + math.Log1p(-exp(g.logs[0]-x))
	if x < 1 {
		rest := exp(x) - g.weights[0]
		if x >= -1 {
			rest = math.Expm1(x) + g.some // the same, without cancellation beside 0
		}
		if rest <= 0 {
			return math.Inf(-1)
		}
		want = ln(rest)
	}
	z := math.Inf(1)
	if near.slope > 0 {
		z = near.z + (want-near.f)/near.slope
	}
	for j := 1; j < len(g.logs); j++ {
		z = min(z, (sigma*sigma*(want-g.logs[j])+float64(j*j)/2)/float64(j))
	}
	for range 100 {
		*near = g.rest(z, sigma)
		step := (near.f - want) / near.slope
		z -= step
		if !(math.Abs(step) > 1e-15*math.Abs(z)+1e-14*sigma*sigma) {
			break
		}
	}
	return z
}

// rest is the logarithm of the terms j ≥ 1, and its slope in z. What is less than e⁻⁴⁵
// of the largest, which is one of a few neighbours, is nothing beside rounding.
func (g *group) rest(z, sigma float64) tangent {
	largest := math.Inf(-1)
	for j := 1; j < len(g.logs); j++ {
		if l := g.logTerm(j, z, sigma); l > largest {
			largest = l
		}
	}
	sum, mean := 0.0, 0.0
	for j := 1; j < len(g.logs); j++ {
		if l := g.logTerm(j, z, sigma) - largest; l > -45 {
			e := exp(l)
			sum += e
			mean += float64(j) * e
		}
	}
	return tangent{z, largest + math.Log(sum), mean / sum / (sigma * sigma)}
}
