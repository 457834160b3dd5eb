package kernel

import "clipscope/core/compute"

// AddRow adds the vector b to every row of y [m×n]:
//
//	for i := range m { for j := range n { y[i*n+j] += b[j] } }
func AddRow(q compute.Queue, m, n int, b, y compute.Buffer) {
	q.Run(addRow, compute.Args{N: sizes{m, n}, Buf: buffers{vec(b, n), y.Matrix(m, n)}})
}

var addRow = compute.Define(compute.Kernel{Name: "addRow", Loop: func(o *compute.Operands) {
	m, n, b := o.N[0], o.N[1], o.Buf[0]
	for i := range m {
		row := o.Buf[1][i*n : (i+1)*n]
		for j, v := range b {
			row[j] += v
		}
	}
}})
