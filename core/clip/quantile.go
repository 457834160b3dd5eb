package clip

import "math"

// quantile moves the threshold so that a share γ of the gradients is shorter
// (Andrew et al. 2021, Algorithm 1).
type quantile struct {
	c, gamma, rate, std, batch float64
	least                      float64 // of std where it is chosen here, for one count
	below                      float64 // the share within C last released
}

func newQuantile(e Env) (Rule, error) {
	q := &quantile{c: e.MaxGradNorm, gamma: e.Params["gamma"], rate: e.Params["eta_c"], std: e.Params["sigma_b"], batch: e.ExpectedBatchSize}
	if q.std == 0 {
		// B/20 is the paper's advice. With a small batch or much noise that
		// would cost more than the whole step, so the count's noise then grows
		// until the gradient's own noise is 1.34 times σ at most.
		q.least = 0.75 * e.NoiseMultiplier
		q.std = math.Max(e.ExpectedBatchSize/20, q.least)
	}
	return q, nil
}

func (q *quantile) C() float64 { return q.c }

// Query counts the examples within the threshold, centred: each adds ½ or −½,
// so the sensitivity is ½ and an empty batch reads as half.
func (q *quantile) Query() *Query {
	return &Query{Len: 1, Value: q.value, Sensitivity: 0.5, NoiseStd: q.std}
}

func (q *quantile) value(dst []float64, n Norms) { dst[0] += q.half(n.Whole) }

// half returns what a gradient of norm n adds to the count.
func (q *quantile) half(n float64) float64 {
	if n <= q.c {
		return 0.5
	}
	return -0.5
}

// Adapt divides by the expected batch size: the realised one is private. The
// fraction is held within [0, 1], where the true one lies.
func (q *quantile) Adapt(released []float64) {
	q.below = min(max(released[0]/q.batch+0.5, 0), 1)
	q.c = clampThreshold(q.c*math.Exp(-q.rate*(q.below-q.gamma)), q.c)
}

func (q *quantile) ClipFraction() float64 { return 1 - q.below }

// divide returns quantile for each group, which together begin at C, or above where a group's part would be below
// MinThreshold.
func (q *quantile) divide(groups int) Divided {
	all, root := make(quantiles, groups), math.Sqrt(float64(groups))
	for i := range all {
		one := *q
		one.c, one.std = clampThreshold(q.c/root, q.c), math.Max(q.std, q.least*root)
		all[i] = &one
	}
	return all
}

func (q *quantile) Snapshot() []float64 { return []float64{q.c, q.below} }

func (q *quantile) Restore(v []float64) error {
	if err := fitsShare(v); err != nil {
		return err
	}
	q.c, q.below = v[0], v[1]
	return nil
}

// quantiles moves the threshold of each group of parameters by a count of its own (He et al. 2023,
// adaptive per-layer clipping). All parameters get noise of one deviation.
type quantiles []*quantile

// C is the sensitivity of all groups together; 2⁻⁴⁰ is more than rounding takes from it.
func (q quantiles) C() float64 {
	sum := 0.0
	for _, one := range q {
		sum += one.c * one.c
	}
	return math.Sqrt(sum) * (1 + 0x1p-40)
}

func (q quantiles) Thresholds() []float64 {
	c := make([]float64, len(q))
	for i, one := range q {
		c[i] = one.c
	}
	return c
}

// Query counts the examples within each threshold, as that of [quantile]: each example adds ½ or −½ to every count.
func (q quantiles) Query() *Query {
	return &Query{Len: len(q), Value: q.value, Sensitivity: math.Nextafter(math.Sqrt(float64(len(q)))/2, math.Inf(1)), NoiseStd: q[0].std}
}

func (q quantiles) value(dst []float64, n Norms) {
	for i, one := range q {
		dst[i] += one.half(n.Groups[i])
	}
}

// Adapt keeps every threshold so far below MaxThreshold that C is, too.
func (q quantiles) Adapt(released []float64) {
	for i, one := range q {
		one.Adapt(released[i : i+1])
		one.c = math.Min(one.c, MaxThreshold/float64(len(q)))
	}
}

// ClipFraction is the mean over the groups.
func (q quantiles) ClipFraction() float64 {
	sum := 0.0
	for _, one := range q {
		sum += one.ClipFraction()
	}
	return sum / float64(len(q))
}

func (q quantiles) Snapshot() []float64 {
	var all []float64
	for _, one := range q {
		all = append(all, one.Snapshot()...)
	}
	return all
}

func (q quantiles) Restore(v []float64) error {
	if err := fits(v, 0, 2*len(q)); err != nil {
		return err
	}
	for i := range q {
		if err := fitsShare(v[2*i : 2*i+2]); err != nil {
			return err
		}
	}
	for i, one := range q {
		one.c, one.below = v[2*i], v[2*i+1]
	}
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
