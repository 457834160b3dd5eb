package picture

import "clipscope/core/compute"

// GroupNormParams forms the gradient of each of m examples by the parameters of
// [GroupNorm], g [m×2×channels], from its input x, whose stats it left, and the
// gradient dy by its output:
//
//	for i := range m { for c := range channels {
//		g[i][c], g[i][channels+c] = Σ dy*(x − mean)*r, Σ dy   over the positions
//	} }
func GroupNormParams(q compute.Queue, g Groups, m int, x, stats, dy, dst compute.Buffer) {
	q.Run(groupNormParams, g.args(m, x.Matrix(m, g.in()), stats.Matrix(m, g.Stats()), dy.Matrix(m, g.in()), dst.Matrix(m, 2*g.Channels)))
}

var groupNormParams = compute.Define(compute.Kernel{Name: "groupNormParams", Loop: func(o *compute.Operands) {
	g := groupsOf(o)
	d := 2 * g.Channels
	sums := make([]float64, d)
	for i := range o.N[0] {
		x, dy := o.Buf[0][i*g.in():(i+1)*g.in()], o.Buf[2][i*g.in():(i+1)*g.in()]
		stats := o.Buf[1][i*g.Stats() : (i+1)*g.Stats()]
		clear(sums)
		g.values(func(at, group, c int) {
			sums[c] += float64(dy[at]) * hat(x[at], stats, group)
			sums[g.Channels+c] += float64(dy[at])
		})
		for j, s := range sums {
			o.Buf[3][i*d+j] = float32(s)
		}
	}
}})
