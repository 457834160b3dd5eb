package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// Outcome holds a run's result without its privacy statement: to work that out may take
// longer than a short run.
type Outcome struct {
	run.Result
	// Hits and Credit are sums over all test rows, of those that the model has right and of
	// their credits: see [credit]. They are private.
	Hits, Credit float64

	fell bool // ε did, from one step to the next
}

// Result measures the model on all test rows and gathers what the run leaves,
// whether it ended or was stopped: every step that was taken counts, also those
// that a busy backend has not let be reported. After it the run does not go on.
func (r *Run) Result(ctx context.Context) (run.Result, error) {
	o, err := r.Outcome(ctx)
	if r.done > 0 {
		draft := r.plan.Draft(r.done)
		draft.Rested = o.Rested
		if o := r.work.others; o != nil {
			draft.Together.Transcript = o.Transcript()
		}
		o.State(r.plan.Accounts(), draft)
	}
	return o.Result, err
}

// Outcome returns [Run.Result] without the statement.
func (r *Run) Outcome(ctx context.Context) (o Outcome, err error) {
	r.ended = true
	w, t := r.work, &r.work.terms
	o.Result = r.plan.Unstarted()
	o.Backend, o.Threads, o.Device = w.be.Name(), compute.ThreadsOf(w.be.Backend), compute.DeviceOf(w.be.Backend)
	if r.done == 0 {
		return o, nil
	}
	o.Steps, o.LostSteps, o.Stopped = r.done, r.lost, r.done < t.Steps
	o.Rested = o.Stopped && r.watch.over()
	o.Epsilon, o.EpsilonAtStep = run.Number(r.epsilon(t.Steps)), run.Number(r.plan.EpsilonAt(r.done))
	o.TrainSeconds, o.Guarantee, o.Notes, o.Changes = r.seconds, r.plan.Guarantee(r.done, o.Rested), slices.Clone(w.notes), t.Changes
	if w.refused != "" {
		o.Notes = append(o.Notes, w.refused)
	}
	if o.Rested {
		o.Notes = append(o.Notes, r.watch.why)
	}
	if t.Steps < t.Horizon {
		o.Notes = append(o.Notes, fmt.Sprintf("As noise_multiplier was changed, target_epsilon = %g is used up after step %d of %d, and the run goes no further.", *t.Config.TargetEpsilon, t.Steps, t.Horizon))
	}
	o.Released.MaxGradNorm = r.thresholds.values
	if r.iterate != nil {
		if r.self != nil {
			if r.self.last, err = w.parameters(ctx); err != nil {
				return o, err
			}
		}
		r.iterate.restore(w.model.All(), r.taken())
		r.iterate = nil
	}
	x, err := r.feed.examine(ctx, &o.Result)
	if err != nil {
		return o, err
	}
	o.Hits, o.Credit = x.hits, x.credit
	o.Released.Apply, o.Released.Bounds = r.feed.application(), r.feed.bought()
	o.Unusable = o.Released.Apply.Unusable()
	parameters, err := w.parameters(ctx)
	if err == nil && r.self != nil {
		o.Checks, err = r.self.checks(ctx, parameters, r.done)
		o.fell = r.self.fell
	}
	if err == nil {
		r.feed.unscale(parameters)
	}
	o.Released.Parameters = t.Spec.Join(w.frozen, parameters)
	return o, err
}

// State works out the privacy statement, with what the run's tests of itself came to: where
// one failed, the result claims no ε. A run whose statement cannot be written says so in its
// notes and keeps everything else.
func (o *Outcome) State(accounts *privacy.Memory, draft privacy.Statement) {
	s, err := plan.NewStatement(accounts, draft)
	if err == nil && o.Checks != nil {
		o.Checks = append(o.Checks, checkEpsilon(o.fell, o.Steps, o.PlannedSteps, float64(o.Epsilon), s.Least()))
	}
	why := failedCheck(o.Checks)
	if why != "" {
		o.Epsilon, o.EpsilonAtStep = run.Number(math.Inf(1)), run.Number(math.Inf(1))
		o.Guarantee = run.NoGuarantee + why + "."
	}
	var b []byte
	if err == nil {
		if s.Checks = o.Checks; why != "" {
			s.Broken = append(s.Broken, why)
		}
		b, err = json.Marshal(s)
	}
	if err != nil {
		o.Notes = append(o.Notes, "There is no statement of this run: "+err.Error())
		return
	}
	o.Statement = b
}
