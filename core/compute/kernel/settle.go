package kernel

import "clipscope/core/compute"

// Settle adds sums to dst and rounds once:
//
//	for i := range n { dst[i] = float32(src[i] + dst[i]) }
func Settle(q compute.Queue, n int, src compute.Sums, dst compute.Buffer) {
	q.Run(settle, compute.Args{N: sizes{n}, Buf: buffers{vec(dst, n)}, Sums: src.Holding(1, n)})
}

var settle = compute.Define(compute.Kernel{Name: "settle", Loop: func(o *compute.Operands) {
	for i := range o.Buf[0] {
		o.Buf[0][i] = float32(o.Sums[i] + float64(o.Buf[0][i]))
	}
}})
