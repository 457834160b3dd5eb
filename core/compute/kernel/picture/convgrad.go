package picture

import "clipscope/core/compute"

// ConvGrad carries the gradient by the output of [Conv], dy [m×places×k], back to
// its input, dx [m×in]:
//
//	dx = 0; for i := range m { for t := range places { for j := range patch {
//		patch(i, t)[j] of dx += Σ_o dy[(i*places+t)*k+o] * w[j*k+o]   unless it lies outside
//	} } }
//
// Where a weight is not finite, and a position would be seen through it from a place that there is not, its
// gradient may be NaN.
func ConvGrad(q compute.Queue, v Window, m, k int, dy, w, dx compute.Buffer) {
	q.Run(convGrad, v.args(m, k, dy.Matrix(m, v.Places()*k), w.Matrix(v.Patch(), k), dx.Matrix(m, v.In())))
}

var convGrad = compute.Define(compute.Kernel{Name: "convGrad", Loop: func(o *compute.Operands) {
	v, k := windowOf(o), o.N[4]
	w, out := o.Buf[1], v.Places()*k
	sums := make([]float64, v.In())
	for i := range o.N[0] {
		dy, dx := o.Buf[0][i*out:(i+1)*out], o.Buf[2][i*v.In():(i+1)*v.In()]
		clear(sums)
		v.each(func(t, at, j int) {
			if at < 0 {
				return
			}
			for l, d := range dy[t*k : (t+1)*k] {
				sums[at] += float64(d) * float64(w[j*k+l])
			}
		})
		for j, s := range sums {
			dx[j] = float32(s)
		}
	}
}})
