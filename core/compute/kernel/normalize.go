package kernel

import (
	"math"

	"clipscope/core/compute"
)

// Normalize divides x by a power of two at least as large as its L2 norm, and
// writes an upper bound on that norm, as [RowNorms]; 0, NaN and ±Inf divide by 1.
// [NormalizedBy] is the divisor. Dividing is exact but for underflow.
//
//	norm[0] = ‖x‖; for i := range n { x[i] /= 2^⌈log₂ norm[0]⌉ }
func Normalize(q compute.Queue, n int, x, norm compute.Buffer) {
	q.Run(normalize, compute.Args{N: sizes{n}, Buf: buffers{vec(x, n), vec(norm, 1)}})
}

var normalize = compute.Define(compute.Kernel{Name: "normalize", Loop: func(o *compute.Operands) {
	s := 0.0
	for _, v := range o.Buf[0] {
		s += float64(v) * float64(v)
	}
	o.Buf[1][0] = Above(math.Sqrt(s))
	by := float32(1 / NormalizedBy(o.Buf[1][0]))
	for i := range o.Buf[0] {
		o.Buf[0][i] *= by
	}
}})

// NormalizedBy returns the divisor of Normalize where it writes norm.
func NormalizedBy(norm float32) float64 {
	if !(norm > 0) || math.IsInf(float64(norm), 1) {
		return 1
	}
	fraction, exponent := math.Frexp(float64(norm)) // in [½, 1)
	if fraction == 0.5 {
		exponent--
	}
	return math.Ldexp(1, max(exponent, -126)) // its inverse is a float32
}
