package clip

// dcp keeps the threshold at a percentile of the norms
// (DC-SGD, Algorithms 1 to 3).
type dcp struct {
	histogram
	c, p float64
}

func newDCP(e Env) (Rule, error) {
	d := &dcp{histogram: newHistogram(e), c: e.MaxGradNorm, p: e.Params["p"]}
	return d, nil
}

func (d *dcp) C() float64              { return d.c }
func (d *dcp) Query() *Query           { return d.query() }
func (d *dcp) HistogramRange() float64 { return d.r }

// Adapt walks the bins from the left until they hold the share p. A walk that
// ends in the first or last bin just moves the range by a factor, so that it
// grows or shrinks exponentially until it fits.
func (d *dcp) Adapt(h []float64) {
	s := total(h)
	if !usableTotal(s) {
		return
	}
	k, sum := 0, h[0]
	for k < len(h)-1 && sum < d.p*s {
		k++
		sum += h[k]
	}
	d.c = clampThreshold(d.mid(k), d.c)
	d.setRange(2 * d.c)
}

func (d *dcp) Snapshot() []float64 { return []float64{d.c, d.r} }

func (d *dcp) Restore(v []float64) error {
	if err := fits(v, 2, 2); err != nil {
		return err
	}
	d.c, d.r = v[0], v[1]
	return nil
}

func init() {
	params := append([]Param{{
		Name: "p", Label: "Percentile p", Default: 0.5, Min: 0.01, Max: 0.99,
		Help: "The share of gradients that should be shorter than the threshold.",
	}}, histogramParams(1)...)
	registerRule("dc-p", params, newDCP)
	register(Method{
		Place: 8,
		Info: Info{
			Name:    "dc-p",
			Title:   "Percentile of a histogram (DC-SGD-P)",
			Idea:    "A noisy histogram of gradient norms, paid for within the step's own budget, shows where a chosen percentile lies. The threshold jumps there at once, and the histogram's range follows it.",
			Formula: "C ← the bin in which Σ H̃ reaches p·S′;  R ← 2C",
			When:    "As quantile, when the first threshold may be wrong by orders of magnitude. Not where a class is rare: most rows decide C, and what the few would teach is cut off.",
			Paper:   "DC-SGD, Algorithms 1 to 3",
			Params:  params,
			Private: true,
		},
		New: func(e Env) (*Clipper, error) {
			rule, err := newDCP(e)
			return &Clipper{Source: Exact, Grouping: Flat, Weight: constant{}, Rule: rule}, err
		},
	})
}
