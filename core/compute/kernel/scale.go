package kernel

import "clipscope/core/compute"

// Scale is
//
//	for i := range n { x[i] *= a }
func Scale(q compute.Queue, n int, a float32, x compute.Buffer) {
	q.Run(scale, compute.Args{N: sizes{n}, F: scalars{float64(a)}, Buf: buffers{vec(x, n)}})
}

var scale = compute.Define(compute.Kernel{Name: "scale", Loop: func(o *compute.Operands) {
	x, a := o.Buf[0], float32(o.F[0])
	for i := range x {
		x[i] *= a
	}
}})
