package nn

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
)

// Dense is the affine layer y = x·W + b with W [in×out] and b [out].
type Dense struct {
	be      compute.Backend
	In, Out int
	zero    bool // start at zero: right for a convex model, fatal for a deep one

	w, b compute.Buffer

	n      int
	x, dy  compute.Buffer // of the last Forward and Backward; not owned
	y, dx  compute.Buffer // [capacity×out], [capacity×in]
	scaled compute.Buffer // [capacity×out]
	normX  compute.Buffer // [capacity]
	normDy compute.Buffer // [capacity]
	one    compute.Buffer // what the bias sees: ones [capacity×1]

	// Of ScaledSqNorms, made when first needed: squares of x and dy, products, ones.
	xx, dd, t, ones compute.Buffer
}

// NewDense makes a dense layer for batches of up to capacity rows. The first
// layer of a model needs no gradient by its input, so wantDx false saves that
// memory. With zero set, Init starts from zero weights.
func NewDense(be compute.Backend, in, out, capacity int, wantDx, zero bool) *Dense {
	d := &Dense{
		be: be, In: in, Out: out, zero: zero,
		w: be.New(in * out), b: be.New(out),
		y: be.New(capacity * out), scaled: be.New(capacity * out),
		normX: be.New(capacity), normDy: be.New(capacity), one: be.New(capacity),
	}
	be.Fill(capacity, 1, d.one)
	if wantDx {
		d.dx = be.New(capacity * in)
	}
	return d
}

func (d *Dense) Params() []compute.Buffer { return []compute.Buffer{d.w, d.b} }

func (d *Dense) Forward(x compute.Buffer, n int) compute.Buffer {
	d.x, d.n = x, n
	d.be.Gemm(compute.NoTrans, compute.NoTrans, n, d.Out, d.In, x, d.w, 0, d.y)
	d.be.AddRow(n, d.Out, d.b, d.y)
	return d.y
}

func (d *Dense) Backward(dy compute.Buffer, want bool) compute.Buffer {
	d.dy = dy
	if !want {
		return nil
	}
	d.be.Gemm(compute.NoTrans, compute.Transpose, d.n, d.In, d.Out, dy, d.w, 0, d.dx)
	return d.dx
}

func (d *Dense) Norms(dst compute.Buffer) {
	d.be.RowNorms(d.n, d.In, d.x, d.normX)
	d.be.RowNorms(d.n, d.Out, d.dy, d.normDy)
	d.be.JoinNorms(d.n, d.normX, d.normDy, dst)
}

func (d *Dense) Grads(dst []compute.Sums, factors compute.Buffer) {
	delta := d.dy
	if factors != nil {
		d.be.ScaleRows(d.n, d.Out, factors, d.dy, d.scaled)
		delta = d.scaled
	}
	d.be.AddOuter(d.n, d.In, d.Out, d.x, delta, dst[0])
	d.be.AddOuter(d.n, 1, d.Out, d.one, delta, dst[1])
}

func (d *Dense) Drop(keep compute.Buffer) {
	d.be.ScaleRows(d.n, d.In, keep, d.x, d.x)
	d.be.ScaleRows(d.n, d.Out, keep, d.dy, d.dy)
}

// Init draws weights from a normal distribution of variance 2/in (He et al.
// 2015), or zeros, and zero biases.
func (d *Dense) Init(rng *rand.Rand) {
	w := make([]float32, d.In*d.Out)
	if !d.zero {
		std := math.Sqrt(2 / float64(d.In))
		for i := range w {
			w[i] = float32(std * rng.NormFloat64())
		}
	}
	d.be.Write(d.w, w)
	d.be.Fill(d.Out, 0, d.b)
}
