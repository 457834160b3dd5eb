package clip

import "math"

func init() {
	register(Method{
		Place: 14,
		Info: Info{
			Name:    "coordinate",
			Title:   "Each coordinate clamped",
			Idea:    "Every coordinate of a gradient is clamped to [−c, c]. The L2 sensitivity is then c·√d, so noise grows with the number of parameters.",
			Formula: "ĝᵢ,ⱼ = min(max(gᵢ,ⱼ, −c), c),  sensitivity c·√d",
			When:    "As the historical baseline; c must be far smaller than a norm threshold.",
			Paper:   "Shokri & Shmatikov 2015",
			Params:  coordinateParams,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			c := e.Params["c"]
			if c == 0 {
				c = typical * e.MaxGradNorm / math.Sqrt(float64(e.Dim))
			}
			return &Clipper{Source: Exact, Grouping: Flat, Rule: Fixed(c), Coordinates: true}, nil
		},
	})
}

// typical is the default bound in units of C/√d. Most coordinates of a
// gradient are far below its bound, so a gradient clamped at C/√d is much shorter
// than C and training crawls: on the built-in digits, three epochs of softmax
// regression reach 45 % at 1, 76 % at 4 and 77 % at 6.
const typical = 4

var coordinateParams = []Param{{
	Name: "c", Label: "Coordinate bound c", Default: 0, Min: 0, Max: 1e6,
	Help: "The bound on each coordinate; 0 takes 4·max_grad_norm/√d, so the sensitivity is 4·max_grad_norm.",
}}
