package computetest

import "clipscope/core/compute/kernel"

func init() { parts = append(parts, suitePart{"Blend", "blend", checkBlend}) }

func checkBlend(c *check) {
	c.vectors(func(n int, data func() []float32) {
		for _, s := range [][2]float32{{0.1, 0.9}, {-2, 1}, {0, 3}, {1, 0}} {
			x, y := c.arg("x", data()), c.arg("y", data())
			kernel.Blend(c.b, n, s[0], s[1], x.buf, y.buf)
			y.want = each(n, func(i int) value {
				var t sum
				t.addTerms(float64(s[0])*float64(x.data[i]), float64(s[1])*float64(y.data[i]))
				return t.value(1)
			})
			c.verify("Blend(%d, %v)", n, s)
		}
	})
}
