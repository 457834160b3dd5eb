package kernel

import (
	"embed"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

//go:embed *.wgsl
var programs embed.FS

// Shaders returns the kernels as package webgpu runs them: x.wgsl beside x.go.
func Shaders() shader.Folder {
	return shader.Folder{Files: programs, Joins: map[*compute.Kernel]Join{
		copyValues: joinCopy,
		gemm:       joinGemm,
		noise:      joinNoise,
		scaleRows:  joinScaleRows,
		settle:     joinSettle,
	}, Calls: map[*compute.Kernel]func(*shader.Call){
		adam:     shader.Main(256),
		addOuter: addOuterCall,
		addRow: func(c *shader.Call) {
			c.Run("main", min(shader.Per(c.N[0], 8), shader.MostGroups), shader.Per(c.N[1], 64))
		},
		addScaled:  shader.Main(256),
		axpy:       shader.Main(1024),
		blend:      shader.Main(256),
		clearSums:  shader.Main(1024),
		columns:    matrixCall,
		copyValues: shader.Main(256),
		discrete:   shader.Main(1024),
		dropRows:   shader.Main(4),
		dropUnits:  matrixCall,
		fill:       shader.Main(1024),
		finite:     shader.Main(256),
		gemm:       func(c *shader.Call) { c.Product(c.N[2], c.N[3], c.N[4]) },
		hits:       rowsCall,
		joinNorms:  shader.Main(64),
		lookUp:     matrixCall,
		lossOf:     lossCall,
		mul:        shader.Main(256),
		noise:      shader.Main(noiseGroup),
		normalize:  func(c *shader.Call) { c.Run("measure", 1); c.Run("divide", shader.Per(c.N[0], 256)) },
		pickRows:   matrixCall,
		rowNorms:   rowNormsCall,
		scale:      shader.Main(1024),
		scaleRows:  matrixCall,
		settle:     shader.Main(4096),
		split:      shader.Main(256),
		unary: func(c *shader.Call) {
			c.Run([]string{"relu", "tangent", "roots", "gelu"}[min(c.N[0], 3)], shader.Per(c.N[1], 256))
		},
		unaryGrad: func(c *shader.Call) {
			c.Run([]string{"relu", "tangent", "relu", "gelu"}[min(c.N[0], 3)], shader.Per(c.N[1], 256))
		},
		weigh: shader.Main(64),
	}}
}

// lossCall has a workgroup for a broad row.
func lossCall(c *shader.Call) {
	if c.N[2] > 64 {
		c.Run("broad", c.N[1])
		return
	}
	rowsCall(c)
}

// rowsCall has an invocation for each of N[1] rows, matrixCall one for each value of an
// [N[0]×N[1]] matrix.
func rowsCall(c *shader.Call)   { c.Run("main", shader.Per(c.N[1], 64)) }
func matrixCall(c *shader.Call) { c.Run("main", shader.Per(c.N[0]*c.N[1], 256)) }
