package train

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Steps takes the plan's steps, yielding an event after each, or a few steps later
// where a backend is still busy. To pause is to stop pulling; to stop is to break
// off. What was broken off goes on with the next call, no further than was planned or
// than early stopping lets it, and not after a result or an error: half a step cannot be
// taken again, for its noise may have moved what the second half would start from.
//
// Guarantee: what has been released, and the step at which the run was broken off
// if released values alone decided that, cost the ε of the whole plan. In a blind
// run no diagnostic is yielded that could decide it.
func (r *Run) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for r.reported < r.work.terms.Steps && !r.watch.over() {
			e, err := r.next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// trailing bounds the steps that are begun before the first of them is reported.
const trailing = 3

// mayTrail reports whether steps are begun before the last is reported. A party begins none, so that its
// state is of the step that it and its seat are at, and neither does a run that what is reported may end.
func (r *Run) mayTrail() bool { return r.work.others == nil && r.watch == nil }

// next returns the event of the next step to be reported.
func (r *Run) next(ctx context.Context) (run.Event, error) {
	switch {
	case r.ended:
		return run.Event{}, errors.New("train: the run has ended; start the plan again")
	case r.failed != nil:
		return run.Event{}, r.failed
	}
	for r.done < r.work.terms.Steps && (len(r.waiting) == 0 || r.mayTrail() && (!r.hasCheckpoint() || len(r.waiting) < trailing && !r.waiting[0].ready())) {
		if err := ctx.Err(); err != nil {
			return run.Event{}, fmt.Errorf("train: step %d: %w", r.done+1, err)
		}
		if r.failed = r.step(ctx); r.failed != nil {
			return run.Event{}, r.failed
		}
	}
	e, err := r.finish(ctx, r.waiting[0])
	if err != nil {
		r.failed = err
		return e, err
	}
	r.waiting = append(r.waiting[:0], r.waiting[1:]...)
	r.reported++
	r.watch.see(&e)
	return e, nil
}

// step takes one private step: sample, clip and sum, add noise, move. Its event
// waits for what the backend has yet to say.
func (r *Run) step(ctx context.Context) error {
	began, moved := time.Now(), r.work.moved()
	turned, err := r.turnTo(ctx)
	if err != nil {
		return err
	}
	e, err := r.sum(ctx)
	if err != nil {
		return err
	}
	e.norm = r.move(e.event.Released.Void)
	r.done++
	r.spent(&e.event)
	e.lost = r.lost
	if turned {
		e.event.Changes = r.work.terms.Changes
	}
	if r.unsettled = e; r.work.query == nil || e.fetched() {
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if b, ok := r.work.be.Backend.(compute.Timed); ok {
		b.StepTook(took)
	}
	e.seconds = took.Seconds()
	r.seconds += e.seconds
	if r.tests(r.done) {
		if e.test, err = r.feed.test(ctx, 0, evaluationRows, false); err != nil {
			return err
		}
	}
	r.queueCheckpoint(e)
	e.moved = r.work.moved() - moved
	r.waiting = append(r.waiting, e)
	return nil
}

// sum samples, clips and adds up, and leaves the noised sum where the gradient is:
// the rest of a step works on nothing else that depends on the rows.
func (r *Run) sum(ctx context.Context) (*pendingEvent, error) {
	e := r.beginStep()
	if r.rows = r.rows[:0]; r.work.others == nil || !r.work.others.Settled(r.done) {
		r.rows = r.sample(r.rows)
		r.self.batch(len(r.rows))
	}
	if err := r.addUp(ctx, r.rows, e); err != nil {
		return nil, err
	}
	if err := r.bound(ctx, e); err != nil { // of no rows
		return nil, err
	}
	if t := r.clipping.teacher; t.teaching() {
		if err := e.collect(ctx, r.work.query); err != nil {
			return nil, err
		}
		diag, err := t.compare(ctx, e.part, r.clipping.mech)
		if err != nil {
			return nil, err
		}
		e.gradient = diag
	}
	if r.work.kind.whole {
		if err := e.collect(ctx, r.work.query); err != nil {
			return nil, err
		}
	}
	err := r.clipping.mech.release(ctx, e.part, r.done)
	switch {
	case errors.Is(err, errVoid):
		e.event.Released.Void, err = true, nil
	case err == nil && r.work.others != nil:
		e.event.Released.Parties = len(r.work.others.Present())
	}
	return e, err
}

// beginStep empties the part of the step and returns its event.
func (r *Run) beginStep() *pendingEvent {
	r.feed.beginViews(r.done)
	r.clipping.beginPart()
	r.clipping.teacher.beginStep(r.done)
	r.norms.prepareStep()
	return &pendingEvent{part: r.clipping.part}
}

// sample draws the present step's batch, in an order that is uniformly random and
// independent of what is in it: see [rounded].
func (r *Run) sample(dst []int) []int {
	src := r.work.stream(privacy.Sampling, r.done)
	rows := r.sampler.Append(dst, src)
	r.mix(rows, src)
	return rows
}

// addUp adds the clipped gradients of rows to the sum, in that order.
func (r *Run) addUp(ctx context.Context, rows []int, e *pendingEvent) error {
	most := r.work.model.Capacity
	for lo := 0; lo < len(rows); lo += most {
		switch {
		case lo == 0:
		case r.work.terms.Config.Blind:
			run.Pause(ctx, 0)
		default:
			run.Pause(ctx, float64(lo)/float64(len(rows)))
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: step %d: %w", r.done+1, err)
		}
		if err := r.accumulate(ctx, rows[lo:min(lo+most, len(rows))], e); err != nil {
			return err
		}
	}
	return nil
}

// accumulate adds the clipped gradients of one physical batch to the sum.
func (r *Run) accumulate(ctx context.Context, rows []int, e *pendingEvent) error {
	n := len(rows)
	views, err := r.feed.pass(ctx, r.done, rows)
	if err != nil {
		return err
	}
	r.feed.judge(n)
	r.feed.adjust(n, views)
	r.norms.pass(n)
	if err := r.bound(ctx, e); err != nil {
		return err
	}
	e.parts = append(e.parts, r.work.report.fetch(r.work.be, n, r.norms.take(n)))
	return nil
}

// bound bounds the factors of a step, once: by the threshold that the step before it leads to.
// So a device has a first pass over the model to do while that step's statistic is waited for.
func (r *Run) bound(ctx context.Context, e *pendingEvent) error {
	if e.bounded {
		return nil
	}
	e.bounded = true
	if err := r.settle(ctx); err != nil {
		return err
	}
	r.clipping.bound()
	return nil
}

// settle hands the rule the noised statistic of the last step, once. The statistic is waited for.
func (r *Run) settle(ctx context.Context) error {
	e := r.unsettled
	if e == nil {
		return nil
	}
	r.unsettled = nil
	if q := r.work.query; q != nil {
		if err := e.collect(ctx, q); err != nil {
			return err
		}
		if r.work.terms.NoiseMultiplier > 0 && !r.work.kind.whole {
			if err := r.clipping.noiseStatistic(e); err != nil {
				return err
			}
		}
	}
	if !e.event.Released.Void {
		r.clipping.adapt(e)
	}
	e.rule = r.work.clipper.Rule.Snapshot()
	if r.done < r.work.terms.Steps {
		r.clipping.mech.ahead(r.done)
	}
	return nil
}

// move divides by the expected batch size and takes the optimiser's step, unless the step is
// void. It returns the norm of the noised mean gradient, on its way.
func (r *Run) move(void bool) compute.Pending {
	kernel.Scale(r.work.be, r.work.gradient.Len(), float32(1/r.work.terms.BatchSize), r.work.gradient)
	r.clipping.mech.mean()
	kernel.RowNorms(r.work.be, 1, r.work.gradient.Len(), r.work.gradient, r.work.scalar)
	norm := r.work.be.Fetch(r.work.scalar)
	if void {
		return norm
	}
	r.mixIn()
	r.opt.SetRate(r.work.terms.Config.RateAt(r.done, r.work.terms.Steps))
	r.opt.SetNoise(r.noiseVariance())
	r.opt.Step(r.work.model.All(), r.work.gradient)
	if r.iterate != nil {
		r.iterate.update(r.work.model.All(), r.taken()+1)
	}
	return norm
}

// noiseVariance returns the variance of the noise on each number of the gradient that the optimiser takes, of mechanisms
// whose noise has one: public, or a function of the step's released threshold.
func (r *Run) noiseVariance() float64 {
	if r.work.terms.NoiseMultiplier == 0 {
		return 0
	}
	std := r.work.terms.GradNoise * r.clipping.mech.sensitivity() / r.work.terms.BatchSize
	std *= 1 - r.work.terms.Config.PublicRows.Weight
	return std * std
}

// spent writes down what is known of the step just taken: its threshold, and what it cost.
func (r *Run) spent(e *run.Event) {
	rule := r.work.clipper.Rule
	c, epsilon := rule.C(), r.epsilon(r.done)
	if d, ok := rule.(clip.Divided); ok {
		e.Released.MaxGradNorms = d.Thresholds()
	}
	if e.Released.Void {
		r.lost++
	} else {
		r.thresholds.addValue(c)
	}
	r.self.spent(epsilon)
	e.Step, e.Steps = r.done, r.work.terms.Steps
	e.Released.MaxGradNorm, e.Released.Epsilon = c, run.Number(epsilon)
	e.Released.LearningRate = r.work.terms.Config.RateAt(r.done-1, r.work.terms.Steps)
}

// tests reports whether the run tests itself after a step: not after the last, as
// the result does, and after the end there is one figure.
func (r *Run) tests(step int) bool {
	t := &r.work.terms
	every := t.Config.EvalSteps
	if every == 0 {
		every = max(1, t.Steps/evaluations(t))
	}
	return !t.Config.Blind && step < t.Steps && (step == 1 || step%every == 0)
}
