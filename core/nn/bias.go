package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// bias is the layer y = x + b, b [width]. An example's gradient by b equals its gradient by y, so that
// it costs no computation.
type bias struct {
	affine
	width, n int            // of a row, and rows of the last pass
	y, dx    compute.Buffer // [rows×width]
}

var biasForm = form{usage: "bias", read: func(arguments) layerSpec { return biasSpec{} }}

// biasSpec is a bias as a list of layers writes it.
type biasSpec struct{}

func (biasSpec) lipschitz() bool { return false }

func (biasSpec) outline(in Shape) (Outline, error) {
	return Outline{Out: in, Parameters: in.Len(), Tensors: tensors(in.Len())[1:], Floats: 3 * int64(in.Len()), Back: 2 * int64(in.Len()), Formed: int64(in.Len())}, nil
}

func (biasSpec) layer(b *builder, in Shape, _ bool) Layer {
	return newBias(b, in, newAffine(b, 0, in.Len(), nil))
}

func newBias(b *builder, in Shape, p affine) *bias {
	return &bias{affine: p, width: in.Len(), y: b.rows(in.Len()), dx: b.back(in.Len())}
}

func (b *bias) Forward(x compute.Buffer, n int) compute.Buffer {
	b.n = n
	kernel.Copy(b.be, n*b.width, b.y, x)
	kernel.AddRow(b.be, n, b.width, b.p, b.y)
	return b.y
}

func (b *bias) Backward(dy compute.Buffer, want bool) compute.Buffer {
	d := b.width
	by := func(from, n int, dst compute.Buffer) { kernel.Copy(b.be, n*d, dst, dy.Slice(from*d, n*d)) }
	b.form(b.n, by, by)
	if want {
		kernel.Copy(b.be, b.n*d, b.dx, dy)
	}
	return b.dx
}

// Init sets b to zero.
func (b *bias) Init(*rand.Rand) {
	if b.site != nil {
		kernel.Fill(b.be, b.width, 0, b.p)
	}
}
