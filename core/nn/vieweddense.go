package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

// viewedDense is a dense layer of models that take several views of an example: its
// gradient, a sum of outer products, one for each view, is formed. So is one whose weights are not trained, as its
// biases' gradients are simply there.
type viewedDense struct {
	affine  // W [in×out] and b
	in, out int
	zero    bool // start at zero
	n       int  // rows of the last pass
	x       compute.Buffer
	y, dx   compute.Buffer
}

func (a denseSpec) newViewed(b *builder, in Shape, wantDx bool) Layer {
	l := &viewedDense{affine: newAffine(b, in.Len()*a.out, a.out, nil), in: in.Len(), out: a.out, zero: a.zero, y: b.rows(a.out)}
	if wantDx {
		l.dx = b.back(l.in)
	}
	return l
}

func (l *viewedDense) Forward(x compute.Buffer, n int) compute.Buffer {
	l.x, l.n = x, n
	kernel.Gemm(l.be, kernel.NoTrans, kernel.NoTrans, n, l.out, l.in, x, l.w, 0, l.y)
	kernel.AddRow(l.be, n, l.out, l.b, l.y)
	return l.y
}

// Backward: an outer product is the gradient of a convolution that sees its whole
// input at one place.
func (l *viewedDense) Backward(dy compute.Buffer, want bool) compute.Buffer {
	all := picture.Window{Height: 1, Width: 1, Channels: l.in, High: 1, Wide: 1, Stride: 1}
	l.form(l.n, func(from, n int, dst compute.Buffer) {
		picture.ConvWeights(l.be, all, n, l.out, l.x.Slice(from*l.in, n*l.in), dy.Slice(from*l.out, n*l.out), dst)
	}, func(from, n int, dst compute.Buffer) {
		kernel.Copy(l.be, n*l.out, dst, dy.Slice(from*l.out, n*l.out))
	})
	if want {
		kernel.Gemm(l.be, kernel.NoTrans, kernel.Transpose, l.n, l.in, l.out, dy, l.w, 0, l.dx)
	}
	return l.dx
}

func (l *viewedDense) Init(rng *rand.Rand) {
	switch {
	case l.how == whole:
		initAffine(l.be, l.zero, l.in, l.w, l.b, rng)
	case l.site != nil:
		kernel.Fill(l.be, l.out, 0, l.b)
	}
}
