package kernel

import "clipscope/core/compute"

// Finite clears keep where x is NaN or ±Inf:
//
//	for i := range n { if x[i] - x[i] != 0 { keep[i] = 0 } }
func Finite(q compute.Queue, n int, x, keep compute.Buffer) {
	q.Run(finite, compute.Args{N: sizes{n}, Buf: buffers{vec(x, n), vec(keep, n)}})
}

var finite = compute.Define(compute.Kernel{Name: "finite", Loop: func(o *compute.Operands) {
	for i, x := range o.Buf[0] {
		if x-x != 0 {
			o.Buf[1][i] = 0
		}
	}
}})
