package sequence

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// AddTokens adds to dst [v×d] the gradients g [m×t×d] of [TokenGrad], each of the m examples'
// times its factor f [m], one by one in float64 or as exactly: sums of pieces in float32, as other
// kernels have them ([compute.PieceRows]), would take a table each. An example with a factor of exactly
// 0 leaves no trace, whatever it holds.
//
//	for i := range m { for j := range t { where f[i] != 0 and x[i][j] is a token: for c := range d {
//		dst[x[i][j]*d+c] += each(f[i] * g[i][j][c])
//	} } }
func AddTokens(q compute.Queue, m, t, v, d int, each kernel.Each, x, f, g compute.Buffer, dst compute.Sums) {
	how, bound := each.Numbers()
	q.Run(addTokens, compute.Args{
		N: [5]int{m, t, v, d, how}, F: [6]float64{bound},
		Buf: [5]compute.Buffer{x.Matrix(m, t), f.Slice(0, m), g.Matrix(m, t*d)}, Sums: dst.Holding(v, d),
	})
}

var addTokens = compute.Define(compute.Kernel{Name: "addTokens", Loop: func(o *compute.Operands) {
	m, t, v, d, c := o.N[0], o.N[1], o.N[2], o.N[3], float32(o.F[0])
	for i := range m {
		f := o.Buf[1][i]
		for j := range t {
			k := token(o.Buf[0][i*t+j], v)
			if f == 0 || k < 0 {
				continue
			}
			for l, u := range o.Buf[2][(i*t+j)*d : (i*t+j+1)*d] {
				switch o.N[4] {
				case 0:
					o.Sums[k*d+l] += float64(f) * float64(u)
				case 1:
					o.Sums[k*d+l] += float64(min(max(f*u, -c), c))
				default:
					o.Sums[k*d+l] += math.RoundToEven(float64(f * u))
				}
			}
		}
	}
}})
