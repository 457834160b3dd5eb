package train

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/privacy"
)

// coordinates is a clipper's geometry on the backend: per parameter tensor the
// centre a, the scale b, and what measuring needs of them.
type coordinates struct {
	geo      *clip.Geometry
	a, b     []compute.Buffer
	root     []compute.Buffer // √s, of each coordinate's deviation s
	inv, lin []compute.Buffer // 1/b² and a/b²
	spare    compute.Buffer
	offsets  []float64 // Σ a²/b² by group
	groupOf  []int
	total    float64 // Σs
	weights  float64 // Σ of this step's factors
}

func (p *Plan) newCoordinates(ctx context.Context, s *state) (*coordinates, error) {
	c := &coordinates{geo: p.clipper.Geometry, offsets: make([]float64, s.model.Groups())}
	largest := 0
	for i, w := range s.params {
		n := w.Len()
		largest = max(largest, n)
		c.a, c.b, c.root = append(c.a, p.be.New(n)), append(c.b, p.be.New(n)), append(c.root, p.be.New(n))
		c.inv, c.lin = append(c.inv, p.be.New(n)), append(c.lin, p.be.New(n))
		p.be.Fill(n, float32(math.Sqrt(c.geo.First())), c.root[i])
		c.groupOf = append(c.groupOf, i*len(c.offsets)/len(s.params))
	}
	c.spare = p.be.New(largest)
	return c, p.rescale(ctx, s, c)
}

// rescale works out the scale b, and what goes with it, from the deviations.
func (p *Plan) rescale(ctx context.Context, s *state, c *coordinates) error {
	c.total = 0
	for _, r := range c.root {
		part, err := compute.SqNorm(ctx, p.be, r.Len(), r, s.scalar)
		if err != nil {
			return fmt.Errorf("train: deviations: %w", err)
		}
		c.total += part
	}
	clear(c.offsets)
	for i, r := range c.root {
		n := r.Len()
		p.be.Rescale(n, float32(math.Sqrt(c.total)), c.a[i], r, c.b[i], c.inv[i], c.lin[i])
		p.be.Mul(n, c.spare, c.lin[i], c.b[i])
		part, err := compute.SqNorm(ctx, p.be, n, c.spare, s.scalar)
		if err != nil {
			return fmt.Errorf("train: the centre: %w", err)
		}
		c.offsets[c.groupOf[i]] += part
	}
	return nil
}

// noised turns the weighted gradient sum into b∘(Σû + noise): each example's
// factor also took its share of the centre away.
func (p *Plan) noised(std float64) {
	s := p.st
	c := s.coords
	for i, g := range s.grads {
		n := g.Len()
		p.be.Axpy(n, float32(-c.weights), c.a[i], g)
		if std == 0 {
			continue
		}
		p.be.Fill(n, 0, c.spare)
		p.be.AddNoise(n, float32(std), p.key.NoiseKey(privacy.Noise, uint16(i), uint64(s.done)), c.spare)
		p.be.MulAdd(n, 0, c.spare, c.b[i], g)
	}
}

// recentre adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the
// geometry learn from it.
func (p *Plan) recentre(ctx context.Context) error {
	s := p.st
	c := s.coords
	times, noise := c.geo.Update(p.gradNoise*p.clipper.Sensitivity(p.spec.Params()), p.batch, c.total)
	update := compute.SpreadParams{
		Beta1: float32(c.geo.BetaMean), Beta2: float32(c.geo.BetaSpread), Times: float32(times), Noise: float32(noise),
		Least: float32(c.geo.Least), Greatest: float32(c.geo.Greatest),
	}
	for i, g := range s.grads {
		p.be.Axpy(g.Len(), 1, c.a[i], g)
		p.be.Spread(g.Len(), update, g, c.a[i], c.root[i])
	}
	return p.rescale(ctx, s, c)
}
