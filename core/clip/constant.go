package clip

// constant is the weight 1/max(1, n/C) of Abadi et al. 2016.
type constant struct{}

func (constant) Factor(n, c float64) float64 {
	switch {
	case !usable(n):
		return 0
	case n <= c:
		return 1
	default:
		return c / n
	}
}

// Power implements [Powered].
func (constant) Power() int { return 0 }

func init() {
	registerWeight("constant", nil, func(Params) Weight { return constant{} })
	register(Method{
		Place: 2,
		Info: Info{
			Name:    "constant",
			Title:   "Constant threshold",
			Idea:    "Gradients longer than C are scaled down to length C; shorter ones stay as they are. Noise in proportion to C then hides any single example.",
			Formula: "ĝᵢ = gᵢ / max(1, ‖gᵢ‖/C)",
			When:    "The standard choice, when you know roughly how long gradients are: C near their median is a good start.",
			Paper:   "Abadi et al. 2016; VC, Algorithm 1",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
