package adaclip

import (
	"math"

	"clipscope/core/compute"
)

// Total rounds factors down to multiples of a unit, the least power of two that is
// not below reach/away[0], and adds them up in float64: exactly, while their sum is
// below 2⁵³ units. Without a unit (away[0] is 0, +Inf or NaN) they stay as they are.
//
//	for i := range n { f[i] -= mod(f[i], unit); dst[0] += f[i] }
func Total(q compute.Queue, n int, reach float64, away, f compute.Buffer, dst compute.Sums) {
	q.Run(total, compute.Args{
		N: [5]int{n}, F: [6]float64{reach}, Buf: [5]compute.Buffer{away.Slice(0, 1), f.Slice(0, n)}, Sums: dst.Holding(1, 1),
	})
}

var total = compute.Define(compute.Kernel{Name: "total", Loop: func(o *compute.Operands) {
	unit := 0.0
	if x := o.F[0] / float64(o.Buf[0][0]); x > 0 && x < math.Inf(1) {
		fraction, exponent := math.Frexp(x) // in [½, 1)
		if fraction == 0.5 {
			exponent--
		}
		unit = math.Ldexp(1, exponent)
	}
	for i, v := range o.Buf[1] {
		if unit > 0 {
			v = float32(math.Floor(float64(v)/unit) * unit)
			o.Buf[1][i] = v
		}
		o.Sums[0] += float64(v)
	}
}})
