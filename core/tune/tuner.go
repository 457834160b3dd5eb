package tune

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train"
)

// keptEvents bounds the events of a run that are kept until it is known whether it is the
// best: more than a chart shows.
const keptEvents = 2000

// Tuner is a tuning under way.
type Tuner struct {
	*Tuning
	ds   *data.Dataset
	be   compute.Backend
	key  privacy.Key
	runs []trying

	at        int        // of runs
	current   *train.Run // nil between two
	events    []run.Event
	rehearsed []float64 // accuracy of each candidate on made-up rows
	compared  []run.Tried
	best      *finished
	taken     int                  // steps, of all runs that are not rehearsals
	amiss     map[string]run.Check // failed checks of runs that were compared, by name
}

// trying is a run to be taken.
type trying struct {
	candidate int
	rehearsal *data.Dataset // nil: it is on the data
}

// finished is a run that may be the best.
type finished struct {
	plan    *plan.Plan
	number  int // of tried
	outcome train.Outcome
	events  []run.Event
}

// Start draws what will be tried, or makes up what it is rehearsed on. Every call has
// randomness of its own, unless the seed is fixed.
func (t *Tuning) Start(_ context.Context, ds *data.Dataset, be compute.Backend) (*Tuner, error) {
	key, err := privacy.KeyOf(t.cfg.Seed)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	u := &Tuner{Tuning: t, ds: ds, be: be, key: key}
	if !t.cfg.Tuning.Rehearse {
		u.draw(len(t.grid), func(i int) int { return i })
		return u, nil
	}
	made := builtin.Lookalike(t.grid[0].Terms().Meta, lookalikeSeed)
	for i := range t.grid {
		u.runs = append(u.runs, trying{i, made})
	}
	return u, nil
}

// lookalikeSeed is no secret: what is made up with it is nobody's.
const lookalikeSeed = 1

// draw decides how many runs there are, and which of n candidates each is.
func (u *Tuner) draw(n int, candidate func(int) int) {
	rng := rand.New(u.key.Stream(privacy.Sampling, 0, 0))
	for range poisson(rng, u.cfg.Tuning.Runs) {
		u.runs = append(u.runs, trying{candidate: candidate(rng.IntN(n))})
	}
}

// narrow draws what is tried from the half of the candidates that did better on made-up
// rows.
func (u *Tuner) narrow() {
	for i := range u.runs {
		u.runs[i].rehearsal = nil // which may be large
	}
	order := make([]int, len(u.rehearsed))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u.rehearsed[b], u.rehearsed[a]) })
	u.draw((len(order)+1)/2, func(i int) int { return order[i] })
}

// rehearsals returns the number of runs on made-up rows.
func (u *Tuner) rehearsals() int {
	if u.cfg.Tuning.Rehearse {
		return len(u.grid)
	}
	return 0
}

// poisson draws a number with that mean, which is no more than some hundreds: how many
// uniform numbers are multiplied before their product falls below e^−mean (Knuth).
func poisson(rng *rand.Rand, mean float64) int {
	n, product := -1, 1.0
	for limit := math.Exp(-mean); product > limit; n++ {
		product *= 1 - rng.Float64() // in (0, 1]
	}
	return n
}

// StepTime measures how long a step of a run takes on a backend.
func (t *Tuning) StepTime(ctx context.Context, be compute.Backend) (time.Duration, error) {
	return train.StepTime(ctx, t.grid[0], be)
}

// Unstarted is the result of a tuning that was stopped before its first step.
func (t *Tuning) Unstarted() run.Result {
	r := t.grid[0].Unstarted()
	r.Blind = t.cfg.Blind
	return r
}

// Steps takes all runs, yielding an event with a trial after each of their steps, and
// then the events of the best one, as far as they are kept. What was broken off goes on
// with the next call.
//
// Guarantee: see [Tuning]. An event with a trial tells nothing of the rows, and what is
// rehearsed never meets them.
func (u *Tuner) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for u.at < len(u.runs) {
			e, err := u.next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
		for u.best != nil && len(u.best.events) > 0 {
			e := u.best.events[0]
			u.best.events = u.best.events[1:]
			if !yield(e, nil) {
				return
			}
		}
	}
}

// next takes a step of the present run, and judges it after its last.
func (u *Tuner) next(ctx context.Context) (run.Event, error) {
	now := u.runs[u.at]
	if u.current == nil {
		ds := u.ds
		if now.rehearsal != nil {
			ds = now.rehearsal
		}
		r, err := train.Start(ctx, u.plan(now.candidate), ds, u.be)
		if err != nil {
			return run.Event{}, err
		}
		u.current = r
	}
	steps := u.grid[0].Info().Steps
	e := run.Event{Step: steps, Steps: steps}
	for next, err := range u.current.Steps(ctx) { // or a backend was lost while the run was judged
		if e = next; err != nil {
			return e, err
		}
		if now.rehearsal == nil {
			u.taken++
			u.keepEvent(e)
		}
		break
	}
	trial := run.Trial{Number: u.at + 1, Step: e.Step, Steps: e.Steps, Rehearsal: now.rehearsal != nil}
	if now.rehearsal == nil {
		trial.Number -= u.rehearsals()
	}
	if e.Step == e.Steps {
		if err := u.judge(ctx, now); err != nil {
			return e, err
		}
	}
	return run.Event{Step: e.Step, Steps: e.Steps, Released: run.Released{Epsilon: u.info.Epsilon}, Trial: &trial}, nil
}

// plan returns the plan of a candidate's run. With a fixed seed each run has one of its own.
func (u *Tuner) plan(candidate int) *plan.Plan {
	p := u.grid[candidate]
	if u.cfg.Seed == nil {
		return p
	}
	return p.Seeded(*u.cfg.Seed + uint64(u.at))
}

func (u *Tuner) keepEvent(e run.Event) {
	if every := (e.Steps + keptEvents - 1) / keptEvents; e.Step%every == 0 || e.Step == e.Steps {
		e.Released.Epsilon = u.info.Epsilon
		u.events = append(u.events, e)
	}
}

// judge compares the run that has ended with the best so far, and forgets the lesser.
func (u *Tuner) judge(ctx context.Context, now trying) error {
	r := u.current
	outcome, err := r.Outcome(ctx)
	if err != nil {
		return err
	}
	if now.rehearsal != nil {
		u.rehearsed = append(u.rehearsed, float64(outcome.TestAccuracy))
	} else if err := u.compare(outcome, now.candidate); err != nil {
		return err
	}
	r.Close()
	u.current, u.events = nil, nil
	if u.at++; u.at == u.rehearsals() {
		u.narrow()
	}
	return nil
}

// compare scores a run, and keeps it if it is the best so far.
func (u *Tuner) compare(o train.Outcome, candidate int) error {
	score, err := u.score(o)
	if err != nil {
		return err
	}
	u.note(o.Checks)
	u.compared = append(u.compared, run.Tried{Candidate: u.cfg.Candidates()[candidate], TestAccuracy: o.TestAccuracy, Score: run.Number(score)})
	if u.best == nil || score > float64(u.compared[u.best.number].Score) {
		u.best = &finished{u.plan(candidate), len(u.compared) - 1, o, u.events}
	}
	return nil
}

// note keeps the checks of a run that failed.
func (u *Tuner) note(checks []run.Check) {
	for _, c := range checks {
		if !c.OK {
			if u.amiss == nil {
				u.amiss = map[string]run.Check{}
			}
			u.amiss[c.Name] = c
		}
	}
}

// score returns a run's number of correct test rows, or the sum of their credits, plus noise.
//
// Guarantee: a row adds 0 or 1 to the count and from 0 to 1 to the credits (see [train.Outcome]),
// whatever the model and the other rows are. So one test row more or less changes either by
// at most 1, which is what the noise on it is for. The noise is drawn once for each run.
func (u *Tuner) score(o train.Outcome) (float64, error) {
	score := o.Hits
	if u.scoredBy == run.ByLogLoss {
		score = o.Credit
	}
	z, err := u.key.Normals(privacy.Statistic, u.at, 1)
	if err != nil {
		return 0, err
	}
	return score + u.scoreNoise*z[0], nil
}

// Result returns the result of the best run. Of a tuning that was stopped before all runs were
// compared there is none: nothing is released, and the charge stands, as a choice among
// fewer runs than were drawn is another mechanism.
func (u *Tuner) Result(context.Context) (run.Result, error) {
	r := u.Unstarted()
	r.Charged = true
	r.Epsilon, r.EpsilonAtStep = u.info.Epsilon, u.info.Epsilon
	r.Backend, r.Threads, r.Device = u.be.Name(), compute.ThreadsOf(u.be), compute.DeviceOf(u.be)
	switch {
	case u.at < u.rehearsals():
		return u.Unstarted(), nil
	case u.at < len(u.runs):
		r.Steps = u.taken
		r.Guarantee = "The tuning was stopped before its runs could be compared: nothing was released, and all of it is charged."
		return r, nil
	case u.best == nil: // the draw was 0
		r.Guarantee = "The number of runs that was drawn at random is 0: nothing was trained and nothing is released. That is one of the outcomes which the charge covers."
		return r, nil
	}
	o := u.best.outcome
	r = o.Result
	r.Epsilon, r.EpsilonAtStep, r.Blind = u.info.Epsilon, u.info.Epsilon, u.cfg.Blind
	r.Accountant, r.Guarantee = privacy.RDP, u.guarantee()
	r.Tried = u.compared
	r.Tried[u.best.number].Selected = true
	r.Selected, r.ScoredBy = &u.compared[u.best.number].Candidate, u.scoredBy
	r.Notes = append(r.Notes, "The test rows chose this run, so their accuracy flatters it a little.")
	r.Checks = slices.Clone(r.Checks)
	for i, c := range r.Checks { // noise that was missing in any run is missing in the choice
		if failed, ok := u.amiss[c.Name]; ok {
			r.Checks[i] = failed
		}
	}
	o.Result = r
	o.State(nil, u.draft(u.best.plan))
	return o.Result, nil
}

// Continue is the rest on another backend, where the memory of its own is lost.
//
// Guarantee: as [train.Run.Continue].
func (u *Tuner) Continue(ctx context.Context, be compute.Backend) (*Tuner, error) {
	n := *u
	n.be = be
	if u.current == nil {
		return &n, nil
	}
	var err error
	if n.current, err = u.current.Continue(ctx, be); err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	return &n, nil
}

// Close gives memory back.
func (u *Tuner) Close() {
	if u.current != nil {
		u.current.Close()
	}
}
