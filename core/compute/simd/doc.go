// Package simd is [compute.Backend] on WebAssembly SIMD: kernels written in
// AssemblyScript (the kernels directory) that work on Go's own memory, so that
// any Go slice is their operand and nothing is copied.
//
// The host that starts the Go program loads the kernels: web/kernels.js in a
// worker, web/go_wasm_exec.mjs for tests in Node. A program for js/wasm that
// imports this package cannot start without one of the two, but it can start
// without kernels, and [New] then returns an error. On all other platforms New
// always does.
//
// Arithmetic is in float32. Sums are taken in blocks: over k in [Backend.Gemm]
// of at most 320 terms, over rows in ColSums all in one; RowSqNorms sums in
// float64 and has a relative error below 4·10⁻⁷ for every length. Results that
// would be denormal may be 0 where an exponential is involved.
package simd

import "errors"

// ErrNone is what New's error wraps where there are no kernels.
var ErrNone = errors.New("no SIMD kernels")
