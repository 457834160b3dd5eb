package privacy

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Grid releases sums of clipped vectors in integers: secure mode. Each
// example's vector is rounded to multiples of a step of C/Units, summed exactly,
// and given discrete Gaussian noise.
//
// Guarantee: whatever vectors go in, adding or removing one changes the sum by a
// vector of L2 norm at most Units, exactly, in integers; the noise has standard
// deviation at least σ·Units and is exact too ([DiscreteGaussian]). So the
// release has at every Rényi order at most the cost of Gaussian{σ}, and no float
// addition afterwards can tell more: what is released is an integer. In a
// Poisson sample the discrete privacy loss is taken to be the continuous one;
// at σ·Units ≥ 2²⁰ they differ by less than exp(−2⁴⁰).
//
// It does not defend against an attacker who measures time, nor against one who
// sees anything but the release.
type Grid struct {
	c     float64
	units int64
	noise *DiscreteGaussian
}

// NewGrid returns the grid for vectors of dim values clipped to L2 norm
// maxGradNorm, with that noise_multiplier. Units is the power of two from 2²⁰
// upwards that keeps what rounding takes from the bound, half a unit a
// coordinate, below a thousandth.
func NewGrid(maxGradNorm float64, dim int, noiseMultiplier float64) (*Grid, error) {
	if !(maxGradNorm > 0) || math.IsInf(maxGradNorm, 1) || dim < 1 {
		return nil, fmt.Errorf("privacy: secure mode with max_grad_norm %v and %d values: both have to be positive", maxGradNorm, dim)
	}
	units := int64(1 << 20)
	for float64(units) < 512*math.Sqrt(float64(dim)) {
		units *= 2
	}
	noise, err := NewDiscreteGaussian(noiseMultiplier * float64(units))
	if err != nil {
		return nil, fmt.Errorf("privacy: secure mode with noise_multiplier %v: %w", noiseMultiplier, err)
	}
	return &Grid{maxGradNorm, units, noise}, nil
}

// Units is the bound on one example's norm in steps of the grid.
func (g *Grid) Units() int64 { return g.units }

// Step is the width of the grid: every released value is a multiple of it.
func (g *Grid) Step() float64 { return g.c / float64(g.units) }

// Bound is the norm to clip dim-dimensional vectors to so that rounding to the
// nearest keeps them in the bound: C less half a step for each of the √dim, and
// less a margin for float32 arithmetic.
func (g *Grid) Bound(dim int) float64 {
	return g.c * (1 - math.Sqrt(float64(dim))/(2*float64(g.units))) * (1 - 1e-5)
}

// Add rounds v to the grid and adds it to sum, of the same length. A vector
// longer than C, which clipping to Bound should not have left, is shortened;
// one with NaN or ±Inf in it counts as zero, and Add returns false. Sums of up to
// 2²⁰ vectors cannot overflow.
func (g *Grid) Add(sum []int64, v []float32) bool {
	if len(sum) != len(v) {
		return false
	}
	scale := float64(g.units) / g.c
	shrink := 1.0
	for range 3 {
		norm, ok := g.norm2(v, scale, shrink)
		if !ok {
			return false
		}
		if norm.atMost(uint64(g.units)) {
			for i, x := range v {
				sum[i] += toGrid(x, scale, shrink)
			}
			return true
		}
		// Toward zero, rounding never lengthens; the factor leaves room for
		// the rounding of the product.
		shrink *= float64(g.units) / norm.sqrt() * (1 - 1e-9)
		if shrink > 1-1e-9 {
			shrink = 1 - 1e-9
		}
	}
	return false
}

// toGrid rounds to nearest, or toward zero when the vector is being shrunk.
func toGrid(x float32, scale, shrink float64) int64 {
	y := float64(x) * scale * shrink
	if shrink == 1 {
		return int64(math.RoundToEven(y))
	}
	return int64(y)
}

// norm2 is the exact squared norm of the rounded vector; ok is false where a
// value is not finite.
func (g *Grid) norm2(v []float32, scale, shrink float64) (n uint128, ok bool) {
	for _, x := range v {
		y := math.Abs(float64(x) * scale * shrink)
		if !(y < 1<<62) {
			if math.IsNaN(y) || math.IsInf(float64(x), 0) {
				return n, false
			}
			// So long that all else is nothing: report it as such.
			n.addSquare(1 << 62)
			continue
		}
		r := toGrid(x, scale, shrink)
		n.addSquare(uint64(max(r, -r)))
	}
	return n, true
}

// Release adds noise to sum and returns it in units of the vectors.
func (g *Grid) Release(sum []int64, src rand.Source) []float64 {
	out := make([]float64, len(sum))
	step := g.Step()
	for i, s := range sum {
		out[i] = float64(s+g.noise.Draw(src)) * step
	}
	return out
}

// NoiseMultiplier is the σ that is drawn with, at least what was asked for.
func (g *Grid) NoiseMultiplier() float64 { return g.noise.Sigma() / float64(g.units) }

// uint128 counts squares; it sticks at its maximum.
type uint128 struct{ hi, lo uint64 }

func (n *uint128) addSquare(x uint64) {
	hi, lo := bits.Mul64(x, x)
	var carry uint64
	n.lo, carry = bits.Add64(n.lo, lo, 0)
	n.hi, carry = bits.Add64(n.hi, hi, carry)
	if carry != 0 {
		n.hi, n.lo = math.MaxUint64, math.MaxUint64
	}
}

func (n uint128) atMost(root uint64) bool {
	hi, lo := bits.Mul64(root, root)
	return n.hi < hi || n.hi == hi && n.lo <= lo
}

func (n uint128) sqrt() float64 { return math.Sqrt(float64(n.hi)*0x1p64 + float64(n.lo)) }

// AddVectors is Add for each of the rows of v, of len(sum) values each.
func (g *Grid) AddVectors(sum []int64, v []float32) (rejected int) {
	for row := range slices.Chunk(v, max(1, len(sum))) {
		if !g.Add(sum, row) {
			rejected++
		}
	}
	return rejected
}
