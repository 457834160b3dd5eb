package adaclip

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
		atLeast: shader.Main(256),
		centre:  shader.Main(256),
		rescale: shader.Main(256),
		spread:  shader.Main(256),
		total:   func(c *shader.Call) { c.Run("main", 1) },
	}}
}
