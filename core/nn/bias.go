package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// bias is the layer y = x + b, b [width]. An example's gradient by b is that by its
// output, so it is simply there.
type bias struct {
	*formed
	y, dx compute.Buffer // [capacity×width]
}

// newBias makes the layer for batches of up to capacity rows.
func newBias(be compute.Backend, from *arena, width, capacity int) *bias {
	return &bias{newFormed(be, from, width, capacity), be.New(capacity * width), be.New(capacity * width)}
}

func (b *bias) Name() string  { return "bias" }
func (b *bias) Sites() []Site { return []Site{b.formed} }

func (b *bias) Forward(x compute.Buffer, n int) compute.Buffer {
	b.n = n
	kernel.Copy(b.be, n*b.p.Len(), b.y, x)
	kernel.AddRow(b.be, n, b.p.Len(), b.p, b.y)
	return b.y
}

func (b *bias) Backward(dy compute.Buffer, want bool) compute.Buffer {
	b.g = dy
	if want {
		kernel.Copy(b.be, b.n*b.p.Len(), b.dx, dy)
	}
	return b.dx
}

// Init starts at zero.
func (b *bias) Init(*rand.Rand) { kernel.Fill(b.be, b.p.Len(), 0, b.p) }
