package webgpu

import (
	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

// calls makes calls of programs out of those of kernels, in their order.
type calls struct {
	programs []program // by Kernel.Index
	last     shader.Call
	open     bool         // last may still be changed: nothing is behind it
	coming   compute.Args // of the next call, at a place of its own, so that a call allocates nothing
}

// next returns the call of a kernel, which is valid until the next one. It is the last call, changed, where that
// does the work of both.
func (c *calls) next(k *compute.Kernel, a compute.Args) (p *program, call *shader.Call, joined bool) {
	call = &c.last
	if c.open && len(call.Stages) == 1 {
		c.coming = a
		if join := c.programs[call.Kernel.Index].join; join != nil && join(call, k, &c.coming) {
			return &c.programs[call.Kernel.Index], call, true
		}
	}
	p = &c.programs[k.Index]
	*call = shader.Call{Args: a, Kernel: k, Stages: call.Stages[:0], More: call.More[:0]}
	p.call(call)
	c.open = true
	return p, call, false
}
