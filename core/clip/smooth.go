package clip

import "math"

// smooth is the weight 1/√(1 + (n/C)²).
type smooth struct{}

// Factor is near 1 for n well below c and near c/n well above, without the kink
// that constant has at c. Factor(n, c)·n = c·n/√(n² + c²) < c.
func (smooth) Factor(n, c float64) float64 {
	if !usable(n) {
		return 0
	}
	return c / math.Hypot(n, c)
}

func init() {
	registerWeight("smooth", nil, func(Params) Weight { return smooth{} })
	register(Method{
		Info: Info{
			Name:    "smooth",
			Title:   "Smooth clipping",
			Idea:    "As the constant threshold, with a rounded corner: gradients near C are already shortened a little, and none is cut off abruptly. The bound is approached but never reached.",
			Formula: "ĝᵢ = gᵢ / √(1 + (‖gᵢ‖/C)²)",
			When:    "To see whether the corner matters; usually it hardly does.",
			Paper:   "ours: the gradient of the pseudo-Huber loss (Charbonnier et al. 1997) as a weight",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: smooth{}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
