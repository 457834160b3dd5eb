package lipschitz

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
		chain:    shader.Main(64),
		gain:     func(c *shader.Call) { c.Run("main", shader.Per(c.N[1], 64)) },
		spectral: func(c *shader.Call) { c.Run("main", 1) },
	}}
}
