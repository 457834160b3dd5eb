package kernel

import "clipscope/core/compute"

// Axpy is
//
//	for i := range n { y[i] += a * x[i] }
func Axpy(q compute.Queue, n int, a float32, x, y compute.Buffer) {
	q.Run(axpy, compute.Args{N: sizes{n}, F: scalars{float64(a)}, Buf: buffers{vec(x, n), vec(y, n)}})
}

var axpy = compute.Define(compute.Kernel{Name: "axpy", Loop: func(o *compute.Operands) {
	x, y := o.Buf[0], o.Buf[1]
	for i, v := range x {
		y[i] = float32(float64(y[i]) + o.F[0]*float64(v))
	}
}})
