package computetest

import (
	"math"

	"clipscope/core/compute/kernel"
)

// each wants f of every index.
func each(n int, f func(i int) value) []value {
	w := make([]value, n)
	for i := range w {
		w[i] = f(i)
	}
	return w
}

func checkFill(c *check) {
	for n := range 68 {
		v := edges[n%len(edges)]
		dst := c.arg("dst", c.normals(n))
		kernel.Fill(c.b, n, v, dst.buf)
		dst.want = each(n, func(int) value { return exactly(v) })
		c.verify("Fill(%d, %v)", n, v)
	}
}

func checkCopy(c *check) {
	c.vectors(func(n int, data func() []float32) {
		dst, src := c.arg("dst", data()), c.arg("src", data())
		kernel.Copy(c.b, n, dst.buf, src.buf)
		dst.want = each(n, func(i int) value { return exactly(src.data[i]) })
		c.verify("Copy(%d)", n)
	})
}

func checkScale(c *check) {
	c.vectors(func(n int, data func() []float32) {
		for _, a := range []float32{0.3, -1, 0, float32(math.Inf(1))} {
			x := c.arg("x", data())
			kernel.Scale(c.b, n, a, x.buf)
			x.want = each(n, func(i int) value { return product(a, x.data[i]) })
			c.verify("Scale(%d, %v)", n, a)
		}
	})
}

func product(x, y float32) value {
	var s sum
	s.addTerms(float64(x) * float64(y))
	return s.value(0)
}

func checkAxpy(c *check) {
	c.vectors(func(n int, data func() []float32) {
		for _, a := range []float32{0.3, -1, 0, float32(math.NaN())} {
			x, y := c.arg("x", data()), c.arg("y", data())
			kernel.Axpy(c.b, n, a, x.buf, y.buf)
			y.want = each(n, func(i int) value {
				var s sum
				s.addTerms(float64(y.data[i]), float64(a)*float64(x.data[i]))
				return s.value(1)
			})
			c.verify("Axpy(%d, %v)", n, a)
		}
	})
}

func checkMul(c *check) {
	c.vectors(func(n int, data func() []float32) {
		for alias, name := range []string{"", "dst is x", "dst is y", "all one"} {
			x, y := c.arg("x", data()), c.arg("y", data())
			if alias == 3 {
				y = x
			}
			dst := x
			switch alias {
			case 0:
				dst = c.arg("dst", data())
			case 2:
				dst = y
			}
			kernel.Mul(c.b, n, dst.buf, x.buf, y.buf)
			dst.want = each(n, func(i int) value { return product(x.data[i], y.data[i]) })
			c.verify("Mul(%d) %s", n, name)
		}
	})
}

func checkReLU(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		for _, inPlace := range []bool{false, true} {
			x := c.arg("x", data())
			y := x
			if !inPlace {
				y = c.arg("y", data())
			}
			kernel.Unary(c.b, kernel.ReLU, n, x.buf, y.buf)
			y.want = each(n, func(i int) value {
				if x.data[i] < 0 {
					return exactly(0)
				}
				return exactly(x.data[i])
			})
			c.verify("ReLU(%d) in place: %t", n, inPlace)
		}
	})
}

func checkReLUGrad(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		for _, inPlace := range []bool{false, true} {
			y, dy := c.arg("y", data()), c.arg("dy", data())
			dx := dy
			if !inPlace {
				dx = c.arg("dx", data())
			}
			kernel.UnaryGrad(c.b, kernel.ReLU, n, y.buf, dy.buf, dx.buf)
			dx.want = each(n, func(i int) value {
				if y.data[i] > 0 {
					return exactly(dy.data[i])
				}
				return exactly(0)
			})
			c.verify("ReLUGrad(%d) in place: %t", n, inPlace)
		}
	})
}

func checkTanh(c *check) {
	test := func(x []float32, inPlace bool, what string) {
		n := len(x)
		in := c.arg("x", x)
		out := in
		if !inPlace {
			out = c.arg("y", c.normals(n))
		}
		kernel.Unary(c.b, kernel.Tanh, n, in.buf, out.buf)
		out.want = each(n, func(i int) value {
			var s sum
			s.addTerms(math.Tanh(float64(x[i])))
			return s.value(function)
		})
		c.verify("Tanh(%d) of %s values, in place: %t", n, what, inPlace)
	}
	c.vectors(func(n int, data func() []float32) {
		test(data(), false, "mixed")
		test(data(), true, "mixed")
	})
	test(ramp(-12, 12, 4001), false, "evenly spaced")
	test(ramp(-0.01, 0.01, 4001), false, "small")
}

// ramp returns n values from lo to hi, evenly spaced.
func ramp(lo, hi float64, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(lo + (hi-lo)*float64(i)/float64(n-1))
	}
	return v
}

func checkTanhGrad(c *check) {
	c.vectors(func(n int, data func() []float32) {
		for _, inPlace := range []bool{false, true} {
			y, dy := c.arg("y", data()), c.arg("dy", data())
			dx := dy
			if !inPlace {
				dx = c.arg("dx", data())
			}
			kernel.UnaryGrad(c.b, kernel.Tanh, n, y.buf, dy.buf, dx.buf)
			dx.want = each(n, func(i int) value {
				y, dy := float64(y.data[i]), float64(dy.data[i])
				var s sum
				s.addTerms(dy, dy*y*y)
				s.via(y * y)
				return s.of(dy*(1-y*y), 3)
			})
			c.verify("TanhGrad(%d) in place: %t", n, inPlace)
		}
	})
}

// normal returns the normal distribution and its density.
func normal(x float64) (distribution, density float64) {
	return math.Erfc(-x/math.Sqrt2) / 2, math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
}

func checkGELU(c *check) {
	test := func(x []float32, what string) {
		n := len(x)
		in, out := c.arg("x", x), c.arg("y", c.normals(n))
		kernel.Unary(c.b, kernel.GELU, n, in.buf, out.buf)
		out.want = each(n, func(i int) value {
			p, _ := normal(float64(x[i]))
			var s sum
			s.addTerms(float64(x[i]) * p)
			return s.value(function + exponent(x[i]))
		})
		c.verify("GELU(%d) of %s values", n, what)
	}
	c.vectors(func(n int, data func() []float32) { test(data(), "mixed") })
	test(ramp(-12, 12, 4001), "evenly spaced")
	test(ramp(-0.01, 0.01, 4001), "small")
}

// exponent returns the number of roundings as which those of x² and of x²/2 count in exp(−x²/2).
func exponent(x float32) int {
	if half := float64(x) * float64(x) / 2; half < 100 {
		return 2 * int(half)
	}
	return 0 // there is nothing left
}

func checkGELUGrad(c *check) {
	test := func(x, dy []float32, what string) {
		n := len(x)
		in, grad, dx := c.arg("x", x), c.arg("dy", dy), c.arg("dx", c.normals(n))
		kernel.UnaryGrad(c.b, kernel.GELU, n, in.buf, grad.buf, dx.buf)
		dx.want = each(n, func(i int) value {
			x, dy := float64(x[i]), float64(dy[i])
			p, density := normal(x)
			var s sum
			s.addTerms(dy*p, dy*x*density)
			return s.of(dy*(p+x*density), function+exponent(in.data[i]))
		})
		c.verify("GELUGrad(%d) of %s values", n, what)
	}
	c.vectors(func(_ int, data func() []float32) { test(data(), data(), "mixed") })
	test(ramp(-12, 12, 4001), c.normals(4001), "evenly spaced")
}

func checkAdam(c *check) {
	first := kernel.AdamParams{Rate: 0.003, Beta1: 0.9, Beta2: 0.999, Eps: 3e-10}
	later := kernel.AdamParams{Rate: 1, Beta1: 0.5, Beta2: 0.25, Eps: 0.1}
	noisy := kernel.AdamParams{Rate: 0.1, Beta1: 0.9, Beta2: 0.75, Eps: 1e-3, Noise: 0.75, Floor: 0.04}
	c.vectors(func(n int, data func() []float32) {
		for _, p := range []kernel.AdamParams{first, later, noisy} {
			g, m, v, w := c.arg("g", data()), c.arg("m", c.normals(n)), c.arg("v", squares(c.normals(n))), c.arg("w", data())
			kernel.Adam(c.b, n, p, g.buf, m.buf, v.buf, w.buf)
			m.want, v.want, w.want = make([]value, n), make([]value, n), make([]value, n)
			for i := range n {
				m.want[i], v.want[i], w.want[i] = adam(p, g.data[i], m.data[i], v.data[i], w.data[i])
			}
			c.verify("Adam(%d, %+v)", n, p)
		}
	})
}

func squares(v []float32) []float32 {
	for i := range v {
		v[i] *= v[i]
	}
	return v
}

func adam(p kernel.AdamParams, g32, m32, v32, w32 float32) (m, v, w value) {
	b1, b2, g := float64(p.Beta1), float64(p.Beta2), float64(g32)
	var mean, square, weight sum
	mean.addTerms(b1*float64(m32), (1-b1)*g)
	square.addTerms(b2*float64(v32), (1-b2)*g*g)
	least := square.s
	if noise := (1 - b2) * float64(p.Noise); noise > 0 {
		square.addTerms(-noise)
		least = max(square.s, float64(p.Floor))
	}
	rate, root := float64(p.Rate), math.Sqrt(least)+float64(p.Eps)
	weight.addTerms(float64(w32), rate*b1*float64(m32)/root, rate*(1-b1)*g/root)
	if p.Noise > 0 && weight.abs < math.Inf(1) { // what is left of v has the error of what it was taken from
		weight.abs += rate * mean.abs / root * square.abs / least
	}
	weight.via(square.s)
	weight.via(rate * mean.s)
	return mean.value(3), square.value(4), weight.of(float64(w32)-rate*mean.s/root, 12)
}
