package simd

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"clipscope/core/compute"
)

// sums are float64 here.
type sums struct{ v []float64 }

func (s *sums) Len() int { return len(s.v) }
func (s *sums) Wide()    {}

func (b *Backend) NewSums(n int) compute.Sums { return &sums{make([]float64, n)} }

// takeSums returns the first m×n of s; see [take].
func takeSums(s compute.Sums, m, n int) []float64 {
	p, ok := s.(*sums)
	if !ok {
		panic(fmt.Sprintf("simd: a %T is not sums of this backend", s))
	}
	if m < 0 || n < 0 || n > 0 && m > math.MaxInt32/n || m*n > len(p.v) {
		panic(fmt.Sprintf("simd: size %d×%d for %d sums", m, n, len(p.v)))
	}
	return p.v[:m*n]
}

// wide is the address of the first m×n of s.
func wide(s compute.Sums, m, n int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(takeSums(s, m, n)))
}

func (b *Backend) Clear(s compute.Sums) { clear(takeSums(s, 1, s.Len())) }

func (b *Backend) ReadSums(ctx context.Context, dst []float64, src compute.Sums) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simd: read: %w", err)
	}
	copy(dst, takeSums(src, 1, len(dst)))
	return nil
}

func (b *Backend) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	kernelAddOuter(int32(m), int32(n), int32(k), mat(h, m, n), mat(d, m, k), wide(dst, n, k), b.scratch(n, k, compute.PieceRows))
}

func (b *Backend) AddClampedOuter(m, n, k int, c float32, h, d compute.Buffer, dst compute.Sums) {
	kernelAddClampedOuter(int32(m), int32(n), int32(k), c, mat(h, m, n), mat(d, m, k), wide(dst, n, k))
}

func (b *Backend) AddRoundedOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	kernelAddRoundedOuter(int32(m), int32(n), int32(k), mat(h, m, n), mat(d, m, k), wide(dst, n, k))
}

func (b *Backend) AddScaled(n int, a float64, x compute.Buffer, dst compute.Sums) {
	kernelAddScaled(int32(n), a, vec(x, n), wide(dst, 1, n))
}

func (b *Backend) Settle(n int, src compute.Sums, dst compute.Buffer) {
	kernelSettle(int32(n), wide(src, 1, n), vec(dst, n))
}
