package simd

import "unsafe"

// The kernels, as kernels/index.ts exports them. Sizes and pointers are theirs
// to trust: every call comes from a method of Backend, which checks them.

//go:wasmimport kernels fill
func kernelFill(n int32, v float32, dst unsafe.Pointer)

//go:wasmimport kernels scale
func kernelScale(n int32, a float32, x unsafe.Pointer)

//go:wasmimport kernels axpy
func kernelAxpy(n int32, a float32, x, y unsafe.Pointer)

//go:wasmimport kernels mul
func kernelMul(n int32, dst, x, y unsafe.Pointer)

//go:wasmimport kernels gemm
func kernelGemm(tA, tB, m, n, k int32, a, b unsafe.Pointer, beta float32, c, scratch unsafe.Pointer)

//go:wasmimport kernels addRow
func kernelAddRow(m, n int32, b, y unsafe.Pointer)

//go:wasmimport kernels rowNorms
func kernelRowNorms(m, n int32, x, dst unsafe.Pointer)

//go:wasmimport kernels joinNorms
func kernelJoinNorms(n int32, h, d, dst unsafe.Pointer)

//go:wasmimport kernels outer
func kernelOuter(m, n, k int32, h, d, dst, scratch unsafe.Pointer)

//go:wasmimport kernels addOuter
func kernelAddOuter(m, n, k int32, h, d, dst, scratch unsafe.Pointer)

//go:wasmimport kernels addClampedOuter
func kernelAddClampedOuter(m, n, k int32, c float32, h, d, dst unsafe.Pointer)

//go:wasmimport kernels addRoundedOuter
func kernelAddRoundedOuter(m, n, k int32, h, d, dst unsafe.Pointer)

//go:wasmimport kernels addScaled
func kernelAddScaled(n int32, a float64, x, dst unsafe.Pointer)

//go:wasmimport kernels settle
func kernelSettle(n int32, src, dst unsafe.Pointer)

//go:wasmimport kernels scaleRows
func kernelScaleRows(m, n int32, f, x, dst unsafe.Pointer)

//go:wasmimport kernels relu
func kernelReLU(n int32, x, y unsafe.Pointer)

//go:wasmimport kernels reluGrad
func kernelReLUGrad(n int32, y, dy, dx unsafe.Pointer)

//go:wasmimport kernels tanh
func kernelTanh(n int32, x, y unsafe.Pointer)

//go:wasmimport kernels tanhGrad
func kernelTanhGrad(n int32, y, dy, dx unsafe.Pointer)

//go:wasmimport kernels softmaxCE
func kernelSoftmaxCE(m, n int32, z, labels, loss, dz unsafe.Pointer)

//go:wasmimport kernels sigmoidBCE
func kernelSigmoidBCE(m, n int32, z, t, loss, dz unsafe.Pointer)

//go:wasmimport kernels squared
func kernelSquared(m, n int32, z, t, loss, dz unsafe.Pointer)

//go:wasmimport kernels noise
func kernelNoise(n int32, std float32, key, dst, scratch unsafe.Pointer)

//go:wasmimport kernels adam
func kernelAdam(n int32, lr, beta1, beta2, eps, c1, c2 float32, g, m, v, w unsafe.Pointer)

//go:wasmimport kernels spread
func kernelSpread(n int32, beta1, beta2, times, noise, least, greatest float32, g, m, r unsafe.Pointer)

//go:wasmimport kernels rescale
func kernelRescale(n int32, size float32, m, r, b, inv, lin unsafe.Pointer)
