package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/run"
)

// finish waits for the event's pending reads and fills it in.
func (r *Run) finish(ctx context.Context, e *pendingEvent) (run.Event, error) {
	if e.ready() {
		ctx = context.WithoutCancel(ctx) // what is there is reported
	}
	if err := r.hold(ctx); err != nil {
		return e.event, err
	}
	return e.event, r.complete(ctx, e)
}

// moved returns the number of bytes that were queued for the device and back since it was opened.
func (w *workspace) moved() int64 {
	if d, ok := w.be.Backend.(compute.Device); ok {
		return d.Moved()
	}
	return 0
}

// complete waits for all reads that an event is made of.
func (r *Run) complete(ctx context.Context, e *pendingEvent) error {
	if e.whole {
		return nil
	}
	began := time.Now()
	if e == r.unsettled {
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	if err := e.collect(ctx, r.work.query); err != nil {
		return err
	}
	var norm [1]float32
	if err := e.norm.Wait(ctx, norm[:]); err != nil {
		return fmt.Errorf("train: the gradient: %w", err)
	}
	if err := r.self.takeInitial(ctx); err != nil {
		return err
	}
	waited := time.Since(began).Seconds() // for a device
	e.seconds += waited
	r.seconds += waited
	e.event.Released.GradNorm = run.Number(norm[0])
	if !r.work.terms.Config.Blind {
		e.event.Diag = e.part.tally.diag(r.work.clipper, r.feed.ds.Task, e.seconds)
		e.event.Diag.Gradient = e.gradient
		e.event.Diag.MovedBytes = e.moved
		eval, err := r.feed.evaluated(ctx, e.test)
		if err != nil {
			return err
		}
		e.event.Diag.Eval = eval
	}
	e.whole = true
	return nil
}

// hold waits for the state with which the oldest event may be reported, and for the
// events until then, as what they wait for may be lost later.
func (r *Run) hold(ctx context.Context) error {
	k := r.checkpoints
	if k == nil || k.last.step > r.reported {
		return nil
	}
	for i, e := range r.waiting {
		if err := r.complete(ctx, e); err != nil {
			return err
		}
		if e.state == nil {
			continue
		}
		parts, err := waitAll(ctx, k.parts, e.state)
		if err != nil {
			return err
		}
		for _, w := range r.waiting[:i+1] {
			if w.event.Step > k.last.step && !w.event.Released.Void {
				k.last.thresholds.addValue(w.event.Released.MaxGradNorm)
			}
		}
		k.last.parts, k.last.rule, k.last.step, k.last.lost, e.state = parts, e.rule, e.event.Step, e.lost, nil
		return nil
	}
	return errors.New("train: no state is on its way")
}
