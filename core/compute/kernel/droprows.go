package kernel

import "clipscope/core/compute"

// DropRows clears the rows of x [m×n] whose factor is exactly 0 and touches no
// other: what a rejected example put in is gone, NaN and ±Inf included.
//
//	for i := range m { if f[i] == 0 { for j := range n { x[i*n+j] = 0 } } }
func DropRows(q compute.Queue, m, n int, f, x compute.Buffer) {
	q.Run(dropRows, compute.Args{N: sizes{m, n}, Buf: buffers{vec(f, m), x.Matrix(m, n)}})
}

var dropRows = compute.Define(compute.Kernel{Name: "dropRows", Loop: func(o *compute.Operands) {
	n := o.N[1]
	for i, f := range o.Buf[0] {
		if f == 0 {
			clear(o.Buf[1][i*n : (i+1)*n])
		}
	}
}})
