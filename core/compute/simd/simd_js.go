package simd

import (
	"context"
	"fmt"
	"math"
	"syscall/js"
	"unsafe"

	"clipscope/core/compute"
)

// Backend runs the kernels. Make one with [New].
type Backend struct {
	kind  string
	gemm  []float32
	noise struct {
		key   [11]uint32 // key and nonce
		words [256]uint32
	}
}

// New returns a backend that holds no buffers yet, or an error that wraps
// [ErrNone] where the host found no kernels that its engine runs.
func New() (*Backend, error) {
	loader := js.Global().Get("clipscopeKernels")
	if loader.Type() != js.TypeObject {
		return nil, fmt.Errorf("simd: %w: the page did not load kernels.js", ErrNone)
	}
	kind := loader.Get("bound").String()
	if kind != "relaxed" && kind != "simd128" {
		return nil, fmt.Errorf("simd: %w: this browser has no WebAssembly SIMD, or they could not be loaded", ErrNone)
	}
	return &Backend{kind: kind}, nil
}

// Name is "simd".
func (b *Backend) Name() string { return "simd" }

// Kind is the build of the kernels: "simd128", or "relaxed", where multiply-add
// is fused.
func (b *Backend) Kind() string { return b.kind }

type buffer struct{ v []float32 }

func (b *buffer) Len() int { return len(b.v) }

func (b *Backend) New(n int) compute.Buffer { return &buffer{make([]float32, n)} }

// Free drops the buffer's memory, so that a later use of it panics.
func (b *Backend) Free(x compute.Buffer) {
	switch x := x.(type) {
	case *sums:
		x.block, x.wide = nil, nil
	default:
		x.(*buffer).v = nil
	}
}

func (b *Backend) Close() { *b = Backend{kind: b.kind} }

// take returns the first n values of x. It is what keeps the kernels, which
// check nothing, inside of Go's buffers.
func take(x compute.Buffer, n int) []float32 {
	p, ok := x.(*buffer)
	if !ok {
		panic(fmt.Sprintf("simd: a %T is not a buffer of this backend", x))
	}
	if n < 0 || n > len(p.v) {
		panic(fmt.Sprintf("simd: size %d for a buffer of %d", n, len(p.v)))
	}
	return p.v[:n]
}

// vec is the address of the first n values of x.
func vec(x compute.Buffer, n int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(take(x, n)))
}

// mat is the address of the first m×n values of x.
func mat(x compute.Buffer, m, n int) unsafe.Pointer {
	if m < 0 || n < 0 || n > 0 && m > math.MaxInt32/n {
		panic(fmt.Sprintf("simd: size %d×%d", m, n))
	}
	return vec(x, m*n)
}

func (b *Backend) Write(dst compute.Buffer, src []float32) {
	copy(take(dst, len(src)), src)
}

func (b *Backend) Read(ctx context.Context, dst []float32, src compute.Buffer) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("simd: read: %w", err)
	}
	copy(dst, take(src, len(dst)))
	return nil
}

func (b *Backend) Copy(n int, dst, src compute.Buffer) {
	copy(take(dst, n), take(src, n))
}

func (b *Backend) Fill(n int, v float32, dst compute.Buffer) {
	kernelFill(int32(n), v, vec(dst, n))
}

func (b *Backend) Scale(n int, a float32, x compute.Buffer) {
	kernelScale(int32(n), a, vec(x, n))
}

func (b *Backend) Axpy(n int, a float32, x, y compute.Buffer) {
	kernelAxpy(int32(n), a, vec(x, n), vec(y, n))
}

func (b *Backend) Mul(n int, dst, x, y compute.Buffer) {
	kernelMul(int32(n), vec(dst, n), vec(x, n), vec(y, n))
}

// The blocking of kernels/gemm.ts, which scratch is sized for.
const (
	tileRows, tileCols    = 6, 8
	blockDepth, blockCols = 320, 512
)

func (b *Backend) Gemm(tA, tB compute.Trans, m, n, k int, aBuf, bBuf compute.Buffer, beta float32, cBuf compute.Buffer) {
	ap, bp, cp := mat(aBuf, m, k), mat(bBuf, k, n), mat(cBuf, m, n)
	kernelGemm(flag(tA), flag(tB), int32(m), int32(n), int32(k), ap, bp, beta, cp, b.scratch(m, n, k))
}

// scratch is room for the kernels' tiles and panels.
func (b *Backend) scratch(m, n, k int) unsafe.Pointer {
	cols := (min(max(m, n), blockCols) + tileCols - 1) / tileCols * tileCols
	size := tileRows*tileCols + min(k, blockDepth)*(tileRows+cols)
	if len(b.gemm) < size {
		b.gemm = make([]float32, size)
	}
	return unsafe.Pointer(unsafe.SliceData(b.gemm))
}

func flag(t compute.Trans) int32 {
	if t {
		return 1
	}
	return 0
}

func (b *Backend) AddRow(m, n int, row, y compute.Buffer) {
	kernelAddRow(int32(m), int32(n), vec(row, n), mat(y, m, n))
}

func (b *Backend) RowNorms(m, n int, x, dst compute.Buffer) {
	kernelRowNorms(int32(m), int32(n), mat(x, m, n), vec(dst, m))
}

func (b *Backend) JoinNorms(n int, h, d, dst compute.Buffer) {
	kernelJoinNorms(int32(n), vec(h, n), vec(d, n), vec(dst, n))
}

func (b *Backend) ScaleRows(m, n int, f, x, dst compute.Buffer) {
	kernelScaleRows(int32(m), int32(n), vec(f, m), mat(x, m, n), mat(dst, m, n))
}

func (b *Backend) ReLU(n int, x, y compute.Buffer) {
	kernelReLU(int32(n), vec(x, n), vec(y, n))
}

func (b *Backend) ReLUGrad(n int, y, dy, dx compute.Buffer) {
	kernelReLUGrad(int32(n), vec(y, n), vec(dy, n), vec(dx, n))
}

func (b *Backend) Tanh(n int, x, y compute.Buffer) {
	kernelTanh(int32(n), vec(x, n), vec(y, n))
}

func (b *Backend) TanhGrad(n int, y, dy, dx compute.Buffer) {
	kernelTanhGrad(int32(n), vec(y, n), vec(dy, n), vec(dx, n))
}

// SoftmaxCE also gives NaN to a row whose label is not a class index.
func (b *Backend) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	if n > 0 {
		kernelSoftmaxCE(int32(m), int32(n), mat(z, m, n), vec(labels, m), vec(loss, m), mat(dz, m, n))
	}
}

func (b *Backend) SigmoidBCE(m, n int, z, t, loss, dz compute.Buffer) {
	kernelSigmoidBCE(int32(m), int32(n), mat(z, m, n), mat(t, m, n), vec(loss, m), mat(dz, m, n))
}

func (b *Backend) Squared(m, n int, z, t, loss, dz compute.Buffer) {
	kernelSquared(int32(m), int32(n), mat(z, m, n), mat(t, m, n), vec(loss, m), mat(dz, m, n))
}

func (b *Backend) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	p := vec(dst, n)
	if std == 0 {
		kernelFill(int32(n), 0, p)
		return
	}
	s := &b.noise
	copy(s.key[:8], key.Key[:])
	copy(s.key[8:], key.Nonce[:])
	kernelNoise(int32(n), std, unsafe.Pointer(&s.key), p, unsafe.Pointer(&s.words))
}

func (b *Backend) Spread(n int, p compute.SpreadParams, g, m, r compute.Buffer) {
	kernelSpread(int32(n), p.Beta1, p.Beta2, p.Times, p.Noise, p.Least, p.Greatest, vec(g, n), vec(m, n), vec(r, n))
}

func (b *Backend) Rescale(n int, scale float32, m, r, bb, inv, lin compute.Buffer) {
	kernelRescale(int32(n), scale, vec(m, n), vec(r, n), vec(bb, n), vec(inv, n), vec(lin, n))
}

func (b *Backend) Adam(n int, p compute.AdamParams, g, m, v, w compute.Buffer) {
	kernelAdam(int32(n), p.LR, p.Beta1, p.Beta2, p.Eps, p.C1, p.C2, vec(g, n), vec(m, n), vec(v, n), vec(w, n))
}

var _ compute.Backend = (*Backend)(nil)
