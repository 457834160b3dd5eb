package picture

import "clipscope/core/compute"

// ConvWeights forms the gradient of each of m examples by the parameters of [Conv]
// from its picture x [m×in] and the gradient dy [m×places×k] by its output: first
// that by w, then that by b, g [m×(patch+1)×k].
//
//	for i := range m { for o := range k {
//		for j := range patch { g[i][j*k+o] = Σ_t patch(i, t)[j] * dy[(i*places+t)*k+o] }
//		g[i][patch*k+o] = Σ_t dy[(i*places+t)*k+o]
//	} }
func ConvWeights(q compute.Queue, v Window, m, k int, x, dy, g compute.Buffer) {
	q.Run(convWeights, v.args(m, k, x.Matrix(m, v.In()), dy.Matrix(m, v.Places()*k), g.Matrix(m, (v.Patch()+1)*k)))
}

var convWeights = compute.Define(compute.Kernel{Name: "convWeights", Loop: func(o *compute.Operands) {
	v, k := windowOf(o), o.N[4]
	out, d := v.Places()*k, (v.Patch()+1)*k
	sums := make([]float64, d)
	for i := range o.N[0] {
		x, dy := o.Buf[0][i*v.In():(i+1)*v.In()], o.Buf[1][i*out:(i+1)*out]
		clear(sums)
		v.each(func(t, at, j int) {
			s := 0.0
			if at >= 0 {
				s = float64(x[at])
			}
			for l, u := range dy[t*k : (t+1)*k] {
				sums[j*k+l] += s * float64(u)
			}
		})
		for j, u := range dy {
			sums[d-k+j%k] += float64(u)
		}
		for j, s := range sums {
			o.Buf[2][i*d+j] = float32(s)
		}
	}
}})
