package nn

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
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

// lost bounds what underflow takes from a computed inner product of length l: every product below 2⁻¹²⁶ may be flushed to 0.
func lost(l int) float64 { return float64(l) * 0x1p-126 }

// spectral bounds the spectral norms of one layer's weights from above by Gram
// iteration (Delattre et al. 2023):
//
//	‖W‖² ≤ ‖(WᵀW)^(2^k)‖_F^(1/2^k)
//
// Power iteration would approach the norm from below and so bound nothing.
type spectral struct {
	be     compute.Backend
	lay    *outer
	n      int // the smaller side of W
	a, out compute.Buffer
	scalar compute.Buffer
}

func newSpectral(be compute.Backend, lay *outer) *spectral {
	n := min(lay.in, lay.out)
	return &spectral{be: be, lay: lay, n: n, a: be.New(n * n), out: be.New(n * n), scalar: be.New(1)}
}

// norms returns upper bounds on ‖W‖ and on ‖W̃‖ for W̃ = [[W, 0], [b, 1]], the
// weights with the bias folded in, and besides on how much longer a row can
// become when it is multiplied with them in float32. NaN or ±Inf among the weights gives +Inf, and
// so do weights beyond 1e9, whose squares float32 does not hold.
//
// Guarantee: both are upper bounds for the weights as stored; rounding and
// underflow are accounted for by [gamma] and [lost] at every product. A computed
// product x·W differs from the true one by at most gamma·‖x‖·‖W‖_F, which is
// added.
func (s *spectral) norms(ctx context.Context) (plain, folded float64, err error) {
	ta, tb, long := kernel.Transpose, kernel.NoTrans, s.lay.in
	if s.lay.in < s.lay.out {
		ta, tb, long = kernel.NoTrans, kernel.Transpose, s.lay.out
	}
	kernel.Gemm(s.be, ta, tb, s.n, s.n, long, s.lay.w, s.lay.w, 0, s.a)
	sq, err := s.gram(ctx)
	if err != nil {
		return 0, 0, err
	}
	frobenius, err := s.sqNorm(ctx, s.lay.in*s.lay.out, s.lay.w)
	if err != nil {
		return 0, 0, err
	}
	bias, err := s.sqNorm(ctx, s.lay.out, s.lay.b)
	if err != nil {
		return 0, 0, err
	}
	sq += gamma(long)*frobenius + float64(s.n)*lost(long)
	// ‖W̃‖² ≤ ‖[W; b]‖² + ‖[0; 1]‖² ≤ ‖W‖² + ‖b‖² + 1, as the two blocks act
	// on disjoint outputs.
	const slack = 1 + 1e-6
	long = max(s.lay.in, s.lay.out) + 2
	plain = math.Sqrt(sq) + gamma(long)*math.Sqrt(frobenius)
	folded = math.Sqrt(sq+bias+1) + gamma(long)*math.Sqrt(frobenius+bias)
	return orInf(plain * slack), orInf(folded * slack), nil
}

func orInf(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// sqNorm bounds the sum of the first n squares of b from above, and away from 0.
func (s *spectral) sqNorm(ctx context.Context, n int, b compute.Buffer) (float64, error) {
	norm, err := kernel.Norm(ctx, s.be, b.Slice(0, n), s.scalar)
	if err != nil {
		return 0, fmt.Errorf("nn: the norm of a matrix: %w", err)
	}
	return norm*norm + lost(n), nil
}

// gram bounds the spectral norm of the matrix in a [n×n], which it overwrites.
//
// Let s be a power of two with ‖M‖_F ≤ s, A = M/s, and P = fl(A·Aᵀ). Then
// ‖M‖ = s·‖A·Aᵀ‖^½ ≤ s·(‖P‖ + γ + n·lost)^½, and ‖P‖ is bounded the same way, at
// last by ‖P‖_F. That holds for every matrix, symmetric or not; dividing by s
// is exact but for underflow.
func (s *spectral) gram(ctx context.Context) (float64, error) {
	var scales [gramIterations]float64
	n, err := s.n, gamma(s.n)+4*float64(s.n)*lost(s.n)
	for k := range scales {
		sq, fault := s.sqNorm(ctx, n*n, s.a)
		if fault != nil || math.IsNaN(sq) || math.IsInf(sq, 1) {
			return math.Inf(1), fault
		}
		scales[k] = math.Exp2(math.Ceil(math.Log2(sq) / 2))
		kernel.Scale(s.be, n*n, float32(1/scales[k]), s.a)
		kernel.Gemm(s.be, kernel.NoTrans, kernel.Transpose, n, n, n, s.a, s.a, 0, s.out)
		s.a, s.out = s.out, s.a
	}
	sq, fault := s.sqNorm(ctx, n*n, s.a)
	bound := math.Sqrt(sq)
	for k := len(scales) - 1; k >= 0; k-- {
		bound = scales[k] * math.Sqrt(bound+err)
	}
	return bound, fault
}
