package simd

import "unsafe"

// What kernels.js has: addresses of the kernels' memory are numbers, of Go's
// pointers.

//go:wasmimport kernels run
//go:noescape
func kernelRun(id, n0, n1, n2, n3, n4 int32, f0, f1, f2, f3, f4, f5 float64, b0, b1, b2, b3, b4, sums, key uint32)

//go:wasmimport kernels takeBack
//go:noescape
func kernelTakeBack()

//go:wasmimport kernels alloc
//go:noescape
func kernelAlloc(bytes uint32) uint32

//go:wasmimport kernels free
//go:noescape
func kernelFree(at uint32)

//go:wasmimport kernels newSums
//go:noescape
func kernelNewSums(n int32) uint32

//go:wasmimport kernels freeSums
//go:noescape
func kernelFreeSums(at uint32)

//go:wasmimport kernels write
//go:noescape
func kernelWrite(to uint32, from unsafe.Pointer, bytes uint32)

//go:wasmimport kernels read
//go:noescape
func kernelRead(from uint32, to unsafe.Pointer, bytes uint32)
