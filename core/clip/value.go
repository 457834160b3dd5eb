package clip

// byValue returns the clipper of both value-clipping methods, which differ in the bound only.
func byValue(e Env, g Growth) *Clipper {
	return &Clipper{Source: Bounded, Grouping: Flat, Weight: constant{}, Rule: Fixed(e.MaxGradNorm), Growth: g}
}

func init() {
	params := []Param{
		{Name: "f_lb", Label: "Lower bound of losses f_lb", Default: 0, Min: -1000, Max: 0,
			Help: "Losses count from here. No loss is below 0, so 0 is sharpest; less makes the bound looser."},
		{Name: "beta_2", Label: "Offset β₂", Default: 0, Min: 0, Max: 1e6,
			Help: "Added to the squared bound. The proof needs none; more makes the bound looser."},
		{Name: "literal", Label: "As printed", Default: 0, Min: 0, Max: 1, Integer: true,
			Help: "1 takes β₁·f as Algorithm 3 prints it; 0 takes the sharper bound at the end of Appendix D, which stops growing at a loss of ½."},
	}
	register(Method{
		Place: 12,
		Info: Info{
			Name:    "value",
			Title:   "Value clipping (DP-SGD-VC)",
			Idea:    "An example's loss and the layers' spectral norms bound its gradient before it is computed. The loss is scaled by that bound, so that one ordinary backward pass suffices.",
			Formula: "ĝᵢ = gᵢ / max(1, √(β·min{1, 2(fᵢ − f_lb)} + β₂)/C),  β = 4‖x̃ᵢ‖²·Σⱼ Πₗ≠ⱼ‖W̃ₗ‖²",
			When:    "Where the norms of gradients cannot be had in one pass. Here they can: on MNIST a step of a linear model takes as long as constant's, and with hidden layers longer, for their spectral norms. The bound is loose, so it clips harder than it needs to.",
			Paper:   "VC, Algorithm 3 with the bound of Appendix D",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return byValue(e, Growth{Linear: e.Params["literal"] == 1, Least: e.Params["f_lb"], Offset: e.Params["beta_2"]}), nil
		},
	})
}
