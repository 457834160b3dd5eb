package purego

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
)

type sums struct{ v []float64 }

func (s *sums) Len() int { return len(s.v) }
func (s *sums) Wide()    {}

func (b *Backend) NewSums(n int) compute.Sums { return &sums{make([]float64, n)} }

// takeSums returns the first n of s.
func takeSums(s compute.Sums, n int) []float64 {
	p, ok := s.(*sums)
	if !ok {
		panic(fmt.Sprintf("purego: a %T is not sums of this backend", s))
	}
	if n < 0 || n > len(p.v) {
		panic(fmt.Sprintf("purego: size %d for %d sums", n, len(p.v)))
	}
	return p.v[:n:n]
}

func (b *Backend) Clear(s compute.Sums) { clear(takeSums(s, s.Len())) }

func (b *Backend) ReadSums(ctx context.Context, dst []float64, src compute.Sums) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("purego: read: %w", err)
	}
	copy(dst, takeSums(src, len(dst)))
	return nil
}

func (b *Backend) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	hv, dv, to := rows(h, m, n), rows(d, m, k), takeSums(dst, n*k)
	for i := range m { // no pieces: all sums are in float64
		for j, x := range hv[i*n : (i+1)*n] {
			row := to[j*k : (j+1)*k]
			for l, y := range dv[i*k : (i+1)*k] {
				row[l] += float64(x) * float64(y)
			}
		}
	}
}

func (b *Backend) AddClampedOuter(m, n, k int, c float32, h, d compute.Buffer, dst compute.Sums) {
	outer(m, n, k, h, d, dst, func(x, y float32) float64 { return float64(min(max(x*y, -c), c)) })
}

func (b *Backend) AddRoundedOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	outer(m, n, k, h, d, dst, func(x, y float32) float64 { return math.RoundToEven(float64(x * y)) })
}

// outer is AddOuter with terms of another kind.
func outer(m, n, k int, h, d compute.Buffer, dst compute.Sums, term func(x, y float32) float64) {
	hv, dv, to := rows(h, m, n), rows(d, m, k), takeSums(dst, n*k)
	for i := range m {
		for j, x := range hv[i*n : (i+1)*n] {
			row := to[j*k : (j+1)*k]
			for l, y := range dv[i*k : (i+1)*k] {
				row[l] += term(x, y)
			}
		}
	}
}

func (b *Backend) AddScaled(n int, a float64, x compute.Buffer, dst compute.Sums) {
	to := takeSums(dst, n)
	for i, v := range take(x, n) {
		to[i] += a * float64(v)
	}
}

func (b *Backend) Settle(n int, src compute.Sums, dst compute.Buffer) {
	to := take(dst, n)
	for i, s := range takeSums(src, n) {
		to[i] = float32(s + float64(to[i]))
	}
}
