package clip

func init() {
	register(Method{
		Place: 15,
		Info: Info{
			Name:    "per-layer",
			Title:   "Each layer on its own",
			Idea:    "Each of L layers is clipped to C/√L separately, so that all together stay within C. A layer with large gradients then no longer crowds out the others.",
			Formula: "ĝᵢ,ₗ = gᵢ,ₗ / max(1, ‖gᵢ,ₗ‖·√L/C)",
			When:    "For deep models whose layers differ much in the size of their gradients. On a model of one layer it equals constant.",
			Paper:   "Abadi et al. 2016; AC, §6, which gives each layer 4: 4·√L here",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: PerLayer, Weight: constant{}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
