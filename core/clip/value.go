package clip

// newValue builds both value-clipping methods; they differ in the bound only.
func newValue(tight bool) func(Env) (*Clipper, error) {
	return func(e Env) (*Clipper, error) {
		return &Clipper{Source: Bounded, Grouping: Flat, Weight: constant{}, Rule: Fixed(e.MaxGradNorm), Tight: tight}, nil
	}
}

func init() {
	register(Method{
		Place: 12,
		Info: Info{
			Name:    "value",
			Title:   "Value clipping (DP-SGD-VC)",
			Idea:    "An example's loss and the layers' spectral norms bound its gradient before it is computed. The loss is scaled by that bound, so that one ordinary backward pass suffices.",
			Formula: "ĝᵢ = gᵢ / max(1, √(β₁,ᵢ·fᵢ)/C),  β₁,ᵢ = 8‖x̃ᵢ‖²·Σⱼ Πₗ≠ⱼ‖W̃ₗ‖²",
			When:    "Where even ghost norms are too slow. The bound is loose, so it clips harder than it needs to.",
			Paper:   "VC, Algorithm 3 and Appendix D",
			Private: true,
		},
		New: newValue(false),
	})
}
