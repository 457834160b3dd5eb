package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// step takes one private step: sample, clip and sum, add noise, move. Its event
// waits for what the backend has yet to say.
func (r *Run) step(ctx context.Context) error {
	began := time.Now()
	turned, err := r.turnTo()
	if err != nil {
		return err
	}
	c := r.clipper.Rule.C()
	e := &pendingEvent{}
	if err := r.sum(ctx, e); err != nil {
		return err
	}
	e.norm = r.move()
	r.done++
	if r.iterate != nil {
		r.iterate.add(r.model.All(), r.taken())
	}
	r.thresholds.add(c)
	e.event = run.Event{Step: r.done, Steps: r.steps, Released: r.adapt(c)}
	if turned {
		e.event.Changes = r.changes
	}
	if r.done < r.steps {
		r.mech.ahead()
	}
	e.seconds = time.Since(began).Seconds()
	r.seconds += e.seconds
	if r.tests(r.done) {
		e.test = r.test(0, evaluationRows, false)
	}
	r.keep(e)
	r.waiting = append(r.waiting, e)
	return nil
}

// sum samples, clips and adds up, and leaves the noised sum where the gradient is:
// the rest of a step works on nothing else that depends on the rows.
func (r *Run) sum(ctx context.Context, e *pendingEvent) error {
	r.rows = r.sample(r.rows[:0])
	r.begin()
	r.self.batch(len(r.rows))
	if err := r.addUp(ctx, r.rows, e); err != nil {
		return err
	}
	if err := r.settle(ctx, e); err != nil {
		return err
	}
	return r.mech.release(ctx)
}

// begin makes ready for the sum of a step.
func (r *Run) begin() {
	r.limit = r.mech.limit()
	r.limit.Gain = float32(r.weights.at(float64(r.limit.C)))
	clear(r.statistic)
	if r.augmentation != nil {
		r.augmentation.begin(r)
	}
	r.mech.begin()
	if r.teaching() {
		r.teacher.reset()
	}
	r.source.begin()
}

// sample draws the present step's batch, in an order that is uniformly random and
// independent of what is in it: see [Run.rounded].
func (r *Run) sample(dst []int) []int {
	src := r.stream(privacy.Sampling, r.done)
	rows := r.sampler.Append(dst, src)
	r.mix(rows, src)
	return rows
}

func shuffle(rows []int, src rand.Source) {
	rand.New(src).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// addUp adds the clipped gradients of rows to the sum, in that order.
func (r *Run) addUp(ctx context.Context, rows []int, e *pendingEvent) error {
	most := r.model.Capacity
	for lo := 0; lo < len(rows); lo += most {
		switch {
		case lo == 0:
		case r.cfg.Blind:
			run.Pause(ctx, 0)
		default:
			run.Pause(ctx, float64(lo)/float64(len(rows)))
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: step %d: %w", r.done+1, err)
		}
		r.accumulate(rows[lo:min(lo+most, len(rows))], e)
	}
	return nil
}

// accumulate adds the clipped gradients of one physical batch to the sum.
func (r *Run) accumulate(rows []int, e *pendingEvent) {
	n := len(rows)
	views := r.load(&r.ds.Train, rows, r.augmentation)
	r.model.Forward(r.x, n, views)
	r.judge(n)
	e.parts = append(e.parts, r.report.fetch(r.be, n, r.source.take(n)))
}

// settle brings to this side what the step cannot end without: the rule's
// statistic, and the gradients' comparison.
func (r *Run) settle(ctx context.Context, e *pendingEvent) (err error) {
	if r.query != nil || r.teaching() {
		if err := r.collect(ctx, e); err != nil {
			return err
		}
	}
	if r.teaching() {
		if e.gradient, err = r.compare(ctx, e.tally.batch); err != nil {
			return err
		}
	}
	if r.query == nil || r.sigma == 0 {
		return nil
	}
	return r.noiseStatistic()
}

// noiseStatistic adds the noise to the rule's statistic.
func (r *Run) noiseStatistic() error {
	std := r.gradNoise * r.mech.sensitivity() // where it shares the gradient's noise
	if !r.query.Joined {
		std = r.query.NoiseStd
	}
	z, err := r.countNoise(privacy.Statistic, r.done, std, 0.5, len(r.statistic))
	for i := range z {
		r.statistic[i] += z[i]
	}
	return err
}

// move divides by the expected batch size and takes the optimiser's step. It
// returns the norm of the noised mean gradient, on its way.
func (r *Run) move() compute.Pending {
	kernel.Scale(r.be, r.gradient.Len(), float32(1/r.batch), r.gradient)
	r.mech.mean()
	kernel.RowNorms(r.be, 1, r.gradient.Len(), r.gradient, r.scalar)
	norm := r.be.Fetch(r.scalar)
	r.opt.Step(r.model.All(), r.gradient)
	return norm
}

// adapt hands the rule its noised statistic and says what the step released.
func (r *Run) adapt(c float64) run.Released {
	out := run.Released{MaxGradNorm: c, Epsilon: run.Number(r.epsilon(r.done))}
	r.self.spent(float64(out.Epsilon))
	rule := r.clipper.Rule
	if r.query == nil {
		rule.Adapt(nil)
		return out
	}
	if h, ok := rule.(clip.HistogramReleaser); ok {
		out.Histogram, out.HistogramRange = append([]float64(nil), r.statistic...), h.HistogramRange()
	}
	rule.Adapt(r.statistic)
	if f, ok := rule.(clip.FractionReleaser); ok {
		share := run.Number(f.ClipFraction())
		out.ClipFraction = &share
	}
	if w, ok := rule.(clip.Curver); ok {
		curves := w.Curves()
		out.Curves = &run.ErrorCurves{C: curves.C, Variance: curves.Variance, Bias: curves.Bias}
	}
	return out
}

// pendingEvent is a step's event and what it still waits for.
type pendingEvent struct {
	event    run.Event
	parts    []reading // of the physical batches; none once they are collected
	norm     compute.Pending
	tally    tally
	gradient *run.GradientDiag
	test     []reading         // of test rows, after the step
	seconds  float64           // that it took, with those that were waited
	state    []compute.Pending // of the run after the step, where it is kept
	rule     []float64         // and its threshold rule's
	whole    bool              // nothing is waited for any more
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
	for _, p := range e.parts {
		if !p.pending.Done() {
			return false
		}
	}
	for _, p := range e.test {
		if !p.pending.Done() {
			return false
		}
	}
	return e.norm.Done()
}

// collect takes in the reports of a step, each once, and adds up the rule's
// statistic; where there is one, a step has done so before its event is left behind.
func (r *Run) collect(ctx context.Context, e *pendingEvent) error {
	for ; len(e.parts) > 0; e.parts = e.parts[1:] {
		v, err := r.wait(ctx, e.parts[0])
		if err != nil {
			return err
		}
		e.tally.add(v, r.query, r.statistic)
	}
	return nil
}

// finish waits for what an event lacks.
func (r *Run) finish(ctx context.Context, e *pendingEvent) (run.Event, error) {
	if e.ready() {
		ctx = context.WithoutCancel(ctx) // what is there is reported
	}
	if err := r.hold(ctx); err != nil {
		return e.event, err
	}
	return e.event, r.complete(ctx, e)
}

// transfer is how many bytes have travelled to the device and back since the last call.
func (r *Run) transfer() int64 {
	d, ok := r.be.Backend.(compute.Device)
	if !ok {
		return 0
	}
	last := r.moved
	r.moved = d.Moved()
	return r.moved - last
}

// complete waits for what is in an event.
func (r *Run) complete(ctx context.Context, e *pendingEvent) error {
	if e.whole {
		return nil
	}
	began := time.Now()
	if err := r.collect(ctx, e); err != nil {
		return err
	}
	var norm [1]float32
	if err := e.norm.Wait(ctx, norm[:]); err != nil {
		return fmt.Errorf("train: the gradient: %w", err)
	}
	if err := r.self.received(ctx, r); err != nil {
		return err
	}
	waited := time.Since(began).Seconds() // for a device
	e.seconds += waited
	r.seconds += waited
	e.event.Released.GradNorm = run.Number(norm[0])
	if !r.cfg.Blind {
		e.event.Diag = e.tally.diag(r.clipper, r.ds.Task, e.event.Released.MaxGradNorm, e.seconds)
		e.event.Diag.Gradient = e.gradient
		e.event.Diag.MovedBytes = r.transfer()
		eval, err := r.evaluated(ctx, e.test)
		if err != nil {
			return err
		}
		e.event.Diag.Eval = eval
	}
	e.whole = true
	return nil
}
