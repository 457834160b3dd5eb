package purego

import (
	"math"

	"clipscope/core/compute"
)

func (b *Backend) ReLU(n int, x, y compute.Buffer) {
	xv, yv := take(x, n), take(y, n)
	for i, v := range xv {
		if v < 0 {
			v = 0
		}
		yv[i] = v
	}
}

func (b *Backend) ReLUGrad(n int, y, dy, dx compute.Buffer) {
	yv, dyv, dxv := take(y, n), take(dy, n), take(dx, n)
	for i, v := range yv {
		if v > 0 {
			dxv[i] = dyv[i]
		} else {
			dxv[i] = 0
		}
	}
}

func (b *Backend) Tanh(n int, x, y compute.Buffer) {
	xv, yv := take(x, n), take(y, n)
	for i, v := range xv {
		yv[i] = float32(math.Tanh(float64(v)))
	}
}

func (b *Backend) TanhGrad(n int, y, dy, dx compute.Buffer) {
	yv, dyv, dxv := take(y, n), take(dy, n), take(dx, n)
	for i, v := range yv {
		dxv[i] = float32(float64(dyv[i]) * (1 - float64(v)*float64(v)))
	}
}

// SoftmaxCE also gives NaN to a row whose label is not a class index.
func (b *Backend) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	zv, lv, out, d := rows(z, m, n), take(labels, m), take(loss, m), rows(dz, m, n)
	if n == 0 {
		return
	}
	for i, label := range lv {
		out[i] = softmaxRow(zv[i*n:(i+1)*n], label, d[i*n:(i+1)*n], b.sums(n))
	}
}

// softmaxRow does one row of SoftmaxCE and returns its loss. It keeps the term
// of the largest logit, which is 1, apart from the sum s of the others, so that
// neither the loss log(1+s) of a row that is nearly certain nor its gradient
// −s/(1+s) drowns in that 1.
func softmaxRow(z []float32, label float32, dz []float32, e []float64) float32 {
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
		e[j] = math.Exp(float64(v) - peak)
		if j != top {
			s += e[j]
		}
	}
	for j, v := range e {
		switch {
		case j != int(label):
			v = v / (1 + s)
		case j == top:
			v = -s / (1 + s)
		default:
			v = v/(1+s) - 1
		}
		dz[j] = float32(v)
	}
	return float32(math.Log1p(s) + (peak - zLabel))
}

func (b *Backend) SigmoidBCE(m, n int, z, t, loss, dz compute.Buffer) {
	zv, tv, out, d := rows(z, m, n), rows(t, m, n), take(loss, m), rows(dz, m, n)
	for i := range out {
		s := 0.0
		for j := i * n; j < (i+1)*n; j++ {
			x, y := float64(zv[j]), float64(tv[j])
			s += max(x, 0) - x*y + math.Log1p(math.Exp(-math.Abs(x)))
			d[j] = float32(sigmoidMinus(x, y))
		}
		out[i] = float32(s)
	}
}

// sigmoidMinus is 1/(1+exp(−x)) − y, without cancellation where y is 0 or 1.
func sigmoidMinus(x, y float64) float64 {
	p := math.Exp(-math.Abs(x))
	p /= 1 + p
	if x >= 0 {
		return (1 - y) - p
	}
	return p - y
}

func (b *Backend) Squared(m, n int, z, t, loss, dz compute.Buffer) {
	zv, tv, out, d := rows(z, m, n), rows(t, m, n), take(loss, m), rows(dz, m, n)
	for i := range out {
		s := 0.0
		for j := i * n; j < (i+1)*n; j++ {
			v := float64(zv[j]) - float64(tv[j])
			s += v * v
			d[j] = float32(v)
		}
		out[i] = float32(s / 2)
	}
}

func (b *Backend) Spread(n int, p compute.SpreadParams, g, m, r compute.Buffer) {
	gv, mv, rv := take(g, n), take(m, n), take(r, n)
	b1, b2 := float64(p.Beta1), float64(p.Beta2)
	for i := range gv {
		x, mean, root := float64(gv[i]), float64(mv[i]), float64(rv[i])
		dev, s := x-mean, root*root
		v := float64(p.Times) * (dev*dev - float64(p.Noise)*s)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		v = min(max(v, float64(p.Least)), float64(p.Greatest))
		rv[i] = float32(math.Sqrt(math.Sqrt(b2*s*s + (1-b2)*v)))
		mv[i] = float32(b1*mean + (1-b1)*x)
	}
}

func (b *Backend) Rescale(n int, scale float32, m, r, bb, inv, lin compute.Buffer) {
	mv, rv, bv, iv, lv := take(m, n), take(r, n), take(bb, n), take(inv, n), take(lin, n)
	for i := range mv {
		size := float64(scale) * float64(rv[i])
		bv[i] = float32(size)
		iv[i] = float32(1 / (float64(bv[i]) * float64(bv[i])))
		lv[i] = float32(float64(mv[i]) * float64(iv[i]))
	}
}

func (b *Backend) Adam(n int, p compute.AdamParams, g, m, v, w compute.Buffer) {
	gv, mv, vv, wv := take(g, n), take(m, n), take(v, n), take(w, n)
	b1, b2 := float64(p.Beta1), float64(p.Beta2)
	for i := range gv {
		x := float64(gv[i])
		mean := b1*float64(mv[i]) + (1-b1)*x
		square := b2*float64(vv[i]) + (1-b2)*x*x
		mv[i], vv[i] = float32(mean), float32(square)
		step := float64(p.LR) * (mean / float64(p.C1)) / (math.Sqrt(square/float64(p.C2)) + float64(p.Eps))
		wv[i] = float32(float64(wv[i]) - step)
	}
}
