package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"clipscope/core/compute"
	"clipscope/core/run"
)

const (
	// yieldEvery is the time for which a run computes before it lets messages in. Each
	// yield costs about a tenth of a millisecond in a browser.
	yieldEvery = 8 * time.Millisecond
	// trialEvery is the time between two messages about a trial, or about a step that takes
	// long.
	trialEvery = 250 * time.Millisecond
)

// runs starts runs, and passes changes and commands on to the one in progress.
type runs struct {
	mail   mail
	plans  *planner
	ledger *ledger
	store  CheckpointStore

	mu      sync.Mutex
	current *running // nil: none
}

// started is the reply to a train request and the run that follows it.
type started struct {
	run.PlanInfo
	beginRun func()
}

func (s *runs) train(r Request, q run.TrainRequest) (started, error) {
	if err := s.free(); err != nil {
		return started{}, err
	}
	rows := s.plans.data
	if rows.fromFiles() {
		q.Config.CSV = rows.files.csv // the way they were read belongs to the run
	}
	p, err := s.plans.prepare(q.Config)
	if err != nil {
		return started{}, err
	}
	var k *checkpointWriter
	_, can := p.plan.(Resumable)
	if can && q.Keep != nil && (rows.publicName(q.Config) != "" || rows.fromFiles()) {
		about, err := s.checkpointInfo(p, q)
		if err != nil {
			return started{}, err
		}
		k = newCheckpointWriter(s.store, s.mail.now, q.Keep.ID, about)
	}
	if _, ok := p.shared(); !ok && q.Together != nil {
		return started{}, errAlone
	}
	return s.start(r.ID, p, k, q.Paused, q.Together)
}

// checkpointInfo returns the description that is kept beside a run's checkpoint: all that it takes
// to have the same rows again, and to know them.
func (s *runs) checkpointInfo(p prepared, q run.TrainRequest) (about run.CheckpointInfo, err error) {
	info := p.plan.Info()
	about = run.CheckpointInfo{
		Program: q.Keep.Program, Data: p.ds.Name, Builtin: s.plans.data.publicName(q.Config), Started: s.mail.now().UTC().Format(time.RFC3339),
		Steps: info.Steps, Config: q.Config, Backbone: p.ds.Backbone, Start: p.weights,
	}
	if q.Together != nil {
		about.Room = q.Together.Room
	}
	if !s.plans.data.fromFiles() || q.Keep.Salt == "" {
		return about, nil
	}
	r := &run.Record{Run: q.Keep.ID, Label: about.Data, Entry: info.Entry(), Salt: q.Keep.Salt}
	r.Entry.Run, r.Entry.Label, r.Entry.Started = r.Run, r.Label, about.Started
	about.Record = r
	about.Trained, about.Tested, err = s.ledger.hashes(q.Keep.Salt)
	return about, err
}

// free returns an error while a run is in progress.
func (s *runs) free() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		return errors.New("worker: a run is in progress here; stop it first or use another worker")
	}
	return nil
}

// start makes a run the one in progress. One that joins others in a room says which; nil: it joins none, or
// goes on where it was.
func (s *runs) start(id int, p prepared, k *checkpointWriter, paused bool, join *run.Joining) (_ started, err error) {
	ctx, stop := context.WithCancel(context.Background())
	r := &running{mail: s.mail, id: id, gate: newGate(paused), stop: stop, checkpoints: k}
	if _, ok := p.shared(); ok && (join != nil || p.from != nil) {
		m := r.attend(*cmp.Or(join, &run.Joining{}))
		p.meeting = &m
		if p.ds, err = s.plans.data.apart(p); err != nil {
			stop()
			return started{}, err
		}
	}
	s.set(r)
	return started{p.info(), func() { r.conduct(ctx, p, func() { s.set(nil) }) }}, nil
}

func (s *runs) set(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = r
}

// find returns the run in progress if it has that id, and else nil.
func (s *runs) find(id int) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.id != id {
		return nil
	}
	return s.current
}

// commands has the commands to a run. None of them blocks.
var commands = map[string]func(r *running, text string){
	Pause: func(r *running, _ string) {
		r.gate.pause()
		go r.confirmPause() // where something has to be written down first, that may take a while
	},
	Resume: func(r *running, _ string) {
		r.gate.resume()
		r.mail.send(StateType, r.id, Running)
	},
	Step: func(r *running, _ string) { r.gate.step() },
	Pace: func(r *running, text string) {
		var perSecond float64
		if json.Unmarshal([]byte(text), &perSecond) == nil { // pages send nothing else
			r.gate.pace(perSecond)
		}
	},
	Stop:  func(r *running, _ string) { r.stop() },
	Begin: func(r *running, _ string) { r.attendance.start() },
	Store: func(r *running, _ string) { r.checkpoints.storeSoon() },
	Ack: func(r *running, _ string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.out.Ack()
	},
}

// running is the run in progress.
type running struct {
	mail        mail
	id          int
	gate        *gate
	stop        context.CancelFunc
	checkpoints *checkpointWriter // nil: the run is not stored
	attendance  *attendance       // nil: the run has one party
	// trainer takes its steps; nil before the first and after the last. Only the goroutine
	// that takes them touches it, or one that holds the gate for that.
	trainer Trainer
	begun   bool // a trainer has started

	mu  sync.Mutex
	out Outbox
}

// confirmPause tells the page of a pause: a page that hears of it has heard of all steps
// but the one under way.
func (r *running) confirmPause() {
	r.send(true)
	if r.gate.isPaused() {
		r.mail.send(StateType, r.id, Paused)
	}
}

// conduct takes a run from its first step to its last message. It calls onEnd once another
// may begin.
func (r *running) conduct(ctx context.Context, p prepared, onEnd func()) {
	state := Running
	if r.gate.closed() {
		state = Paused
	}
	r.mail.send(StateType, r.id, state)
	result, err := r.steps(ctx, p)
	r.send(true)
	r.attendance.end()
	r.stop()
	if stuck := r.checkpoints.stuckError(); stuck != nil {
		err = stuck
	}
	if err != nil {
		r.checkpoints.leaveFiles()
	} else {
		err = r.checkpoints.endRun() // before anybody sees the result, of which there must be one
	}
	onEnd()
	r.gate.end()
	if err != nil {
		r.mail.send(StateType, r.id, Failed)
		f := failure(err)
		f.Unreleased = p.meeting != nil && p.from == nil && !r.begun
		r.mail.send(FailedType, r.id, f)
		return
	}
	for _, w := range slices.Backward(p.on.Warnings) {
		result.Notes = slices.Insert(result.Notes, 0, w.Message)
	}
	if note := r.checkpoints.offNote(); note != "" {
		result.Notes = append(result.Notes, note)
	}
	r.mail.send(StateType, r.id, Done)
	// As text, the parameters of a large model would hold up the page's thread.
	parameters := result.Released.Parameters
	result.Released.Parameters = nil
	r.mail.write(run.Message{Type: DoneType, ID: r.id, Parameters: parameters}, result)
}

// steps starts the plan and pulls events until the run ends or is stopped. Not to
// pull is to pause.
func (r *running) steps(ctx context.Context, p prepared) (result run.Result, err error) {
	defer recovered(&err)
	opening, goesOn := ctx, p.from != nil && p.meeting == nil
	if goesOn { // also one that is stopped now has a result; one that waits for a room goes on later
		opening = context.WithoutCancel(ctx)
	}
	if !r.await(ctx) && p.from == nil {
		return p.unstarted(), nil
	}
	on, err := p.choose(ctx, func(to run.Place) {
		if ctx.Err() == nil {
			r.mail.send(PlaceType, r.id, to)
		}
	})
	if err != nil && ctx.Err() != nil {
		switch {
		case p.from == nil:
			return p.unstarted(), nil
		case goesOn:
			on, err = p.meanwhile()
		}
	}
	if err != nil {
		return result, err
	}
	defer on.be.Close()
	lost := false
	defer func() {
		if on.compared {
			result.Chosen = on.why
		}
		if on.note != "" && !lost {
			result.Notes = append(result.Notes, on.note)
		}
	}()
	r.place(on.be, cmp.Or(on.why, on.note), on.Name)
	t, err := p.start(opening, on.be)
	again := p.start
	if err == nil {
		again = t.Continue
		if p.from != nil {
			p.from.state.state = nil // which may be large
		}
		result, err = r.rest(ctx, t)
	}
	if lost = on.Instead != nil && errors.Is(err, compute.ErrLost); lost {
		result, err = r.replace(ctx, on.Backend, again, err)
	}
	if !r.begun && err != nil && ctx.Err() != nil && p.from == nil {
		return p.unstarted(), nil
	}
	return result, err
}

// rest pulls a run's events and works out its result.
func (r *running) rest(ctx context.Context, t Trainer) (run.Result, error) {
	defer t.Close()
	r.trainer, r.begun = t, true
	defer func() { r.trainer = nil }()
	if err := r.pull(ctx, t); err != nil && ctx.Err() == nil {
		return run.Result{}, err
	}
	r.send(true)
	r.mail.yield()
	// The test rows are evaluated after a stop too, so not under ctx.
	return t.Result(context.WithoutCancel(ctx))
}

// replace continues a run whose back end is lost on the one in its place: the same steps with the same
// noise, and a note that says so.
func (r *running) replace(ctx context.Context, gone Backend, begin func(context.Context, compute.Backend) (Trainer, error), lost error) (run.Result, error) {
	on := gone.Instead
	be, note, err := on.Open()
	if err != nil {
		return run.Result{}, errors.Join(lost, err)
	}
	defer be.Close()
	why := fmt.Sprintf("The run went on with %v: %s. Its steps and its ε are those of one run.", run.Place{Backend: on.Name}, strings.TrimRight(lost.Error(), "."))
	r.place(be, why, gone.Name)
	// Also a run that was stopped has a result.
	t, err := begin(context.WithoutCancel(ctx), be)
	if err != nil {
		return run.Result{}, errors.Join(lost, err)
	}
	result, err := r.rest(ctx, t)
	result.Notes = append(result.Notes, why)
	if note != "" {
		result.Notes = append(result.Notes, note)
	}
	return result, err
}

// pull sends a run's events until it ends or is stopped. The error after a stop is
// that of the step that it broke into.
func (r *running) pull(ctx context.Context, t Trainer) error {
	yielded := r.mail.now()
	posted := yielded // of the share of a step: a short one needs none
	turn := func(share float64) {
		now := r.mail.now()
		if share > 0 && now.Sub(posted) >= trialEvery {
			posted = now
			r.mail.send(WithinType, r.id, run.Within{Share: run.Number(share)})
		}
		if now.Sub(yielded) >= yieldEvery {
			r.mail.yield()
			yielded = r.mail.now()
		}
	}
	trials := throttle{now: r.mail.now, every: trialEvery}
	for event, err := range t.Steps(run.WithPauses(ctx, turn)) {
		if err != nil {
			return err
		}
		switch {
		case event.Trial == nil:
			r.mu.Lock()
			r.out.Add(event)
			r.mu.Unlock()
			r.send(false)
		case trials.open():
			r.mail.send(TrialType, r.id, event.Trial)
		}
		turn(0)
		if err := r.checkpoints.storeIfDue(ctx, t, r.gate.closed()); err != nil {
			return err
		}
		if !r.await(ctx) {
			break
		}
	}
	return nil
}

// await holds the run while it is paused, with everything sent so far. It
// reports false once the run is stopped.
func (r *running) await(ctx context.Context) bool {
	if r.gate.closed() || r.gate.slow() {
		r.send(true)
	}
	return r.gate.wait(ctx)
}

// send posts the events that wait in the outbox, if it is time or if they must go.
func (r *running) send(must bool) {
	now := r.mail.now()
	r.mu.Lock()
	var events []run.Event
	if must || r.out.Ready(now) {
		events = r.out.Take(now)
	}
	r.mu.Unlock()
	if len(events) == 0 {
		return
	}
	if err := r.checkpoints.coverStep(events[len(events)-1].Step); err != nil {
		r.stop()
		return
	}
	r.mail.write(run.Message{Type: EventsType, ID: r.id, Step: events[len(events)-1].Step}, events)
}
