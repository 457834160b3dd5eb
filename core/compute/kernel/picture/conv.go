package picture

import "clipscope/core/compute"

// Conv multiplies what the window sees at each place of each of m pictures
// x [m×in] with w [patch×k], and adds b [k]: y [m×places×k].
//
//	for i := range m { for t := range places { for o := range k {
//		s := b[o]; for j := range patch { s += patch(i, t)[j] * w[j*k+o] }
//		y[(i*places+t)*k+o] = s
//	} } }
func Conv(q compute.Queue, v Window, m, k int, x, w, b, y compute.Buffer) {
	q.Run(conv, v.args(m, k, x.Matrix(m, v.In()), w.Matrix(v.Patch(), k), b.Slice(0, k), y.Matrix(m, v.Places()*k)))
}

var conv = compute.Define(compute.Kernel{Name: "conv", Loop: func(o *compute.Operands) {
	v, k := windowOf(o), o.N[4]
	w, b := o.Buf[1], o.Buf[2]
	out := v.Places() * k
	sums := make([]float64, out)
	for i := range o.N[0] {
		x, y := o.Buf[0][i*v.In():(i+1)*v.In()], o.Buf[3][i*out:(i+1)*out]
		for j := range sums {
			sums[j] = float64(b[j%k])
		}
		v.each(func(t, at, j int) {
			s := 0.0
			if at >= 0 {
				s = float64(x[at])
			}
			for l, u := range w[j*k : (j+1)*k] {
				sums[t*k+l] += s * float64(u)
			}
		})
		for j, s := range sums {
			y[j] = float32(s)
		}
	}
}})
