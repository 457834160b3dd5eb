package kernel

import (
	"math"

	"clipscope/core/compute"
)

// Drop says which units [DropUnits] drops.
type Drop struct {
	First int     // number of a row's first unit, which units of other layers do not have
	Least int     // of 2²⁴ units so many are dropped, fewer than all
	Gain  float32 // factor of the units that stay
}

// NewDrop returns the Drop of a probability p in [0, 1), to the nearest multiple of 2⁻²⁴. Its gain keeps
// the mean of each unit.
func NewDrop(p float64, first int) Drop {
	least := min(math.RoundToEven(p*(1<<24)), 1<<24-1)
	return Drop{First: first, Least: int(least), Gain: float32(1 / (1 - least/(1<<24)))}
}

// DropUnits is, where dst may be x,
//
//	for i := range m { for j := range n {
//		if hash(keys[2*i], keys[2*i+1], first+j)>>8 < least { dst[i*n+j] = 0 } else { dst[i*n+j] = gain * x[i*n+j] }
//	} }
//
// A row has two keys, whole numbers from 0 to 2²⁴−1, and the hash is of 32-bit integers, so that all back
// ends drop the same units. A dropped one is 0 whatever it was, NaN and ±Inf included.
func DropUnits(q compute.Queue, m, n int, d Drop, keys, x, dst compute.Buffer) {
	q.Run(dropUnits, compute.Args{
		N: sizes{m, n, d.First, d.Least}, F: scalars{float64(d.Gain)},
		Buf: buffers{keys.Matrix(m, 2), x.Matrix(m, n), dst.Matrix(m, n)},
	})
}

var dropUnits = compute.Define(compute.Kernel{Name: "dropUnits", Loop: func(o *compute.Operands) {
	n, first, least, gain := o.N[1], uint32(o.N[2]), uint32(o.N[3]), float32(o.F[0])
	keys, x, dst := o.Buf[0], o.Buf[1], o.Buf[2]
	for i, v := range x {
		row, unit := i/n, first+uint32(i%n)
		if unitHash(uint32(keys[2*row]), uint32(keys[2*row+1]), unit)>>8 < least {
			dst[i] = 0
		} else {
			dst[i] = gain * v
		}
	}
}})

// unitHash mixes two keys and a number, with the multipliers of C. Wellons' lowbias32.
func unitHash(a, b, unit uint32) uint32 {
	h := unit*0x9e3779b1 + a
	h = (h ^ h>>16) * 0x7feb352d
	h = (h ^ h>>15 ^ b) * 0x846ca68b
	return h ^ h>>16
}
