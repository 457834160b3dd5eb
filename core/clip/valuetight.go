package clip

func init() {
	register(Method{
		Place: 13,
		Info: Info{
			Name:    "value-tight",
			Title:   "Value clipping, tighter",
			Idea:    "As value clipping, with a sharper bound: it knows how long every layer's input really is, and how much smaller the gradient of a well-predicted example is than VC's bound says. Most of the accuracy that value clipping loses comes back.",
			Formula: "‖gᵢ‖² ≤ 2(1 − e^(−fᵢ))²·Σⱼ (‖hⱼ₋₁‖² + 1)·Πₗ>ⱼ‖Wₗ‖²",
			When:    "Instead of value, always.",
			Paper:   "after VC, Appendix D; the bound is derived in package nn",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) { return byValue(e, Growth{Tight: true}), nil },
	})
}
