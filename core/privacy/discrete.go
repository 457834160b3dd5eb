package privacy

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
)

// DiscreteGaussian draws integers X with
//
//	P(X = x) ∝ exp(−x²/2σ²)
//
// by rejection from a discrete Laplace distribution, as Canonne, Kamath &
// Steinke 2020 do (Algorithms 2 and 3). Every choice is a comparison of a
// uniform number with exp(−a/b) for integers a and b. Floats settle it when the
// first 64 digits of the number are not within 2⁻⁴⁰ of it, which is nearly
// always; otherwise integers of as many digits as it takes do.
//
// Guarantee: src being uniform, the distribution is exact: there is no grid of
// floats whose holes would tell the true value (Mironov 2012). A release of an
// integer vector of L2 sensitivity Δ with such noise in every coordinate is
// ½(Δ/σ)²-concentrated DP (their Theorem 4), which is no bound on (ε, δ) as
// tight as the Gaussian's, and none within a sample: see [GridNoise] for one.
// It is not timing-safe: how long a draw takes depends, weakly, on its value.
type DiscreteGaussian struct {
	t     uint64  // ⌊σ⌋ + 1, the scale of the Laplace distribution
	n     uint64  // σ = n/2¹⁰
	sigma float64 // exactly that
	shift float64 // σ²/t
}

const sigmaBits = 10 // binary digits of σ after the point

// NewDiscreteGaussian returns the distribution with that σ, which must be in
// (0, 2³¹]. σ is rounded up to a multiple of 2⁻¹⁰ first, so that σ² is a fraction
// of small integers; the noise is never less than asked for.
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if !(sigma > 0 && sigma <= 1<<31) {
		return nil, fmt.Errorf("privacy: discrete Gaussian with standard deviation %v: it has to be in (0, 2³¹]", sigma)
	}
	n := uint64(math.Ceil(sigma * (1 << sigmaBits)))
	d := &DiscreteGaussian{n: n, t: n>>sigmaBits + 1, sigma: float64(n) / (1 << sigmaBits)}
	d.shift = d.sigma * d.sigma / float64(d.t)
	return d, nil
}

// Sigma is the σ that is drawn with, at least the one that was asked for.
func (d *DiscreteGaussian) Sigma() float64 { return d.sigma }

// Draw returns one X.
func (d *DiscreteGaussian) Draw(src rand.Source) int64 {
	c := coins{src}
	for {
		m, negative := c.laplace(d.t)
		// Accept with exp(−(|x|−σ²/t)²/2σ²).
		z := (float64(m) - d.shift) / d.sigma
		if c.exp(z*z/2, func() (a, b *big.Int) { return d.exponent(m) }) {
			if negative {
				return -int64(m)
			}
			return int64(m)
		}
	}
}

// exponent is (m−σ²/t)²/2σ² as the fraction (m·t·4¹⁰ − n²)² / (2·n²·4¹⁰·t²).
func (d *DiscreteGaussian) exponent(m uint64) (a, b *big.Int) {
	n2 := new(big.Int).SetUint64(d.n)
	n2.Mul(n2, n2)
	t := new(big.Int).SetUint64(d.t)
	a = new(big.Int).SetUint64(m)
	a.Mul(a, t).Lsh(a, 2*sigmaBits).Sub(a, n2).Mul(a, a)
	b = t.Mul(t, t).Mul(t, n2).Lsh(t, 2*sigmaBits+1)
	return a, b
}

// GridNoise is noise for sums that are whole multiples of a unit.
//
// # Guarantee
//
// A release of such sums with this noise costs no more than one with Gaussian
// noise of standard deviation Sigma, whatever accountant prices that, inside a
// Poisson sample or not. The draw is discrete Gaussian with variance σ² + r² in
// units, r = 2, and up to a factor e^±η that is
//
//	randomised rounding of (sum + 𝒩(0, σ²)),
//
// where y is rounded to the integer x with probability ∝ exp(−(x−y)²/2r²): after
// the Gaussian release, that is post-processing. For the rounding's normaliser
// Σ_x exp(−(x−y)²/2r²) is r√(2π)·(1 ± ε) for every y by Poisson's summation
// formula, ε = 2Σ_{k≥1} exp(−2π²r²k²) < 2⁻¹¹²; so the rounded value has density
// 𝒩(x; sum, σ²+r²)/(1 ± ε) at every integer x, and so has the draw (cf. Peikert
// 2010; Micciancio & Walter 2017). Over d numbers and T releases η ≤ 2·d·T·ε,
// which for d·T ≤ 2⁴⁰ moves ε by less than 2⁻⁷⁰: beneath the last digit of every ε
// that anything here says.
type GridNoise struct {
	d    *DiscreteGaussian
	unit float64
}

const roundingVariance = 4 // r²

// NewGridNoise returns noise of standard deviation sigma for multiples of unit.
// sigma/unit must be in (0, 2³¹).
func NewGridNoise(sigma, unit float64) (*GridNoise, error) {
	d, err := NewDiscreteGaussian(math.Sqrt((sigma/unit)*(sigma/unit) + roundingVariance))
	if err != nil {
		return nil, err
	}
	return &GridNoise{d, unit}, nil
}

// FineUnit is a power of two that divides unit, itself one, and is at most a
// thousandth of sigma, so that r adds next to nothing.
func FineUnit(sigma, unit float64) float64 {
	return math.Min(unit, math.Exp2(math.Floor(math.Log2(sigma/1000))))
}

// Deviation is the standard deviation of what is drawn: a little more than was asked for.
func (g *GridNoise) Deviation() float64 { return g.d.Sigma() * g.unit }

// Draw returns one number, in units.
func (g *GridNoise) Draw(src rand.Source) int64 { return g.d.Draw(src) }

// coins makes exact random choices from uniform 64-bit words.
type coins struct{ src rand.Source }

// below is uniform on 0 … n−1, 0 < n < 2⁶² (Lemire's method, with rejection, of
// 63 binary digits), and a fair coin of its own from the word's last digit.
func (c coins) below(n uint64) (x uint64, coin bool) {
	for {
		w := c.src.Uint64()
		hi, lo := bits.Mul64(w&^1, n)
		if lo >>= 1; lo >= n || lo >= (1<<63)%n {
			return hi, w&1 == 1
		}
	}
}

// laplace is discrete Laplace, P(X = x) ∝ exp(−|x|/t), as magnitude and sign: the
// magnitude is u + t·v with u < t kept with probability exp(−u/t), v geometric
// and minus zero refused.
func (c coins) laplace(t uint64) (magnitude uint64, negative bool) {
	for {
		u, negative := c.below(t)
		if !c.exp(float64(u)/float64(t), func() (a, b *big.Int) {
			return new(big.Int).SetUint64(u), new(big.Int).SetUint64(t)
		}) {
			continue
		}
		m := u + t*c.geometric()
		if negative && m == 0 {
			continue
		}
		return m, negative
	}
}

// geometric is v ≥ 0 with P(v ≥ k) = exp(−k): the number of k ≥ 1 for which one
// uniform number is below exp(−k).
func (c coins) geometric() uint64 {
	w := c.src.Uint64()
	k := uint64(0)
	for c.below64(w, float64(k+1), func() (a, b *big.Int) { return new(big.Int).SetUint64(k + 1), big.NewInt(1) }) {
		k++
	}
	return k
}

// exp is true with probability exp(−a/b), of which gamma is a/b to within 2⁻⁴⁵
// of its size.
func (c coins) exp(gamma float64, exact func() (a, b *big.Int)) bool {
	return c.below64(c.src.Uint64(), gamma, exact)
}

// below64 reports whether the uniform number in [0, 1) whose first 64 binary
// digits are w is below exp(−a/b); gamma is a/b, nearly. Mostly the first two
// sums of Taylor's series, which lie on either side of it, settle the matter.
func (c coins) below64(w uint64, gamma float64, exact func() (a, b *big.Int)) bool {
	u, line := float64(w)*0x1p-64, 1-gamma
	switch {
	case u < line-margin:
		return true
	case u > line+gamma*gamma/2+margin:
		return false
	}
	switch p := exp(-gamma); {
	case u < p-margin:
		return true
	case u > p+margin:
		return false
	}
	a, b := exact()
	return c.decide(w, a, b)
}

const margin = 0x1p-40

// decide is below64 in integers: it adds digits to the number and to the bounds
// on exp(−a/b) until they part.
func (c coins) decide(w uint64, a, b *big.Int) bool {
	u := new(big.Int).SetUint64(w)
	one := big.NewInt(1)
	for digits := uint(64); ; digits += 64 {
		p := expFixed(a, b, digits)
		// p is within 1 of exp(−a/b)·2^digits, and the number is in [u, u+1).
		if new(big.Int).Add(u, big.NewInt(2)).Cmp(p) <= 0 {
			return true
		}
		if u.Cmp(new(big.Int).Add(p, one)) >= 0 {
			return false
		}
		u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(c.src.Uint64()))
	}
}

// expFixed is exp(−a/b)·2^digits to within 1, for a ≥ 0, b > 0: the argument is
// halved until it is below 1, Taylor's series summed, and the result squared
// back. Each of the s squarings at most doubles the error, for which s+32 more
// digits are carried.
func expFixed(a, b *big.Int, digits uint) *big.Int {
	s := uint(max(0, a.BitLen()-b.BitLen()+1))
	if s > 40 {
		return new(big.Int) // below exp(−2³⁹)
	}
	prec := digits + s + 32
	x := new(big.Int).Lsh(a, prec)
	x.Quo(x, new(big.Int).Lsh(b, s))
	sum, term := new(big.Int).Lsh(big.NewInt(1), prec), new(big.Int).Lsh(big.NewInt(1), prec)
	for k := int64(1); term.Sign() != 0; k++ {
		term.Mul(term, x).Rsh(term, prec).Quo(term, big.NewInt(k))
		if k&1 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	for range s {
		sum.Mul(sum, sum).Rsh(sum, prec)
	}
	return sum.Rsh(sum, prec-digits)
}
