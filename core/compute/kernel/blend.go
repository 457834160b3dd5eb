package kernel

import "clipscope/core/compute"

// Blend is
//
//	for i := range n { y[i] = a*x[i] + b*y[i] }
func Blend(q compute.Queue, n int, a, b float32, x, y compute.Buffer) {
	q.Run(blend, compute.Args{N: sizes{n}, F: scalars{float64(a), float64(b)}, Buf: buffers{vec(x, n), vec(y, n)}})
}

var blend = compute.Define(compute.Kernel{Name: "blend", Loop: func(o *compute.Operands) {
	x, y := o.Buf[0], o.Buf[1]
	for i := range y {
		y[i] = float32(o.F[0]*float64(x[i]) + o.F[1]*float64(y[i]))
	}
}})
