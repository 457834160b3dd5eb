package clip

func init() {
	register(Method{
		Place: 17,
		Info: Info{
			Name:    "micro-batch",
			Title:   "One example at a time",
			Idea:    "The constant threshold, computed the naive way: every example has a forward and a backward pass of its own. The result is the same as constant's; only the time differs.",
			Formula: "ĝᵢ = gᵢ / max(1, ‖gᵢ‖/C)",
			When:    "To see what ghost norms save.",
			Paper:   "Abadi et al. 2016; timed in VC, Table 2",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: OneAtATime, Grouping: Flat, Weight: constant{}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
