package kernel

import "clipscope/core/compute"

// Fill is
//
//	for i := range n { dst[i] = v }
func Fill(q compute.Queue, n int, v float32, dst compute.Buffer) {
	q.Run(fill, compute.Args{N: sizes{n}, F: scalars{float64(v)}, Buf: buffers{vec(dst, n)}})
}

var fill = compute.Define(compute.Kernel{Name: "fill", Loop: func(o *compute.Operands) {
	for i := range o.Buf[0] {
		o.Buf[0][i] = float32(o.F[0])
	}
}})
