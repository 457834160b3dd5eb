package nn

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// dense is the affine layer y = x·W + b with W [in×out] and b [out].
type dense struct {
	*outer
	zero  bool           // start at zero: right for a convex model, fatal for a deep one
	y, dx compute.Buffer // [capacity×out], [capacity×in]
	bound *spectral      // made when first needed
}

// newDense makes a dense layer for batches of up to capacity rows. The first
// layer of a model needs no gradient by its input, so wantDx false saves that
// memory. With zero set, Init starts from zero weights.
func newDense(be compute.Backend, from *arena, in, out, capacity int, wantDx, zero bool) *dense {
	d := &dense{outer: newOuter(be, from, in, out, capacity), zero: zero, y: be.New(capacity * out)}
	if wantDx {
		d.dx = be.New(capacity * in)
	}
	return d
}

func (d *dense) Name() string  { return "dense" }
func (d *dense) Sites() []Site { return []Site{d.outer} }

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
func (d *dense) Init(rng *rand.Rand) {
	kernel.Fill(d.be, d.out, 0, d.b)
	n := d.w.Len()
	if d.zero {
		kernel.Fill(d.be, n, 0, d.w)
		return
	}
	std, piece := math.Sqrt(2/float64(d.in)), make([]float32, min(n, 1<<16))
	for at := 0; at < n; at += len(piece) {
		piece = piece[:min(len(piece), n-at)]
		for i := range piece {
			piece[i] = float32(std * rng.NormFloat64())
		}
		d.be.Write(d.w.Slice(at, len(piece)), piece)
	}
}

func (d *dense) Bound(dst compute.Buffer) {
	if d.bound == nil {
		d.bound = newSpectral(d.be, d.outer)
	}
	d.bound.bound(dst)
}
