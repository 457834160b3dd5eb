package kernel

import (
	"math"

	"clipscope/core/compute"
)

// UnaryGrad turns the gradient dy by a function's output y into the one by its
// input, where dx may be dy:
//
//	for i := range n { dx[i] = dy[i] * f′(f⁻¹(y[i])) }
//
// which for ReLU is dy[i] where y[i] > 0 and else 0, whatever dy[i] is, and for
// Tanh dy[i]·(1 − y[i]²). GELU has no inverse: for it y is the input x, and dx
// is dy[i]·(Φ(x[i]) + x[i]·φ(x[i])), which for ±Inf is NaN.
func UnaryGrad(q compute.Queue, f Function, n int, y, dy, dx compute.Buffer) {
	q.Run(unaryGrad, compute.Args{N: sizes{int(f), n}, Buf: buffers{vec(y, n), vec(dy, n), vec(dx, n)}})
}

var unaryGrad = compute.Define(compute.Kernel{Name: "unaryGrad", Loop: func(o *compute.Operands) {
	y, dy, dx := o.Buf[0], o.Buf[1], o.Buf[2]
	for i, v := range y {
		switch {
		case Function(o.N[0]) == Tanh:
			dx[i] = float32(float64(dy[i]) * (1 - float64(v)*float64(v)))
		case Function(o.N[0]) == GELU:
			x := float64(v)
			dx[i] = float32(float64(dy[i]) * (normal(x) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)))
		case v > 0:
			dx[i] = dy[i]
		default:
			dx[i] = 0
		}
	}
}})
