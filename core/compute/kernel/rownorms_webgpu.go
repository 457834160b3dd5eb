package kernel

import "clipscope/core/compute/shader"

// rowNormsCall has an invocation for a short row, and a quarter of a workgroup for a longer one. A
// row that is very long has several workgroups. Their greatest values and sums of squares stand in
// words of their own, and one more workgroup joins them.
func rowNormsCall(c *shader.Call) {
	rows, n := c.N[0], c.N[1]
	switch {
	case n <= 32:
		c.Run("short", shader.Per(rows, 64))
	case n <= 4096:
		c.Run("whole", shader.Per(rows, 4))
	default:
		groups := min(256, shader.Per(n, 4096))
		c.Space = 4 * groups * rows
		c.Run("pieces", groups*rows)
		c.Run("norms", rows)
	}
}
