package train

import (
	"context"
	"errors"
	"fmt"

	"clipscope/core/plan"
	"clipscope/core/run"
)

// turn is a change of the plan that holds after so many steps.
type turn struct {
	after int
	plan  *plan.Plan
}

// course holds the plans that changes made of a run's, in order.
type course struct {
	began  *plan.Plan // before all changes
	turns  []turn
	turned int // turns that the run has come to
}

// plan returns the plan of the present steps.
func (c course) plan() *plan.Plan {
	if c.turned == 0 {
		return c.began
	}
	return c.turns[c.turned-1].plan
}

// at returns the course as it was after so many steps.
func (c course) at(step int) course {
	c.turned = 0
	for c.turned < len(c.turns) && c.turns[c.turned].after < step {
		c.turned++
	}
	return c
}

// Change has a teaching run go on with other numbers from its next step on, which takes
// them up. Those that it has already change nothing. What cannot be changed is refused by
// a [*run.ConfigError], and then nothing is.
//
// Guarantee: none, as of every run with a fixed seed. ε is told for the steps as they
// really are, had their order been fixed beforehand: those before a change with the noise
// that they had and those after it with theirs, an upper bound. Where it would pass
// target_epsilon the run ends before it does. The same changes at the same steps of a run
// with the same seed lead to the same parameters.
func (r *Run) Change(c run.Change) (run.ChangeReply, error) {
	switch {
	case r.ended || r.done >= r.work.terms.Steps:
		return run.ChangeReply{}, errors.New("the run has ended: there is nothing left to change")
	case r.failed != nil:
		return run.ChangeReply{}, r.failed
	}
	from, after := r.plan, r.done
	turns := r.course.turns
	if r.course.turned < len(turns) { // there are some that it has yet to come to
		last := turns[len(turns)-1]
		from, after, turns = last.plan, last.after, turns[:len(turns)-1]
	}
	to, err := from.Changed(c, after)
	if err != nil {
		return run.ChangeReply{}, err
	}
	if to != from {
		r.course.turns = append(turns, turn{after, to})
	}
	terms := to.Terms()
	return run.ChangeReply{Changes: terms.Changes, Steps: terms.Steps, Epsilon: run.Number(to.Epsilon(terms.Steps))}, nil
}

// turnTo takes up the changes that hold from the next step on, and reports whether there
// are any.
func (r *Run) turnTo(ctx context.Context) (bool, error) {
	before := r.course.turned
	for ; r.course.turned < len(r.course.turns) && r.course.turns[r.course.turned].after == r.done; r.course.turned++ {
		if err := r.settle(ctx); err != nil { // by the plan until then
			return false, err
		}
		p := r.course.turns[r.course.turned].plan
		terms := p.Terms()
		c, err := terms.NewClipper()
		if err == nil {
			err = c.Rule.Restore(r.work.clipper.Rule.Snapshot())
		}
		if err != nil {
			return false, fmt.Errorf("train: a change: %w", err)
		}
		r.plan, r.epsilon, r.work.terms = p, p.Epsilon, r.work.onSpace(terms)
		r.work.clipper.Rule, r.work.query = c.Rule, c.Rule.Query()
	}
	return r.course.turned > before, nil
}
