package privacy

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"clipscope/core/chacha"
)

// tableSigma is σ₀, the parameter of the table's discrete Gaussian.
const tableSigma = 800

// TableDistance bounds the distance, in total variation, of a sample of [Table]
// from the discrete Gaussian with σ₀ = 800.
//
// Magnitudes end at 16383. What lies beyond has the probability 2·Q(16383/σ₀) at most,
// below 2⁻³⁰⁶. Up to there probabilities are whole multiples of 2⁻²⁹⁴: each is
// rounded down, by less than 1.0001 of these, rounding in the computation included
// (see weights), and 0 gets what is missing, 16384 times as much at most. So the sum
// of all differences is below 2·16386·2⁻²⁹⁴ and the distance below 16386·2⁻²⁹⁴. A
// column is kept with a probability that the table holds in full, so nothing else
// is lost.
const TableDistance = 0x1p-279

// Table is the table from which [chacha.Discrete] draws the discrete Gaussian with
// σ₀ = 800, to [TableDistance]. It is not to be changed.
var Table = sync.OnceValue(func() []float32 { return newTable(weights(tableSigma)) })

// weightBits is the number of binary digits of a probability.
const weightBits = chacha.ThresholdBits + 14

// weights are the probabilities of the magnitudes 0 … 16383 in multiples of
// 2^−weightBits: exp(−x²/2σ²) once for 0 and twice, for both signs, for the others.
//
// With c = exp(−1/2σ²), exp(−(x+1)²/2σ²) is exp(−x²/2σ²)·c^(2x+1), and c^(2x+3) is
// c^(2x+1)·c². In fixed point with 64 digits more than are wanted each product of
// factors up to 1 loses one unit at most, and passes on what its factors lost, so
// that c^(2x+1) lacks at most 4x+4 units, and all that is summed here less than 2³¹
// each: nothing beside a 2⁻³⁰th of what is rounded to in the end.
func weights(sigma int64) []*big.Int {
	const digits = weightBits + 64
	w := make([]*big.Int, chacha.TableColumns)
	c := expFixed(big.NewInt(1), big.NewInt(2*sigma*sigma), digits)
	times := func(a, b *big.Int) *big.Int {
		p := new(big.Int).Mul(a, b)
		return p.Rsh(p, digits)
	}
	square := times(c, c)
	density, step := new(big.Int).Lsh(big.NewInt(1), digits), c
	total := new(big.Int)
	for x := range w {
		w[x] = new(big.Int).Lsh(density, uint(min(x, 1)))
		total.Add(total, w[x])
		density, step = times(density, step), times(step, square)
	}
	rest := new(big.Int).Lsh(big.NewInt(1), weightBits)
	for _, v := range w {
		v.Lsh(v, weightBits).Quo(v, total)
		rest.Sub(rest, v)
	}
	w[0].Add(w[0], rest)
	return w
}

// newTable is the table of those weights (Vose 1991): columns as high as the mean,
// each filled with what it has of its own and, up to there, with that of one other,
// its alias. All is whole, and nothing is rounded.
func newTable(w []*big.Int) []float32 {
	full := new(big.Int).Lsh(big.NewInt(1), chacha.ThresholdBits)
	left := make([]*big.Int, len(w))
	var low, high []int // below the mean, and the others
	for x, v := range w {
		left[x] = new(big.Int).Set(v)
		if v.Cmp(full) < 0 {
			low = append(low, x)
		} else {
			high = append(high, x)
		}
	}
	table := make([]float32, chacha.TableLen)
	for len(low) > 0 && len(high) > 0 {
		x, alias := low[len(low)-1], high[len(high)-1]
		low = low[:len(low)-1]
		setColumn(table, x, alias, left[x])
		left[alias].Add(left[alias], left[x]).Sub(left[alias], full)
		if left[alias].Cmp(full) < 0 {
			high = high[:len(high)-1]
			low = append(low, alias)
		}
	}
	for _, x := range slices.Concat(low, high) { // as high as the mean
		setColumn(table, x, x, full)
	}
	return table
}

func setColumn(table []float32, column, alias int, threshold *big.Int) {
	const more = 24
	part := new(big.Int).Set(threshold)
	var digits [chacha.TableDigits]uint32
	mask := big.NewInt(1<<more - 1)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = uint32(new(big.Int).And(part, mask).Uint64())
		part.Rsh(part, more)
	}
	chacha.SetColumn(table, column, alias, uint32(part.Uint64()), digits)
}

// JoinedNoise is noise for sums that are whole multiples of a unit, of which a
// number is a sum Σ m_j·x_j of samples x_j of [Table] with m₀ = 1: what
// [chacha.Discrete] draws in a few nanoseconds.
//
// # Guarantee
//
// But for the table's distance, which is charged to δ, such noise costs no more
// than Gaussian noise of standard deviation Deviation, by every accountant, inside a
// Poisson sample or not.
//
// Let y be discrete Gaussian with σ_y² = σ₀²·T, T = Σ_{i<j} m_i², and x with σ₀. As
//
//	(z−mx)²/σ_y² + x²/σ₀² = z²/(σ_y²+m²σ₀²) + (x−cz)²/v², v² = σ₀²·T/(T+m²)
//
// with some c, y + mx is z with a probability in proportion to
// exp(−z²/2(σ_y²+m²σ₀²)), a discrete Gaussian's, times Σ_x exp(−(x−cz)²/2v²). That
// sum is v√(2π)·(1 ± ε) for every z, by Poisson's summation formula, ε =
// 2Σ_{k≥1} exp(−2π²v²k²): for v ≥ 9/4, which is what multipliers are chosen for, below
// 2⁻¹⁴³. So the sum of all is discrete Gaussian with σ₀²·Σ m_j² up to a factor of
// e^±η at every integer, η < 2⁻¹³⁹ (cf. Micciancio & Walter 2017). This is a bound on
// ratios, so tails are no exception.
//
// That is the variance σ² + r² in units, r = 2, of which σ is the Deviation, and so it
// costs what [GridNoise] does: up to 2⁻⁷⁰ in ε for 2⁴⁰ numbers over all releases, no
// more than the Gaussian.
//
// Samples of the table instead of exact ones move the law of n numbers by
// n·MostJoined·TableDistance in total variation at most: see [Inexact].
type JoinedNoise struct {
	multipliers []float64
	sigma       float64
}

// mostGrowth is the most that Σ m_j² may grow by with one sample more:
// (σ₀/(9/4))², rounded down.
const mostGrowth = 126419

// NewJoinedNoise returns noise whose Deviation lies between least and most, in units:
// of the fewest samples with which it finds one, and as large as it finds. ok is false
// where it finds none, as where most is small, or not below 2³¹.
//
// Whole multipliers give some deviations and not those between, and the noise is to
// have the one that was asked for: it is the unit that is chosen to fit.
func NewJoinedNoise(least, most float64) (noise JoinedNoise, ok bool) {
	if !(least > 0 && most < 1<<31) {
		return JoinedNoise{}, false
	}
	room := (most*most + roundingVariance) / (tableSigma * tableSigma)
	for k := 1; k <= chacha.MostJoined; k++ {
		m, total := joined(room, k)
		n := JoinedNoise{m, math.Sqrt(total) * tableSigma}
		if m != nil && n.Deviation() >= least && n.Deviation() <= most {
			return n, true
		}
	}
	return JoinedNoise{}, false
}

// joined are k multipliers whose squares add up to total, at most room, each sum of the
// first at most mostGrowth times the sum before; nil if there are none. The last is as
// large as it may be, and the others are no larger than it needs.
func joined(room float64, k int) (m []float64, total float64) {
	if !(room >= float64(k)) {
		return nil, 0
	}
	if k == 1 {
		return []float64{1}, 1
	}
	// Whole multipliers leave up to three fifths of what the others are given.
	m, total = joined(min(max(4*room/mostGrowth, float64(k-1)), room-1), k-1)
	last := math.Floor(math.Sqrt(min(room-total, (mostGrowth-1)*total)))
	return append(m, last), total + last*last
}

// Multipliers are m₀, m₁ …, whole and positive, at most [chacha.MostJoined]. They
// are not to be changed.
func (n JoinedNoise) Multipliers() []float64 { return n.multipliers }

// Sigma is the noise's own deviation, in units.
func (n JoinedNoise) Sigma() float64 { return n.sigma }

// Deviation is the standard deviation, in units, of the Gaussian noise that costs no
// less: a little below Sigma, with room for rounding.
func (n JoinedNoise) Deviation() float64 {
	return math.Sqrt(n.sigma*n.sigma-roundingVariance) * (1 - 0x1p-40)
}

// JoinedDistance bounds what n numbers of joined noise lie off in total variation.
func JoinedDistance(n int) float64 {
	return float64(n) * chacha.MostJoined * TableDistance
}
