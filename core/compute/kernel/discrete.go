package kernel

import (
	"fmt"

	"clipscope/core/chacha"
	"clipscope/core/compute"
)

// Discrete adds whole noise to whole sums, and rounds what that is in units:
//
//	for i := range n { dst[i] = float32((src[i] + z[i]) * unit) }
//
// where z is the discrete sequence that package chacha defines for the key, the
// table and the multipliers. With src whole, and with the noise within ±2⁵³, the sum is
// exact. What is written is a function of it and the unit alone: every backend writes the
// same to the bit where the unit is a power of two, and else the same within 2⁻²³ of it.
// NaN and ±Inf in src pass.
//
// It panics for no multipliers, or more than [chacha.MostJoined].
//
// Guarantee: two calls with different keys draw from independent streams; the
// caller (package privacy) never uses one key twice.
func Discrete(q compute.Queue, n int, unit float64, multipliers []float64, table compute.Buffer, key compute.NoiseKey, src compute.Sums, dst compute.Buffer) {
	k := len(multipliers)
	if k < 1 || k > chacha.MostJoined {
		panic(fmt.Sprintf("kernel: discrete noise of %d samples", k))
	}
	a := compute.Args{N: sizes{n, k}, F: scalars{unit}, Buf: buffers{vec(table, chacha.TableLen), vec(dst, n)}, Sums: src.Holding(1, n), Key: key}
	copy(a.F[1:], multipliers)
	q.Run(discrete, a)
}

var discrete = compute.Define(compute.Kernel{Name: "discrete", Keyed: true, Loop: func(o *compute.Operands) {
	dst, multipliers := o.Buf[1], o.F[1:1+o.N[1]]
	z := make([]float64, len(dst))
	if err := chacha.Discrete(&o.Key.Key, &o.Key.Nonce, o.Buf[0], multipliers, z); err != nil {
		panic(err) // for more values than a buffer can hold
	}
	for i, v := range z {
		dst[i] = float32((o.Sums[i] + v) * o.F[0])
	}
}})
