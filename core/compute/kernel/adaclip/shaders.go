package adaclip

import "embed"

// Shaders are the kernels as package webgpu runs them: x.wgsl beside x.go.
//
//go:embed *.wgsl
var Shaders embed.FS
