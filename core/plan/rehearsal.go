package plan

import (
	"fmt"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
)

// Rehearsal returns a plan of so many steps on made-up rows, whose steps take as long as
// this one's but for a factor: its physical batches have as many rows, up to capacity, and
// there are fewer of them where this plan's steps have more than two.
func (p *Plan) Rehearsal(capacity, steps int) (q *Plan, times float64, err error) {
	c, meta := p.terms.Config, p.terms.Meta
	public := float64(c.PublicRows.BatchSize)
	c.PublicRows = run.PublicRows{} // whose file is not at hand
	if p.terms.Spec.Frozen() == 0 {
		c.Start = run.Start{}
	}
	batch := min(p.terms.BatchSize, 2*float64(capacity))
	c.ExpectedBatchSize, c.NumExamples, c.MaxPhysicalBatchSize = batch, 0, capacity
	meta.TrainRows, meta.TestRows = min(meta.TrainRows, max(int(2*batch)+1, capacity)), 0
	if !p.terms.NonPrivate() {
		c.NoiseMultiplier, c.TargetEpsilon = &p.terms.NoiseMultiplier, nil
	}
	seed := uint64(0)
	c.Accountant, c.Seed = "rdp", &seed // as what it costs is not asked
	c.Steps, c.Epochs, c.Blind, c.DiagnosticsEvery, c.EvalSteps = steps, 0, true, 0, 0
	if k := c.PCA.Components; k > 0 { // rows are what comes of directions
		meta.Features, meta.Shape, meta.FeatureBytes, meta.Columns, meta.Bounds = k, nil, 4, nil, nil
		c.PCA.Components = 0
	}
	if len(p.price.once) > 0 {
		c.Scaling = run.Scaling{Kind: "none"}
	}
	if meta.Task == data.Regression { // rows that are made up have targets of no size to speak of
		c.Scaling.Target = "none"
	}
	if q, err = New(c, meta); err != nil {
		return nil, 0, fmt.Errorf("plan: rehearsal: %w", err)
	}
	if q.terms.Spec.Frozen() > 0 {
		q.terms.StartWeights = p.terms.StartWeights
		if q.terms.StartWeights == nil { // of an interrupted run, whose state has them
			q.terms.StartWeights = slices.Repeat([]float32{0.01}, q.terms.Spec.Total())
		}
	}
	return q, (p.terms.BatchSize + public) / batch, nil
}
