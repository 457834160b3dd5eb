package train

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// clamped clamps every coordinate of every gradient to ±C (coordinate clipping).
type clamped struct{ *gaussian }

// limit makes the factor of every example that is not refused 1.
func (c *clamped) limit() kernel.Limit { return kernel.Limit{C: math.MaxFloat32, Most: 1} }

func (c *clamped) add(_ int, _ []compute.Buffer, keep compute.Buffer) {
	c.r.model.Add(c.r.sums, []compute.Buffer{keep}, kernel.Clamped(below(c.r.clipper.Rule.C())))
}
