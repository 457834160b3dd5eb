package kernel

import "clipscope/core/compute/shader"

// addOuterCall has tiles of products as they are; of others a workgroup has 128 rows and 16 columns, and goes on by
// the number of workgroups across where there are too many columns. Of one row it has 256 columns, or four
// where there would be few workgroups.
func addOuterCall(c *shader.Call) {
	const enough = 132 * 256 // columns, for workgroups that occupy a GPU of some 130 processors
	m, n, k, plain := c.N[0], c.N[1], c.N[2], c.N[3] == Plain().how
	switch {
	case n == 1 && plain && k < enough:
		c.Run("few", shader.Per(k, 4))
	case n == 1:
		c.Run("row", shader.Per(k, 256))
	case plain:
		c.SumTiles(n, k, m)
	default:
		c.Run("each", min(shader.Per(k, 16), shader.MostGroups), shader.Per(n, 128))
	}
}
