package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
)

// viewedDense is a dense layer of models that take several views of an example: its
// gradient, a sum of outer products, one for each view, is formed.
type viewedDense struct {
	*formedSite // W [in×out] and then b
	in, out     int
	zero        bool // start at zero
	x           compute.Buffer
	y, dx       compute.Buffer
}

func (a denseSpec) newViewed(b *builder, in Shape, wantDx bool) Layer {
	l := &viewedDense{formedSite: newFormedSite(b, (in.Len()+1)*a.out), in: in.Len(), out: a.out, zero: a.zero, y: b.rows(a.out)}
	if wantDx {
		l.dx = b.back(l.in)
	}
	return l
}

func (l *viewedDense) weights() (w, b compute.Buffer) {
	n := l.in * l.out
	return l.p.Slice(0, n), l.p.Slice(n, l.out)
}

func (l *viewedDense) Sites() []Site { return []Site{l.formedSite} }

func (l *viewedDense) Forward(x compute.Buffer, n int) compute.Buffer {
	l.x, l.rows = x, n
	w, b := l.weights()
	kernel.Gemm(l.be, kernel.NoTrans, kernel.NoTrans, n, l.out, l.in, x, w, 0, l.y)
	kernel.AddRow(l.be, n, l.out, b, l.y)
	return l.y
}

// Backward: an outer product is the gradient of a convolution that sees its whole
// input at one place.
func (l *viewedDense) Backward(dy compute.Buffer, want bool) compute.Buffer {
	whole := picture.Window{Height: 1, Width: 1, Channels: l.in, High: 1, Wide: 1, Stride: 1}
	l.gather(func(from, n int, dst compute.Buffer) {
		picture.ConvWeights(l.be, whole, n, l.out, l.x.Slice(from*l.in, n*l.in), dy.Slice(from*l.out, n*l.out), dst)
	})
	if want {
		w, _ := l.weights()
		kernel.Gemm(l.be, kernel.NoTrans, kernel.Transpose, l.rows, l.in, l.out, dy, w, 0, l.dx)
	}
	return l.dx
}

func (l *viewedDense) Init(rng *rand.Rand) {
	w, b := l.weights()
	initAffine(l.be, l.zero, l.in, w, b, rng)
}
