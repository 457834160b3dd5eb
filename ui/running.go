package ui

import (
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/export"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// phase is where a run is.
type phase string

const (
	idle     phase = "idle"
	starting phase = "starting"
	running  phase = "running"
	paused   phase = "paused"
	stopping phase = "stopping"
	done     phase = "done"
	failed   phase = "failed"
)

func (p phase) active() bool { return p == starting || p == running || p == paused || p == stopping }

// runState is the latest run.
type runState struct {
	phase  phase
	number int // counts runs: what an earlier one still says is ignored
	runner runner
	live   *live
	pace   pace
	result *run.Result
	fault  string

	drawn   time.Time // when the charts were last drawn
	told    time.Time // when the words were last shown
	pending func() bool
	step    bool // one step was asked for before the run had started
}

const (
	drawEvery = 50 * time.Millisecond  // charts
	tellEvery = 250 * time.Millisecond // words and numbers: faster cannot be read
)

// startRun starts a run, or lets a paused one go on.
func (s *session) startRun() {
	r := &s.run
	switch {
	case r.phase == paused:
		s.resume()
	case r.phase.active() || !s.ready:
	default:
		s.launch(false)
	}
}

// launch begins a new run in place of the last one.
func (s *session) launch(step bool) {
	if s.data.handle == nil || len(s.faults) > 0 {
		s.blocked()
		return
	}
	s.clearRun()
	s.sheet = false
	r := &s.run
	r.phase, r.step = starting, step
	number, cfg := r.number, s.cfg
	s.ledger.ask = nil
	s.trainer()(cfg, s.data.handle, step, func(x runner, err error) {
		switch {
		case number != r.number:
			if err == nil {
				x.Dispose()
			}
		case err != nil:
			if !s.asks(err, step) {
				s.refusedRun(err)
			}
		default:
			s.launched(x, cfg.WithDefaults())
		}
	})
	s.touch()
}

// blocked says what keeps a run from starting, where it stands.
func (s *session) blocked() {
	switch {
	case s.data.handle == nil && s.data.loading:
		s.run.fault = "The data is still being read."
	case s.data.handle == nil:
		s.show(form.Data)
		s.run.fault = "There is no data yet. Choose some under Data."
	default:
		s.point(form.Sorted(s.faults)[0])
		s.run.fault = "A field needs attention before the run can start."
	}
	s.touch()
}

func (s *session) refusedRun(err error) {
	s.run.phase, s.run.fault = failed, err.Error()
	if f, ok := err.(*fault); ok && f.Field != "" {
		s.refuse(err)
		s.point(f.Field)
		s.run.phase = idle
	}
	s.touch()
}

func (s *session) launched(x runner, cfg run.Config) {
	r := &s.run
	r.runner, r.phase, r.live = x, running, newLive(cfg, x.Plan())
	number := r.number
	x.Watch(func(events []run.Event) {
		if number == r.number {
			s.events(events)
		}
	}, func(res run.Result, err error) {
		if number == r.number {
			s.ended(res, err)
		}
	})
	if r.step {
		r.phase = paused
		x.Step()
	}
	s.changed()
}

// events takes one message of a run and sees to it that it is drawn soon.
func (s *session) events(events []run.Event) {
	r := &s.run
	if len(events) == 0 {
		return
	}
	r.live.add(events)
	r.pace.see(float64(time.Now().UnixNano())/1e9, events[len(events)-1].Step)
	if r.pending != nil {
		return
	}
	wait := max(0, drawEvery-time.Since(r.drawn))
	r.pending = s.after(wait, s.draw)
}

// draw shows what has come in; the words less often than the charts.
func (s *session) draw() {
	r := &s.run
	r.pending = nil
	if r.live == nil {
		return
	}
	r.drawn = time.Now()
	r.live.draw(&s.feeds)
	if rest := tellEvery - time.Since(r.told); rest > 0 && r.phase == running {
		r.pending = s.after(rest, s.draw)
		return
	}
	r.told = time.Now()
	s.changed()
}

func (s *session) ended(res run.Result, err error) {
	r := &s.run
	if r.pending != nil {
		r.pending()
	}
	r.pending = nil
	if err != nil {
		r.phase, r.fault = failed, err.Error()
	} else {
		r.phase, r.result = done, &res
	}
	if r.live != nil {
		r.live.draw(&s.feeds)
	}
	s.touch()
}

func (s *session) pause() {
	if s.run.phase == running {
		s.run.runner.Pause()
		s.run.phase = paused
		s.run.pace.rest()
		s.changed()
	}
}

func (s *session) resume() {
	if s.run.phase == paused {
		s.run.runner.Resume()
		s.run.phase = running
		s.changed()
	}
}

// stepRun takes one step: of the paused run, or the first of a new one.
func (s *session) stepRun() {
	switch r := &s.run; {
	case r.phase == paused:
		r.runner.Step()
	case r.phase == running:
		s.pause()
	case !r.phase.active() && s.ready:
		s.launch(true)
	}
}

func (s *session) stop() {
	if r := &s.run; r.phase == running || r.phase == paused {
		r.runner.Stop()
		r.phase = stopping
		s.changed()
	}
}

// reset takes the run away; the experiment stays.
func (s *session) reset() {
	s.clearRun()
	s.touch()
}

func (s *session) clearRun() {
	r := &s.run
	if r.runner != nil {
		r.runner.Dispose()
	}
	if r.pending != nil {
		r.pending()
	}
	*r = runState{phase: idle, number: r.number + 1}
	s.feeds.clear()
}

// save downloads the run as a file of the given kind, json or csv.
func (s *session) save(kind string, diagnostics bool) {
	r := &s.run
	if r.live == nil {
		return
	}
	e := export.Run{Config: r.live.cfg, Result: r.result, Points: r.live.log.Points(), Diagnostics: diagnostics}
	var b strings.Builder
	write, mime := e.JSON, "application/json"
	if kind == "csv" {
		write, mime = e.CSV, "text/csv"
	}
	if err := write(&b); err != nil {
		r.fault = err.Error()
		s.changed()
		return
	}
	name := "clipscope-run"
	if diagnostics {
		name += "-not-private"
	}
	glue().Call("download", name+"."+kind, mime, b.String())
}

func (s *session) saveParameters() {
	if s.run.runner != nil && app.IsClient {
		s.run.runner.SaveParameters("clipscope-parameters.json")
	}
}
