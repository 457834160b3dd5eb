package nn

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
)

// gramIterations is how often a Gram matrix is squared. The bound is above the
// true norm by a factor of at most n^(1/2^(k+2)) for n columns: 1.9 % for
// n = 128 and k = 6.
const gramIterations = 6

// unitRoundoff of float32.
const unitRoundoff = 0x1p-24

// gamma bounds the error of a computed matrix product with inner products of
// length l, ‖fl(AB) − AB‖_F ≤ gamma(l)·‖A‖_F·‖B‖_F, in any order of summation
// (Higham 2002, §3.5).
func gamma(l int) float64 {
	lu := float64(l+2) * unitRoundoff
	return lu / (1 - lu)
}

// spectral bounds the spectral norms of one layer's weights from above by Gram
// iteration (Delattre et al. 2023):
//
//	‖W‖² ≤ ‖(WᵀW)^(2^k)‖_F^(1/2^k)
//
// Power iteration would approach the norm from below and so bound nothing.
type spectral struct {
	be  compute.Backend
	lay *Dense
	n   int // the smaller side of W
	a   compute.Buffer
	out compute.Buffer
	m   []float32 // host copy [n×n]
	b   []float32 // the biases
}

func newSpectral(be compute.Backend, lay *Dense) *spectral {
	n := min(lay.In, lay.Out)
	size := n * n
	return &spectral{be: be, lay: lay, n: n, a: be.New(size), out: be.New(size), m: make([]float32, size), b: make([]float32, lay.Out)}
}

// norms returns upper bounds on ‖W‖ and on ‖W̃‖ for W̃ = [[W, 0], [b, 1]], the
// weights with the bias folded in. NaN or ±Inf among the weights gives +Inf.
//
// Guarantee: both are upper bounds for the weights as stored; rounding is
// accounted for by [gamma] at every product.
func (s *spectral) norms(ctx context.Context) (plain, folded float64, err error) {
	ta, tb := compute.Transpose, compute.NoTrans
	long := s.lay.In
	if s.lay.In < s.lay.Out {
		ta, tb, long = compute.NoTrans, compute.Transpose, s.lay.Out
	}
	s.be.Gemm(ta, tb, s.n, s.n, long, s.lay.w, s.lay.w, 0, s.out)
	if err := s.be.Read(ctx, s.m[:s.n*s.n], s.out); err != nil {
		return 0, 0, fmt.Errorf("nn: reading a Gram matrix: %w", err)
	}
	if err := s.be.Read(ctx, s.b, s.lay.b); err != nil {
		return 0, 0, fmt.Errorf("nn: reading biases: %w", err)
	}
	trace := 0.0 // ‖W‖_F², the scale of the first product's error
	for i := range s.n {
		trace += float64(s.m[i*s.n+i])
	}
	sq, err := s.gram(ctx, s.n)
	if err != nil {
		return 0, 0, err
	}
	// The trace is itself computed; the factor 2 covers that.
	sq += 2 * gamma(long) * trace
	bias := 0.0
	for _, b := range s.b {
		bias += float64(b) * float64(b)
	}
	// ‖W̃‖² ≤ ‖[W; b]‖² + ‖[0; 1]‖² ≤ ‖W‖² + ‖b‖² + 1, as the two blocks act
	// on disjoint outputs.
	const slack = 1 + 1e-6
	return orInf(math.Sqrt(sq) * slack), orInf(math.Sqrt(sq+bias+1) * slack), nil
}

func orInf(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// gram bounds the spectral norm of the symmetric matrix in m [n×n].
//
// With s = ‖M‖_F and P = fl((M/s)²), ‖M‖ = s·‖(M/s)²‖^½ ≤ s·(‖P‖ + γ)^½, where
// γ covers both the product and the rounding of M/s; ‖P‖ is bounded the same
// way, and at last by ‖P‖_F.
func (s *spectral) gram(ctx context.Context, n int) (float64, error) {
	var scales [gramIterations]float64
	m := s.m[:n*n]
	err := gamma(n) + 4*unitRoundoff
	for k := range scales {
		scales[k] = symmetrise(m, n)
		if scales[k] == 0 {
			return unwind(scales[:k], 0, err), nil
		}
		for i := range m {
			m[i] = float32(float64(m[i]) / scales[k])
		}
		s.be.Write(s.a, m)
		s.be.Gemm(compute.NoTrans, compute.Transpose, n, n, n, s.a, s.a, 0, s.out)
		if err := s.be.Read(ctx, m, s.out); err != nil {
			return 0, fmt.Errorf("nn: reading a Gram matrix: %w", err)
		}
	}
	return unwind(scales[:], symmetrise(m, n), err), nil
}

func unwind(scales []float64, bound, err float64) float64 {
	for k := len(scales) - 1; k >= 0; k-- {
		bound = scales[k] * math.Sqrt(bound+err)
	}
	return bound
}

// symmetrise replaces m by (m + mᵀ)/2, which is no farther from the exact
// symmetric product than m was, and returns its Frobenius norm.
func symmetrise(m []float32, n int) float64 {
	sum := 0.0
	for i := range n {
		for j := range i + 1 {
			x := (float64(m[i*n+j]) + float64(m[j*n+i])) / 2
			m[i*n+j], m[j*n+i] = float32(x), float32(x)
			sum += x * x
			if i != j {
				sum += x * x
			}
		}
	}
	return math.Sqrt(sum)
}
