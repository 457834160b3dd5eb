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
	p := b.calls.programs[k.Index]
	p.join = nil
	p.call = func(c *shader.Call) { c.Stages, c.Space = append(c.Stages, stages...), space }
	b.calls.programs = slices.Clone(b.calls.programs)
	was := b.calls.programs[k.Index]
	b.calls.programs[k.Index] = p
	b.Run(k, a)
	b.calls.programs[k.Index], b.calls.open = was, false
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

// Alone has the next call do no work but its own, and be done by no other.
func (b *Backend) Alone() { b.calls.open = false }
