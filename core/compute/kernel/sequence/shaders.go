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
		// A workgroup has one row of shares.
		attend:     func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, max(c.N[1], 1))) },
		attendGrad: func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[1].N, max(c.N[1], 1))) },
		addTokens:  func(c *shader.Call) { c.Run("main", c.N[3]) },
		embedding:  valueCall,
		lstm:       cellsCall,
		lstmGrad:   cellsCall,
		mean:       func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 64)) },
		meanGrad:   valueCall,
		tokenGrad:  valueCall,
		typed:      shader.Main(256),
		tokenGram:  func(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 64)) },
	}}
}

// valueCall has an invocation for each value of the result.
func valueCall(c *shader.Call) { c.Run("main", shader.Per(c.Buf[2].N, 256)) }

// cellsCall has a workgroup for each row of cells.
func cellsCall(c *shader.Call) { c.Run("main", shader.Per(c.Buf[3].N, max(c.N[1]*c.N[3], 1))) }
