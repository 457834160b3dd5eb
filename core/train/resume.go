package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/compute"
)

// stateWords is how many words of state, 4 MB, may be brought to this side in each
// step; of larger models it is every second step's, third's ….
const stateWords = 1 << 20

// keeping is what a run keeps on this side while its backend's memory may be lost: the
// state after a step, and what was released of it. An event is not reported before the
// state that it belongs to is here.
type keeping struct {
	every      int
	parts      []compute.Buffer // of the state, on the backend
	state      [][]float32      // after step
	step       int
	statistics [][]float64 // the rule's, noised, of each step taken
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
	if k == nil {
		return
	}
	k.statistics = append(k.statistics, slices.Clone(r.statistic)) // nil without a query
	if r.done%k.every == 0 || r.done == r.steps {
		for _, p := range k.parts {
			e.state = append(e.state, r.be.Fetch(p))
		}
	}
}

// kept reports that a state is on its way with which the oldest event may be reported.
func (r *Run) kept() bool {
	return r.keeping == nil || r.keeping.step > r.reported || slices.ContainsFunc(r.waiting, func(e *pendingEvent) bool { return e.state != nil })
}

// hold waits for the state with which the oldest event may be reported, and for the
// events until then, as what they wait for may be lost later.
func (r *Run) hold(ctx context.Context) error {
	k := r.keeping
	if k == nil || k.step > r.reported {
		return nil
	}
	for _, e := range r.waiting {
		if err := r.complete(ctx, e); err != nil {
			return err
		}
		if e.state == nil {
			continue
		}
		state := make([][]float32, len(k.parts))
		for i, p := range k.parts {
			state[i] = make([]float32, p.Len())
			if err := e.state[i].Wait(ctx, state[i]); err != nil {
				return fmt.Errorf("train: reading the state: %w", err)
			}
		}
		k.state, k.step, e.state = state, e.event.Step, nil
		return nil
	}
	return errors.New("train: no state is on its way")
}

// Continue is the run on another backend, where the memory of its own is lost: from the
// last step that was reported, with the same key. Of this one nothing is left to use.
//
// Guarantee: no step is released twice. What was taken beyond the last reported step,
// and is taken again, was not seen by anybody; what was reported is kept as it was, the
// rule's statistics among it, and its parameters, which the next steps start from, are
// those that the reported values are of. Steps and ε are counted as if nothing had
// happened.
func (r *Run) Continue(ctx context.Context, be compute.Backend) (*Run, error) {
	defer r.Close()
	r.ended = true
	k := r.keeping
	if k == nil {
		return nil, errors.New("train: the state of this run was not kept")
	}
	n := &Run{Plan: r.Plan, ds: r.ds, be: compute.NewScope(be), mix: r.mix, key: r.key, scale: r.scale, seconds: r.seconds, notes: r.notes}
	for _, part := range []func(context.Context) error{n.openKeptPCA(r.pca), n.openModel, n.openMechanism, n.openKeeping} {
		if err := part(ctx); err != nil {
			n.Close()
			return nil, err
		}
	}
	for n.done < k.step {
		n.thresholds.add(n.clipper.Rule.C())
		n.clipper.Rule.Adapt(k.statistics[n.done])
		n.done++
		n.opt.Skip()
		if n.iterate != nil {
			n.iterate.skip(n.done)
		}
	}
	if k.step > 0 {
		for i, p := range n.state() {
			n.be.Write(p, k.state[i])
		}
		n.mech.restored()
	}
	if n.keeping != nil {
		n.keeping.state, n.keeping.step, n.keeping.statistics = k.state, k.step, k.statistics[:k.step]
	}
	// What was taken up to the state and not reported is complete, and stands.
	n.reported = r.reported
	n.waiting = slices.DeleteFunc(r.waiting, func(e *pendingEvent) bool { return e.event.Step > k.step })
	return n, nil
}

// state is all that the next step depends on, but for the rule's, which follows from
// its statistics.
func (r *Run) state() []compute.Buffer {
	parts := append([]compute.Buffer{r.model.All()}, r.opt.State()...)
	if r.iterate != nil {
		parts = append(parts, r.iterate.kept)
	}
	return append(parts, r.mech.state()...)
}
