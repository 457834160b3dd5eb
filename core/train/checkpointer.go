package train

import (
	"context"
	"fmt"
	"slices"

	"clipscope/core/compute"
)

// checkpointState holds a run's state after a step, on the host.
type checkpointState struct {
	step       int         // by what had been released until then
	lost       int         // of these, those that the state has not seen
	parts      [][]float32 // as [Run.state] has them
	rule       []float64   // as it tells its state
	thresholds series
}

// stateWords bounds the words of state, 4 MB, that are brought to this side in each
// step; of larger models it is every second step's, third's ….
const stateWords = 1 << 20

// checkpointer copies a run's state to the host while its backend's memory may be lost. An event is
// not reported before its state is on the host.
type checkpointer struct {
	every int
	parts []compute.Buffer // of the state, on the backend
	last  checkpointState  // of step 0: none
}

// openCheckpoints begins to copy states where the backend's memory may be lost.
func (r *Run) openCheckpoints(context.Context) error {
	if _, ok := r.work.be.Backend.(compute.Losable); !ok {
		return nil
	}
	k := &checkpointer{parts: r.state()}
	words := 0
	for _, p := range k.parts {
		words += p.Len()
	}
	if k.every = (words + stateWords - 1) / stateWords; r.work.others != nil {
		k.every = 1
	}
	r.checkpoints = k
	return nil
}

// queueCheckpoint queues the reading of the state after the present step, if it is due.
func (r *Run) queueCheckpoint(e *pendingEvent) {
	k := r.checkpoints
	if k == nil || r.done%k.every != 0 && r.done != r.work.terms.Steps {
		return
	}
	for _, p := range k.parts {
		e.state = append(e.state, r.work.be.Fetch(p))
	}
}

// hasCheckpoint reports whether the state of the oldest event is on the host, or its reading is
// queued.
func (r *Run) hasCheckpoint() bool {
	return r.checkpoints == nil || r.checkpoints.last.step > r.reported || slices.ContainsFunc(r.waiting, func(e *pendingEvent) bool { return e.state != nil })
}

// waitAll waits for the reading of buffers.
func waitAll(ctx context.Context, from []compute.Buffer, parts []compute.Pending) ([][]float32, error) {
	state := make([][]float32, len(parts))
	for i, p := range parts {
		state[i] = make([]float32, from[i].Len())
		if err := p.Wait(ctx, state[i]); err != nil {
			return nil, fmt.Errorf("train: reading the state: %w", err)
		}
	}
	return state, nil
}

// state returns the buffers on which the next step depends, on the backend.
func (r *Run) state() []compute.Buffer {
	parts := append([]compute.Buffer{r.work.model.All()}, r.opt.State()...)
	if r.iterate != nil {
		parts = append(parts, r.iterate.params)
	}
	return append(parts, r.clipping.mech.state()...)
}

// restore puts a run that has not begun into a state.
func (r *Run) restore(s *checkpointState) error {
	parts := r.state()
	if len(parts) != len(s.parts) {
		return fmt.Errorf("train: a state of %d parts, want %d", len(s.parts), len(parts))
	}
	for i, p := range parts {
		if len(s.parts[i]) != p.Len() {
			return fmt.Errorf("train: part %d of a state has %d numbers, want %d", i+1, len(s.parts[i]), p.Len())
		}
	}
	if err := r.work.clipper.Rule.Restore(s.rule); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	for i, p := range parts {
		r.work.be.Write(p, s.parts[i])
	}
	r.clipping.mech.restored()
	r.done, r.reported, r.thresholds = s.step, s.step, s.thresholds.clone()
	r.opt.Skip(r.taken())
	if r.checkpoints != nil {
		r.checkpoints.last = *s
	}
	return nil
}

// latestState returns the state from which the run could go on: its present one, or where the
// backend's memory may be lost, the last on the host. Its step is 0 where there is none.
func (r *Run) latestState(ctx context.Context) (checkpointState, error) {
	switch {
	case r.checkpoints != nil:
		return r.checkpoints.last, nil
	case r.done == 0:
		return checkpointState{}, nil
	}
	if err := r.settle(ctx); err != nil {
		return checkpointState{}, err
	}
	s := checkpointState{step: r.done, lost: r.lost, rule: r.work.clipper.Rule.Snapshot(), thresholds: r.thresholds}
	from := r.state()
	var parts []compute.Pending
	for _, p := range from {
		parts = append(parts, r.work.be.Fetch(p))
	}
	var err error
	s.parts, err = waitAll(ctx, from, parts)
	return s, err
}
