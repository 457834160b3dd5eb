package train

import (
	"context"
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/nn"
	"clipscope/core/plan"
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
	weight  compute.Buffer // Σ of the step's factors, in two parts
}

// centred bounds f·‖a/b‖ in units of C, for the factor f of every example. Beyond
// it an example weighs less, so that what all examples have in common, and the
// centre takes away again, is never much longer than what is left: the float32
// sum of it rounds.
const centred = 16

func init() {
	register(kind{name: "adaclip", counts: scaled, weights: 1, open: func(w *workspace) mechanism { return newAdaClip(newGaussian(w)) },
		fits: func(c *clip.Clipper, n plan.Noise) bool { return c.Geometry != nil && !n.Discrete() }})
}

func newAdaClip(g *gaussian) *adaClip {
	d, be, capacity := g.terms.Spec.Params(), g.be, g.model.Capacity
	c := &adaClip{
		gaussian: g, geo: g.clipper.Geometry,
		a: be.New(d), b: be.New(d), root: be.New(d), inv: be.New(d), lin: be.New(d), spare: be.New(d),
		size: be.New(1), away: be.New(1),
		squares: be.New(capacity), weight: be.New(2),
	}
	at := 0
	for _, s := range g.model.Sites() {
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
	// b² = s·Σs; float32 rounds both.
	least := c.geo.Smallest()
	c.Largest = 1.001 / (least * least * float64(d))
	kernel.Fill(be, d, float32(math.Sqrt(c.geo.First())), c.root)
	c.rescale()
	return c
}

// rescale works out the scale b, and what goes with it, from the deviations.
func (c *adaClip) rescale() {
	be, d, sites := c.be, c.root.Len(), len(c.sizes)
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

// norms lifts those that are too short for f·‖a/b‖ ≤ centred·C, as f ≤ C over the
// norm; a thousandth is for the roundings of ‖a/b‖.
func (c *adaClip) norms(n int, dst []compute.Buffer) {
	kernel.Fill(c.be, n, 0, c.squares)
	c.model.ScaledSqNorms(c.squares, c.Coordinates)
	kernel.Unary(c.be, kernel.Root, n, c.squares, dst[0])
	adaclip.AtLeast(c.be, n, 1.001/centred, c.away, dst[0])
}

// addGradients makes factors multiples of a power of two such that those of all rows, none
// above centred·C/‖a/b‖, add up exactly, in the digits that kernel.Split keeps.
func (c *adaClip) addGradients(p Part, n int, factors []compute.Buffer, keep compute.Buffer) {
	adaclip.Total(c.be, n, c.reach(), c.away, factors[0], p.weights[0])
	c.gaussian.addGradients(p, n, factors, keep)
}

// reach is the least unit of factors times ‖a/b‖.
func (c *adaClip) reach() float64 {
	return math.Ldexp(centred*c.clipper.Rule.C()*float64(max(c.rows, 1)), -kernel.SplitDigits)
}

// release takes away from the sum, in coordinates, the centre's share in every
// example's weighted gradient, and adds noise in proportion to the scale.
//
// Guarantee: that of [gaussian.release], in the coordinates (g − a)/b. The sensitivity covers
// the roundings of sums that are 1 + [centred] times as long ([rounded]).
func (c *adaClip) release(_ context.Context, p Part, step int) error {
	c.centre(p)
	return c.addNoise(p, step, c.sensitivity(), func(i int) {
		kernel.Mul(c.be, c.grads[i].Len(), c.grads[i], c.grads[i], c.scales[i])
	})
}

func (c *adaClip) ahead(step int) { _ = c.draw(step, c.sensitivity()) }

// centre takes the centre's share away from a part's sums.
func (c *adaClip) centre(p Part) {
	kernel.Split(c.be, 1, p.weights[0], c.weight.Slice(0, 1), c.weight.Slice(1, 1))
	for i, sum := range p.sums {
		adaclip.Centre(c.be, sum.Len(), c.weight, c.centres[i], sum)
	}
}

// mean adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the geometry
// learn from it.
func (c *adaClip) mean() {
	times, noise := c.geo.Update(c.terms.GradNoise*c.sensitivity(), c.terms.BatchSize)
	d := c.gradient.Len()
	kernel.Axpy(c.be, d, 1, c.a, c.gradient)
	adaclip.Spread(c.be, d, adaclip.SpreadParams{
		Beta1: float32(c.geo.BetaMean), Beta2: float32(c.geo.BetaSpread), Times: float32(times), Noise: noise,
		Least: float32(c.geo.Least), Greatest: float32(c.geo.Greatest),
	}, c.size, c.gradient, c.a, c.root)
	c.rescale()
}

// unnoised divides by the scale.
func (c *adaClip) unnoised(p Part) {
	c.centre(p)
	c.gaussian.unnoised(p)
	d := c.gradient.Len()
	kernel.Unary(c.be, kernel.Root, d, c.inv, c.spare)
	kernel.Mul(c.be, d, c.gradient, c.gradient, c.spare)
}

func (c *adaClip) state() []compute.Buffer { return []compute.Buffer{c.a, c.root} }

func (c *adaClip) restored() { c.rescale() }

func (c *adaClip) sensitivity() float64 { return rounded(c.workspace, 1+centred) }

// spread is Σb², as b² = s·Σs.
func (c *adaClip) spread(ctx context.Context) (float64, error) {
	var size [1]float32
	err := compute.Read(ctx, c.be, size[:], c.size)
	return math.Pow(float64(size[0]), 4), err
}

// narrowest follows from b² = s·Σs, where each s is at least the geometry's smallest.
func (c *adaClip) narrowest(std float64) float64 {
	return std * c.geo.Smallest() * math.Sqrt(float64(c.terms.Spec.Params()))
}

// Centre puts the centre of adaclip's coordinates where an audit wants it, and gives all
// coordinates that deviation; without such coordinates it does nothing. The guarantee does
// not depend on either.
func (r *Run) Centre(at []float32, deviation float64) {
	if c, ok := r.clipping.mech.(interface{ centreOn([]float32, float64) }); ok {
		c.centreOn(at, deviation)
	}
}

func (c *adaClip) centreOn(at []float32, deviation float64) {
	c.be.Write(c.a, at)
	kernel.Fill(c.be, c.root.Len(), float32(math.Sqrt(deviation)), c.root)
	c.rescale()
}
