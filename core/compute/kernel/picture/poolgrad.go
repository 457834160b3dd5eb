package picture

import "clipscope/core/compute"

// PoolGrad carries the gradient by the output y of [Pool], dy, back to its input x:
// to the first of the greatest values of each window, to none where that is NaN;
// or to all of its values in equal parts.
//
//	dx = 0; for i := range m { for t := range places { for c := range channels {
//		Max:  the first of the window's x that is y[i][t][c]: its dx += dy[i][t][c]
//		Mean: each of the window's dx += dy[i][t][c]/(High*Wide)
//	} } }
func PoolGrad(q compute.Queue, how Pooling, v Window, m int, x, y, dy, dx compute.Buffer) {
	out := v.Places() * v.Channels
	q.Run(poolGrad, v.args(m, int(how), x.Matrix(m, v.In()), y.Matrix(m, out), dy.Matrix(m, out), dx.Matrix(m, v.In())))
}

var poolGrad = compute.Define(compute.Kernel{Name: "poolGrad", Loop: func(o *compute.Operands) {
	v, c := windowOf(o), o.N[3]
	out := v.Places() * c
	sums, given := make([]float64, v.In()), make([]bool, out)
	for i := range o.N[0] {
		x, y, dy := o.Buf[0][i*v.In():(i+1)*v.In()], o.Buf[1][i*out:(i+1)*out], o.Buf[2][i*out:(i+1)*out]
		clear(sums)
		clear(given)
		v.each(func(t, at, j int) {
			to := t*c + j%c
			switch {
			case Pooling(o.N[4]) == Mean:
				sums[at] += float64(dy[to]) / float64(v.High*v.Wide)
			case !given[to] && x[at] == y[to]:
				given[to] = true
				sums[at] += float64(dy[to])
			}
		})
		for j, s := range sums {
			o.Buf[3][i*v.In()+j] = float32(s)
		}
	}
}})
