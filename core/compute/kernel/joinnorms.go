package kernel

import (
	"math"

	"clipscope/core/compute"
)

// JoinNorms joins to each norm in dst that of one more part of a gradient, the
// outer product of an input of length h and a gradient of length d, with the
// bias's input 1. Like [RowNorms] it errs upwards only, by no more. Inputs longer
// than [compute.MaxInput], and NaN or ±Inf, give NaN or +Inf.
//
//	for i := range n { dst[i] = √(dst[i]² + d[i]²·(h[i]² + 1)) }
func JoinNorms(q compute.Queue, n int, h, d, dst compute.Buffer) {
	q.Run(joinNorms, compute.Args{N: sizes{n}, Buf: buffers{vec(h, n), vec(d, n), vec(dst, n)}})
}

var joinNorms = compute.Define(compute.Kernel{Name: "joinNorms", Loop: func(o *compute.Operands) {
	h, d, dst := o.Buf[0], o.Buf[1], o.Buf[2]
	for i, v := range dst {
		in, out := float64(h[i]), float64(d[i])
		if !(in <= compute.MaxInput) {
			dst[i] = float32(math.Inf(1))
			continue
		}
		dst[i] = Above(math.Sqrt(float64(v)*float64(v) + out*out*(in*in+1)))
	}
}})
