package kernel

import "clipscope/core/compute"

// ScaleRows scales every row of x [m×n] by its factor; dst may be x. A factor of
// exactly 0 writes zeros whatever the row holds, NaN and ±Inf included: a rejected
// example leaves no trace.
//
//	for i := range m { for j := range n {
//		if f[i] == 0 { dst[i*n+j] = 0 } else { dst[i*n+j] = f[i] * x[i*n+j] }
//	} }
func ScaleRows(q compute.Queue, m, n int, f, x, dst compute.Buffer) {
	q.Run(scaleRows, compute.Args{N: sizes{m, n}, Buf: buffers{vec(f, m), x.Matrix(m, n), dst.Matrix(m, n)}})
}

var scaleRows = compute.Define(compute.Kernel{Name: "scaleRows", Loop: func(o *compute.Operands) {
	n := o.N[1]
	for i, f := range o.Buf[0] {
		from, to := o.Buf[1][i*n:(i+1)*n], o.Buf[2][i*n:(i+1)*n]
		if f == 0 {
			clear(to)
			continue
		}
		for j, v := range from {
			to[j] = f * v
		}
	}
}})
