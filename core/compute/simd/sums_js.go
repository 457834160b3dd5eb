package simd

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"clipscope/core/compute"
)

// sums are zero at first and after Clear, then those of one block of rows, which
// float32 holds, and float64 from the next on: batches of up to a block, the usual
// ones, never need the latter.
type sums struct {
	n     int
	held  held
	block []float32
	wide  []float64 // made when first needed
}

type held int

const (
	nothing held = iota
	oneBlock
	all
)

func (s *sums) Len() int { return s.n }
func (s *sums) Wide()    {}

func (b *Backend) NewSums(n int) compute.Sums { return &sums{n: n, block: make([]float32, n)} }

// own is s, of which a kernel is about to use the first m×n; see [take].
func own(s compute.Sums, m, n int) *sums {
	p, ok := s.(*sums)
	if !ok {
		panic(fmt.Sprintf("simd: a %T is not sums of this backend", s))
	}
	if m < 0 || n < 0 || n > 0 && m > math.MaxInt32/n || m*n > len(p.block) {
		panic(fmt.Sprintf("simd: size %d×%d for %d sums", m, n, len(p.block)))
	}
	return p
}

func (s *sums) blockAt() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s.block)) }

// wideAt is where s is held in float64, to be added to.
func (s *sums) wideAt() unsafe.Pointer {
	if s.wide == nil {
		s.wide = make([]float64, s.n)
	}
	at := unsafe.Pointer(unsafe.SliceData(s.wide))
	if s.held != all {
		clear(s.wide)
	}
	if s.held == oneBlock {
		kernelAddScaled(int32(s.n), 1, s.blockAt(), at)
	}
	s.held = all
	return at
}

func (b *Backend) Clear(s compute.Sums) { own(s, 1, s.Len()).held = nothing }

func (b *Backend) ReadSums(ctx context.Context, dst []float64, src compute.Sums) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simd: read: %w", err)
	}
	s := own(src, 1, len(dst))
	if s.held == nothing {
		clear(dst)
		return nil
	}
	s.wideAt()
	copy(dst, s.wide)
	return nil
}

func (b *Backend) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	hv, dv, s := mat(h, m, n), mat(d, m, k), own(dst, n, k)
	scratch := b.scratch(n, k, compute.BlockRows)
	first := 0
	if s.held == nothing && m > 0 {
		clear(s.block[n*k:])
		first = min(m, compute.BlockRows)
		kernelOuter(int32(first), int32(n), int32(k), hv, dv, s.blockAt(), scratch)
		s.held = oneBlock
	}
	if first < m {
		kernelAddOuter(int32(m-first), int32(n), int32(k), unsafe.Add(hv, 4*first*n), unsafe.Add(dv, 4*first*k), s.wideAt(), scratch)
	}
}

func (b *Backend) AddClampedOuter(m, n, k int, c float32, h, d compute.Buffer, dst compute.Sums) {
	kernelAddClampedOuter(int32(m), int32(n), int32(k), c, mat(h, m, n), mat(d, m, k), own(dst, n, k).wideAt())
}

func (b *Backend) AddRoundedOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	kernelAddRoundedOuter(int32(m), int32(n), int32(k), mat(h, m, n), mat(d, m, k), own(dst, n, k).wideAt())
}

func (b *Backend) AddScaled(n int, a float64, x compute.Buffer, dst compute.Sums) {
	kernelAddScaled(int32(n), a, vec(x, n), own(dst, 1, n).wideAt())
}

func (b *Backend) Settle(n int, src compute.Sums, dst compute.Buffer) {
	s, to := own(src, 1, n), vec(dst, n)
	switch s.held {
	case oneBlock:
		kernelAxpy(int32(n), 1, s.blockAt(), to)
	case all:
		kernelSettle(int32(n), s.wideAt(), to)
	}
}
