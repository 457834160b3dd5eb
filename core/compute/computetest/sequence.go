package computetest

import (
	"math"

	"clipscope/core/compute/kernel/sequence"
)

func init() {
	parts = append(parts, suitePart{"Embed", "embed", checkEmbed}, suitePart{"EmbedGrad", "embedGrad", checkEmbedGrad})
}

// tokens returns n values of which most are tokens, of so many; the others are just beside
// one, and edge values.
func (c *check) tokens(n, many int) []float32 {
	none := []float32{-1, -0.5, 0.5, float32(many), float32(many) - 0.5, 1 << 24, 1e30, 1e-40, float32(math.Copysign(0, -1))}
	x := make([]float32, n)
	for i := range x {
		switch c.rng.IntN(8) {
		case 0:
			x[i] = none[c.rng.IntN(len(none))]
		case 1:
			x[i] = edges[c.rng.IntN(len(edges))]
		default:
			x[i] = float32(c.rng.IntN(many))
		}
	}
	return x
}

// tokenOf returns the number of a token, of so many, or -1.
func tokenOf(x float32, many int) int {
	for k := range many {
		if x == float32(k) {
			return k
		}
	}
	return -1
}

// eachTable calls f for numbers of rows, of tokens in each, of all tokens and of channels.
func (c *check) eachTable(f func(m, t, v, d int)) {
	for i, d := range []int{0, 1, 3, 4, 5, 8, 17, 67} {
		for _, m := range []int{0, 1, 3} {
			f(m, []int{1, 2, 9}[(i+m)%3], []int{1, 2, 27, 40}[(i+m)%4], d)
		}
	}
	f(2, 0, 5, 3)
	f(70, 12, 9, 6)
	f(2, 300, 3, 2) // a token comes a hundred times
}

func checkEmbed(c *check) {
	defer func() { c.denormals = false }()
	c.denormals = true // values are only moved
	c.eachTable(func(m, t, v, d int) {
		n := m * t
		x, table, y := c.arg("x", c.tokens(n, v)), c.arg("table", c.edgy(v*d, 5)), c.arg("y", c.edgy(n*d, 3))
		y.want = each(n*d, func(i int) value {
			if k := tokenOf(x.data[i/d], v); k >= 0 {
				return exactly(table.data[k*d+i%d])
			}
			return exactly(0)
		})
		sequence.Embed(c.b, n, v, d, x.buf, table.buf, y.buf)
		c.verify("Embed(%d, %d, %d)", n, v, d)
	})
}

func checkEmbedGrad(c *check) {
	c.eachTable(func(m, t, v, d int) {
		for _, data := range []func(int) []float32{c.normals, func(n int) []float32 { return c.edgy(n, 40) }} {
			x, dy, g := c.arg("x", c.tokens(m*t, v)), c.arg("dy", data(m*t*d)), c.arg("g", c.edgy(m*v*d, 3))
			all := make([]sum, m*v*d)
			for j, u := range dy.data {
				if k := tokenOf(x.data[j/d], v); k >= 0 {
					all[(j/d/t*v+k)*d+j%d].addTerms(float64(u))
				}
			}
			g.want = each(len(all), func(i int) value { return all[i].value(1) })
			sequence.EmbedGrad(c.b, m, t, v, d, x.buf, dy.buf, g.buf)
			c.verify("EmbedGrad(%d, %d, %d, %d)", m, t, v, d)
		}
	})
}
