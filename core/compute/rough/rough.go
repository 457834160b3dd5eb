// Package rough implements a [compute.Backend] that rounds as badly as the contract
// allows. It adds up every piece of a batch, and every block of pieces, in float32, in an
// order of the caller's choice. The reference adds in float64, so what is proven of
// rounded sums would hold on it by luck. For tests.
package rough

import (
	"context"
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Order adds up the terms of a piece, rounding as float32 does.
type Order func(terms []float32) float32

// Orders lists the orders of summation that a backend may have: from the first term on, from the
// last, halves with halves, and four interleaved sums, as of SIMD lanes.
var Orders = map[string]Order{
	"forward": func(v []float32) float32 {
		s := float32(0)
		for _, x := range v {
			s += x
		}
		return s
	},
	"backward": func(v []float32) float32 {
		s := float32(0)
		for i := len(v) - 1; i >= 0; i-- {
			s += v[i]
		}
		return s
	},
	"pairwise": pairwise,
	"lanes": func(v []float32) float32 {
		var s [4]float32
		for i, x := range v {
			s[i%4] += x
		}
		return (s[0] + s[1]) + (s[2] + s[3])
	},
}

func pairwise(v []float32) float32 {
	switch len(v) {
	case 0:
		return 0
	case 1:
		return v[0]
	}
	return pairwise(v[:len(v)/2]) + pairwise(v[len(v)/2:])
}

// Backend is the wrapped one but for its sums. Make one with [New].
type Backend struct {
	compute.Backend
	order Order
	rows  int

	pieces, terms []float32 // of a block, made once
}

// New returns a backend that takes sums in that order, in pieces of rows rows:
// compute.PieceRows, or more where a test plants that fault.
func New(inner compute.Backend, order Order, rows int) *Backend {
	return &Backend{Backend: inner, order: order, rows: rows}
}

// Name is "rough".
func (b *Backend) Name() string { return "rough" }

// Run takes the sums of outer products itself, but for rounded ones, which are exact.
func (b *Backend) Run(k *compute.Kernel, a compute.Args) {
	if k.Name != "addOuter" || a.N[3] == 2 {
		b.Backend.Run(k, a)
		return
	}
	c := float32(a.F[0])
	b.outer(a, func(x, y float32) float32 {
		if a.N[3] == 1 {
			return min(max(x*y, -c), c)
		}
		return x * y
	})
}

func (b *Backend) outer(a compute.Args, term func(x, y float32) float32) {
	m, n, k := a.N[0], a.N[1], a.N[2]
	hv, dv := b.values(a.Buf[0]), b.values(a.Buf[1])
	part, to := b.New(n*k), make([]float32, n*k)
	defer b.Free(part)
	block := b.rows * compute.BlockPieces
	for lo := 0; lo < m; lo += block {
		for p := range to {
			to[p] = b.block(lo, min(m, lo+block), func(i int) float32 { return term(hv[i*n+p/k], dv[i*k+p%k]) })
		}
		b.Write(part, to)
		kernel.AddScaled(b.Backend, n*k, 1, part, a.Sums)
	}
}

// block adds up the pieces of rows lo to hi.
func (b *Backend) block(lo, hi int, term func(i int) float32) float32 {
	b.pieces = b.pieces[:0]
	for ; lo < hi; lo += b.rows {
		b.terms = b.terms[:0]
		for i := lo; i < min(hi, lo+b.rows); i++ {
			b.terms = append(b.terms, term(i))
		}
		b.pieces = append(b.pieces, b.order(b.terms))
	}
	return b.order(b.pieces)
}

func (b *Backend) values(x compute.Buffer) []float32 {
	v := make([]float32, x.Len())
	if err := compute.Read(context.Background(), b, v, x); err != nil {
		panic(fmt.Sprintf("rough: %v", err)) // the context is never done
	}
	return v
}
