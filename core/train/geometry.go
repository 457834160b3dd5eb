package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/nn"
	"clipscope/core/train/adaclip"
)

// coordinates is a clipper's geometry on the backend: per parameter tensor the
// centre a, the scale b, and what measuring needs of them.
type coordinates struct {
	nn.Coordinates
	geo     *clip.Geometry
	a, b    []compute.Buffer
	root    []compute.Buffer // √s, of each coordinate's deviation s
	spare   compute.Buffer
	siteOf  []int
	total   float64 // Σs
	away    float64 // ‖a/b‖
	weights float64 // Σ of this step's factors
	// A factor is at most most, and a multiple of unit: a power of two such that
	// float64 adds up N of them exactly; 0 where that does not matter.
	most, unit float64
}

// centred bounds f·‖a/b‖ in units of C, for the factor f of every example. Beyond
// it an example weighs less, so that what all examples have in common, and the
// centre takes away again, is never much longer than what is left: the float32
// sum of it rounds.
const centred = 16

// factor is f rounded down to what adds up exactly.
func (c *coordinates) factor(f float64) float64 {
	f = min(f, c.most)
	if c.unit > 0 {
		f = math.Floor(f/c.unit) * c.unit
	}
	return f // which in float32 is a multiple of unit, too
}

// limit bounds the factors of a step on n rows, for the threshold it has.
func (c *coordinates) limit(threshold float64, n int) {
	c.most, c.unit = greatestFactor, 0
	if c.away > 0 {
		c.most = min(c.most, centred*threshold/c.away/1.001)
		c.unit = math.Exp2(math.Ceil(math.Log2(c.most * float64(max(n, 1)) * 0x1p-53)))
	}
}

func (p *Plan) newCoordinates(ctx context.Context, s *state) (*coordinates, error) {
	c := &coordinates{geo: p.clipper.Geometry}
	sites := s.model.Sites()
	c.Offsets = make([]float64, len(sites))
	for i, site := range sites {
		for range site.Params() {
			c.siteOf = append(c.siteOf, i)
		}
	}
	largest := 0
	for i, w := range s.params {
		n := w.Len()
		largest = max(largest, n)
		c.a, c.b, c.root = append(c.a, p.be.New(n)), append(c.b, p.be.New(n)), append(c.root, p.be.New(n))
		c.Inv, c.Lin = append(c.Inv, p.be.New(n)), append(c.Lin, p.be.New(n))
		kernel.Fill(p.be, n, float32(math.Sqrt(c.geo.First())), c.root[i])
	}
	c.spare = p.be.New(largest)
	return c, p.rescale(ctx, s, c)
}

// rescale works out the scale b, and what goes with it, from the deviations.
func (p *Plan) rescale(ctx context.Context, s *state, c *coordinates) error {
	c.total = 0
	for _, r := range c.root {
		part, err := kernel.Norm(ctx, p.be, r, s.scalar)
		if err != nil {
			return fmt.Errorf("train: deviations: %w", err)
		}
		c.total += part * part
	}
	clear(c.Offsets)
	offset := 0.0
	for i, r := range c.root {
		n := r.Len()
		adaclip.Rescale(p.be, n, float32(math.Sqrt(c.total)), c.a[i], r, c.b[i], c.Inv[i], c.Lin[i])
		kernel.Mul(p.be, n, c.spare, c.Lin[i], c.b[i])
		part, err := kernel.Norm(ctx, p.be, c.spare.Slice(0, n), s.scalar)
		if err != nil {
			return fmt.Errorf("train: the centre: %w", err)
		}
		c.Offsets[c.siteOf[i]] += part * part
		offset += part * part
	}
	// A deviation s is at least √Least, and b² = s·Σs; float32 rounds both.
	c.Largest = 1.001 / (math.Sqrt(c.geo.Least) * c.total)
	c.away = math.Sqrt(offset)
	return nil
}

// centre takes away from the sum, in coordinates, the centre's share in every
// example's weighted gradient.
func (p *Plan) centre() {
	if c := p.st.coords; c != nil {
		for i, sum := range p.st.sums {
			kernel.AddScaled(p.be, sum.Len(), -c.weights, c.a[i], sum)
		}
	}
}

// recentre adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the
// geometry learn from it.
func (p *Plan) recentre(ctx context.Context) error {
	s := p.st
	c := s.coords
	times, noise := c.geo.Update(p.gradNoise*p.sensitivity(), p.batch, c.total)
	update := adaclip.SpreadParams{
		Beta1: float32(c.geo.BetaMean), Beta2: float32(c.geo.BetaSpread), Times: float32(times), Noise: float32(noise),
		Least: float32(c.geo.Least), Greatest: float32(c.geo.Greatest),
	}
	for i, g := range s.grads {
		kernel.Axpy(p.be, g.Len(), 1, c.a[i], g)
		adaclip.Spread(p.be, g.Len(), update, g, c.a[i], c.root[i])
	}
	return p.rescale(ctx, s, c)
}
