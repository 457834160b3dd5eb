package clip

// psac is the per-sample adaptive weight C/(n + r/(n + r)) of DP-PSAC.
type psac struct{ r float64 }

// Factor is about C for n near 0 (not C/r, as auto-s) and about C/n for large
// n; between, it rises above C and falls again, with its peak at n = √r − r.
// Factor(n, c)·n ≤ c because n/(n + r/(n+r)) ≤ 1.
func (w psac) Factor(n, c float64) float64 {
	if !usable(n) {
		return 0
	}
	return c / (n + w.r/(n+w.r))
}

// Power implements [Powered].
func (psac) Power() int { return 1 }

// PS tunes r over a few values and recommends about 0.1; its proof wants r in (0, 1].
var psacParams = []Param{{
	Name: "r", Label: "Stability r", Default: 0.1, Min: 1e-6, Max: 1, Log: true,
	Help: "How gently gradients near zero are treated; the weight peaks at ‖g‖ = √r − r.",
}}

func init() {
	registerWeight("psac", psacParams, func(p Params) Weight { return psac{p["r"]} })
	register(Method{
		Place: 5,
		Info: Info{
			Name:    "psac",
			Title:   "Per-sample adaptive (DP-PSAC)",
			Idea:    "Large gradients are normalised, but small ones are blown up far less: towards 0 their weight falls back to about C. That keeps the summed direction closer to the true one than plain normalising does.",
			Formula: "ĝᵢ = C·gᵢ / (‖gᵢ‖ + r/(‖gᵢ‖ + r))",
			When:    "Like auto-s, when many gradients become small late in training.",
			Paper:   "PS, Algorithm 1",
			Params:  psacParams,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			return &Clipper{Source: Exact, Grouping: Flat, Weight: psac{e.Params["r"]}, Rule: Fixed(e.MaxGradNorm)}, nil
		},
	})
}
