package privacy

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// An OneRunAudit is the outcome of auditing a mechanism in one run (Steinke,
// Nasr & Jagielski 2023): of Canaries examples each was put into the training
// data by a fair coin; the auditor, seeing the released model and not the coins,
// named the coin of Guesses of them and abstained from the others; Correct of
// the guesses were right.
type OneRunAudit struct {
	Canaries, Guesses, Correct int
}

func (a OneRunAudit) checkCounts() error {
	if !(0 <= a.Correct && a.Correct <= a.Guesses && a.Guesses <= a.Canaries) {
		return fmt.Errorf("privacy: an audit of %d canaries cannot have %d guesses, %d of them right", a.Canaries, a.Guesses, a.Correct)
	}
	return nil
}

// PValue bounds the probability that as many guesses would be right if the
// mechanism were (epsilon, delta)-DP (their Theorem 5.2):
//
//	P(W ≥ v) ≤ β + 2mδ·max_{1≤i≤v} P(v > Š ≥ v−i)/i,  Š ~ Bin(r, e^ε/(1+e^ε)),  β = P(Š ≥ v)
//
// for m canaries, r guesses and v right.
func (a OneRunAudit) PValue(epsilon, delta float64) float64 {
	if a.Guesses == 0 || a.Correct == 0 {
		return 1
	}
	pmf := binomial(a.Guesses, epsilon)
	beta := 0.0
	for _, p := range pmf[a.Correct:] {
		beta += p
	}
	alpha, sum := 0.0, 0.0
	for i := 1; i <= a.Correct; i++ {
		sum += pmf[a.Correct-i]
		alpha = max(alpha, sum/float64(i))
	}
	return min(1, beta+2*float64(a.Canaries)*delta*alpha)
}

// binomial is the distribution of Bin(n, e^ε/(1+e^ε)).
func binomial(n int, epsilon float64) []float64 {
	logP, logQ := -log1pexp(-epsilon), -log1pexp(epsilon)
	p := make([]float64, n+1)
	choose := 0.0
	for k := range p {
		if k > 0 {
			choose += math.Log(float64(n-k+1) / float64(k))
		}
		p[k] = exp(choose + float64(k)*logP + float64(n-k)*logQ)
	}
	return p
}

// Epsilon is the largest ε that the audit refutes at the given significance:
// with probability at least 1 − significance the true ε at delta is above it. 0
// where it refutes nothing.
func (a OneRunAudit) Epsilon(delta, significance float64) (float64, error) {
	if err := a.checkCounts(); err != nil {
		return 0, err
	}
	if !(delta >= 0 && delta < 1) || !(significance > 0 && significance < 1) {
		return 0, fmt.Errorf("privacy: an audit at δ = %v and significance %v: the first has to be in [0, 1), the second in (0, 1)", delta, significance)
	}
	return lastRefuted(func(epsilon float64) bool { return a.PValue(epsilon, delta) <= significance }), nil
}

// GDPEpsilon returns Epsilon for a mechanism whose trade-off curve is that of a
// Gaussian, which DP-SGD's tends to over many steps (Mahloujifar, Melis &
// Chaudhuri 2024, Algorithm 1): a far stronger bound on a narrower claim. It
// refutes "this is the Gaussian mechanism with that (ε, δ)".
func (a OneRunAudit) GDPEpsilon(delta, significance float64) (float64, error) {
	if err := a.checkCounts(); err != nil {
		return 0, err
	}
	if !(delta > 0 && delta < 1) || !(significance > 0 && significance < 1) {
		return 0, fmt.Errorf("privacy: an audit at δ = %v and significance %v: both have to be in (0, 1)", delta, significance)
	}
	return lastRefuted(func(epsilon float64) bool { return a.refutesGDP(gaussianMu(epsilon, delta), significance) }), nil
}

// refutesGDP runs the recursion over the number of right guesses: r and h bound
// the chance of at least so many being right, split into right and wrong.
func (a OneRunAudit) refutesGDP(mu, significance float64) bool {
	m := float64(a.Canaries)
	r := significance * float64(a.Correct) / m
	h := significance * float64(a.Guesses-a.Correct) / m
	for i := a.Correct - 1; i >= 0; i-- {
		next := max(h, normalCDF(normalQuantile(r)-mu))
		if next == h {
			break
		}
		r = min(1, r+float64(i)/float64(a.Guesses-i)*(next-h))
		h = next
	}
	return r+h > float64(a.Guesses)/m
}

// lastRefuted is the end of the interval from 0 on which refuted holds.
func lastRefuted(refuted func(float64) bool) float64 {
	if !refuted(0) {
		return 0
	}
	lo, hi := 0.0, 1.0
	for refuted(hi) {
		lo, hi = hi, 2*hi
		if hi > 1e4 {
			return lo
		}
	}
	for hi-lo > 1e-6 {
		if mid := (lo + hi) / 2; refuted(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// gaussianMu is the μ of the Gaussian mechanism that is exactly (ε, δ)-DP.
func gaussianMu(epsilon, delta float64) float64 {
	lo, hi := 0.0, 1.0
	for gaussianDelta(hi, epsilon) < delta {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-12*hi {
		if mid := (lo + hi) / 2; gaussianDelta(mid, epsilon) < delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// A CanaryScore is an example of an audit: whether the coin put it into the training
// data, and the auditor's score, higher the more it looks trained on.
type CanaryScore struct {
	Included bool
	Score    float64
}

// NewOneRunAudits turns canaries into audits, one for each number of guesses:
// half of the guesses, rounded up, say "in" of the highest scores and the others
// "out" of the lowest. NaN counts as the lowest score. Ask each for its Epsilon
// at significance/len(guesses) and take the largest: the numbers of guesses must
// be chosen before the scores are seen (Bonferroni).
func NewOneRunAudits(canaries []CanaryScore, guesses ...int) ([]OneRunAudit, error) {
	sorted := slices.Clone(canaries)
	slices.SortStableFunc(sorted, func(a, b CanaryScore) int {
		switch less := func(x, y float64) bool { return x < y || math.IsNaN(x) && !math.IsNaN(y) }; {
		case less(a.Score, b.Score):
			return -1
		case less(b.Score, a.Score):
			return 1
		default:
			return 0
		}
	})
	var audits []OneRunAudit
	for _, n := range guesses {
		a := OneRunAudit{Canaries: len(sorted), Guesses: n}
		if err := a.checkCounts(); err != nil {
			return nil, err
		}
		high := (n + 1) / 2
		for i, c := range sorted {
			if i < n-high && !c.Included || i >= len(sorted)-high && c.Included {
				a.Correct++
			}
		}
		audits = append(audits, a)
	}
	return audits, nil
}

// A TwoSampleAudit is the outcome of telling two data sets apart that differ by
// one row: the mechanism ran Runs times on each, and the auditor, by a rule fixed
// before, said "the row is there" of Included outputs with it and of Excluded
// outputs without it.
type TwoSampleAudit struct {
	Runs, Included, Excluded int
}

// Epsilon is the largest ε that the audit refutes at the given significance, for
// any mechanism: an (ε, δ)-DP one says "there" with the row at most e^ε times as
// often as without it, but for δ, and "not there" likewise. Both shares are
// bounded by Clopper & Pearson's intervals, at half the significance each, for
// the two ways round. 0 where it refutes nothing.
func (a TwoSampleAudit) Epsilon(delta, significance float64) (float64, error) {
	if !(a.Runs > 0 && 0 <= a.Included && a.Included <= a.Runs && 0 <= a.Excluded && a.Excluded <= a.Runs) {
		return 0, fmt.Errorf("privacy: an audit of %d runs cannot have %d and %d positives", a.Runs, a.Included, a.Excluded)
	}
	if !(delta >= 0 && delta < 1) || !(significance > 0 && significance < 1) {
		return 0, fmt.Errorf("privacy: an audit at δ = %v and significance %v: the first has to be in [0, 1), the second in (0, 1)", delta, significance)
	}
	best := 0.0
	for _, k := range [][2]int{{a.Included, a.Excluded}, {a.Runs - a.Excluded, a.Runs - a.Included}} {
		often := 1 - shareBelow(a.Runs-k[0], a.Runs, significance/4)
		seldom := shareBelow(k[1], a.Runs, significance/4)
		if often > delta {
			best = max(best, math.Log((often-delta)/seldom))
		}
	}
	return best, nil
}

// shareBelow is the Clopper–Pearson bound on a share, from above, after k of n:
// the largest p for which so few, or fewer, have probability alpha.
func shareBelow(k, n int, alpha float64) float64 {
	if k == n {
		return 1
	}
	return mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-alpha)
}
