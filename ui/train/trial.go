package train

import (
	"math"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/export"
	"clipscope/ui/ledger"
	"clipscope/ui/series"

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

// trial is a run, from before it starts: how it is going, and what it reported.
type trial struct {
	*env
	redraw func() // the charts, with what there is now

	phase  phase
	runner client.Run
	record *series.Record // nil until it has started
	pace   pace
	result *run.Result
	fault  string

	drawn   time.Time // when the charts were last drawn
	told    time.Time // when the words were last shown
	pending func() bool
	gone    bool // what it still says is ignored
}

func newTrial(e *env, redraw func()) *trial { return &trial{env: e, redraw: redraw, phase: idle} }

const (
	drawEvery = 50 * time.Millisecond  // charts
	tellEvery = 250 * time.Millisecond // words and numbers: faster cannot be read
)

// start asks for the run and calls refused if there will be none. With step it
// takes one step and pauses.
func (t *trial) start(as ledger.Train, cfg run.Config, d client.Handle, step bool, refused func(error)) {
	t.phase = starting
	as(cfg, d, step, func(r client.Run, err error) {
		switch {
		case t.gone && err == nil:
			r.Dispose()
		case t.gone:
		case err != nil:
			refused(err)
		default:
			t.started(r, cfg.WithDefaults(), step)
		}
	})
}

func (t *trial) started(r client.Run, cfg run.Config, step bool) {
	t.runner, t.phase, t.record = r, running, series.NewRecord(cfg, r.Plan())
	r.Watch(func(events []run.Event) {
		if !t.gone {
			t.events(events)
		}
	}, func(res run.Result, err error) {
		if !t.gone {
			t.ended(res, err)
		}
	})
	if step {
		t.phase = paused
		r.Step()
	}
	t.changed()
}

// events takes one message of a run and sees to it that it is drawn soon.
func (t *trial) events(events []run.Event) {
	if len(events) == 0 {
		return
	}
	t.record.Add(events)
	t.pace.see(float64(time.Now().UnixNano())/1e9, events[len(events)-1].Step)
	if t.pending == nil {
		t.pending = t.after(max(0, drawEvery-time.Since(t.drawn)), t.draw)
	}
}

// draw shows what has come in; the words less often than the charts.
func (t *trial) draw() {
	t.pending = nil
	t.drawn = time.Now()
	t.redraw()
	if rest := tellEvery - time.Since(t.told); rest > 0 && t.phase == running {
		t.pending = t.after(rest, t.draw)
		return
	}
	t.told = time.Now()
	t.changed()
}

func (t *trial) ended(res run.Result, err error) {
	t.hold()
	if err != nil {
		t.phase, t.fault = failed, err.Error()
	} else {
		t.phase, t.result = done, &res
	}
	t.redraw()
	t.changed()
}

// hold calls off the drawing that is due.
func (t *trial) hold() {
	if t.pending != nil {
		t.pending()
	}
	t.pending = nil
}

func (t *trial) pause() {
	if t.phase == running {
		t.runner.Pause()
		t.phase = paused
		t.pace.rest()
		t.changed()
	}
}

func (t *trial) resume() {
	if t.phase == paused {
		t.runner.Resume()
		t.phase = running
		t.changed()
	}
}

func (t *trial) stop() {
	if t.phase == running || t.phase == paused {
		t.runner.Stop()
		t.phase = stopping
		t.changed()
	}
}

// leave ends the run for good.
func (t *trial) leave() {
	t.gone = true
	t.hold()
	if t.runner != nil {
		t.runner.Dispose()
	}
}

// say puts words where the run's own would stand.
func (t *trial) say(p phase, fault string) {
	t.phase, t.fault = p, fault
	t.changed()
}

// save downloads the run as a file of the given kind, json or csv.
func (t *trial) save(kind string, diagnostics bool) {
	if t.record == nil {
		return
	}
	e := export.Run{Config: t.record.Config, Result: t.result, Points: t.record.Points(), Diagnostics: diagnostics}
	var b strings.Builder
	write, mime := e.JSON, "application/json"
	if kind == "csv" {
		write, mime = e.CSV, "text/csv"
	}
	if err := write(&b); err != nil {
		t.say(t.phase, err.Error())
		return
	}
	name := "clipscope-run"
	if diagnostics {
		name += "-not-private"
	}
	browser.Save(name+"."+kind, mime, b.String())
}

func (t *trial) saveParameters() {
	if t.runner != nil && app.IsClient {
		t.runner.SaveParameters("clipscope-parameters.json")
	}
}

// view is the run in the numbers of the run bar; until it has begun, those of
// the plan.
func (t *trial) view(plan *run.PlanInfo) runView {
	v := runView{Phase: t.phase, Left: math.NaN(), Spent: math.NaN(), Fault: t.fault}
	if plan != nil {
		v.Steps, v.Whole = plan.Steps, float64(plan.Epsilon)
	}
	if r := t.record; r != nil {
		v.Whole, v.Left = r.Whole, t.pace.left(r.Last.Steps)
		if r.Last.Steps > 0 {
			v.Step, v.Steps, v.Spent = r.Last.Step, r.Last.Steps, float64(r.Last.Released.Epsilon)
		}
	}
	return v
}
