package sequence

import (
	"math"

	"clipscope/core/compute"
)

// LSTMGrad forms the gradients of [LSTM] by what its gates were made of, of which a [n×t×4h] has how
// far they are open and becomes the gradient, from those by its results alone, dy [n×t×h]. x and w are
// as there, and w needs no biases. c [n×t×h], what the cells hold, becomes the gradient by what they
// held before the place.
//
//	for i := range n { for j := t-1 … 0 where x[i][j] is a token {
//		dy = dy[i][j] + da[i][j+1]·Wᵀ
//		d = dc[i][j+1] + dy*out*(1 - tanh²(c[i][j]))
//		da[i][j] = d*value*in*(1-in), d*c[i][j-1]*forget*(1-forget), d*in*(1-value²), dy*tanh(c[i][j])*out*(1-out)
//		dc[i][j] = d*forget
//	} }
func LSTMGrad(q compute.Queue, n, t, v, h int, x, a, w, c, dy compute.Buffer) {
	q.Run(lstmGrad, compute.Args{
		N:   [5]int{n, t, v, h},
		Buf: [5]compute.Buffer{x.Matrix(n, t), a.Matrix(n, 4*t*h), w.Matrix(h, 4*h), c.Matrix(n, t*h), dy.Matrix(n, t*h)},
	})
}

var lstmGrad = compute.Define(compute.Kernel{Name: "lstmGrad", Loop: func(o *compute.Operands) {
	t, v, h := o.N[1], o.N[2], o.N[3]
	w, dy, dc := o.Buf[2], make([]float64, h), make([]float64, h)
	for at := o.N[0]*t - 1; at >= 0; at-- {
		if at%t == t-1 {
			clear(dy)
			clear(dc)
		}
		a, c := o.Buf[1][4*at*h:][:4*h], o.Buf[3][at*h:][:h]
		there := token(o.Buf[0][at], v) >= 0
		for k, d := range o.Buf[4][at*h:][:h] {
			dy[k] += float64(d)
			if there {
				held := 0.0
				if at%t > 0 {
					held = float64(o.Buf[3][(at-1)*h+k])
				}
				in, forget, value, out := float64(a[k]), float64(a[h+k]), float64(a[2*h+k]), float64(a[3*h+k])
				shown := math.Tanh(float64(c[k]))
				d := dc[k] + dy[k]*out*(1-shown*shown)
				a[k], a[h+k] = float32(d*value*in*(1-in)), float32(d*held*forget*(1-forget))
				a[2*h+k], a[3*h+k] = float32(d*in*(1-value*value)), float32(dy[k]*shown*out*(1-out))
				dc[k] = d * forget
			}
			c[k] = float32(dc[k])
		}
		if !there {
			clear(a)
			continue
		}
		for m := range dy {
			dy[m] = 0
			for k, weight := range w[4*h*m:][:4*h] {
				dy[m] += float64(weight) * float64(a[k])
			}
		}
	}
}})
