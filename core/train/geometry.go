package train

import (
	"context"
	"fmt"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/privacy"
)

// coordinates carries a clipper's geometry to the backend: per parameter tensor
// the centre a, the scale b, and what measuring needs of them.
type coordinates struct {
	geo     clip.Geometry
	a, b    []compute.Buffer
	inv     []compute.Buffer // 1/b²
	lin     []compute.Buffer // a/b²
	noise   compute.Buffer
	offsets []float64 // Σ a²/b² by group
	groupOf []int
	weights float64 // Σ of this step's factors

	host, hostInv, hostLin []float32
}

func (p *Plan) newCoordinates(s *state) *coordinates {
	c := &coordinates{geo: p.clipper.Geometry, offsets: make([]float64, s.model.Groups())}
	largest := 0
	for i, w := range s.params {
		n := w.Len()
		largest = max(largest, n)
		c.a, c.b = append(c.a, p.be.New(n)), append(c.b, p.be.New(n))
		c.inv, c.lin = append(c.inv, p.be.New(n)), append(c.lin, p.be.New(n))
		c.groupOf = append(c.groupOf, i*len(c.offsets)/len(s.params))
	}
	c.noise = p.be.New(largest)
	c.host = make([]float32, p.spec.Params())
	c.hostInv, c.hostLin = make([]float32, largest), make([]float32, largest)
	c.geo.Reset(p.spec.Params())
	p.writeCoordinates(s, c)
	return c
}

// writeCoordinates brings the geometry's present vectors to the backend.
func (p *Plan) writeCoordinates(s *state, c *coordinates) {
	a, b := c.geo.Centre(), c.geo.Scale()
	clear(c.offsets)
	for i, w := range s.params {
		n := w.Len()
		inv, lin := c.hostInv[:n], c.hostLin[:n]
		sum := 0.0
		for j := range n {
			v := 1 / (float64(b[j]) * float64(b[j]))
			m := float64(a[j])
			inv[j], lin[j] = float32(v), float32(m*v)
			sum += m * m * v
		}
		c.offsets[c.groupOf[i]] += sum
		p.be.Write(c.a[i], a[:n])
		p.be.Write(c.b[i], b[:n])
		p.be.Write(c.inv[i], inv)
		p.be.Write(c.lin[i], lin)
		a, b = a[n:], b[n:]
	}
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
		p.be.Fill(n, 0, c.noise)
		p.be.AddNoise(n, float32(std), p.key.NoiseKey(privacy.Noise, uint16(i), uint64(s.done)), c.noise)
		p.be.Mul(n, c.noise, c.noise, c.b[i])
		p.be.Axpy(n, 1, c.noise, g)
	}
}

// recentre adds the centre back to the noised mean, g̃ = b∘ũ + a, and lets the
// geometry learn from it.
func (p *Plan) recentre(ctx context.Context) error {
	s := p.st
	c := s.coords
	rest := c.host
	for i, g := range s.grads {
		n := g.Len()
		p.be.Axpy(n, 1, c.a[i], g)
		if err := p.be.Read(ctx, rest[:n], g); err != nil {
			return fmt.Errorf("train: reading the released gradient: %w", err)
		}
		rest = rest[n:]
	}
	c.geo.Adapt(c.host, p.gradNoise*p.clipper.Sensitivity(p.spec.Params()), p.batch)
	p.writeCoordinates(s, c)
	return nil
}
