package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
)

// A measurement takes leastSteps steps and leastTime at least, or mostTime, and never more than
// mostSteps steps: what has ended sooner is repeated with twice as many.
const (
	leastSteps = 3
	leastTime  = 100 * time.Millisecond
	mostTime   = time.Second
	mostSteps  = 4096
)

// A run that draws each row fewer times than this, on average, is measured as one in which all rows are new to frozen
// layers, and others as one in which none is.
const mostNew = 4

// enough reports whether so many steps in that time tell how long one takes.
func enough(steps int, took time.Duration) bool {
	return steps >= leastSteps && took >= leastTime || took >= mostTime || steps >= mostSteps
}

// StepTime measures how long a step of a plan takes on a backend, with everything that a step
// queues: the clock stops when the queue is empty. A step before that compiles kernels and takes
// memory. The rows are made up, so that the time says nothing of anybody's, and nothing is
// released.
func StepTime(ctx context.Context, p *plan.Plan, be compute.Backend) (time.Duration, error) {
	return stepTime(ctx, p, be, time.Now)
}

func stepTime(ctx context.Context, p *plan.Plan, be compute.Backend, now func() time.Time) (time.Duration, error) {
	terms := p.Terms()
	space, err := spaceOn(be, terms)
	if err != nil {
		return 0, err
	}
	rehearsal, times, err := p.Rehearsal(space.capacity, 1+2*mostSteps)
	if err != nil {
		return 0, fmt.Errorf("train: measuring: %w", err)
	}
	anew := terms.BatchSize*float64(terms.Steps) < mostNew*float64(terms.Meta.TrainRows)
	terms = rehearsal.Terms()
	r, err := Start(ctx, rehearsal, madeUp(terms.Meta), be)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if anew || !space.kept {
		r.feed.kept = nil
	}
	if err := r.rehearse(ctx, 1); err != nil {
		return 0, err
	}
	for steps := 1; ; steps *= 2 {
		began := now()
		if err := r.rehearse(ctx, steps); err != nil {
			return 0, err
		}
		if took := now().Sub(began); enough(steps, took) {
			return time.Duration(float64(took) / float64(steps) * times), nil
		}
	}
}

// rehearse takes steps as a run does, no more than trailing ahead of the backend, and waits
// until it has computed them all. Their events are told to nobody.
func (r *Run) rehearse(ctx context.Context, steps int) error {
	for range steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: measuring: %w", err)
		}
		if err := r.step(ctx); err != nil {
			return err
		}
		if err := r.completeAllBut(ctx, trailing); err != nil {
			return err
		}
	}
	if err := r.completeAllBut(ctx, 0); err != nil {
		return err
	}
	var last [1]float32 // what a step queues last is its optimiser's and the noise of the next
	return compute.Read(ctx, r.work.be, last[:], r.work.gradient)
}

// completeAllBut waits for the oldest events, and forgets them, until so many are left.
func (r *Run) completeAllBut(ctx context.Context, left int) error {
	for len(r.waiting) > left {
		if err := r.complete(ctx, r.waiting[0]); err != nil {
			return err
		}
		r.waiting = append(r.waiting[:0], r.waiting[1:]...)
	}
	return nil
}

// madeUp is rows of such a kind, all of one class. No number in them is one that takes
// longer than others.
func madeUp(m data.Meta) *data.Dataset {
	ds := &data.Dataset{Name: m.Name, Task: m.Task, Features: m.Features, Shape: m.Shape, Outputs: m.Outputs, Columns: m.Columns, Bounds: m.Bounds}
	n := m.TrainRows * m.Dense()
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
	if m.Features > m.Dense() {
		ds.Train.Words = slices.Repeat([][]data.Word{madeUpWords(m)}, m.TrainRows)
	}
	return ds
}

// madeUpWords returns the features of made-up texts of some hundred words.
func madeUpWords(m data.Meta) (words []data.Word) {
	const apart = 16 // of 2^14 features a thousand are not 0
	for f := m.Dense(); f < m.Features; f += apart {
		words = append(words, data.Word{Feature: uint32(f), Value: 0.03})
	}
	return words
}
