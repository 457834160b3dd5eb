package sequence

import "clipscope/core/compute"

// TokenGrad forms the gradient of each of m examples by the table [v×d] of [Embed], from its t
// tokens x [m×t] and the gradient dy [m×t×d] by its output. Of a table's v rows it has the at
// most t that are not 0, in the places of their tokens: g [m×t×d] has at the first place of a
// token the sum over all places of this token, and 0 at the others.
//
//	g = 0; for i := range m { for j := range t { where x[i][j] is a token: g[i][first place of x[i][j]] += dy[i][j] } }
func TokenGrad(q compute.Queue, m, t, v, d int, x, dy, g compute.Buffer) {
	q.Run(tokenGrad, compute.Args{
		N:   [5]int{m, t, v, d},
		Buf: [5]compute.Buffer{x.Matrix(m, t), dy.Matrix(m, t*d), g.Matrix(m, t*d)},
	})
}

// firstPlace returns the place at which the token at place j of a row stands first, or -1 where
// there is no token, of so many.
func firstPlace(row []float32, j, many int) int {
	if token(row[j], many) < 0 {
		return -1
	}
	for i, x := range row {
		if x == row[j] {
			return i
		}
	}
	return -1
}

var tokenGrad = compute.Define(compute.Kernel{Name: "tokenGrad", Loop: func(o *compute.Operands) {
	t, v, d := o.N[1], o.N[2], o.N[3]
	sums := make([]float64, t*d)
	for i := range o.N[0] {
		clear(sums)
		row := o.Buf[0][i*t : (i+1)*t]
		for j := range row {
			first := firstPlace(row, j, v)
			if first < 0 {
				continue
			}
			for c, u := range o.Buf[1][(i*t+j)*d : (i*t+j+1)*d] {
				sums[first*d+c] += float64(u)
			}
		}
		for j, s := range sums {
			o.Buf[2][i*t*d+j] = float32(s)
		}
	}
}})
