// Package purego is the reference implementation of [compute.Backend]: the
// loops of its comments in plain Go, with sums and functions in float64. It
// runs everywhere and is what the other backends are held against; where no
// SIMD is to be had it is also what a run uses.
package purego

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
)

// Backend is the reference backend. Make one with [New].
type Backend struct {
	acc []float64 // one row of Gemm's sums
	z   []float64 // the normals of Noise
}

// New returns a backend that holds no buffers yet.
func New() *Backend { return &Backend{} }

type buffer struct{ v []float32 }

func (b *buffer) Len() int { return len(b.v) }

// Name is "purego".
func (b *Backend) Name() string { return "purego" }

func (b *Backend) New(n int) compute.Buffer { return &buffer{make([]float32, n)} }

// Free drops the buffer's memory, so that a later use of it panics.
func (b *Backend) Free(x compute.Buffer) {
	switch x := x.(type) {
	case *sums:
		x.v = nil
	default:
		x.(*buffer).v = nil
	}
}

func (b *Backend) Close() { *b = Backend{} }

// take returns the first n values of x.
func take(x compute.Buffer, n int) []float32 {
	p, ok := x.(*buffer)
	if !ok {
		panic(fmt.Sprintf("purego: a %T is not a buffer of this backend", x))
	}
	if n < 0 || n > len(p.v) {
		panic(fmt.Sprintf("purego: size %d for a buffer of %d", n, len(p.v)))
	}
	return p.v[:n:n]
}

// rows returns the first m×n values of x; neither m nor n may be negative.
func rows(x compute.Buffer, m, n int) []float32 {
	if m < 0 || n < 0 {
		panic(fmt.Sprintf("purego: size %d×%d", m, n))
	}
	return take(x, m*n)
}

// sums returns n zeros that are good until the next call.
func (b *Backend) sums(n int) []float64 {
	if cap(b.acc) < n {
		b.acc = make([]float64, n)
	}
	s := b.acc[:n]
	clear(s)
	return s
}

func (b *Backend) Write(dst compute.Buffer, src []float32) {
	copy(take(dst, len(src)), src)
}

func (b *Backend) Read(ctx context.Context, dst []float32, src compute.Buffer) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("purego: read: %w", err)
	}
	copy(dst, take(src, len(dst)))
	return nil
}

func (b *Backend) Fill(n int, v float32, dst compute.Buffer) {
	d := take(dst, n)
	for i := range d {
		d[i] = v
	}
}

func (b *Backend) Copy(n int, dst, src compute.Buffer) {
	copy(take(dst, n), take(src, n))
}

func (b *Backend) Scale(n int, a float32, x compute.Buffer) {
	v := take(x, n)
	for i := range v {
		v[i] *= a
	}
}

func (b *Backend) Axpy(n int, a float32, x, y compute.Buffer) {
	xv, yv := take(x, n), take(y, n)
	for i, v := range xv {
		yv[i] = float32(float64(yv[i]) + float64(a)*float64(v))
	}
}

func (b *Backend) Mul(n int, dst, x, y compute.Buffer) {
	d, xv, yv := take(dst, n), take(x, n), take(y, n)
	for i := range d {
		d[i] = xv[i] * yv[i]
	}
}

func (b *Backend) AddRow(m, n int, bias, y compute.Buffer) {
	bv, yv := take(bias, n), rows(y, m, n)
	for i := range m {
		row := yv[i*n : (i+1)*n]
		for j, v := range bv {
			row[j] += v
		}
	}
}

func (b *Backend) RowNorms(m, n int, x, dst compute.Buffer) {
	xv, d := rows(x, m, n), take(dst, m)
	for i := range d {
		s := 0.0 // float64 holds the square of every float32
		for _, v := range xv[i*n : (i+1)*n] {
			s += float64(v) * float64(v)
		}
		d[i] = above(math.Sqrt(s))
	}
}

func (b *Backend) JoinNorms(n int, h, d, dst compute.Buffer) {
	hv, dv, to := take(h, n), take(d, n), take(dst, n)
	for i, v := range to {
		in, out := float64(hv[i]), float64(dv[i])
		if !(in <= compute.MaxInput) {
			to[i] = float32(math.Inf(1))
			continue
		}
		to[i] = above(math.Sqrt(float64(v)*float64(v) + out*out*(in*in+1)))
	}
}

// above is the least float32 that is not below x, whatever rounding x itself has
// been through in float64.
func above(x float64) float32 {
	x *= 1 + 0x1p-40
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

func (b *Backend) ScaleRows(m, n int, f, x, dst compute.Buffer) {
	fv, xv, d := take(f, m), rows(x, m, n), rows(dst, m, n)
	for i, a := range fv {
		src, to := xv[i*n:(i+1)*n], d[i*n:(i+1)*n]
		if a == 0 {
			clear(to)
			continue
		}
		for j, v := range src {
			to[j] = a * v
		}
	}
}

var _ compute.Backend = (*Backend)(nil)
