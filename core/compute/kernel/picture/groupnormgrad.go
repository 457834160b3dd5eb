package picture

import "clipscope/core/compute"

// GroupNormGrad carries the gradient by the output of [GroupNorm], dy, back to its
// input x, whose stats it left:
//
//	for i := range m { for g := range groups {
//		u, h := dy*p[c], (x − mean)*r   of the group's values
//		dx = r*(u − Σu/count − h*Σ(u*h)/count)
//	} }
func GroupNormGrad(q compute.Queue, g Groups, m int, x, p, stats, dy, dx compute.Buffer) {
	g, m = g.spread(m)
	q.Run(groupNormGrad, g.args(m, x.Matrix(m, g.in()), p.Slice(0, 2*g.Channels), stats.Matrix(m, 2*g.Count), dy.Matrix(m, g.in()), dx.Matrix(m, g.in())))
}

var groupNormGrad = compute.Define(compute.Kernel{Name: "groupNormGrad", Loop: func(o *compute.Operands) {
	g, p := groupsOf(o), o.Buf[1]
	count := float64(g.in() / g.Count)
	u, uh := make([]float64, g.Count), make([]float64, g.Count)
	for i := range o.N[0] {
		x, dy, dx := o.Buf[0][i*g.in():(i+1)*g.in()], o.Buf[3][i*g.in():(i+1)*g.in()], o.Buf[4][i*g.in():(i+1)*g.in()]
		stats := o.Buf[2][i*2*g.Count : (i+1)*2*g.Count]
		clear(u)
		clear(uh)
		g.values(func(at, group, c int) {
			d := float64(dy[at]) * float64(p[c])
			u[group] += d / count
			uh[group] += d * hat(x[at], stats, group) / count
		})
		g.values(func(at, group, c int) {
			d := float64(dy[at]) * float64(p[c])
			dx[at] = float32(float64(stats[2*group+1]) * (d - u[group] - hat(x[at], stats, group)*uh[group]))
		})
	}
}})

// hat is x at mean 0 and variance 1.
func hat(x float32, stats []float32, group int) float64 {
	return (float64(x) - float64(stats[2*group])) * float64(stats[2*group+1])
}
