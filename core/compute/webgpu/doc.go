// Package webgpu implements [compute.Backend] with WebGPU compute shaders.
//
// Go writes what is to be done as words, commands and arguments, and hands all of it
// over in one call a submission; web/gpu.js replays them. Nothing but a Pending waits.
//
// # One heap
//
// All buffers are parts of one GPU buffer, the heap, which every kernel has bound and
// may write: WebGPU refuses a dispatch that has one buffer bound both for writing and
// otherwise, and parameters, gradients and moments are parts of one buffer each (see
// core/compute/RATIONALE.md). A kernel's arguments are one slot of 256 bytes of a second
// buffer.
//
// # A kernel's files
//
// Beside kernel x.go stands its program x.wgsl, which the file prelude.wgsl precedes (and
// tile.wgsl, where it has a product), and
// x_webgpu.go or a line of shaders.go, which says which entry points a call runs, one after
// the other, and over how many workgroups (package shader).
package webgpu

import "errors"

// ErrNone is the error of a host on which there is no WebGPU, or no adapter.
var ErrNone = errors.New("no WebGPU")

// Adapter is a GPU as the browser describes it.
type Adapter struct {
	Name     string
	Fallback bool // it is a program, and no GPU
}
