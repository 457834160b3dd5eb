package clip

import "math"

func init() {
	register(Method{
		Info: Info{
			Name:    "coordinate",
			Title:   "Each coordinate clamped",
			Idea:    "Every coordinate of a gradient is clamped to [−c, c]. The L2 sensitivity is then c·√d, so noise grows with the number of parameters.",
			Formula: "ĝᵢ,ⱼ = min(max(gᵢ,ⱼ, −c), c),  sensitivity c·√d",
			When:    "As the historical baseline; c must be far smaller than a norm threshold (C/√d gives the same noise).",
			Paper:   "Shokri & Shmatikov 2015",
			Params:  coordinateParams,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			// max_grad_norm is the L2 bound everywhere else, and stays so here:
			// c = C/√d, so that noise is comparable between methods.
			c := e.Params["c"]
			if c == 0 {
				c = e.MaxGradNorm / math.Sqrt(float64(e.Dim))
			}
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: Fixed(c), Coordinates: true}, nil
		},
	})
}

var coordinateParams = []Param{{
	Name: "c", Label: "Coordinate bound c", Default: 0, Min: 0, Max: 1e6,
	Help: "The bound on each coordinate; 0 takes max_grad_norm/√d, which gives the noise that max_grad_norm stands for elsewhere.",
}}
