// Package webgpu is the [compute.Backend] whose kernels are WebGPU compute shaders.
//
// Go writes what is to be done as words, commands and arguments, and hands all of it
// over in one call a submission; web/gpu.js replays them. Nothing but a Pending waits.
//
// # One heap
//
// All buffers are parts of one GPU buffer, the heap, which every kernel has bound and
// may write: WebGPU refuses a dispatch that has one buffer bound both for writing and
// otherwise, and parameters, gradients and moments are parts of one buffer each (see
// RATIONALE). A kernel's arguments are one slot of 256 bytes of a second buffer.
//
// # A kernel's file
//
// Beside kernel x.go stands x.wgsl, which the file prelude.wgsl precedes. Its first
// lines say which entry points run, one after the other, and over how many workgroups:
//
//	//! main n2/64 n3/16
//
// Up to three sizes, across, down and deep, each a product of terms divided by a
// number, rounded up: nI is N[I], bI the length of Buf[I], s that of Sums. Where only
// the first is given and is more than WebGPU lets stand side by side, the workgroups
// stand in rows: the prelude's item and group count through these. After the first of
// several a + says that there may be fewer workgroups than that, args.across, each of
// which goes on by so many.
//
//	//! small n0/64 if n1>0 n1<33
//	//! main n0 else
//
// An if has conditions, and the entry point is left out where one of them does not hold:
// that a size, or where a buffer begins (b0), is less than a number, equal to it, greater,
// or a multiple (%); program is one, too: that the adapter is a program, and no GPU. One
// with an else runs where that of the line before is left out, and what that one is else to;
// one with an unless where not all of the conditions behind that hold.
//
//	//! scratch n0*16 n1 if n1>32
//
// Of the lines that are named scratch, the first whose conditions hold says how many words
// there are at b4 that hold anything, the sum of its sizes, for a kernel without a fifth
// buffer.
//
//	//! first n1*n2/64 if program empty
//	//! holds n1*n2 if program empty
//
// Sums are float64, in two words. Where the adapter is a program they may be two other things
// as well: empty, 0 whatever the words are, and a block, float32s in the low words. These, and
// wide for float64, are conditions. A call of which no line with the present one of them as a
// condition runs has the sums made float64 first. Of the lines that are named holds, the
// first whose conditions hold says that the call has written so many sums as float32s, and
// that all others are 0; or, where it says 0, that the sums are empty.
package webgpu

import "errors"

// ErrNone is the error of a host on which there is no WebGPU, or no adapter.
var ErrNone = errors.New("no WebGPU")

// Adapter is a GPU as the browser describes it.
type Adapter struct {
	Name     string
	Fallback bool // it is a program, and no GPU
}
