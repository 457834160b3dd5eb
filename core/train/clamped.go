package train

import (
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/plan"
)

// clamped clamps every coordinate of every gradient to ±C (coordinate clipping).
type clamped struct{ *gaussian }

func init() {
	register(kind{name: "clamped", counts: scaled, open: func(w *workspace) mechanism { return &clamped{newGaussian(w)} },
		fits: func(c *clip.Clipper, n plan.Noise) bool {
			return c.Geometry == nil && c.Coordinates && !n.Discrete()
		}})
}

// limits makes the factor of every example that is not refused 1.
func (c *clamped) limits() []kernel.Limit { return []kernel.Limit{{C: math.MaxFloat32, Most: 1}} }

func (c *clamped) addGradients(p Part, _ int, _ []compute.Buffer, keep compute.Buffer) {
	c.model.Add(p.sums, []compute.Buffer{keep}, kernel.Clamped(below(c.clipper.Rule.C())))
}
