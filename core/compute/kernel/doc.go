// Package kernel defines the kernels, each with the loop that is its reference. Each has
// one Go file, with what it computes, how it is called and its Loop. Beside that stand one
// .ts file of the same name for package simd and one .wgsl file for package webgpu, whose
// comment has the rules of the latter. Adding one touches nothing else, but for its test
// in package computetest and its line in shaders.go.
//
// The parameters of the .ts function are those of Args by type, each type in its
// order: i32 from N, f32 and f64 from F, Ptr from Buf, then Sums and Key. Part and
// Parts say which part of a call is meant, where several threads share it.
package kernel

import (
	"math"

	"clipscope/core/compute"
)

type (
	sizes   = [5]int
	scalars = [6]float64
	buffers = [5]compute.Buffer
)

func vec(b compute.Buffer, n int) compute.Buffer { return b.Slice(0, n) }

// Above is the least float32 that is not below x ≥ 0, with room for what rounding
// has done to x in float64.
func Above(x float64) float32 {
	x *= 1 + 0x1p-40
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}
