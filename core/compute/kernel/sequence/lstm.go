package sequence

import (
	"math"

	"clipscope/core/compute"
)

// LSTM passes each of n rows through h cells, place by place (long short-term memory: Hochreiter and
// Schmidhuber 1997, Gers et al. 2000). a [n×t×4h] is what the input adds to each cell's gates, in the
// order of PyTorch's, and becomes how far these are open; w [(h+1)×4h] has the weights of the results
// at the place before, and then biases. c [n×t×h] is what the cells hold after each place, and
// y [n×t×h] the results. At a place where x [n×t] has no token, of v, both stay as they were, and a
// becomes 0. Before the first place they are 0.
//
//	for i := range n { for j := range t where x[i][j] is a token {
//		in, forget, value, out = a[i][j] + y[i][j-1]·W + b, through σ, σ, tanh, σ
//		c[i][j] = forget*c[i][j-1] + in*value
//		y[i][j] = out*tanh(c[i][j])
//	} }
func LSTM(q compute.Queue, n, t, v, h int, x, a, w, c, y compute.Buffer) {
	q.Run(lstm, compute.Args{
		N:   [5]int{n, t, v, h},
		Buf: [5]compute.Buffer{x.Matrix(n, t), a.Matrix(n, 4*t*h), w.Matrix(h+1, 4*h), c.Matrix(n, t*h), y.Matrix(n, t*h)},
	})
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

var lstm = compute.Define(compute.Kernel{Name: "lstm", Loop: func(o *compute.Operands) {
	t, v, h := o.N[1], o.N[2], o.N[3]
	w, z := o.Buf[2], make([]float64, 4*h)
	none := make([]float32, h)
	held, seen := none, none // at the place before
	for at := range o.N[0] * t {
		if at%t == 0 {
			held, seen = none, none
		}
		a, c, y := o.Buf[1][4*at*h:][:4*h], o.Buf[3][at*h:][:h], o.Buf[4][at*h:][:h]
		if token(o.Buf[0][at], v) < 0 {
			clear(a)
			copy(c, held)
			copy(y, seen)
			held, seen = c, y
			continue
		}
		for k := range z {
			z[k] = float64(a[k]) + float64(w[4*h*h+k])
		}
		for m, u := range seen {
			for k, weight := range w[4*h*m:][:4*h] {
				z[k] += float64(u) * float64(weight)
			}
		}
		for k := range h {
			in, forget, value, out := sigmoid(z[k]), sigmoid(z[h+k]), math.Tanh(z[2*h+k]), sigmoid(z[3*h+k])
			a[k], a[h+k], a[2*h+k], a[3*h+k] = float32(in), float32(forget), float32(value), float32(out)
			holds := forget*float64(held[k]) + in*value
			c[k], y[k] = float32(holds), float32(out*math.Tanh(holds))
		}
		held, seen = c, y
	}
}})
