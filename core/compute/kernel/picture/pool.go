package picture

import (
	"math"

	"clipscope/core/compute"
)

// Pooling is the function that reduces a channel's values in a window to one.
type Pooling int

// The poolings. The greatest of values one of which is NaN is NaN.
const (
	Max Pooling = iota
	Mean
)

// Pool takes the greatest or the mean of every channel at each place of the
// window, which has no Pad, in each of m pictures x [m×in]: y [m×places×channels].
func Pool(q compute.Queue, how Pooling, v Window, m int, x, y compute.Buffer) {
	q.Run(pool, v.args(m, int(how), x.Matrix(m, v.In()), y.Matrix(m, v.Places()*v.Channels)))
}

var pool = compute.Define(compute.Kernel{Name: "pool", Loop: func(o *compute.Operands) {
	v, c := windowOf(o), o.N[3]
	out := v.Places() * c
	values := make([]float64, out)
	for i := range o.N[0] {
		x := o.Buf[0][i*v.In() : (i+1)*v.In()]
		for j := range values {
			values[j] = 0
			if Pooling(o.N[4]) == Max {
				values[j] = math.Inf(-1)
			}
		}
		v.each(func(t, at, j int) {
			p := &values[t*c+j%c]
			if Pooling(o.N[4]) == Max {
				*p = max(*p, float64(x[at]))
			} else {
				*p += float64(x[at]) / float64(v.High*v.Wide)
			}
		})
		for j, s := range values {
			o.Buf[1][i*out+j] = float32(s)
		}
	}
}})
