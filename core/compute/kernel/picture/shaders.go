package picture

import (
	"embed"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/shader"
)

//go:embed *.wgsl
var programs embed.FS

// Shaders returns the kernels as package webgpu runs them: x.wgsl beside x.go.
func Shaders() shader.Folder {
	return shader.Folder{Files: programs, Joins: map[*compute.Kernel]kernel.Join{
		conv: kernel.JoinReLU(4, 3), convGrad: kernel.JoinReLU(4, 2), groupNorm: kernel.JoinReLU(1, 3),
	}, Calls: map[*compute.Kernel]func(*shader.Call){
		conv:            func(c *shader.Call) { c.Tiles(c.Buf[3].N/max(c.N[4], 1), c.N[4], 1) },
		convGrad:        convGradCall,
		convWeights:     func(c *shader.Call) { c.Tiles(c.Buf[2].N/max(c.N[0]*c.N[4], 1), c.N[4], c.N[0]) },
		groupNorm:       groupsCall,
		groupNormGrad:   groupsCall,
		groupNormParams: func(c *shader.Call) { c.Run("main", shader.Per(c.N[0]*c.N[2], 16)) },
		pool:            func(c *shader.Call) { poolCall(c, c.Buf[1].N) },
		poolGrad:        func(c *shader.Call) { poolCall(c, c.Buf[3].N) },
	}}
}

// convGradCall has a product for the positions of each rest by the stride, down and across.
func convGradCall(c *shader.Call) {
	stride := max(int(c.F[2]), 1)
	c.Tiles(c.N[0]*shader.Per(c.N[1], stride)*shader.Per(c.N[2], stride), c.N[3], stride*stride)
}

// groupsCall has a workgroup for each group of each picture.
func groupsCall(c *shader.Call) { c.Run("main", c.N[0]*c.N[3]) }

// poolCall runs what N[4] names over so many values.
func poolCall(c *shader.Call, n int) {
	if c.N[4] == 0 {
		c.Run("greatest", shader.Per(n, 1024))
		return
	}
	c.Run("mean", shader.Per(n, 256))
}
