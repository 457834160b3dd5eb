package computetest

import "clipscope/core/compute/kernel"

func init() { parts = append(parts, suitePart{"Columns", "columns", checkColumns}) }

func checkColumns(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		for _, apart := range [][2]int{{n, n}, {n + 3, n}, {n, n + 5}, {2*n + 1, n + 2}} {
			from, to := apart[0], apart[1]
			x, dst := c.arg("x", data(m*from)), c.arg("dst", data(m*to))
			kernel.Columns(c.b, m, n, from, x.buf, to, dst.buf)
			dst.want = each(m*to, func(i int) value {
				if i%to < n {
					return exactly(x.data[i/to*from+i%to])
				}
				return exactly(dst.data[i])
			})
			c.verify("Columns(%d, %d) from rows of %d to rows of %d", m, n, from, to)
		}
	})
}
