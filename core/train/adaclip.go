package train

import (
	"context"
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/nn"
)

// adaClip measures, clips and noises gradients in coordinates of their own, which
// follow what is released (AdaCliP, Algorithm 1): per parameter the centre a, the
// scale b, and what measuring needs of them.
type adaClip struct {
	*gaussian
	nn.Coordinates
	geo *clip.Geometry

	a, b, root compute.Buffer   // of all parameters; root is √s, of each coordinate's deviation s
	inv, lin   compute.Buffer   // what Coordinates are parts of
	centres    []compute.Buffer // a, by tensor
	scales     []compute.Buffer // b, by tensor
	spare      compute.Buffer
	sizes      []int          // of each site's parameters
	size       compute.Buffer // √Σs
	parts      compute.Buffer // ‖a/b‖ by site
	away       compute.Buffer // ‖a/b‖

	squares compute.Buffer // [capacity]
	weights compute.Sums   // Σ of this step's factors
	weight  compute.Buffer // the same in two parts
}

// centred bounds f·‖a/b‖ in units of C, for the factor f of every example. Beyond
// it an example weighs less, so that what all examples have in common, and the
// centre takes away again, is never much longer than what is left: the float32
// sum of it rounds.
const centred = 16

func newAdaClip(g *gaussian) *adaClip {
	d, be, capacity := g.r.spec.Params(), g.r.be, g.r.model.Capacity
	c := &adaClip{
		gaussian: g, geo: g.r.clipper.Geometry,
		a: be.New(d), b: be.New(d), root: be.New(d), inv: be.New(d), lin: be.New(d), spare: be.New(d),
		size: be.New(1), away: be.New(1),
		squares: be.New(capacity), weights: be.NewSums(1), weight: be.New(2),
	}
	at := 0
	for _, s := range g.r.model.Sites() {
		size := 0
		for _, w := range s.Params() {
			n := w.Len()
			c.Inv, c.Lin = append(c.Inv, c.inv.Slice(at, n)), append(c.Lin, c.lin.Slice(at, n))
			c.centres, c.scales = append(c.centres, c.a.Slice(at, n)), append(c.scales, c.b.Slice(at, n))
			at, size = at+n, size+n
		}
		c.sizes = append(c.sizes, size)
	}
	c.parts, c.Offsets = be.New(len(c.sizes)), be.New(len(c.sizes))
	// Every s is at least √Least, and b² = s·Σs; float32 rounds both.
	c.Largest = 1.001 / (c.geo.Least * float64(d))
	kernel.Fill(be, d, float32(math.Sqrt(c.geo.First())), c.root)
	c.rescale()
	return c
}

// rescale works out the scale b, and what goes with it, from the deviations.
func (c *adaClip) rescale() {
	be, d, sites := c.r.be, c.root.Len(), len(c.sizes)
	kernel.RowNorms(be, 1, d, c.root, c.size)
	kernel.ScaleRows(be, 1, d, c.size, c.root, c.b) // b = √s·√Σs
	adaclip.Rescale(be, d, c.a, c.b, c.inv, c.lin)
	kernel.Mul(be, d, c.spare, c.lin, c.b)
	at := 0
	for i, n := range c.sizes {
		kernel.RowNorms(be, 1, n, c.spare.Slice(at, n), c.parts.Slice(i, 1))
		at += n
	}
	kernel.Mul(be, sites, c.Offsets, c.parts, c.parts)
	kernel.RowNorms(be, 1, sites, c.parts, c.away)
}

func (c *adaClip) begin() {
	kernel.Clear(c.r.be, c.weights)
	c.gaussian.begin()
}

// norms lifts those that are too short for f·‖a/b‖ ≤ centred·C, as f ≤ C over the
// norm; a thousandth is for the roundings of ‖a/b‖.
func (c *adaClip) norms(n int, dst []compute.Buffer) {
	kernel.Fill(c.r.be, n, 0, c.squares)
	c.r.model.ScaledSqNorms(c.squares, c.Coordinates)
	kernel.Unary(c.r.be, kernel.Root, n, c.squares, dst[0])
	adaclip.AtLeast(c.r.be, n, 1.001/centred, c.away, dst[0])
}

// add makes factors multiples of a power of two such that those of all rows, none
// above centred·C/‖a/b‖, add up exactly, in the digits that kernel.Split keeps.
func (c *adaClip) add(n int, factors []compute.Buffer, keep compute.Buffer) {
	adaclip.Total(c.r.be, n, c.reach(), c.away, factors[0], c.weights)
	c.gaussian.add(n, factors, keep)
}

// reach is the least unit of factors times ‖a/b‖.
func (c *adaClip) reach() float64 {
	return math.Ldexp(centred*c.r.clipper.Rule.C()*float64(max(c.r.mostRows(), 1)), -kernel.SplitDigits)
}

// release takes away from the sum, in coordinates, the centre's share in every
// example's weighted gradient, and adds noise in proportion to the scale.
//
// Guarantee: that of [gaussian.release], in the coordinates (g − a)/b. The sensitivity covers
// the roundings of sums that are 1 + [centred] times as long ([Run.rounded]).
func (c *adaClip) release(context.Context) error {
	c.centre()
	return c.addNoise(c.sensitivity(), func(i int) {
		kernel.Mul(c.r.be, c.r.grads[i].Len(), c.r.grads[i], c.r.grads[i], c.scales[i])
	})
}

func (c *adaClip) ahead() { _ = c.draw(c.sensitivity()) }

func (c *adaClip) centre() {
	kernel.Split(c.r.be, 1, c.weights, c.weight.Slice(0, 1), c.weight.Slice(1, 1))
	for i, sum := range c.r.sums {
		adaclip.Centre(c.r.be, sum.Len(), c.weight, c.centres[i], sum)
	}
}

// mean adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the geometry
// learn from it.
func (c *adaClip) mean() {
	times, noise := c.geo.Update(c.r.gradNoise*c.sensitivity(), c.r.batch)
	d := c.r.gradient.Len()
	kernel.Axpy(c.r.be, d, 1, c.a, c.r.gradient)
	adaclip.Spread(c.r.be, d, adaclip.SpreadParams{
		Beta1: float32(c.geo.BetaMean), Beta2: float32(c.geo.BetaSpread), Times: float32(times), Noise: noise,
		Least: float32(c.geo.Least), Greatest: float32(c.geo.Greatest),
	}, c.size, c.r.gradient, c.a, c.root)
	c.rescale()
}

// unnoised divides by the scale.
func (c *adaClip) unnoised() {
	c.centre()
	c.gaussian.unnoised()
	d := c.r.gradient.Len()
	kernel.Unary(c.r.be, kernel.Root, d, c.inv, c.spare)
	kernel.Mul(c.r.be, d, c.r.gradient, c.r.gradient, c.spare)
}

func (c *adaClip) state() []compute.Buffer { return []compute.Buffer{c.a, c.root} }

func (c *adaClip) restored() { c.rescale() }

func (c *adaClip) sensitivity() float64 { return c.r.rounded(1 + centred) }

// spread is Σb², as b² = s·Σs.
func (c *adaClip) spread(ctx context.Context) (float64, error) {
	var size [1]float32
	err := compute.Read(ctx, c.r.be, size[:], c.size)
	return math.Pow(float64(size[0]), 4), err
}
