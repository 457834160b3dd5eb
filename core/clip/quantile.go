package clip

import "math"

// quantile moves the threshold so that a share γ of the gradients is shorter
// (Andrew et al. 2021, Algorithm 1).
type quantile struct {
	c, gamma, rate, std, batch float64
	below                      float64 // the share within C last released
}

func newQuantile(e Env) (Rule, error) {
	q := &quantile{c: e.MaxGradNorm, gamma: e.Params["gamma"], rate: e.Params["eta_c"], std: e.Params["sigma_b"], batch: e.ExpectedBatchSize}
	if q.std == 0 {
		// B/20 is the paper's advice. With a small batch or much noise that
		// would cost more than the whole step, so the count's noise then grows
		// until the gradient's own noise is 1.34 times σ at most.
		q.std = math.Max(e.ExpectedBatchSize/20, 0.75*e.NoiseMultiplier)
	}
	return q, nil
}

func (q *quantile) C() float64 { return q.c }

// Query counts the examples within the threshold, centred: each adds ½ or −½,
// so the sensitivity is ½ and an empty batch reads as half.
func (q *quantile) Query() *Query {
	return &Query{Len: 1, Value: q.value, Sensitivity: 0.5, NoiseStd: q.std}
}

func (q *quantile) value(dst []float64, n, _ float64) {
	if n <= q.c {
		dst[0] += 0.5
	} else {
		dst[0] -= 0.5
	}
}

// Adapt divides by the expected batch size: the realised one is private. The
// fraction is held within [0, 1], where the true one lies.
func (q *quantile) Adapt(released []float64) {
	q.below = min(max(released[0]/q.batch+0.5, 0), 1)
	q.c = clampThreshold(q.c*math.Exp(-q.rate*(q.below-q.gamma)), q.c)
}

func (q *quantile) ClipFraction() float64 { return 1 - q.below }

func (q *quantile) Snapshot() []float64 { return []float64{q.c, q.below} }

func (q *quantile) Restore(v []float64) error {
	if err := fitsShare(v); err != nil {
		return err
	}
	q.c, q.below = v[0], v[1]
	return nil
}

func init() {
	params := []Param{
		{Name: "gamma", Label: "Target share γ", Default: 0.5, Min: 0, Max: 1,
			Help: "The share of gradients that should be shorter than the threshold."},
		{Name: "eta_c", Label: "Threshold rate η_C", Default: 0.2, Min: 1e-4, Max: 10, Log: true,
			Help: "How fast the threshold follows, as a factor e^(±η_C) a step at most."},
		{Name: "sigma_b", Label: "Count noise σ_b", Default: 0, Min: 0, Max: 1e9,
			Help: "Standard deviation of the noise on the count; 0 takes B/20 as the paper does, more where noise_multiplier is large."},
	}
	registerRule("quantile", params, newQuantile)
	register(Method{
		Place: 6,
		Info: Info{
			Name:    "quantile",
			Title:   "Quantile tracking",
			Idea:    "A noisy count of the gradients that are shorter than C moves the threshold until a chosen share is. The count is paid for within the step's own budget.",
			Formula: "C ← C·exp(−η_C·(b̃ − γ)),  b̃ = (Σ(1[‖gᵢ‖≤C] − ½) + 𝒩(0, σ_b²))/B + ½",
			When:    "When you can say which share of gradients should be clipped rather than at which length.",
			Paper:   "Andrew et al. 2021",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			rule, err := newQuantile(e)
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: rule}, err
		},
	})
}
