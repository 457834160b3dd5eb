package clip

import "math"

func init() {
	params := []Param{{
		Name: "bound", Label: "Feature norm bound", Default: 10, Min: 1.001, Max: 1e9, Log: true,
		Help: "Rows of features longer than this (the constant 1 of the bias included) are scaled down to it before training.",
	}}
	register(Method{
		Place: 16,
		Info: Info{
			Name:    "norm-bound",
			Title:   "Proven bound",
			Idea:    "For softmax regression no gradient is longer than √2 times its row of features, so bounding the features bounds the gradients and nothing needs to be clipped. Noise must then cover the worst case, not the usual one.",
			Formula: "ĝᵢ = gᵢ,  C = √2·max‖x̃ᵢ‖",
			When:    "As the baseline that shows what clipping gains. It needs a model without hidden layers, and refuses rows of tokens, which it would shorten to other numbers.",
			Paper:   "after AC, §6, which takes max‖xᵢ‖ = 28, without the √2 that several classes need",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			bound := e.Params["bound"]
			// Where the proof holds, the weight acts only when rounding lifts a
			// norm above the bound; for other models it clips.
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: Fixed(math.Sqrt2 * bound), FeatureBound: bound}, nil
		},
	})
}
