package kernel

import (
	"clipscope/core/chacha"
	"clipscope/core/compute"
)

// Noise writes Gaussian noise drawn from a ChaCha stream, the same for every
// backend up to rounding: dst[i] = std·z_i, where z is the standard normal
// sequence that package chacha defines for the key. With std = 0 it writes zeros.
//
// Guarantee: two calls with different keys draw from independent streams; the
// caller (package privacy) never uses one key twice.
func Noise(q compute.Queue, n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	if std == 0 {
		Fill(q, n, 0, dst)
		return
	}
	q.Run(noise, compute.Args{N: sizes{n}, F: scalars{float64(std)}, Buf: buffers{vec(dst, n)}, Key: key})
}

var noise = compute.Define(compute.Kernel{Name: "noise", Keyed: true, Loop: func(o *compute.Operands) {
	z := make([]float64, len(o.Buf[0]))
	if err := chacha.Normal(&o.Key.Key, &o.Key.Nonce, z); err != nil {
		panic(err) // for more values than a buffer can hold
	}
	for i, v := range z {
		o.Buf[0][i] = float32(o.F[0] * v)
	}
}})
