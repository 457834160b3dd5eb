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
// by the algorithms of Canonne, Kamath & Steinke 2020 (1, 2 and 3), which use
// nothing but fair coins and integer arithmetic.
//
// Guarantee: src being uniform, the distribution is exact: no rounding, no
// logarithm, no grid of floats whose holes would tell the true value
// (Mironov 2012). A release of an integer vector of L2 sensitivity Δ with such
// noise in every coordinate is ½(Δ/σ)²-concentrated DP (their Theorem 4), hence
// has at every Rényi order the cost of Gaussian{σ/Δ}. It is not timing-safe: how
// long a draw takes depends, weakly, on its value.
type DiscreteGaussian struct {
	t uint64 // ⌊σ⌋ + 1
	// σ² = num/den, so that the exponent of acceptance, (|x|−σ²/t)²/2σ², is
	// the fraction (|x|·t·den − num)² / (2·num·den·t²).
	num, den *big.Int
}

// NewDiscreteGaussian returns the distribution with that σ, which must be in
// (0, 2³⁰]. σ is rounded up to a multiple of 2⁻¹⁰ first, so that σ² is a fraction
// of small integers; the noise is never less than asked for.
func NewDiscreteGaussian(sigma float64) (*DiscreteGaussian, error) {
	if !(sigma > 0 && sigma <= 1<<30) {
		return nil, fmt.Errorf("privacy: discrete Gaussian with standard deviation %v: it has to be in (0, 2³⁰]", sigma)
	}
	n := uint64(math.Ceil(sigma * (1 << 10))) // σ = n/2¹⁰, n ≤ 2⁴⁰
	d := &DiscreteGaussian{t: n>>10 + 1}
	num, den := new(big.Int).SetUint64(n), big.NewInt(1<<20)
	num.Mul(num, num)
	d.num, d.den = num, den
	return d, nil
}

// Sigma is the σ that is drawn with, at least the one that was asked for.
func (d *DiscreteGaussian) Sigma() float64 {
	r, _ := new(big.Rat).SetFrac(d.num, d.den).Float64()
	return math.Sqrt(r)
}

// Draw returns one X.
func (d *DiscreteGaussian) Draw(src rand.Source) int64 {
	c := coins{src}
	var y, top, bottom big.Int
	for {
		x := c.laplace(d.t)
		m := x
		if m < 0 {
			m = -m
		}
		// Accept with exp(−(|x|·t·den − num)²/(2·num·den·t²)).
		top.SetInt64(m)
		y.SetUint64(d.t)
		top.Mul(&top, &y)
		top.Mul(&top, d.den)
		top.Sub(&top, d.num)
		top.Mul(&top, &top)
		bottom.Mul(&y, &y)
		bottom.Mul(&bottom, d.num)
		bottom.Mul(&bottom, d.den)
		bottom.Lsh(&bottom, 1)
		if c.expBig(&top, &bottom) {
			return x
		}
	}
}

// coins makes exact random choices from uniform 64-bit words.
type coins struct{ src rand.Source }

// below is uniform on 0 … n−1 (Lemire's method, with rejection).
func (c coins) below(n uint64) uint64 {
	for {
		hi, lo := bits.Mul64(c.src.Uint64(), n)
		if lo >= n || lo >= -n%n {
			return hi
		}
	}
}

// exp is true with probability exp(−a/b), a ≤ b: the number of successes in a
// row of coins with a/(b·1), a/(b·2), … is even (their Algorithm 1).
func (c coins) exp(a, b uint64) bool {
	for k := uint64(1); ; k++ {
		// The coin a/(b·k) is one of a/b and one of 1/k.
		if c.below(b) >= a || c.below(k) != 0 {
			return k&1 == 1
		}
	}
}

// expOne is true with probability exp(−1).
func (c coins) expOne() bool { return c.exp(1, 1) }

// laplace is discrete Laplace, P(X = x) ∝ exp(−|x|/t) (their Algorithm 2).
func (c coins) laplace(t uint64) int64 {
	for {
		u := c.below(t)
		if !c.exp(u, t) {
			continue
		}
		v := uint64(0)
		for c.expOne() {
			v++
		}
		x := u + t*v
		negative := c.src.Uint64()&1 == 1
		if negative && x == 0 {
			continue
		}
		if negative {
			return -int64(x)
		}
		return int64(x)
	}
}

// expBig is true with probability exp(−a/b) for any a ≥ 0, b > 0.
func (c coins) expBig(a, b *big.Int) bool {
	var whole, rest big.Int
	whole.QuoRem(a, b, &rest)
	if !whole.IsUint64() {
		return false // less than exp(−2⁶⁴)
	}
	for n := whole.Uint64(); n > 0; n-- {
		if !c.expOne() {
			return false
		}
	}
	for k := uint64(1); ; k++ {
		if !c.coin(&rest, b) || c.below(k) != 0 {
			return k&1 == 1
		}
	}
}

// coin is true with probability a/b < 1. It compares a uniform number's binary
// digits, 64 at a time, with those of a/b, so it nearly always needs one word.
func (c coins) coin(a, b *big.Int) bool {
	var digits, rest big.Int
	rest.Set(a)
	for {
		rest.Lsh(&rest, 64)
		digits.QuoRem(&rest, b, &rest)
		u, d := c.src.Uint64(), digits.Uint64()
		if u != d {
			return u < d
		}
		if rest.Sign() == 0 {
			return false
		}
	}
}
