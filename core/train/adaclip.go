package train

import (
	"context"
	"fmt"
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
	lengths    compute.Buffer // norms of root, and of a/b by site

	squares compute.Buffer // [capacity]
	weights compute.Sums   // Σ of this step's factors
	weight  compute.Buffer // the same in two parts

	total float64 // Σs
	away  float64 // ‖a/b‖
}

// centred bounds f·‖a/b‖ in units of C, for the factor f of every example. Beyond
// it an example weighs less, so that what all examples have in common, and the
// centre takes away again, is never much longer than what is left: the float32
// sum of it rounds.
const centred = 16

func newAdaClip(ctx context.Context, g *gaussian) (*adaClip, error) {
	d, be, capacity := g.r.spec.Params(), g.r.be, g.r.model.Capacity
	c := &adaClip{
		gaussian: g, geo: g.r.clipper.Geometry,
		a: be.New(d), b: be.New(d), root: be.New(d), inv: be.New(d), lin: be.New(d), spare: be.New(d),
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
	c.Offsets, c.lengths = make([]float64, len(c.sizes)), be.New(1+len(c.sizes))
	kernel.Fill(be, d, float32(math.Sqrt(c.geo.First())), c.root)
	return c, c.rescale(ctx)
}

// rescale works out the scale b, and what goes with it, from the deviations. It
// waits: what follows depends on them.
func (c *adaClip) rescale(ctx context.Context) error {
	d := c.root.Len()
	kernel.RowNorms(c.r.be, 1, d, c.root, c.lengths)
	// b = √s·√Σs, of which the device has the first factor: a/b = (a/√s)/√Σs.
	adaclip.Rescale(c.r.be, d, 1, c.a, c.root, c.b, c.inv, c.lin)
	kernel.Mul(c.r.be, d, c.spare, c.lin, c.b)
	at := 0
	for i, n := range c.sizes {
		kernel.RowNorms(c.r.be, 1, n, c.spare.Slice(at, n), c.lengths.Slice(1+i, 1))
		at += n
	}
	lengths := make([]float32, c.lengths.Len())
	if err := compute.Read(ctx, c.r.be, lengths, c.lengths); err != nil {
		return fmt.Errorf("train: coordinates: %w", err)
	}
	size := float64(lengths[0])
	c.total = size * size
	adaclip.Rescale(c.r.be, d, float32(size), c.a, c.root, c.b, c.inv, c.lin)
	offset := 0.0
	for i, l := range lengths[1:] {
		part := float64(l) / size * (1 + unscaled)
		c.Offsets[i] = part * part
		offset += c.Offsets[i]
	}
	// A deviation s is at least √Least, and b² = s·Σs; float32 rounds both.
	c.Largest = 1.001 / (math.Sqrt(c.geo.Least) * c.total)
	c.away = math.Sqrt(offset)
	return nil
}

// unscaled covers the roundings by which a/b differs from (a/√s)/√Σs as computed:
// of b, 1/b² and a/b² twice each, and of their product.
const unscaled = 16 * 0x1p-24

func (c *adaClip) begin() {
	kernel.Clear(c.r.be, c.weights)
	c.gaussian.begin()
}

func (c *adaClip) norms(n int, dst []compute.Buffer) {
	kernel.Fill(c.r.be, n, 0, c.squares)
	c.r.model.ScaledSqNorms(c.squares, c.Coordinates)
	kernel.Unary(c.r.be, kernel.Root, n, c.squares, dst[0])
}

// limit bounds the factors such that f·‖a/b‖ ≤ centred·C, and makes them multiples
// of a power of two such that those of all rows add up exactly, in the digits that
// kernel.Split keeps.
func (c *adaClip) limit() kernel.Limit {
	l := c.gaussian.limit()
	if c.away > 0 {
		l.Most = below(min(kernel.GreatestFactor, centred*c.r.clipper.Rule.C()/c.away/1.001))
		l.Unit = float32(math.Exp2(math.Ceil(math.Log2(float64(l.Most) * math.Ldexp(float64(max(c.r.ds.Train.N, 1)), -kernel.SplitDigits)))))
	}
	return l
}

func (c *adaClip) add(n int, factors []compute.Buffer, keep compute.Buffer) {
	adaclip.Total(c.r.be, n, factors[0], c.weights)
	c.gaussian.add(n, factors, keep)
}

// release takes away from the sum, in coordinates, the centre's share in every
// example's weighted gradient, and adds noise in proportion to the scale.
func (c *adaClip) release(context.Context) error {
	c.centre()
	return c.addNoise(c.sensitivity(), func(i int) {
		kernel.Mul(c.r.be, c.r.grads[i].Len(), c.r.grads[i], c.r.grads[i], c.scales[i])
	})
}

func (c *adaClip) centre() {
	kernel.Split(c.r.be, 1, c.weights, c.weight.Slice(0, 1), c.weight.Slice(1, 1))
	for i, sum := range c.r.sums {
		adaclip.Centre(c.r.be, sum.Len(), c.weight, c.centres[i], sum)
	}
}

// mean adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the geometry
// learn from it.
func (c *adaClip) mean(ctx context.Context) error {
	times, noise := c.geo.Update(c.r.gradNoise*c.sensitivity(), c.r.batch, c.total)
	d := c.r.gradient.Len()
	kernel.Axpy(c.r.be, d, 1, c.a, c.r.gradient)
	adaclip.Spread(c.r.be, d, adaclip.SpreadParams{
		Beta1: float32(c.geo.BetaMean), Beta2: float32(c.geo.BetaSpread), Times: float32(times), Noise: float32(noise),
		Least: float32(c.geo.Least), Greatest: float32(c.geo.Greatest),
	}, c.r.gradient, c.a, c.root)
	return c.rescale(ctx)
}

func (c *adaClip) sensitivity() float64 { return c.r.rounded(1 + centred) }

// spread is Σb², as b² = s·Σs.
func (c *adaClip) spread() float64 { return c.total * c.total }
