package kernel

import "clipscope/core/compute"

// Mul is, where dst may be x or y,
//
//	for i := range n { dst[i] = x[i] * y[i] }
func Mul(q compute.Queue, n int, dst, x, y compute.Buffer) {
	q.Run(mul, compute.Args{N: sizes{n}, Buf: buffers{vec(dst, n), vec(x, n), vec(y, n)}})
}

var mul = compute.Define(compute.Kernel{Name: "mul", Loop: func(o *compute.Operands) {
	dst, x, y := o.Buf[0], o.Buf[1], o.Buf[2]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}})
