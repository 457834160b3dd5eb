package kernel

import "clipscope/core/compute/shader"

// addOuterCall has 128 rows a workgroup, and 32 columns of products as they are, or 16 of
// others. Workgroups across go on by their number where there are too many columns.
func addOuterCall(c *shader.Call) {
	n, k, how := c.N[1], c.N[2], c.N[3]
	switch {
	case n == 1:
		c.Run("row", shader.Per(k, 256))
	case how == Plain().how:
		c.Run("main", min(shader.Per(k, 32), shader.MostGroups), shader.Per(n, 128))
	default:
		c.Run("each", min(shader.Per(k, 16), shader.MostGroups), shader.Per(n, 128))
	}
}
