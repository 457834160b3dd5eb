package train

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
)

// What is measured: so many steps, after the first, which make ready what the others
// have, or fewer in which so much time has gone by.
const (
	measuredSteps = 6
	measuredTime  = 400 * time.Millisecond
)

// StepTime measures how long a step of a plan takes on a backend. The rows are made up, so
// that it says nothing of anybody's, and nothing is released.
func StepTime(ctx context.Context, p *plan.Plan, be compute.Backend) (time.Duration, error) {
	rehearsal, times, err := p.Rehearsal(1 + measuredSteps)
	if err != nil {
		return 0, fmt.Errorf("train: measuring: %w", err)
	}
	terms := rehearsal.Terms()
	r, err := Start(ctx, rehearsal, madeUp(terms.Meta), be)
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
	return time.Duration(float64(time.Since(began)) / float64(max(1, steps)) * times), nil
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
