package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
)

// Continue returns the run on another backend, where the memory of its own is lost: from the last
// step that was reported, with the same key. The old run is closed.
//
// Guarantee: no step is released twice. What was taken beyond the last reported step,
// and is taken again, was not seen by anybody; what was reported is kept as it was, and
// the parameters that the next steps start from are those that the reported values are
// of. Steps and ε are counted as if nothing had happened.
func (r *Run) Continue(ctx context.Context, be compute.Backend) (*Run, error) {
	defer r.Close()
	r.ended = true
	k := r.checkpoints
	if r.work.others != nil {
		return nil, errors.New("train: the others have the sums of steps that this device has lost; come back to them from the last state")
	}
	if k == nil {
		return nil, errors.New("train: the state of this run was not kept")
	}
	course := r.course.at(k.last.step)
	n, err := newRun(course.plan(), r.feed.ds, be, nil)
	if err != nil {
		return nil, err
	}
	n.course, n.mix, n.seconds, n.lost = course, r.mix, r.seconds, r.lost
	n.watch = r.watch
	n.work.key, n.work.notes, n.work.frozen = r.work.key, r.work.notes, r.work.frozen
	n.feed.scale, n.feed.targetScale = r.feed.scale, r.feed.targetScale
	var directions []float32
	if r.feed.pca != nil {
		directions = r.feed.pca.Directions
	}
	if err := n.openParts(ctx, n.reopenPCA(directions), n.assemble, n.openCheckpoints); err != nil {
		return nil, err
	}
	if k.last.step > 0 {
		if err := n.restore(&k.last); err != nil {
			n.Close()
			return nil, err
		}
	}
	if err := n.openParts(ctx, n.openSelfCheck); err != nil {
		return nil, err
	}
	// What was taken up to the state and not reported is complete, and stands.
	n.reported = r.reported
	n.waiting = slices.DeleteFunc(r.waiting, func(e *pendingEvent) bool { return e.event.Step > k.last.step })
	return n, nil
}

// Resume begins a run of a plan in another process: on the same data, from a checkpoint,
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
func Resume(ctx context.Context, p *plan.Plan, ds *data.Dataset, be compute.Backend, c *Checkpoint, released int) (*Run, error) {
	if err := c.Fits(p); err != nil {
		return nil, err
	}
	terms := p.Terms()
	if terms.Config.Seed != nil || terms.NoiseMultiplier == 0 {
		released = c.state.step
	}
	s := c.state
	s.step = max(s.step, released)
	s.lost += s.step - c.state.step
	if s.step > terms.Steps {
		return nil, fmt.Errorf("train: the checkpoint counts %d steps of a run of %d", s.step, terms.Steps)
	}
	return rejoin(ctx, p, ds, be, nil, c, &s)
}

// Rejoin has a party come back to a run of several from its checkpoint. Of the steps that were taken
// meanwhile, others has the sums.
//
// Guarantee: as [Resume]'s. A step whose sum is there has nothing of this party any more.
func Rejoin(ctx context.Context, p *plan.Plan, ds *data.Dataset, be compute.Backend, others Exchange, c *Checkpoint) (*Run, error) {
	if err := c.Fits(p); err != nil {
		return nil, err
	}
	return rejoin(ctx, p, ds, be, others, c, &c.state)
}

// rejoin begins a run in the state s of a checkpoint that fits.
func rejoin(ctx context.Context, p *plan.Plan, ds *data.Dataset, be compute.Backend, others Exchange, c *Checkpoint, s *checkpointState) (*Run, error) {
	r, err := newRun(p, ds, be, others)
	if err != nil {
		return nil, err
	}
	r.lost = s.lost
	r.work.frozen = c.frozen
	if err := r.openParts(ctx, r.reopenScale(c.bounds), r.reopenPCA(c.directions), r.assemble, r.openCheckpoints); err != nil {
		return nil, err
	}
	if err := r.restore(s); err != nil {
		r.Close()
		return nil, err
	}
	if err := r.openParts(ctx, r.openSelfCheck); err != nil {
		return nil, err
	}
	if r.watch != nil && c.seen != nil {
		r.watch.seen = *c.seen
	}
	r.seconds, r.work.notes = c.seconds, append(slices.Clone(c.notes), c.interruptionNote(s.step))
	return r, nil
}

// interruptionNote returns a note for the owner of a run that goes on when so many
// steps have been released.
func (c *Checkpoint) interruptionNote(released int) string {
	if released == c.state.step {
		return fmt.Sprintf("The run was interrupted, and went on from its state after step %d: no step was lost.", released)
	}
	return fmt.Sprintf("The run was interrupted at step %d, and went on from its state after step %d. The steps between are lost to the model and count all the same, as they may have been seen.",
		released, c.state.step)
}

func (r *Run) reopenScale(bounds []data.Bound) func(context.Context) error {
	return func(context.Context) error { return r.feed.reopenScale(bounds) }
}

func (r *Run) reopenPCA(directions []float32) func(context.Context) error {
	return func(ctx context.Context) error { return r.feed.reopenPCA(ctx, directions) }
}
