package train

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// What is measured: so many steps, after the first, which make ready what the others
// have, or fewer in which so much time has gone by.
const (
	measuredSteps = 6
	measuredTime  = 400 * time.Millisecond
)

// StepTime is how long a step of the plan takes on a backend. The rows are made up, so
// that it says nothing of anybody's, and nothing is released.
func (p *Plan) StepTime(ctx context.Context, be compute.Backend) (time.Duration, error) {
	c, meta := p.cfg, p.meta
	batch := min(p.batch, 2*float64(p.capacity())) // a larger one takes more memory, and as long for a row
	c.ExpectedBatchSize, c.NumExamples = batch, 0
	meta.TrainRows, meta.TestRows = min(meta.TrainRows, int(2*batch)+1), 0
	if !p.nonPrivate() {
		c.NoiseMultiplier, c.TargetEpsilon = &p.sigma, nil
	}
	seed := uint64(0)
	c.Accountant, c.Seed = "rdp", &seed // as what it costs is not asked
	c.Steps, c.Epochs, c.Blind, c.DiagnosticsEvery = 1+measuredSteps, 0, true, 0
	if k := c.PCA.Components; k > 0 { // rows are what comes of directions
		meta.Features, meta.Shape, meta.FeatureBytes, meta.Columns, meta.Bounds = k, nil, 4, nil, nil
		c.PCA.Components = 0
	}
	if len(p.once) > 0 {
		c.Scaling = run.Scaling{Kind: "none"}
	}
	if meta.Task == data.Regression { // rows that are made up have targets of no size to speak of
		c.Scaling.Target = "none"
	}
	rehearsal, err := New(c, meta)
	if err != nil {
		return 0, fmt.Errorf("train: measuring: %w", err)
	}
	r, err := rehearsal.Start(ctx, madeUp(meta), be)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var began time.Time
	steps := -1
	for _, err := range r.Steps(ctx) {
		if err != nil {
			return 0, err
		}
		if steps++; steps == 0 {
			began = time.Now()
		} else if time.Since(began) > measuredTime {
			break
		}
	}
	return time.Duration(float64(time.Since(began)) / float64(max(1, steps)) * p.batch / batch), nil
}

// madeUp is rows of such a kind, all of one class. No number in them is one that takes
// longer than others.
func madeUp(m data.Meta) *data.Dataset {
	ds := &data.Dataset{Name: m.Name, Task: m.Task, Features: m.Features, Shape: m.Shape, Outputs: m.Outputs, Columns: m.Columns, Bounds: m.Bounds}
	n := m.TrainRows * m.Features
	ds.Train.N = m.TrainRows
	ds.Train.Y = make([]float32, m.TrainRows*ds.TargetWidth())
	if m.FeatureBytes == 1 {
		ds.Train.U8 = make([]uint8, n)
		for i := range ds.Train.U8 {
			ds.Train.U8[i] = uint8(i*i%251 + 1)
		}
		return ds
	}
	ds.Train.F32 = make([]float32, n)
	for i := range ds.Train.F32 {
		ds.Train.F32[i] = float32(i*i%251)/251 + 0.001
	}
	return ds
}
