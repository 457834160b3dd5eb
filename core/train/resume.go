package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/data"
)

// snapshot is what a run goes on from, on this side: its state after a step.
type snapshot struct {
	step       int         // by what had been released until then
	parts      [][]float32 // as [Run.state] has them
	rule       []float64   // as it tells its state
	thresholds series
}

// stateWords is how many words of state, 4 MB, may be brought to this side in each
// step; of larger models it is every second step's, third's ….
const stateWords = 1 << 20

// keeping is what a run keeps on this side while its backend's memory may be lost. An
// event is not reported before the state that it belongs to is here.
type keeping struct {
	every int
	parts []compute.Buffer // of the state, on the backend
	last  snapshot         // of step 0: none
}

// openKeeping begins to keep what the run can go on from.
func (r *Run) openKeeping(context.Context) error {
	if _, ok := r.be.Backend.(compute.Losable); !ok {
		return nil
	}
	k := &keeping{parts: r.state()}
	words := 0
	for _, p := range k.parts {
		words += p.Len()
	}
	k.every = (words + stateWords - 1) / stateWords
	r.keeping = k
	return nil
}

// keep queues the reading of the state after the present step, if it is due.
func (r *Run) keep(e *pendingEvent) {
	k := r.keeping
	if k == nil || r.done%k.every != 0 && r.done != r.steps {
		return
	}
	e.rule = r.clipper.Rule.Snapshot()
	for _, p := range k.parts {
		e.state = append(e.state, r.be.Fetch(p))
	}
}

// kept reports that a state is on its way with which the oldest event may be reported.
func (r *Run) kept() bool {
	return r.keeping == nil || r.keeping.last.step > r.reported || slices.ContainsFunc(r.waiting, func(e *pendingEvent) bool { return e.state != nil })
}

// hold waits for the state with which the oldest event may be reported, and for the
// events until then, as what they wait for may be lost later.
func (r *Run) hold(ctx context.Context) error {
	k := r.keeping
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
		parts, err := received(ctx, k.parts, e.state)
		if err != nil {
			return err
		}
		for _, w := range r.waiting[:i+1] {
			if w.event.Step > k.last.step {
				k.last.thresholds.add(w.event.Released.MaxGradNorm)
			}
		}
		k.last.parts, k.last.rule, k.last.step, e.state = parts, e.rule, e.event.Step, nil
		return nil
	}
	return errors.New("train: no state is on its way")
}

// received waits for what is on its way from buffers.
func received(ctx context.Context, from []compute.Buffer, parts []compute.Pending) ([][]float32, error) {
	state := make([][]float32, len(parts))
	for i, p := range parts {
		state[i] = make([]float32, from[i].Len())
		if err := p.Wait(ctx, state[i]); err != nil {
			return nil, fmt.Errorf("train: reading the state: %w", err)
		}
	}
	return state, nil
}

// Continue is the run on another backend, where the memory of its own is lost: from the
// last step that was reported, with the same key. Of this one nothing is left to use.
//
// Guarantee: no step is released twice. What was taken beyond the last reported step,
// and is taken again, was not seen by anybody; what was reported is kept as it was, and
// the parameters that the next steps start from are those that the reported values are
// of. Steps and ε are counted as if nothing had happened.
func (r *Run) Continue(ctx context.Context, be compute.Backend) (*Run, error) {
	defer r.Close()
	r.ended = true
	k := r.keeping
	if k == nil {
		return nil, errors.New("train: the state of this run was not kept")
	}
	plan, turned := r.at(k.last.step)
	n := &Run{Plan: plan, began: r.began, turns: r.turns, turned: turned, ds: r.ds, be: compute.NewScope(be), mix: r.mix, key: r.key, scale: r.scale, targetScale: r.targetScale, seconds: r.seconds, notes: r.notes, lost: r.lost}
	var directions []float32
	if r.pca != nil {
		directions = r.pca.Directions
	}
	if err := n.opened(ctx, n.openKeptPCA(directions), n.openModel, n.openMechanism, n.openKeeping); err != nil {
		return nil, err
	}
	if k.last.step > 0 {
		if err := n.restore(&k.last); err != nil {
			n.Close()
			return nil, err
		}
	}
	if err := n.opened(ctx, n.openSelfCheck); err != nil {
		return nil, err
	}
	// What was taken up to the state and not reported is complete, and stands.
	n.reported = r.reported
	n.waiting = slices.DeleteFunc(r.waiting, func(e *pendingEvent) bool { return e.event.Step > k.last.step })
	return n, nil
}

// Resume is a run of this plan in another process: on the same data, from a checkpoint,
// with fresh randomness unless the seed is fixed. released is how many steps may have
// been seen by anybody, and no less than the checkpoint's own. Those that are later
// than its state are lost to the model, and count.
//
// Guarantee: that of the plan. Each step that is taken, before and after, is a step as
// the plan prices it, on parameters that are a function of what was released before,
// and with all lives of the run together there are no more than the plan's steps, as
// long as released is no less than what was seen. Its key is a new one, so no noise is
// drawn twice. With a fixed seed, where there is no guarantee to keep, the steps after
// the state are taken again as they were.
func (p *Plan) Resume(ctx context.Context, ds *data.Dataset, be compute.Backend, c *Checkpoint, released int) (*Run, error) {
	if err := p.Fits(c); err != nil {
		return nil, err
	}
	if p.cfg.Seed != nil || p.sigma == 0 {
		released = c.state.step
	}
	s := c.state // its step alone is changed
	s.step = max(s.step, released)
	if s.step > p.steps {
		return nil, fmt.Errorf("train: the checkpoint counts %d steps of a run of %d", s.step, p.steps)
	}
	r := &Run{Plan: p, began: p, ds: ds, be: compute.NewScope(be), mix: shuffle, lost: c.lost + s.step - c.state.step}
	if err := r.opened(ctx, r.openKey, r.openKeptScale(c.bounds), r.openKeptPCA(c.directions), r.openModel, r.openMechanism, r.openKeeping); err != nil {
		return nil, err
	}
	if err := r.restore(&s); err != nil {
		r.Close()
		return nil, err
	}
	if err := r.opened(ctx, r.openSelfCheck); err != nil {
		return nil, err
	}
	r.seconds, r.notes = c.seconds, append(slices.Clone(c.notes), c.interrupted(s.step))
	return r, nil
}

// interrupted is what the owner of a run should know of it that goes on when so many
// steps have been released.
func (c *Checkpoint) interrupted(released int) string {
	if released == c.state.step {
		return fmt.Sprintf("The run was interrupted, and went on from its state after step %d: no step was lost.", released)
	}
	return fmt.Sprintf("The run was interrupted at step %d, and went on from its state after step %d. The steps between are lost to the model and count all the same, as they may have been seen.",
		released, c.state.step)
}

// opened opens the parts of a run, or closes it.
func (r *Run) opened(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			r.Close()
			return err
		}
	}
	return nil
}

// state is all that the next step depends on, on the backend.
func (r *Run) state() []compute.Buffer {
	parts := append([]compute.Buffer{r.model.All()}, r.opt.State()...)
	if r.iterate != nil {
		parts = append(parts, r.iterate.kept)
	}
	return append(parts, r.mech.state()...)
}

// restore puts a run that has not begun into a state.
func (r *Run) restore(s *snapshot) error {
	parts := r.state()
	if len(parts) != len(s.parts) {
		return fmt.Errorf("train: a state of %d parts, want %d", len(s.parts), len(parts))
	}
	for i, p := range parts {
		if len(s.parts[i]) != p.Len() {
			return fmt.Errorf("train: part %d of a state has %d numbers, want %d", i+1, len(s.parts[i]), p.Len())
		}
	}
	if err := r.clipper.Rule.Restore(s.rule); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	for i, p := range parts {
		r.be.Write(p, s.parts[i])
	}
	r.mech.restored()
	r.done, r.reported, r.thresholds = s.step, s.step, s.thresholds.clone()
	r.opt.Skip(r.taken())
	if r.keeping != nil {
		r.keeping.last = *s
	}
	return nil
}

// taken is how many steps the state has seen.
func (r *Run) taken() int { return r.done - r.lost }

// snapshot is the state that the run could go on from: its present one, or where the
// backend's memory may be lost, the last that is on this side. Its step is 0 where there
// is none.
func (r *Run) snapshot(ctx context.Context) (snapshot, error) {
	switch {
	case r.keeping != nil:
		return r.keeping.last, nil
	case r.done == 0:
		return snapshot{}, nil
	}
	s := snapshot{step: r.done, rule: r.clipper.Rule.Snapshot(), thresholds: r.thresholds}
	from := r.state()
	var parts []compute.Pending
	for _, p := range from {
		parts = append(parts, r.be.Fetch(p))
	}
	var err error
	s.parts, err = received(ctx, from, parts)
	return s, err
}
