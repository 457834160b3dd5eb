package computetest

import (
	"context"
	"math"

	"clipscope/core/compute/kernel"
)

// losses checks one loss over all shapes with at least one column. spread
// scales the predictions; targets makes the targets; row gives what is wanted
// of a row.
func (c *check) losses(
	name string,
	kind kernel.LossKind,
	targets func(m, n int) []float32,
	row func(z, t []float32, dz []value) value,
) {
	c.shapes(func(m, n int, data func(int) []float32) {
		if n == 0 {
			return
		}
		for _, spread := range []float32{1, 30} {
			inPlace := spread == 30
			logits := data(m * n)
			for i := range logits {
				logits[i] *= spread
			}
			z, t, loss := c.arg("z", logits), c.arg("targets", targets(m, n)), c.arg("loss", data(m))
			dz := z
			if !inPlace {
				dz = c.arg("dz", data(m*n))
			}
			kernel.Loss(c.b, kind, m, n, z.buf, t.buf, loss.buf, dz.buf)
			dz.want = make([]value, m*n)
			w := len(t.data) / max(m, 1)
			loss.want = each(m, func(i int) value {
				return row(z.data[i*n:(i+1)*n], t.data[i*w:(i+1)*w], dz.want[i*n:(i+1)*n])
			})
			c.neverNegative(name, loss, m)
			c.verify("%s(%d, %d) in place: %t", name, m, n, inPlace)
		}
	})
}

func (c *check) neverNegative(name string, loss *arg, m int) {
	coming := c.b.Fetch(loss.buf.Slice(0, m))
	c.later(func() {
		got := make([]float32, m)
		if err := coming.Wait(context.Background(), got); err != nil {
			c.errorf("%s: %v", name, err)
		}
		for i, v := range got {
			if v < 0 && !math.IsNaN(loss.want[i].v) {
				c.errorf("%s: loss[%d] = %v is negative", name, i, v)
			}
		}
	})
}

func checkSoftmaxCE(c *check) {
	labels := func(m, n int) []float32 {
		v := make([]float32, m)
		for i := range v {
			v[i] = float32(c.rng.IntN(n))
		}
		return v
	}
	c.losses("SoftmaxCE", kernel.SoftmaxCE, labels, func(z, t []float32, dz []value) value {
		return softmax(z, int(t[0]), dz)
	})

	// Rows so certain that 1 + s is 1 in float32: loss and gradient are s.
	z := c.arg("z", []float32{20, 0, -3, 60, -30, 1, 0, 104, 0})
	t, loss, dz := c.arg("labels", []float32{0, 0, 1}), c.arg("loss", c.normals(3)), c.arg("dz", c.normals(9))
	kernel.Loss(c.b, kernel.SoftmaxCE, 3, 3, z.buf, t.buf, loss.buf, dz.buf)
	dz.want = make([]value, 9)
	loss.want = each(3, func(i int) value { return softmax(z.data[3*i:3*i+3], int(t.data[i]), dz.want[3*i:3*i+3]) })
	c.verify("SoftmaxCE of nearly certain rows")

	// Labels that are no class, each beside one that is.
	bad := []float32{-1, 3, 0.5, 1e-40, 1e30, -1e-40, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	m := 2 * len(bad)
	given := make([]float32, m)
	for i, v := range bad {
		given[2*i], given[2*i+1] = v, float32(i%3)
	}
	z, t, loss, dz = c.arg("z", c.normals(3*m)), c.arg("labels", given), c.arg("loss", c.normals(m)), c.arg("dz", c.normals(3*m))
	kernel.Loss(c.b, kernel.SoftmaxCE, m, 3, z.buf, t.buf, loss.buf, dz.buf)
	dz.want = make([]value, 3*m)
	loss.want = each(m, func(i int) value {
		if i%2 == 0 {
			return notANumber(dz.want[3*i : 3*i+3])
		}
		return softmax(z.data[3*i:3*i+3], int(given[i]), dz.want[3*i:3*i+3])
	})
	c.verify("SoftmaxCE of labels that are no class")
}

// softmax wants one row of SoftmaxCE. An exponential's argument, being rounded,
// costs it as many roundings as the argument is large.
func softmax(z []float32, label int, dz []value) value {
	top := 0
	for j, v := range z {
		if v > z[top] {
			top = j
		}
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 1) {
			return notANumber(dz)
		}
	}
	peak := float64(z[top])
	if math.IsInf(peak, -1) {
		return notANumber(dz)
	}
	e := make([]float64, len(z))
	cost := make([]float64, len(z)) // the error of e, in roundings
	s, sCost := 0.0, 0.0
	for j, v := range z {
		d := float64(v) - peak
		e[j] = math.Exp(d)
		if e[j] > 0 {
			cost[j] = e[j] * (1 - d)
		}
		if j != top {
			s += e[j]
			sCost += cost[j]
		}
	}
	for j := range z {
		p := e[j] / (1 + s)
		pCost := (cost[j] + p*sCost) / (1 + s)
		var r sum
		switch {
		case j == label && j == top:
			r.addTerms(sCost / (1 + s))
			dz[j] = r.of(-s/(1+s), len(z)+function)
		case j == label:
			r.addTerms(pCost, 1)
			dz[j] = r.of(p-1, len(z)+function)
		default:
			r.addTerms(pCost)
			dz[j] = r.of(p, len(z)+function)
		}
	}
	var r sum
	r.addTerms(peak-float64(z[label]), math.Log1p(s))
	loss := r.s
	r.addTerms(sCost / (1 + s))
	return r.of(loss, len(z)+2*function)
}

func notANumber(dz []value) value {
	for j := range dz {
		dz[j] = value{v: math.NaN()}
	}
	return value{v: math.NaN()}
}

func checkSigmoidBCE(c *check) {
	targets := func(m, n int) []float32 {
		v := make([]float32, m*n)
		for i := range v {
			v[i] = []float32{0, 1, c.rng.Float32()}[c.rng.IntN(3)]
		}
		return v
	}
	c.losses("SigmoidBCE", kernel.SigmoidBCE, targets, func(z, t []float32, dz []value) value {
		var loss sum
		for j := range z {
			x, y := float64(z[j]), float64(t[j])
			e := math.Exp(-math.Abs(x))
			loss.addTerms(max(x, 0), -x*y, math.Log1p(e))
			p, q, costP := e/(1+e), y, 0.0
			if x >= 0 {
				q = 1 - y
			}
			if e > 0 {
				loss.abs += e * math.Abs(x)
				costP = p * (1 + math.Abs(x))
			}
			var d sum
			d.addTerms(costP, q)
			if x >= 0 {
				dz[j] = d.of(q-p, 2*function)
			} else {
				dz[j] = d.of(p-q, 2*function)
			}
			if math.IsNaN(x) {
				dz[j] = value{v: x}
			}
		}
		return loss.value(2 * function)
	})
}

func checkSquared(c *check) {
	targets := func(m, n int) []float32 { return c.normals(m * n) }
	c.losses("Squared", kernel.Squared, targets, func(z, t []float32, dz []value) value {
		var loss sum
		for j := range z {
			var d sum
			d.addTerms(float64(z[j]), -float64(t[j]))
			dz[j] = d.value(0)
			loss.addTerms(d.s * d.s / 2)
		}
		return loss.value(5)
	})
}
