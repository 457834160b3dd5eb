package clip

// autoV is the weight C/n of Auto-V.
type autoV struct{}

// tiny is the norm below which a gradient counts as zero: its square is near
// the least float32, so a quotient by it would amplify rounding, not signal.
const tiny = 0x1p-50

func (autoV) Factor(n, c float64) float64 {
	if !usable(n) || n < tiny {
		return 0
	}
	return c / n
}

// Power implements [Powered].
func (autoV) Power() int { return 1 }

func init() {
	registerWeight("auto-v", nil, func(Params) Weight { return autoV{} })
	register(Method{
		Place: 4,
		Info: Info{
			Name:    "auto-v",
			Title:   "Normalised, plain (Auto-V)",
			Idea:    "Every gradient is brought to length exactly C, however small it was. Only directions count, so examples that are already learned push as hard as the others.",
			Formula: "ĝᵢ = C·gᵢ / ‖gᵢ‖",
			When:    "To see what auto-s's stability term is for; auto-s itself is usually better late in training.",
			Paper:   "Bu et al. 2022",
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: autoV{}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
