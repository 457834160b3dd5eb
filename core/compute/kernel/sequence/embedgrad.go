package sequence

import "clipscope/core/compute"

// EmbedGrad forms the gradient of each of m examples by the table of [Embed], g [m×v×d],
// from its t tokens x [m×t] and the gradient dy [m×t×d] by its output.
//
//	g = 0; for i := range m { for j := range t { where x[i][j] is a token: g[i][x[i][j]] += dy[i][j] } }
func EmbedGrad(q compute.Queue, m, t, v, d int, x, dy, g compute.Buffer) {
	q.Run(embedGrad, compute.Args{
		N:   [5]int{m, t, v, d},
		Buf: [5]compute.Buffer{x.Matrix(m, t), dy.Matrix(m, t*d), g.Matrix(m, v*d)},
	})
}

var embedGrad = compute.Define(compute.Kernel{Name: "embedGrad", Loop: func(o *compute.Operands) {
	t, v, d := o.N[1], o.N[2], o.N[3]
	sums := make([]float64, v*d)
	for i := range o.N[0] {
		clear(sums)
		for j, x := range o.Buf[0][i*t : (i+1)*t] {
			k := token(x, v)
			if k < 0 {
				continue
			}
			for c, u := range o.Buf[1][(i*t+j)*d : (i*t+j+1)*d] {
				sums[k*d+c] += float64(u)
			}
		}
		for j, s := range sums {
			o.Buf[2][i*v*d+j] = float32(s)
		}
	}
}})
