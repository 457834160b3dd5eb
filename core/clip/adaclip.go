package clip

func init() {
	params := []Param{
		{Name: "beta_mean", Label: "Mean decay β₁", Default: 0.99, Min: 0, Max: 0.99999,
			Help: "How slowly the centre follows the released gradients."},
		{Name: "beta_spread", Label: "Spread decay β₂", Default: 0.9, Min: 0, Max: 0.99999,
			Help: "How slowly the scale follows their spread."},
		{Name: "h1", Label: "Least variance h₁", Default: 1e-12, Min: 1e-20, Max: 1, Log: true,
			Help: "Variances are kept above this."},
		{Name: "h2", Label: "Greatest variance h₂", Default: 1e-2, Min: 1e-19, Max: 1e6, Log: true,
			Help: "Variances are kept below this; it decides how much noise a wild coordinate gets, so it is worth tuning."},
		{Name: "literal", Label: "As printed", Default: 0, Min: 0, Max: 1, Integer: true,
			Help: "1 starts at s = √(h₁h₂) and estimates variances as the paper prints it, for batches of one; 0 starts at s² = √(h₁h₂) and corrects for the mean over a batch."},
	}
	register(Method{
		Place: 11,
		Info: Info{
			Name:    "adaclip",
			Title:   "Coordinate-wise (AdaCliP)",
			Idea:    "Gradients are measured relative to where they usually lie and how much each coordinate usually varies. Coordinates that hardly vary then get hardly any noise.",
			Formula: "u = (g − a)/b,  û = u / max(1, ‖u‖/C),  g̃ = b∘((Σû + 𝒩(0, σ²C²))/B) + a",
			When:    "When few coordinates carry most of the signal. With C = 1 the scale is set so that a typical ‖u‖ is 1.",
			Paper:   "AC, Algorithm 1; core/RATIONALE.md explains the batch correction",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			p := e.Params
			if p["h1"] >= p["h2"] {
				return nil, &ParamError{"h1", "the least variance h1 must be below the greatest, h2"}
			}
			return &Clipper{
				Source: Exact, Grouping: Flat, Weight: constant{}, Rule: Fixed(e.MaxGradNorm),
				Geometry: &Geometry{BetaMean: p["beta_mean"], BetaSpread: p["beta_spread"], Least: p["h1"], Greatest: p["h2"], Literal: p["literal"] == 1},
			}, nil
		},
	})
}
