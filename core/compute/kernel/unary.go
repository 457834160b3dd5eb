package kernel

import (
	"math"

	"clipscope/core/compute"
)

// Function is a function of one value.
type Function int

const (
	ReLU Function = iota // 0 below 0; NaN stays NaN
	Tanh
	Root // an upper bound on √x for x ≥ 0, as good as [RowNorms]
	GELU // x·Φ(x), Φ the normal distribution (Hendrycks & Gimpel 2016); of −Inf it is NaN
)

// Unary is, where y may be x,
//
//	for i := range n { y[i] = f(x[i]) }
func Unary(q compute.Queue, f Function, n int, x, y compute.Buffer) {
	q.Run(unary, compute.Args{N: sizes{int(f), n}, Buf: buffers{vec(x, n), vec(y, n)}})
}

// normal is the normal distribution Φ.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

var unary = compute.Define(compute.Kernel{Name: "unary", Loop: func(o *compute.Operands) {
	x, y := o.Buf[0], o.Buf[1]
	for i, v := range x {
		switch {
		case Function(o.N[0]) == Tanh:
			v = float32(math.Tanh(float64(v)))
		case Function(o.N[0]) == GELU:
			v = float32(float64(v) * normal(float64(v)))
		case Function(o.N[0]) == Root:
			v = Above(math.Sqrt(float64(v)))
		case v < 0:
			v = 0
		}
		y[i] = v
	}
}})
