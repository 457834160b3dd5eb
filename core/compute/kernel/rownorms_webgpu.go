package kernel

import "clipscope/core/compute/shader"

// rowNormsCall has an invocation for a short row. A longer one is cut into parts, whose
// greatest values and sums of squares stand in words of their own on the way.
func rowNormsCall(c *shader.Call) {
	rows, n := c.N[0], c.N[1]
	if n <= 32 {
		c.Run("short", shader.Per(rows, 64))
		return
	}
	parts := 16
	if n > 4096 {
		parts = 256
	}
	c.Space = 3 * parts * rows
	c.Run("most", shader.Per(rows*n, 2048))
	c.Run("greatest", shader.Per(rows, 64))
	c.Run("squares", shader.Per(rows*n, 2048))
	c.Run("norms", shader.Per(rows, 64))
}
