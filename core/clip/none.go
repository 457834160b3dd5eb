package clip

import "math"

// unit is the weight of the non-private baseline. It bounds nothing, so it is
// not registered as an axis: combining it with noise would only look private.
type unit struct{}

func (unit) Factor(n, _ float64) float64 {
	if !usable(n) {
		return 0
	}
	return 1
}

func init() {
	register(Method{
		Place: 1,
		Info: Info{
			Name:    "none",
			Title:   "No privacy",
			Idea:    "Plain SGD: nothing is clipped and no noise is added. It is the yardstick that private methods are held against, and it protects nobody.",
			Formula: "ĝᵢ = gᵢ, σ = 0, ε = ∞",
			When:    "To see what the model could reach without privacy. Never release such a model trained on sensitive data.",
			Paper:   "baseline",
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: unit{}, Rule: Fixed(math.Max(e.MaxGradNorm, MinThreshold)), NonPrivate: true}, nil
		},
	})
}
