// Package simd implements [compute.Backend] on WebAssembly SIMD. Its kernels are written
// in AssemblyScript, each beside its Go file, and work on a memory of their own. Go copies
// to and from it; a call of a kernel goes from one module to the other directly.
//
// The host that starts the Go program loads the kernels: web/kernels.js in a
// worker, web/go_wasm_exec.mjs for tests in Node. A program for js/wasm that
// imports this package cannot start without one of the two, but it can start
// without kernels, and [New] then returns an error. On all other platforms New
// always does.
//
// Where memory can be shared, a call that is long enough is cut into parts, which
// several threads run (team.ts). No sum is cut but where its blocks meet anyway, so
// that what is computed does not depend, in any bit, on how many they are. Run does not
// wait for noise that they draw: what is done next with its buffer does.
//
// Arithmetic is in float32. Sums are taken in blocks: over k in a product of at
// most 400 terms, over rows of a batch of compute.PieceRows, whose sums are added
// in float64. Norms are summed in float64. Results that would be denormal may be 0
// where an exponential is involved.
package simd

import "errors"

// ErrNone is wrapped by New's error where there are no kernels.
var ErrNone = errors.New("no SIMD kernels")
