// Package sequence defines the kernels of layers whose rows are sequences of tokens. A
// token is the number of a row of a table; its vector, one of many channels, is that row.
package sequence

import "clipscope/core/compute"

// Embed gives each of n tokens x [n] its row of a table [v×d]: y [n×d]. A value that is
// no whole number from 0 up to v−1, NaN and ±Inf among them, is no token, and its row is 0.
//
//	for i := range n { y[i] = table[x[i]] where x[i] is a token, else 0 }
func Embed(q compute.Queue, n, v, d int, x, table, y compute.Buffer) {
	q.Run(embedding, compute.Args{
		N:   [5]int{n, v, d},
		Buf: [5]compute.Buffer{x.Slice(0, n), table.Matrix(v, d), y.Matrix(n, d)},
	})
}

// token returns the number of a token, of so many, or -1.
func token(x float32, many int) int {
	if x >= 0 && x < float32(many) && x == float32(int(x)) {
		return int(x)
	}
	return -1
}

var embedding = compute.Define(compute.Kernel{Name: "embed", Loop: func(o *compute.Operands) {
	v, d := o.N[1], o.N[2]
	for i := range o.N[0] {
		y := o.Buf[2][i*d : (i+1)*d]
		clear(y)
		if k := token(o.Buf[0][i], v); k >= 0 {
			copy(y, o.Buf[1][k*d:(k+1)*d])
		}
	}
}})
