package picture

import (
	"embed"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

//go:embed *.wgsl
var programs embed.FS

// Shaders returns the kernels as package webgpu runs them: x.wgsl beside x.go.
func Shaders() shader.Folder {
	return shader.Folder{Files: programs, Calls: map[*compute.Kernel]func(*shader.Call){
		conv:            func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[3].N, 2048)) },
		convGrad:        func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 2048)) },
		convWeights:     func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 1024)) },
		groupNorm:       groupsCall,
		groupNormGrad:   groupsCall,
		groupNormParams: func(c *shader.Call) { c.Run("main", shader.Per(c.N[0]*c.N[2], 16)) },
		pool:            func(c *shader.Call) { poolCall(c, c.Buf[1].N) },
		poolGrad:        func(c *shader.Call) { poolCall(c, c.Buf[3].N) },
	}}
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
