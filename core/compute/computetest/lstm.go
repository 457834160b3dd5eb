package computetest

import (
	"math"

	"clipscope/core/compute/kernel/sequence"
)

func init() {
	parts = append(parts, suitePart{"LSTM", "lstm", checkLSTM}, suitePart{"LSTMGrad", "lstmGrad", checkLSTMGrad})
}

// nearly is a number with how far float32 may be from it.
type nearly struct{ v, off float64 }

// unit is the rounding of one operation (see the package comment).
const unit = 0x1p-24

func exact32(x float32) nearly { return nearly{v: float64(x)} }

// total returns the sum of terms, in whatever order they are added.
func total(terms ...nearly) (s nearly) {
	size := 0.0
	for _, t := range terms {
		s.v += t.v
		s.off += t.off
		size += math.Abs(t.v)
	}
	s.off += float64(len(terms)) * (unit*size + 0x1p-126)
	return s
}

func (a nearly) times(b nearly) nearly {
	return nearly{a.v * b.v, math.Abs(a.v)*b.off + math.Abs(b.v)*a.off + a.off*b.off + unit*math.Abs(a.v*b.v) + 0x1p-126}
}

// thnearly passes a thnearly a function that is at most so steep, of results up to 1.
func (a nearly) thnearly(f func(float64) float64, steep float64) nearly {
	return nearly{f(a.v), a.off*steep + function*unit}
}

func (a nearly) value() value {
	// What is endless has no distance from it.
	return value{v: a.v, tol: a.off, any: math.IsNaN(a.off) && !math.IsNaN(a.v) || math.IsInf(a.off, 1)}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// less returns 1 − a.
func less(a nearly) nearly { return total(nearly{v: 1}, nearly{-a.v, a.off}) }

// eachCells calls f for numbers of rows, places, tokens and cells, with a maker of what places have.
func (c *check) eachCells(f func(m, t, v, h int, data func(int) []float32)) {
	for _, n := range [][4]int{{1, 1, 3, 1}, {3, 2, 2, 5}, {2, 9, 5, 12}, {70, 3, 2, 4}, {1, 20, 4, 3}, {2, 4, 3, 70}, {0, 3, 2, 4}, {2, 0, 2, 4}, {2, 3, 2, 0}} {
		f(n[0], n[1], n[2], n[3], c.normals)
		f(n[0], n[1], n[2], n[3], c.oneEndless)
		if c.full() {
			return
		}
	}
}

// weights returns those of h cells, and biases, of which sums of h are about 1.
func (c *check) weights(h int) []float32 {
	w := c.normals(4 * h * (h + 1))
	for i := range w {
		w[i] /= float32(math.Sqrt(float64(h)))
	}
	return w
}

func checkLSTM(c *check) {
	c.eachCells(func(m, t, v, h int, data func(int) []float32) {
		x, a, w := c.arg("x", c.tokens(m*t, v)), c.arg("a", data(4*m*t*h)), c.arg("w", c.weights(h))
		state, y := c.arg("c", c.edgy(m*t*h, 3)), c.arg("y", c.edgy(m*t*h, 3))
		a.want, state.want, y.want = make([]value, 4*m*t*h), make([]value, m*t*h), make([]value, m*t*h)
		var held, seen []nearly
		for at := range m * t {
			if at%t == 0 {
				held, seen = make([]nearly, h), make([]nearly, h)
			}
			there, shown := tokenOf(x.data[at], v) >= 0, make([]nearly, h)
			for k := range h {
				var gates [4]nearly
				for g := range gates {
					terms := []nearly{exact32(a.data[(4*at+g)*h+k]), exact32(w.data[(4*h+g)*h+k])}
					for i, u := range seen {
						terms = append(terms, u.times(exact32(w.data[(4*i+g)*h+k])))
					}
					z := total(terms...)
					switch {
					case !there:
						gates[g] = nearly{}
					case g == 2:
						gates[g] = z.thnearly(math.Tanh, 1)
					default:
						gates[g] = z.thnearly(sigmoid, 0.25)
					}
					a.want[(4*at+g)*h+k] = gates[g].value()
				}
				if shown[k] = seen[k]; there {
					held[k] = total(gates[1].times(held[k]), gates[0].times(gates[2]))
					shown[k] = gates[3].times(held[k].thnearly(math.Tanh, 1))
				}
				state.want[at*h+k], y.want[at*h+k] = held[k].value(), shown[k].value()
			}
			seen = shown
		}
		sequence.LSTM(c.b, m, t, v, h, x.buf, a.buf, w.buf, state.buf, y.buf)
		c.verify("LSTM(%d, %d, %d, %d)", m, t, v, h)
	})
}

func checkLSTMGrad(c *check) {
	c.eachCells(func(m, t, v, h int, data func(int) []float32) {
		open := c.normals(4 * m * t * h)
		for i, z := range open {
			if open[i] = float32(sigmoid(float64(z))); t > 0 && h > 0 && i/h%4 == 2 {
				open[i] = float32(math.Tanh(float64(z)))
			}
		}
		x, a, w := c.arg("x", c.tokens(m*t, v)), c.arg("a", open), c.arg("w", c.weights(h)[:4*h*h])
		state, dy := c.arg("c", c.normals(m*t*h)), c.arg("dy", data(m*t*h))
		a.want, state.want = make([]value, 4*m*t*h), make([]value, m*t*h)
		var byShown, byHeld []nearly
		for at := m*t - 1; at >= 0; at-- {
			if at%t == t-1 {
				byShown, byHeld = make([]nearly, h), make([]nearly, h)
			}
			there, gradients := tokenOf(x.data[at], v) >= 0, make([]nearly, 4*h)
			for k := range h {
				byShown[k] = total(byShown[k], exact32(dy.data[at*h+k]))
				if there {
					held := nearly{}
					if at%t > 0 {
						held = exact32(state.data[(at-1)*h+k])
					}
					of := func(g int) nearly { return exact32(open[(4*at+g)*h+k]) }
					in, forget, value, out := of(0), of(1), of(2), of(3)
					shown := exact32(state.data[at*h+k]).thnearly(math.Tanh, 1)
					d := total(byHeld[k], byShown[k].times(out).times(less(shown.times(shown))))
					gradients[k] = d.times(value).times(in).times(less(in))
					gradients[h+k] = d.times(held).times(forget).times(less(forget))
					gradients[2*h+k] = d.times(in).times(less(value.times(value)))
					gradients[3*h+k] = byShown[k].times(shown).times(out).times(less(out))
					byHeld[k] = d.times(forget)
				}
				state.want[at*h+k] = byHeld[k].value()
			}
			for k, g := range gradients {
				a.want[4*at*h+k] = g.value()
			}
			for k := 0; k < h && there; k++ {
				terms := make([]nearly, 4*h)
				for g, d := range gradients {
					terms[g] = d.times(exact32(w.data[4*h*k+g]))
				}
				byShown[k] = total(terms...)
			}
		}
		sequence.LSTMGrad(c.b, m, t, v, h, x.buf, a.buf, w.buf, state.buf, dy.buf)
		c.verify("LSTMGrad(%d, %d, %d, %d)", m, t, v, h)
	})
}
