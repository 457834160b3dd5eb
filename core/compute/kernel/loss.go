package kernel

import (
	"math"

	"clipscope/core/compute"
)

// LossKind is a loss of predictions z [m×n].
type LossKind int

const (
	// SoftmaxCE is softmax with cross-entropy, n ≥ 1, for labels [m] that hold a
	// class index 0…n−1 each. loss[i] is log Σ_j exp(z_ij) − z_i,label, never
	// negative, computed after subtracting the row's maximum; dz is
	// softmax(z_i) − onehot(label). NaN or +Inf in a row, or a label that is no
	// class, makes that row's loss and gradient NaN and touches no other row.
	SoftmaxCE LossKind = iota
	// SigmoidBCE is the multi-label loss for targets [m×n] in [0, 1], summed over
	// a row's columns:
	//
	//	loss[i] = Σ_j max(z,0) − z·t + log1p(exp(−|z|)),  dz = 1/(1+exp(−z)) − t
	SigmoidBCE
	// Squared is, for targets [m×n],
	//
	//	loss[i] = ½ Σ_j (z−t)²,  dz = z − t
	Squared
)

// Loss writes every row's loss [m] and its gradient by the predictions, dz [m×n],
// which may be z.
func Loss(q compute.Queue, kind LossKind, m, n int, z, t, loss, dz compute.Buffer) {
	if n == 0 && kind == SoftmaxCE {
		return
	}
	width := n
	if kind == SoftmaxCE {
		width = 1
	}
	q.Run(lossOf, compute.Args{N: sizes{int(kind), m, n}, Buf: buffers{z.Matrix(m, n), t.Matrix(m, width), vec(loss, m), dz.Matrix(m, n)}})
}

var lossOf = compute.Define(compute.Kernel{Name: "loss", Loop: func(o *compute.Operands) {
	n, z, t, dz := o.N[2], o.Buf[0], o.Buf[1], o.Buf[3]
	for i := range o.Buf[2] {
		row, grad := z[i*n:(i+1)*n], dz[i*n:(i+1)*n]
		switch LossKind(o.N[0]) {
		case SoftmaxCE:
			o.Buf[2][i] = softmaxRow(row, t[i], grad)
		case SigmoidBCE:
			o.Buf[2][i] = sigmoidRow(row, t[i*n:(i+1)*n], grad)
		default:
			o.Buf[2][i] = squaredRow(row, t[i*n:(i+1)*n], grad)
		}
	}
}})

// softmaxRow keeps the term of the largest logit, which is 1, apart from the
// others' sum s: loss and gradient of a row that is nearly certain would drown in
// it.
func softmaxRow(z []float32, label float32, dz []float32) float32 {
	top := 0
	ok := label >= 0 && label < float32(len(z)) && float32(int(label)) == label
	for j, v := range z {
		if v > z[top] {
			top = j
		}
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 1) {
			ok = false
		}
	}
	if !ok || math.IsInf(float64(z[top]), -1) {
		for j := range dz {
			dz[j] = float32(math.NaN())
		}
		return float32(math.NaN())
	}
	peak, s := float64(z[top]), 0.0
	zLabel := float64(z[int(label)])
	for j, v := range z {
		if j != top {
			s += math.Exp(float64(v) - peak)
		}
	}
	for j, v := range z {
		e := math.Exp(float64(v) - peak)
		switch {
		case j != int(label):
			e /= 1 + s
		case j == top:
			e = -s / (1 + s)
		default:
			e = e/(1+s) - 1
		}
		dz[j] = float32(e)
	}
	return float32(math.Log1p(s) + (peak - zLabel))
}

func sigmoidRow(z, t, dz []float32) float32 {
	s := 0.0
	for j := range z {
		x, y := float64(z[j]), float64(t[j])
		s += max(x, 0) - x*y + math.Log1p(math.Exp(-math.Abs(x)))
		dz[j] = float32(sigmoidMinus(x, y))
	}
	return float32(s)
}

// sigmoidMinus is 1/(1+exp(−x)) − y without cancellation where y is 0 or 1.
func sigmoidMinus(x, y float64) float64 {
	p := math.Exp(-math.Abs(x))
	p /= 1 + p
	if x >= 0 {
		return (1 - y) - p
	}
	return p - y
}

func squaredRow(z, t, dz []float32) float32 {
	s := 0.0
	for j := range z {
		v := float64(z[j]) - float64(t[j])
		s += v * v
		dz[j] = float32(v)
	}
	return float32(s / 2)
}
