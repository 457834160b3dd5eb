package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/lipschitz"
)

// gramIterations is the number of times a Gram matrix is squared. The bound is above the
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

// lost bounds what underflow takes from a computed inner product of length l: every
// product below 2⁻¹²⁶ may be flushed to 0, and every sum.
func lost(l int) float64 { return float64(l) * 0x1p-125 }

// spectral bounds the spectral norms of one layer's weights from above by Gram
// iteration (Delattre et al. 2023):
//
//	‖W‖² ≤ ‖(WᵀW)^(2^k)‖_F^(1/2^k)
//
// Power iteration would approach the norm from below and so bound nothing.
type spectral struct {
	be              compute.Backend
	w, b            compute.Buffer // W [rows×columns] and b [columns]
	rows, columns   int
	overlap, places int // of a convolution; 1 and 1 of a dense layer
	n               int // the smaller side of W
	a, out          compute.Buffer
	// The norms that bound is made from: of each Gram matrix, of W and of b.
	norms compute.Buffer
}

func newSpectral(be compute.Backend, w, b compute.Buffer, rows, columns int) *spectral {
	n := min(rows, columns)
	return &spectral{
		be: be, w: w, b: b, rows: rows, columns: columns, overlap: 1, places: 1,
		n: n, a: be.New(n * n), out: be.New(n * n), norms: be.New(gramIterations + 3),
	}
}

// bound writes upper bounds on ‖W‖ and on ‖W̃‖ for W̃ = [[W, 0], [b, 1]], the
// weights with the bias folded in, and besides on how much longer a row can
// become when it is multiplied with them in float32, to dst [2]. NaN or ±Inf among
// the weights gives +Inf, and so do weights beyond 1e9, whose squares float32 does
// not hold.
//
// Guarantee: both are upper bounds for the weights as stored; rounding and
// underflow are accounted for by [gamma] and [lost] at every product. A computed
// product x·W differs from the true one by at most gamma·‖x‖·‖W‖_F, which is
// added. Of a convolution they are those of the whole map: a value of its input is
// in at most overlap of the windows that W sees at its places, so it is at most
// √overlap times as long as W is, its biases at all places together √places times,
// and on the way back what overlaps is added up, off by gamma(overlap) of it.
//
// Let M be a Gram matrix [n×n], s a power of two with ‖M‖_F ≤ s, A = M/s, and
// P = fl(A·Aᵀ). Then ‖M‖ = s·‖A·Aᵀ‖^½ ≤ s·(‖P‖ + γ + n·lost)^½, and ‖P‖ is bounded
// the same way, at last by ‖P‖_F. That holds for every matrix, symmetric or not;
// dividing by s is exact but for underflow.
func (s *spectral) bound(dst compute.Buffer) {
	ta, tb, n := kernel.Transpose, kernel.NoTrans, s.n
	if s.rows < s.columns {
		ta, tb = kernel.NoTrans, kernel.Transpose
	}
	kernel.Gemm(s.be, ta, tb, n, n, s.long(), s.w, s.w, 0, s.a)
	for k := range gramIterations {
		kernel.Normalize(s.be, n*n, s.a, s.norms.Slice(k, 1))
		kernel.Gemm(s.be, kernel.NoTrans, kernel.Transpose, n, n, n, s.a, s.a, 0, s.out)
		s.a, s.out = s.out, s.a
	}
	for i, x := range []compute.Buffer{s.a, s.w, s.b} {
		kernel.RowNorms(s.be, 1, x.Len(), x, s.norms.Slice(gramIterations+i, 1))
	}
	lipschitz.Spectral(s.be, gramIterations, s.overlap, s.places, lipschitz.SpectralErrors{
		Square: gamma(n) + 5*float64(n)*lost(n),
		Gram:   gamma(s.long()), GramLost: gamma(s.long())*lost(s.rows*s.columns) + float64(n)*lost(s.long()),
		Frobenius: lost(s.rows * s.columns), Bias: lost(s.columns), Product: gamma(s.long() + 2),
	}, s.norms, dst)
}

// long is the length of the inner products of WᵀW, or WWᵀ.
func (s *spectral) long() int { return max(s.rows, s.columns) }
