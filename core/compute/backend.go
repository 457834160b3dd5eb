// Package compute is the contract between the training code and the machine:
// about thirty kernels over float32 buffers, each documented by the loop it
// equals. Packages below it implement it (purego is the reference), and
// computetest holds the one suite that every implementation passes.
//
// Kernels take effect in call order, and none of them waits: only
// [Backend.Read] does. An implementation may therefore queue everything until
// a Read (package deferred does just that, and a GPU will).
//
// All matrices are row-major and dense. Sizes are passed with each call and may
// be smaller than the buffers they address, so that one buffer serves batches
// of every size up to its own; sizes of zero are legal and do nothing (except
// that a product with k = 0 still scales its destination by beta). Buffers
// passed to one call must not overlap unless the kernel's comment says so.
//
// A caller that passes a buffer of another backend, a size larger than a
// buffer or a negative size has a bug; implementations panic then, and
// package train, which sizes all buffers, is written so that it cannot happen.
package compute

import (
	"context"
	"fmt"

	"clipscope/core/chacha"
)

// Buffer is a run of float32 values owned by the backend that made it.
type Buffer interface {
	// Len is the number of values the buffer holds.
	Len() int
}

// Sums is a run of sums in more digits than float32 has, owned by the backend
// that made it: what examples add to is held here until noise has been added.
type Sums interface {
	// Len is the number of sums.
	Len() int
	// Wide tells Sums from a Buffer; it does nothing.
	Wide()
}

// PieceRows is how many rows of a batch a backend may add up in float32. The
// kernels that add to [Sums] take rows in pieces, 0 to 63, 64 to 127 and so on, in
// any order within a piece. The sums of BlockPieces pieces that follow each other,
// from the first of a call on, may still be added in float32, in any order; those
// of such blocks, and of calls, are added in float64, or as exactly. Package
// train derives from this how far rounding can carry one example's part.
const (
	PieceRows   = 64
	BlockPieces = 4
	BlockRows   = PieceRows * BlockPieces
)

// MaxInput is the length beyond which a row of a layer's inputs is refused: its
// example counts as one whose gradient is not finite. Below it, what underflow
// takes from a product is nothing beside the least threshold.
const MaxInput = 0x1p60

// Trans says whether Gemm reads an operand as stored or transposed.
type Trans bool

const (
	NoTrans   Trans = false
	Transpose Trans = true
)

// Backend runs the kernels. It is used by one goroutine at a time.
//
// NaN and ±Inf flow through every kernel as IEEE 754 arithmetic has them,
// except where a comment says otherwise. Sums may be taken in any order and, in
// float32, with or without fused multiply-add: computetest states the tolerance.
type Backend interface {
	// Name is the value of a run's "backend": "purego", "simd", "webgpu" ….
	Name() string

	// New returns a buffer of n zeros.
	New(n int) Buffer

	// Free gives a buffer, or sums, back. Using it afterwards is a bug.
	Free(b Buffer)

	// Write copies src over the first len(src) values of dst; src may be
	// reused as soon as Write returns.
	Write(dst Buffer, src []float32)

	// Read waits for every kernel called before it and copies the first
	// len(dst) values of src. Its error is the context's, or the device's.
	Read(ctx context.Context, dst []float32, src Buffer) error

	// Fill is
	//
	//	for i := range n { dst[i] = v }
	Fill(n int, v float32, dst Buffer)

	// Copy is
	//
	//	for i := range n { dst[i] = src[i] }
	Copy(n int, dst, src Buffer)

	// Scale is
	//
	//	for i := range n { x[i] *= a }
	Scale(n int, a float32, x Buffer)

	// Axpy is
	//
	//	for i := range n { y[i] += a * x[i] }
	Axpy(n int, a float32, x, y Buffer)

	// Mul is, where dst may be x or y,
	//
	//	for i := range n { dst[i] = x[i] * y[i] }
	Mul(n int, dst, x, y Buffer)

	// Gemm is the matrix product C = op(A)·op(B) + beta·C, where op(A) is
	// [m×k], op(B) is [k×n] and C is [m×n]; A is stored [m×k], or [k×m] when
	// tA is Transpose, and B [k×n] or [n×k]. With beta = 0, C is written
	// without being read, so that NaN in it does not survive. A and B may be
	// one buffer.
	//
	//	for i := range m {
	//		for j := range n {
	//			s := 0.0
	//			for l := range k { s += op(A)[i][l] * op(B)[l][j] }
	//			c[i*n+j] = s + beta*c[i*n+j]
	//		}
	//	}
	Gemm(tA, tB Trans, m, n, k int, a, b Buffer, beta float32, c Buffer)

	// NewSums returns n sums that are zero.
	NewSums(n int) Sums

	// Clear sets all of s to zero.
	Clear(s Sums)

	// ReadSums is Read for sums.
	ReadSums(ctx context.Context, dst []float64, src Sums) error

	// AddOuter adds, for h [m×n] and d [m×k], which may be one buffer, the outer
	// products of their rows to dst [n×k], in pieces and blocks as at [PieceRows]:
	// the sum of a dense layer's per-sample gradients.
	//
	//	for j := range n {
	//		for l := range k {
	//			for each block { s := 0.0; for i of the block { s += h[i*n+j]*d[i*k+l] }; dst[j*k+l] += s }
	//		}
	//	}
	AddOuter(m, n, k int, h, d Buffer, dst Sums)

	// AddClampedOuter is AddOuter with every element of every product clamped on
	// its own to [−c, c], c not negative. A product that is NaN makes its sum NaN.
	AddClampedOuter(m, n, k int, c float32, h, d Buffer, dst Sums)

	// AddRoundedOuter is AddOuter with every product rounded to float32 and then
	// to the nearest whole number, ties to even. While the sums of pieces stay
	// within ±2²⁴ and dst within ±2⁵³, the result is exact and the same on every
	// backend: secure noise builds on that.
	AddRoundedOuter(m, n, k int, h, d Buffer, dst Sums)

	// AddScaled is
	//
	//	for i := range n { dst[i] += a * x[i] }
	AddScaled(n int, a float64, x Buffer, dst Sums)

	// Settle adds sums to dst and rounds once:
	//
	//	for i := range n { dst[i] = float32(src[i] + dst[i]) }
	Settle(n int, src Sums, dst Buffer)

	// AddRow adds the vector b to every row of y [m×n]:
	//
	//	for i := range m { for j := range n { y[i*n+j] += b[j] } }
	AddRow(m, n int, b, y Buffer)

	// RowNorms writes an upper bound on the L2 norm of every row of x [m×n], at
	// most a millionth, or 2⁻¹⁴⁹, above it for any n: clipping divides by it, and
	// a norm that is too small lets an example add more than it may. Rows with
	// NaN or ±Inf give NaN or +Inf.
	//
	//	for i := range m { s := 0.0; for j := range n { s += x[i*n+j]*x[i*n+j] }; dst[i] = √s }
	RowNorms(m, n int, x, dst Buffer)

	// JoinNorms joins to each norm in dst that of one more part of a gradient,
	// the outer product of an input of length h and a gradient of length d, with
	// the bias's input 1. Like RowNorms it errs upwards only, by no more. Inputs
	// longer than [MaxInput], and NaN or ±Inf, give NaN or +Inf.
	//
	//	for i := range n { dst[i] = √(dst[i]² + d[i]²·(h[i]² + 1)) }
	JoinNorms(n int, h, d, dst Buffer)

	// ScaleRows scales every row of x [m×n] by its factor; dst may be x. A
	// factor of exactly 0 writes zeros whatever the row holds, NaN and ±Inf
	// included: a rejected example leaves no trace.
	//
	//	for i := range m { for j := range n {
	//		if f[i] == 0 { dst[i*n+j] = 0 } else { dst[i*n+j] = f[i] * x[i*n+j] }
	//	} }
	ScaleRows(m, n int, f, x, dst Buffer)

	// ReLU is, where y may be x (NaN stays NaN),
	//
	//	for i := range n { if x[i] < 0 { y[i] = 0 } else { y[i] = x[i] } }
	ReLU(n int, x, y Buffer)

	// ReLUGrad turns the gradient by a ReLU's output y into the one by its
	// input; dx may be dy.
	//
	//	for i := range n { if y[i] > 0 { dx[i] = dy[i] } else { dx[i] = 0 } }
	ReLUGrad(n int, y, dy, dx Buffer)

	// Tanh is, where y may be x,
	//
	//	for i := range n { y[i] = math.Tanh(x[i]) }
	Tanh(n int, x, y Buffer)

	// TanhGrad is, where dx may be dy,
	//
	//	for i := range n { dx[i] = dy[i] * (1 - y[i]*y[i]) }
	TanhGrad(n int, y, dy, dx Buffer)

	// SoftmaxCE is softmax with cross-entropy for logits z [m×n], n ≥ 1, and
	// labels [m] that hold a class index 0…n−1 each. loss[i] is
	// log Σ_j exp(z_ij) − z_i,label, never negative, computed after
	// subtracting the row's maximum; dz [m×n], which may be z, is
	// softmax(z_i) − onehot(label). NaN or +Inf in a row makes that row's
	// loss and gradient NaN and touches no other row.
	SoftmaxCE(m, n int, z, labels, loss, dz Buffer)

	// SigmoidBCE is the multi-label loss: for logits z and targets t in
	// [0, 1], both [m×n], the sum over a row's columns; dz may be z.
	//
	//	loss[i] = Σ_j max(z,0) − z·t + log1p(exp(−|z|)),  dz = 1/(1+exp(−z)) − t
	SigmoidBCE(m, n int, z, t, loss, dz Buffer)

	// Squared is the squared loss for predictions z and targets t, both
	// [m×n]; dz may be z.
	//
	//	loss[i] = ½ Σ_j (z−t)²,  dz = z − t
	Squared(m, n int, z, t, loss, dz Buffer)

	// Noise writes Gaussian noise drawn from a ChaCha stream, the same for
	// every backend up to rounding: dst[i] = std·z_i, where z is the standard
	// normal sequence that package chacha defines for the key. With std = 0 it
	// writes zeros.
	//
	// Guarantee: two calls with different keys draw from independent streams;
	// the caller (package privacy) never uses one key twice.
	Noise(n int, std float32, key NoiseKey, dst Buffer)

	// Adam is one step of Adam (Kingma & Ba 2015, Algorithm 1), where g is
	// read only and c1 = 1−b1^t, c2 = 1−b2^t are the bias corrections:
	//
	//	for i := range n {
	//		m[i] = b1*m[i] + (1-b1)*g[i]
	//		v[i] = b2*v[i] + (1-b2)*g[i]*g[i]
	//		w[i] -= lr * (m[i]/c1) / (sqrt(v[i]/c2) + eps)
	//	}
	Adam(n int, p AdamParams, g, m, v, w Buffer)

	// Spread is one update, from a noised gradient g, of its centre m and of the
	// deviation of its coordinates, of which r holds the square root (AC,
	// Algorithm 1). Where v is NaN or ±Inf, m and r stay as they are.
	//
	//	for i := range n {
	//		dev, s := g[i] - m[i], r[i]*r[i]
	//		v := times * (dev*dev - noise*s)
	//		if isNaN(v) || isInf(v) { continue }
	//		v = min(max(v, least), greatest)
	//		r[i] = sqrt(sqrt(b2*s*s + (1-b2)*v))
	//		m[i] = b1*m[i] + (1-b1)*g[i]
	//	}
	Spread(n int, p SpreadParams, g, m, r Buffer)

	// Rescale works out coordinates (g − m)/b from what Spread keeps:
	//
	//	for i := range n {
	//		b[i] = scale * r[i]
	//		inv[i] = 1 / (b[i]*b[i])
	//		lin[i] = m[i] * inv[i]
	//	}
	Rescale(n int, scale float32, m, r, b, inv, lin Buffer)

	// Close frees everything the backend holds.
	Close()
}

// Norm bounds the L2 norm of the first n values of x from above, as
// [Backend.RowNorms]; scalar holds one value on the way.
func Norm(ctx context.Context, be Backend, n int, x, scalar Buffer) (float64, error) {
	var norm [1]float32
	be.RowNorms(1, n, x, scalar)
	if err := be.Read(ctx, norm[:], scalar); err != nil {
		return 0, fmt.Errorf("compute: reading a norm: %w", err)
	}
	return float64(norm[0]), nil
}

// AdamParams are the scalars of one Adam step.
type AdamParams struct {
	LR, Beta1, Beta2, Eps, C1, C2 float32
}

// SpreadParams are the scalars of one Spread: the two decays, what a squared
// deviation is multiplied with, the noise in it per unit of deviation, and the
// least and the greatest variance.
type SpreadParams struct {
	Beta1, Beta2, Times, Noise, Least, Greatest float32
}

// NoiseKey names one noise sequence: a ChaCha key and a nonce that is used for
// nothing else.
type NoiseKey = chacha.Key
