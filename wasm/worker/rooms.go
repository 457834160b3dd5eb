package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"clipscope/core/run"
)

// rooms answers what is asked about rooms in which several parties train.
type rooms struct {
	plans     *planner
	agreement func(context.Context, run.Invitation) (run.Agreed, error)
}

// errAlone refuses a plan of one party.
var errAlone = &run.ConfigError{Field: "together.parties", Message: "one party alone needs no room; write how many there are"}

// shareable prepares a run of several parties.
func (p *planner) shareable(c run.Config) (prepared, Shareable, error) {
	ready, err := p.prepare(c)
	if err != nil {
		return ready, nil, err
	}
	s, ok := ready.shared()
	if !ok {
		return ready, nil, errAlone
	}
	return ready, s, nil
}

// shared returns the plan of a run of several parties; not ok of one alone.
func (p prepared) shared() (s Shareable, ok bool) {
	s, ok = p.plan.(Shareable)
	return s, ok && p.config.Together.Parties > 0
}

// invite opens a room for a run.
func (s rooms) invite(r Request, q run.TrainRequest) (run.Invitation, error) {
	p, plan, err := s.plans.shareable(q.Config)
	if err != nil {
		return run.Invitation{}, err
	}
	return plan.Invite(r.ctx, p.ds.Classes)
}

// invited returns what a room is for, and how a configuration on the open data differs.
func (s rooms) invited(r Request, q run.InvitedRequest) (a run.Agreed, err error) {
	if s.agreement == nil {
		return a, errors.New("worker: there is no way to rooms here")
	}
	if a, err = s.agreement(r.ctx, q.Invitation); err != nil || q.Config == nil {
		return a, err
	}
	p, plan, err := s.plans.shareable(*q.Config)
	if err != nil {
		return a, err
	}
	a.Differences, err = plan.Compare(r.ctx, q.Invitation, p.ds.Classes)
	return a, err
}

// attendance passes on what a page and the room of its run tell each other.
type attendance struct {
	begin chan struct{} // has one where the page starts the run
	post  func(run.PartyState)

	mu      sync.Mutex
	latest  run.PartyState
	due     bool // it will be sent
	sentAt  time.Time
	stopped bool
}

// attend has a run join a room.
func (r *running) attend(in run.Joining) Meeting {
	a := &attendance{begin: make(chan struct{}, 1), post: func(s run.PartyState) { r.mail.send(PartyType, r.id, s) }}
	r.attendance = a
	m := Meeting{Joining: in, Begin: a.begin, Show: a.show}
	if k := r.checkpoints; k != nil {
		m.Keep = k.coverStep
	}
	return m
}

// start starts the run for all, if enough have come: otherwise it can be tried again.
func (a *attendance) start() {
	if a == nil {
		return
	}
	select {
	case a.begin <- struct{}{}:
	default: // it is about to be
	}
}

// show sends a state, or soon a later one.
func (a *attendance) show(s run.PartyState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.latest = s; !a.due && !a.stopped {
		a.due = true
		time.AfterFunc(max(0, trialEvery-time.Since(a.sentAt)), a.send)
	}
}

func (a *attendance) send() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due && !a.stopped {
		a.due, a.sentAt = false, time.Now()
		a.post(a.latest)
	}
}

// end sends what is due, and then nothing more.
func (a *attendance) end() {
	if a != nil {
		a.send()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.stopped = true
	}
}
