package kernel

import "clipscope/core/compute"

// AddScaled is, in float64,
//
//	for i := range n { dst[i] += a * x[i] }
func AddScaled(q compute.Queue, n int, a float64, x compute.Buffer, dst compute.Sums) {
	q.Run(addScaled, compute.Args{N: sizes{n}, F: scalars{a}, Buf: buffers{vec(x, n)}, Sums: dst.Holding(1, n)})
}

var addScaled = compute.Define(compute.Kernel{Name: "addScaled", Loop: func(o *compute.Operands) {
	for i, v := range o.Buf[0] {
		o.Sums[i] += o.F[0] * float64(v)
	}
}})
