package train

import (
	"context"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/run"
)

// pendingEvent is a step's event and what it still waits for.
type pendingEvent struct {
	event    run.Event
	part     Part      // of the step's batch
	parts    []reading // of the physical batches; none once they are collected
	norm     compute.Pending
	gradient *run.GradientDiag
	test     []reading         // of test rows, after the step
	seconds  float64           // that it took, with those that were waited
	moved    int64             // bytes that the step queued for the device and back
	state    []compute.Pending // of the run after the step, where it is kept
	rule     []float64         // and its threshold rule's
	lost     int               // and how many steps that state has not seen
	bounded  bool              // its factors have their bounds
	whole    bool              // nothing is waited for any more
}

// fetched reports whether the reports of the physical batches are there.
func (e *pendingEvent) fetched() bool {
	return !slices.ContainsFunc(e.parts, func(p reading) bool { return !p.pending.Done() })
}

// ready reports that nothing has to be waited for.
func (e *pendingEvent) ready() bool {
	for _, p := range e.state {
		if !p.Done() {
			return false
		}
	}
	if e.whole {
		return true
	}
	for _, p := range e.test {
		if !p.pending.Done() {
			return false
		}
	}
	return e.fetched() && e.norm.Done()
}

// collect takes in the reports of a step, each once, and adds up the rule's statistic.
func (e *pendingEvent) collect(ctx context.Context, q *clip.Query) error {
	for ; len(e.parts) > 0; e.parts = e.parts[1:] {
		v, err := e.parts[0].wait(ctx)
		if err != nil {
			return err
		}
		e.part.count(v, q)
	}
	return nil
}
