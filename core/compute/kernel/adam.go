package kernel

import (
	"math"

	"clipscope/core/compute"
)

// AdamParams are the scalars of one Adam step.
type AdamParams struct {
	LR, Beta1, Beta2, Eps, C1, C2 float32
}

// Adam is a step of Adam (Kingma & Ba 2015, Algorithm 1), where g is read only
// and c1 = 1−b1^t, c2 = 1−b2^t are the bias corrections:
//
//	for i := range n {
//		m[i] = b1*m[i] + (1-b1)*g[i]
//		v[i] = b2*v[i] + (1-b2)*g[i]*g[i]
//		w[i] -= lr * (m[i]/c1) / (sqrt(v[i]/c2) + eps)
//	}
func Adam(q compute.Queue, n int, p AdamParams, g, m, v, w compute.Buffer) {
	q.Run(adam, compute.Args{
		N:   sizes{n},
		F:   scalars{float64(p.LR), float64(p.Beta1), float64(p.Beta2), float64(p.Eps), float64(p.C1), float64(p.C2)},
		Buf: buffers{vec(g, n), vec(m, n), vec(v, n), vec(w, n)},
	})
}

var adam = compute.Define(compute.Kernel{Name: "adam", Loop: func(o *compute.Operands) {
	lr, b1, b2, eps, c1, c2 := o.F[0], o.F[1], o.F[2], o.F[3], o.F[4], o.F[5]
	g, m, v, w := o.Buf[0], o.Buf[1], o.Buf[2], o.Buf[3]
	for i := range g {
		x := float64(g[i])
		mean := b1*float64(m[i]) + (1-b1)*x
		square := b2*float64(v[i]) + (1-b2)*x*x
		m[i], v[i] = float32(mean), float32(square)
		w[i] = float32(float64(w[i]) - lr*(mean/c1)/(math.Sqrt(square/c2)+eps))
	}
}})
