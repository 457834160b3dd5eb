package nn

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// dense is the affine layer y = x·W + b with W [in×out] and b [out].
type dense struct {
	*outerSite
	zero  bool           // start at zero: right for a convex model, fatal for a deep one
	y, dx compute.Buffer // [capacity×out], [capacity×in]
	bound *spectral      // made when first needed
}

var denseForm = form{usage: "dense:OUTPUTS", least: 1, most: 1, read: func(a arguments) layerSpec { return denseSpec{out: a.numbers[0]} }}

// denseSpec is a dense layer as it is written in a list of layers. With zero set, it starts from
// zero weights.
type denseSpec struct {
	out  int
	zero bool
}

func (denseSpec) lipschitz() bool { return true }

func (a denseSpec) outline(in Shape) (Outline, error) {
	n, out := int64(in.Len()), int64(a.out)
	// Outputs, gradients by them once they are scaled, and that by the input.
	return Outline{Out: Shape{Channels: a.out}, Parameters: (in.Len() + 1) * a.out, Tensors: tensors(in.Len(), a.out), Products: n * out, Floats: n + 2*out, Back: n + out}, nil
}

// layer: the first one of a model needs no gradient by its input, and saves that
// memory.
func (a denseSpec) layer(b *builder, in Shape, wantDx bool) Layer {
	if b.most > 1 || b.how != whole {
		return a.newViewed(b, in, wantDx)
	}
	d := &dense{outerSite: newOuterSite(b, in.Len(), a.out), zero: a.zero, y: b.rows(a.out)}
	if wantDx {
		d.dx = b.back(in.Len())
	}
	return d
}

func (d *dense) Sites() []Site { return []Site{d.outerSite} }

func (d *dense) Forward(x compute.Buffer, n int) compute.Buffer {
	d.x, d.n = x, n
	kernel.Gemm(d.be, kernel.NoTrans, kernel.NoTrans, n, d.out, d.in, x, d.w, 0, d.y)
	kernel.AddRow(d.be, n, d.out, d.b, d.y)
	return d.y
}

func (d *dense) Backward(dy compute.Buffer, want bool) compute.Buffer {
	d.dy = dy
	if want {
		kernel.Gemm(d.be, kernel.NoTrans, kernel.Transpose, d.n, d.in, d.out, dy, d.w, 0, d.dx)
	}
	return d.dx
}

// Init draws weights from a normal distribution of variance 2/in (He et al.
// 2015), in pieces, of which no more than one is held here, or zeros, and zero
// biases.
func (d *dense) Init(rng *rand.Rand) { initAffine(d.be, d.zero, d.in, d.w, d.b, rng) }

func initAffine(be compute.Backend, zero bool, in int, w, b compute.Buffer, rng *rand.Rand) {
	kernel.Fill(be, b.Len(), 0, b)
	n := w.Len()
	if zero {
		kernel.Fill(be, n, 0, w)
		return
	}
	std, piece := math.Sqrt(2/float64(in)), make([]float32, min(n, 1<<16))
	for at := 0; at < n; at += len(piece) {
		piece = piece[:min(len(piece), n-at)]
		for i := range piece {
			piece[i] = float32(std * rng.NormFloat64())
		}
		be.Write(w.Slice(at, len(piece)), piece)
	}
}

func (d *dense) Bound(dst compute.Buffer) {
	if d.bound == nil {
		d.bound = newSpectral(d.be, d.w, d.b, d.in, d.out)
	}
	d.bound.bound(dst)
}

// Reach: the gradient is (x, 1) ⊗ δ.
func (d *dense) Reach() (input, one float64) { return 1, 1 }

func (d *dense) Input() (x compute.Buffer, in int) { return d.x, d.in }
