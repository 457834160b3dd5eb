package webgpu

import (
	"slices"
	"syscall/js"

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

// CountPipelines has the GPU's device count the pipelines that are on their way, and returns
// the greatest number until now.
func (b *Backend) CountPipelines() (most func() int) {
	now, greatest := 0, 0
	device := b.gpu.Get("device")
	create := device.Get("createComputePipelineAsync").Call("bind", device)
	done := js.FuncOf(func(js.Value, []js.Value) any { now--; return nil })
	device.Set("createComputePipelineAsync", js.FuncOf(func(_ js.Value, args []js.Value) any {
		now++
		greatest = max(greatest, now)
		made := create.Invoke(args[0])
		made.Call("then", done)
		return made
	}))
	return func() int { return greatest }
}
