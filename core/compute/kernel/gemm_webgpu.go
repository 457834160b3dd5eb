package kernel

import "clipscope/core/compute/shader"

// gemmCall has 64×64 results a workgroup.
func gemmCall(c *shader.Call) {
	m, n, k := c.N[2], c.N[3], c.N[4]
	across, down := shader.Per(n, 64), shader.Per(m, 64)
	asStored := Trans(c.N[0] == 0) && Trans(c.N[1] == 0)
	byFours := n%4 == 0 && k%4 == 0 && c.Buf[0].Off%4 == 0 && c.Buf[1].Off%4 == 0 && c.Buf[2].Off%4 == 0
	if bool(asStored) && byFours {
		c.Run("fours", across, down)
		return
	}
	c.Run("main", across, down)
}
