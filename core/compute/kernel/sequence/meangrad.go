package sequence

import "clipscope/core/compute"

// MeanGrad forms the gradient of [Mean] by its values, dx [n×p×d], from that by its result, dy
// [n×d]: 0 where there is no token of those that are meant.
//
//	for i := range n { for j := range p { dx[i][j] = dy[i] / number of tokens where x[i][j] is one, else 0 } }
func MeanGrad(q compute.Queue, n, t, p, v, d int, over Over, x, dy, dx compute.Buffer) {
	q.Run(meanGrad, compute.Args{
		N: [5]int{n, t, p, v, d}, F: [6]float64{float64(over)},
		Buf: [5]compute.Buffer{x.Matrix(n, t), dy.Matrix(n, d), dx.Matrix(n, p*d)},
	})
}

var meanGrad = compute.Define(compute.Kernel{Name: "meanGrad", Loop: func(o *compute.Operands) {
	t, p, v, d := o.N[1], o.N[2], o.N[3], o.N[4]
	for i := range o.N[0] {
		row := o.Buf[0][i*t : i*t+p]
		from, to := Over(o.F[0]).of(row, v)
		n := max(tokens(row[from:to], v), 1)
		for j, x := range row {
			dx := o.Buf[2][(i*p+j)*d : (i*p+j+1)*d]
			clear(dx)
			for c := range dx {
				if j >= from && j < to && token(x, v) >= 0 {
					dx[c] = o.Buf[1][i*d+c] / float32(n)
				}
			}
		}
	}
}})
