package clip

import "math"

// adaptive is AdaCliP's change of coordinates (AC, Algorithm 1): centre a and
// scale b follow the mean and the spread of the released gradients.
type adaptive struct {
	beta1, beta2, h1, h2 float64
	literal              bool

	m, b []float32
	s    []float32 // the deviation of one example's coordinate
	sum  float64   // Σ s
}

func (g *adaptive) Reset(d int) {
	g.m, g.b, g.s = make([]float32, d), make([]float32, d), make([]float32, d)
	first := math.Sqrt(math.Sqrt(g.h1 * g.h2))
	for j := range g.s {
		g.s[j] = float32(first)
	}
	g.sum = first * float64(d)
	g.rescale()
}

func (g *adaptive) Centre() []float32 { return g.m }
func (g *adaptive) Scale() []float32  { return g.b }

// Adapt updates a and b from the noisy mean gradient. A coordinate that is not
// finite leaves its centre and spread as they were.
func (g *adaptive) Adapt(released []float32, noiseStd, batchSize float64) {
	times := batchSize
	if g.literal {
		times = 1
	}
	// b² = s·Σs, so the noise on a coordinate has variance noise·s.
	noise := noiseStd * noiseStd / (batchSize * batchSize) * g.sum
	g.sum = 0
	m, s := g.m[:len(released)], g.s[:len(released)]
	for j, x := range released {
		dev, old := float64(x)-float64(m[j]), float64(s[j])
		v := times * (dev*dev - old*noise)
		if v-v == 0 { // neither NaN nor ±Inf
			if v < g.h1 { // not min and max: in wasm they are calls
				v = g.h1
			} else if v > g.h2 {
				v = g.h2
			}
			old = math.Sqrt(g.beta2*old*old + (1-g.beta2)*v)
			s[j] = float32(old)
			m[j] = float32(g.beta1*float64(m[j]) + (1-g.beta1)*float64(x))
		}
		g.sum += old
	}
	g.rescale()
}

// rescale sets b_j = √s_j·√(Σ_k s_k), which is least noise for the clipping
// (AC, Theorem 2, with γ = 1).
func (g *adaptive) rescale() {
	for j, s := range g.s {
		g.b[j] = float32(math.Sqrt(float64(s) * g.sum))
	}
}

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
			Help: "1 estimates variances as the paper prints it, for batches of one; 0 corrects for the mean over a batch."},
	}
	register(Method{
		Info: Info{
			Name:    "adaclip",
			Title:   "Coordinate-wise (AdaCliP)",
			Idea:    "Gradients are measured relative to where they usually lie and how much each coordinate usually varies. Coordinates that hardly vary then get hardly any noise.",
			Formula: "u = (g − a)/b,  û = u / max(1, ‖u‖/C),  g̃ = b∘((Σû + 𝒩(0, σ²C²))/B) + a",
			When:    "When few coordinates carry most of the signal. With C = 1 the scale is set so that a typical ‖u‖ is 1.",
			Paper:   "AC, Algorithm 1; the batch correction is explained in RATIONALE",
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
				Geometry: &adaptive{beta1: p["beta_mean"], beta2: p["beta_spread"], h1: p["h1"], h2: p["h2"], literal: p["literal"] == 1},
			}, nil
		},
	})
}
