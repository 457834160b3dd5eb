package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// bias is the layer y = x + b, b [width]. An example's gradient by b equals its gradient by y, so that
// it costs no computation.
type bias struct {
	*formedSite
	y, dx compute.Buffer // [rows×width]
}

var biasForm = form{usage: "bias", read: func(arguments) layerSpec { return biasSpec{} }}

// biasSpec is a bias as a list of layers writes it.
type biasSpec struct{}

func (biasSpec) lipschitz() bool { return false }

func (biasSpec) outline(in Shape) (Outline, error) {
	return Outline{Out: in, Parameters: in.Len(), Tensors: tensors(in.Len())[1:], Floats: 3 * int64(in.Len()), Back: 2 * int64(in.Len()), Formed: int64(in.Len())}, nil
}

func (biasSpec) layer(b *builder, in Shape, _ bool) Layer {
	return &bias{formedSite: newFormedSite(b, in.Len()), y: b.rows(in.Len()), dx: b.back(in.Len())}
}

func (b *bias) Sites() []Site { return []Site{b.formedSite} }

func (b *bias) Forward(x compute.Buffer, n int) compute.Buffer {
	b.rows = n
	kernel.Copy(b.be, n*b.p.Len(), b.y, x)
	kernel.AddRow(b.be, n, b.p.Len(), b.p, b.y)
	return b.y
}

func (b *bias) Backward(dy compute.Buffer, want bool) compute.Buffer {
	d := b.p.Len()
	b.gather(func(from, n int, dst compute.Buffer) { kernel.Copy(b.be, n*d, dst, dy.Slice(from*d, n*d)) })
	if want {
		kernel.Copy(b.be, b.rows*d, b.dx, dy)
	}
	return b.dx
}

// Init sets b to zero.
func (b *bias) Init(*rand.Rand) { kernel.Fill(b.be, b.p.Len(), 0, b.p) }
