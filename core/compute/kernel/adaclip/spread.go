// Package adaclip defines the kernels that only AdaCliP needs. Source: Pichapati et al.
// 2019, "AdaCliP", Algorithm 1.
package adaclip

import (
	"math"

	"clipscope/core/compute"
)

// SpreadParams are the scalars of one Spread: the two decays, what a squared
// deviation is multiplied with, the noise in it per unit of deviation and of the
// deviations' sum, and the least and the greatest variance.
type SpreadParams struct {
	Beta1, Beta2, Times, Least, Greatest float32
	Noise                                float64
}

// Spread is an update, from a noised gradient g, of its centre m and of the
// deviation of its coordinates, of which r holds the square root and size the root
// of their sum. Where v is NaN or ±Inf, m and r stay as they are.
//
//	for i := range n {
//		dev, s := g[i] - m[i], r[i]*r[i]
//		v := times * (dev*dev - noise*size[0]*size[0]*s)
//		if isNaN(v) || isInf(v) { continue }
//		v = min(max(v, least), greatest)
//		r[i] = sqrt(sqrt(b2*s*s + (1-b2)*v))
//		m[i] = b1*m[i] + (1-b1)*g[i]
//	}
func Spread(q compute.Queue, n int, p SpreadParams, size, g, m, r compute.Buffer) {
	q.Run(spread, compute.Args{
		N:   [5]int{n},
		F:   [6]float64{float64(p.Beta1), float64(p.Beta2), float64(p.Times), p.Noise, float64(p.Least), float64(p.Greatest)},
		Buf: [5]compute.Buffer{size.Slice(0, 1), g.Slice(0, n), m.Slice(0, n), r.Slice(0, n)},
	})
}

var spread = compute.Define(compute.Kernel{Name: "spread", Loop: func(o *compute.Operands) {
	size, g, m, r := float64(o.Buf[0][0]), o.Buf[1], o.Buf[2], o.Buf[3]
	b1, b2, times, noise := o.F[0], o.F[1], o.F[2], o.F[3]*size*size
	for i := range g {
		x, mean, root := float64(g[i]), float64(m[i]), float64(r[i])
		dev, s := x-mean, root*root
		v := times * (dev*dev - noise*s)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		v = min(max(v, o.F[4]), o.F[5])
		r[i] = float32(math.Sqrt(math.Sqrt(b2*s*s + (1-b2)*v)))
		m[i] = float32(b1*mean + (1-b1)*x)
	}
}})
