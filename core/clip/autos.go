package clip

// autoS is the weight C/(n + r) of Auto-S and NSGD.
type autoS struct{ r float64 }

func (w autoS) Factor(n, c float64) float64 {
	if !usable(n) {
		return 0
	}
	return c / (n + w.r)
}

// Power implements [Powered].
func (autoS) Power() int { return 1 }

var autoSParams = []Param{{
	Name: "r", Label: "Stability r", Default: 0.01, Min: 1e-6, Max: 10, Log: true,
	Help: "Keeps the weight of very small gradients finite; larger values treat small gradients more gently.",
}}

func init() {
	registerWeight("auto-s", autoSParams, func(p Params) Weight { return autoS{p["r"]} })
	register(Method{
		Place: 3,
		Info: Info{
			Name:    "auto-s",
			Title:   "Normalised (Auto-S, NSGD)",
			Idea:    "Every gradient is brought to nearly the same length C, so there is no threshold to tune: C only scales the learning rate. Small gradients are blown up, which biases the direction.",
			Formula: "ĝᵢ = C·gᵢ / (‖gᵢ‖ + r)",
			When:    "When you do not want to search for a threshold.",
			Paper:   "Bu et al. 2022; Yang et al. 2022",
			Params:  autoSParams,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: autoS{e.Params["r"]}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
