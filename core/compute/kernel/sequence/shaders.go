package sequence

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
		embedding: func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 256)) },
		embedGrad: func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 256)) },
	}}
}
