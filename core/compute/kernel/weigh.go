package kernel

import (
	"math"

	"clipscope/core/compute"
)

// Factors outside of these bounds are cut: below, float32 has no digits for the
// example, which then adds nothing; above, it has no number for the factor.
const (
	LeastFactor    = 0x1p-120
	GreatestFactor = 0x1p100
)

// Weights are tabulated at norms whose bits, but for the last tableShift, are 0:
// 128 to an octave, from 0 to 2¹²⁸. TableSize is how many those are.
const (
	tableShift = 16
	TableSize  = 0x7f800000>>tableShift + 1
)

// TableNorm is the norm of a table's i-th value; the last, 2¹²⁸, is not finite in
// float32.
func TableNorm(i int) float64 {
	if i == TableSize-1 {
		return 0x1p128
	}
	return float64(math.Float32frombits(uint32(i) << tableShift))
}

// Limit bounds factors.
type Limit struct {
	C    float32 // of a factor times its norm
	Gain float32 // what the table is to be multiplied with
	Most float32 // of a factor, at most GreatestFactor
}

// Weigh turns norms u into factors: the gain over what the table, with values of
// 1/factor between which it interpolates, has for the norm, but
//
//	f[i] * u[i] <= C   in real numbers, whatever the table holds
//
// rounded down by at most 2⁻²¹ of itself. It is 0 where keep is 0, where u is
// negative, NaN or ±Inf, and below [LeastFactor].
//
//	for i := range n {
//		j, x := bits(u[i]) >> 16, bits(u[i]) & (1<<16 - 1) * 2⁻¹⁶
//		t := table[j] + x*(table[j+1] - table[j])
//		f[i] = min(gain/t, C/u[i], most)
//	}
//
// Guarantee: f·u ≤ C: the quotient is made smaller until it holds, on float32
// numbers that any device compares exactly. A factor depends on its own norm, the
// table and the limit alone.
func Weigh(q compute.Queue, n int, l Limit, u, keep, table, f compute.Buffer) {
	q.Run(weigh, compute.Args{
		N: sizes{n}, F: scalars{float64(l.C), float64(l.Gain), float64(l.Most)},
		Buf: buffers{vec(u, n), vec(keep, n), vec(table, TableSize), vec(f, n)},
	})
}

var weigh = compute.Define(compute.Kernel{Name: "weigh", Loop: func(o *compute.Operands) {
	c, gain, most := o.F[0], o.F[1], o.F[2]
	u, keep, table, f := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3]
	for i, norm := range u {
		bits := math.Float32bits(norm)
		if keep[i] == 0 || bits >= 0x7f800000 {
			f[i] = 0
			continue
		}
		j, x := bits>>tableShift, float64(bits&(1<<tableShift-1))/(1<<tableShift)
		t := float64(table[j]) + x*(float64(table[j+1])-float64(table[j]))
		f[i] = factor(min(gain/t, most, GreatestFactor), c, float64(norm))
	}
}})

// factor is the greatest that a weight and the threshold allow.
func factor(weight, c, norm float64) float32 {
	if !(weight > 0 && c >= 0) { // NaN, or a table that is corrupt
		return 0
	}
	if weight*norm > c {
		weight = c / norm
	}
	f := float32(weight)
	for float64(f) > weight || float64(f)*norm > c { // a product of two float32 is exact
		f = math.Nextafter32(f, 0)
	}
	if f < LeastFactor {
		return 0
	}
	return f
}
