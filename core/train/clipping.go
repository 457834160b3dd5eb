package train

import (
	"slices"

	"clipscope/core/clip"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// clipping brings the gradients of rows that went through the model into a part: measured,
// weighed and added.
type clipping struct {
	*workspace
	mech    mechanism
	weights *weights
	teacher *teacher       // nil: not asked for
	limits  []kernel.Limit // of the present step, in each group
	part    Part           // of the present step
}

func newClipping(w *workspace) *clipping {
	return &clipping{workspace: w, mech: w.kind.open(w), weights: newWeights(w.be, w.clipper.Weight), part: newPart(w, w.kind.weights)}
}

// bound takes up the thresholds of a step whose part has begun, and bounds the factors by them.
func (c *clipping) bound() {
	c.mech.begin()
	c.limits = c.mech.limits()
	c.part.tally.limits = c.clipper.GroupThresholds(len(c.report.norms))
}

// beginPart empties the part for the rows of a step.
func (c *clipping) beginPart() {
	c.part = c.part.clear(c.be)
}

// weigh turns the norms of n rows into factors. Examples whose gradient or loss is
// not finite get factor 0.
//
// Guarantee: example i's factor depends on its own norms and on the thresholds alone.
func (c *clipping) weigh(n int) {
	p := c.report
	kernel.Fill(c.be, n, 1, p.keep)
	kernel.Finite(c.be, n, p.losses, p.keep)
	for _, u := range p.norms {
		kernel.Finite(c.be, n, u, p.keep)
	}
	for g, u := range p.norms {
		limit := c.limits[g]
		limit.Gain = float32(c.weights.at(float64(limit.C)))
		kernel.Weigh(c.be, n, limit, u, p.keep, c.weights.buffer, p.factors[g])
		kernel.Copy(c.be, n, c.factors[g], p.factors[g])
	}
}

// addWeighed adds the n gradients just weighed to the part.
func (c *clipping) addWeighed(n int) { c.mech.addGradients(c.part, n, c.factors, c.report.keep) }

// noiseStatistic adds the noise to the rule's statistic of a step.
func (c *clipping) noiseStatistic(e *pendingEvent) error {
	std := c.terms.GradNoise * c.mech.sensitivity() // where it shares the gradient's noise
	if !c.query.Joined {
		std = c.query.NoiseStd
	}
	z, err := c.countNoise(privacy.Statistic, e.event.Step-1, std, 0.5, len(e.part.statistic))
	for i := range z {
		e.part.statistic[i] += z[i]
	}
	return err
}

// adapt hands the rule the noised statistic of a step and says what that released.
func (c *clipping) adapt(e *pendingEvent) {
	rule, out := c.clipper.Rule, &e.event.Released
	if c.query == nil {
		rule.Adapt(nil)
		return
	}
	if h, ok := rule.(clip.HistogramReleaser); ok {
		out.Histogram, out.HistogramRange = slices.Clone(e.part.statistic), h.HistogramRange()
	}
	rule.Adapt(e.part.statistic)
	if f, ok := rule.(clip.FractionReleaser); ok {
		share := run.Number(f.ClipFraction())
		out.ClipFraction = &share
	}
	if w, ok := rule.(clip.Curver); ok {
		curves := w.Curves()
		out.Curves = &run.ErrorCurves{C: curves.C, Variance: curves.Variance, Bias: curves.Bias}
	}
}
