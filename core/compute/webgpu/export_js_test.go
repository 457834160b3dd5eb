package webgpu

import (
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

// Lose has the browser take the GPU away.
func (b *Backend) Lose() { b.gpu.Get("device").Call("destroy") }

// RunStages runs a kernel's entry points as they are given, with so many words of space.
func (b *Backend) RunStages(kernel string, a compute.Args, space int, stages ...shader.Stage) {
	k := compute.Kernels()[slices.IndexFunc(compute.Kernels(), func(k *compute.Kernel) bool { return k.Name == kernel })]
	p := b.programs[k.Index]
	p.call = func(c *shader.Call) { c.Stages, c.Space = append(c.Stages, stages...), space }
	b.programs = slices.Clone(b.programs)
	was := b.programs[k.Index]
	b.programs[k.Index] = p
	b.Run(k, a)
	b.programs[k.Index] = was
}
