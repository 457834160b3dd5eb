package kernel

import (
	"math"

	"clipscope/core/compute"
)

// AdamParams are the scalars of one Adam step. The bias corrections c1 = 1−b1^t and c2 = 1−b2^t
// are part of them, so that the loop has none: for the learning rate η, the stabiliser ε and the
// least variance γ they are Rate = η·√c2/c1, Eps = ε·√c2 and Floor = γ·c2.
type AdamParams struct {
	Rate, Beta1, Beta2, Eps float32
	// Noise is the variance of the noise in g, and Floor the least of v that is divided by; both are
	// 0 for Adam itself.
	Noise, Floor float32
}

// Adam is a step of Adam (Kingma & Ba 2015, Algorithm 1 in the order of its section 2), less the
// variance of g's noise (Tang, Shpilevskiy & Lécuyer 2023), where g is read only:
//
//	for i := range n {
//		m[i] = b1*m[i] + (1-b1)*g[i]
//		v[i] = b2*v[i] + (1-b2)*(g[i]*g[i] - noise)
//		w[i] -= rate * m[i] / (sqrt(max(v[i], floor)) + eps)
//	}
func Adam(q compute.Queue, n int, p AdamParams, g, m, v, w compute.Buffer) {
	q.Run(adam, compute.Args{
		N:   sizes{n},
		F:   scalars{float64(p.Rate), float64(p.Beta1), float64(p.Beta2), float64(p.Eps), float64(p.Noise), float64(p.Floor)},
		Buf: buffers{vec(g, n), vec(m, n), vec(v, n), vec(w, n)},
	})
}

var adam = compute.Define(compute.Kernel{Name: "adam", Loop: func(o *compute.Operands) {
	rate, b1, b2, eps, noise, floor := o.F[0], o.F[1], o.F[2], o.F[3], o.F[4], o.F[5]
	g, m, v, w := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3]
	for i := range g {
		x := float64(g[i])
		mean := b1*float64(m[i]) + (1-b1)*x
		square := b2*float64(v[i]) + (1-b2)*(x*x-noise)
		m[i], v[i] = float32(mean), float32(square)
		w[i] = float32(float64(w[i]) - rate*mean/(math.Sqrt(max(square, floor))+eps))
	}
}})
