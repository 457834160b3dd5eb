package kernel

import "clipscope/core/compute"

// Columns copies the first n values of each of m rows, which stand wide apart in x, to rows that stand wider apart, or
// less, in dst. What else is in dst stays. Rows do not overlap: n is at most either distance.
//
//	for i := range m { for j := range n { dst[i*to+j] = x[i*from+j] } }
func Columns(q compute.Queue, m, n, from int, x compute.Buffer, to int, dst compute.Buffer) {
	q.Run(columns, compute.Args{N: sizes{m, n, from, to}, Buf: buffers{vec(dst, span(m, n, to)), vec(x, span(m, n, from))}})
}

// span is the distance from the first of the n values of a row to the last of m rows.
func span(m, n, apart int) int {
	if m == 0 {
		return 0
	}
	return (m-1)*apart + n
}

var columns = compute.Define(compute.Kernel{Name: "columns", Loop: func(o *compute.Operands) {
	m, n, from, to := o.N[0], o.N[1], o.N[2], o.N[3]
	for i := range m {
		copy(o.Buf[0][i*to:i*to+n], o.Buf[1][i*from:i*from+n])
	}
}})
