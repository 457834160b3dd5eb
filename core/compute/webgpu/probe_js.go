package webgpu

import (
	"context"
	"errors"
	"fmt"
	"math"

	"clipscope/core/chacha"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

var (
	errRounding = errors.New("its arithmetic does not round to the nearest")
	errNoise    = errors.New("it draws other noise than the reference")
)

// probe refuses an adapter that does not round to the nearest, as WGSL allows: the bound on the
// rounding of one example's part of a sum is proven for that direction alone. It also refuses one
// that draws other noise than it should.
func (b *Backend) probe(ctx context.Context) error {
	const n = 256
	x, y := make([]float32, n), make([]float32, n)
	word := uint32(1)
	for i := range n { // any numbers with all their digits, of both signs
		word = word*1664525 + 1013904223 // Numerical Recipes, §7.1
		x[i] = float32(int32(word)) * 0x1p-31
		word = word*1664525 + 1013904223
		y[i] = float32(int32(word)) * 0x1p-29
	}
	bx, by, bz, bw := b.New(n), b.New(n), b.New(n), b.New(n)
	defer func() { b.Free(bx); b.Free(by); b.Free(bz); b.Free(bw) }()
	b.Write(bx, x)
	b.Write(by, y)
	b.Write(bw, y)
	kernel.Mul(b, n, bz, bx, by)
	kernel.Axpy(b, n, 1, bx, by)
	kernel.AddRow(b, 1, n, bx, bw)
	products, fused, sums := b.Fetch(bz), b.Fetch(by), b.Fetch(bw)
	kernel.Noise(b, n, 1, compute.NoiseKey{}, bz) // a key that no run has
	noise := b.Fetch(bz)
	var z, f, s, v [n]float32
	if err := errors.Join(products.Wait(ctx, z[:]), fused.Wait(ctx, f[:]), sums.Wait(ctx, s[:]), noise.Wait(ctx, v[:])); err != nil {
		return err
	}
	want := make([]float64, n)
	if err := chacha.Normal(&[8]uint32{}, &[3]uint32{}, want); err != nil {
		return err
	}
	for i := range n {
		if z[i] != x[i]*y[i] || f[i] != x[i]+y[i] || s[i] != x[i]+y[i] {
			return fmt.Errorf("%w: %v · %v = %v, %v + %v = %v or %v", errRounding, x[i], y[i], z[i], x[i], y[i], f[i], s[i])
		}
		if !(math.Abs(float64(v[i])-want[i]) <= 1e-5*math.Abs(want[i])) {
			return fmt.Errorf("%w: %v instead of %v", errNoise, v[i], want[i])
		}
	}
	return nil
}

var _ interface {
	compute.Backend
	compute.Losable
	compute.Device
	compute.Reserver
	compute.Compiler
	compute.Adjoining
} = (*Backend)(nil)
