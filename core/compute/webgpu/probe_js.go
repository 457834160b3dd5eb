package webgpu

import (
	"context"
	"errors"
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

var errRounding = errors.New("its arithmetic does not round to the nearest")

// probe refuses an adapter that rounds in another direction than to the nearest, which
// WGSL allows: how far rounding can carry one example's part of a sum is proven for
// that one.
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
	bx, by, bz := b.New(n), b.New(n), b.New(n)
	defer func() { b.Free(bx); b.Free(by); b.Free(bz) }()
	b.Write(bx, x)
	b.Write(by, y)
	kernel.Mul(b, n, bz, bx, by)
	kernel.Axpy(b, n, 1, bx, by)
	products, sums := b.Fetch(bz), b.Fetch(by)
	var z, s [n]float32
	if err := errors.Join(products.Wait(ctx, z[:]), sums.Wait(ctx, s[:])); err != nil {
		return err
	}
	for i := range n {
		if z[i] != x[i]*y[i] || s[i] != x[i]+y[i] {
			return fmt.Errorf("%w: %v · %v = %v, %v + %v = %v", errRounding, x[i], y[i], z[i], x[i], y[i], s[i])
		}
	}
	return nil
}

var _ interface {
	compute.Backend
	compute.Losable
} = (*Backend)(nil)
