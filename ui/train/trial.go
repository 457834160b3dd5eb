package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/export"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// phase is the phase of a run.
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

// trial is a run, from before it starts until after its end: what it was made of,
// how it is going, and what it reported.
type trial struct {
	*env
	redraw func() // the charts, with what there is now
	onEnd  func() // called once it has ended

	phase    phase
	own      bool            // it is on a person's files
	data     data.Report     // what is said of its rows: no preview, no columns
	runner   client.Run      // nil of one that has not started, or was kept
	record   *series.Record  // nil until it has started
	place    run.Place       // what it is computed on
	trying   run.Trial       // which run is tried, of several; the zero value: there is one
	unbegun  bool            // several parties were to start it, and did not: it is not charged
	party    *run.PartyState // how it stands with the others; nil: there are none, or it is not known yet
	within   float64         // how much of the present step is done, where that takes long
	pace     pace
	result   *run.Result
	model    client.Model // what the result has of parameters
	fault    string
	refused  string    // why the last change was
	writing  string    // what is being written for a download
	id       string    // names it once it has ended with something to keep
	ended    time.Time // when that was
	unwanted bool      // its owner has deleted it

	drawnAt  time.Time // when the charts were last drawn
	shownAt  time.Time // when the words were last shown
	pending  func() bool
	detached bool // its further messages are ignored
}

func newTrial(e *env) *trial { return &trial{env: e, redraw: func() {}, onEnd: func() {}, phase: idle} }

const (
	drawEvery = 50 * time.Millisecond  // charts
	tellEvery = 250 * time.Millisecond // words and numbers: faster cannot be read
)

// start asks for the run, on data of such facts, and says by answered whether there will be one. With step
// it takes one step and pauses.
func (t *trial) start(as ledger.Train, cfg run.Config, f run.Facts, d client.Handle, step bool, answered func(error)) {
	t.phase = starting
	as(cfg, d, step, func(r client.Run, err error) {
		switch {
		case t.detached && err == nil:
			r.Dispose()
		case t.detached:
		case err != nil:
			answered(err)
		default:
			t.started(r, cfg.WithDefaultsFor(f), step)
			answered(nil)
		}
	})
}

func (t *trial) started(r client.Run, cfg run.Config, step bool) {
	t.runner, t.phase, t.record = r, running, series.NewRecord(cfg, r.Plan())
	r.Watch(client.Listener{
		Events: func(events []run.Event) {
			if !t.detached {
				t.events(events)
			}
		},
		Place: func(p run.Place) {
			if !t.detached {
				t.place = p
				t.changed()
			}
		},
		Trial: func(now run.Trial) {
			if !t.detached {
				if now.Rehearsal != t.trying.Rehearsal {
					t.pace.rest()
				}
				t.trying = now
				t.pace.see(t.seconds(), (now.Number-1)*now.Steps+now.Step)
				t.changed()
			}
		},
		Party: func(now run.PartyState) {
			if !t.detached {
				t.party = &now
				t.changed()
			}
		},
		Within: func(now run.Within) {
			if !t.detached {
				t.within = float64(now.Share)
				t.changed()
			}
		},
		Done: func(res run.Result, err error) {
			if !t.detached {
				t.end(res, err)
			}
		},
	})
	if step {
		t.phase = paused
		r.Step()
	}
}

// events takes one message of a run and sees to it that it is drawn soon.
func (t *trial) events(events []run.Event) {
	if len(events) == 0 {
		return
	}
	t.record.Add(events)
	t.within = 0
	if t.trying.Number == 0 { // or else these are of the best of what was tried, all at once
		t.pace.see(t.seconds(), events[len(events)-1].Step)
	}
	if t.pending == nil {
		t.pending = t.after(max(0, drawEvery-t.now().Sub(t.drawnAt)), t.draw)
	}
}

// seconds returns the seconds of the clock.
func (t *trial) seconds() float64 { return float64(t.now().UnixNano()) / 1e9 }

// draw shows what has come in; the words less often than the charts.
func (t *trial) draw() {
	t.pending = nil
	t.drawnAt = t.now()
	t.redraw()
	if rest := tellEvery - t.drawnAt.Sub(t.shownAt); rest > 0 && t.phase == running {
		t.pending = t.after(rest, t.draw)
		return
	}
	t.shownAt = t.drawnAt
	t.changed()
}

func (t *trial) end(res run.Result, err error) {
	t.hold()
	if err != nil {
		t.phase, t.fault = failed, plainly(err)
		f := (*client.Fault)(nil)
		t.unbegun = errors.As(err, &f) && f.Unbegun
	} else {
		t.phase, t.result, t.model = done, &res, t.runner
		t.record.End(&res)
	}
	// One that failed is charged, however early that was, and is kept to say so.
	if t.phase == failed && !t.unbegun || t.record.Len() > 0 || t.result.Steps > 0 {
		t.id, t.ended = t.runner.ID(), t.now()
	}
	t.redraw()
	t.onEnd()
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
		t.changed()
	}
}

func (t *trial) resume() {
	if t.phase == paused {
		t.runner.Resume()
		t.phase = running
		t.pace.rest()
		t.changed()
	}
}

// teaching reports whether the run goes on and can be changed.
func (t *trial) teaching() bool {
	return (t.phase == running || t.phase == paused) && t.record.Config.Seed != nil && t.record.Plan.Tuning == nil
}

func (t *trial) change(c run.Change) {
	if !t.teaching() {
		return
	}
	t.runner.Change(c, func(reply run.ChangeReply, err error) {
		if t.detached {
			return
		}
		if t.refused = ""; err != nil {
			t.refused = err.Error()
		} else {
			t.record.Changed(reply)
		}
		t.redraw()
		t.changed()
	})
}

func (t *trial) stop() {
	if t.phase == running || t.phase == paused {
		t.runner.Stop()
		t.phase = stopping
		t.changed()
	}
}

// leave ends the run for good, if it has not ended. What it left stays.
func (t *trial) leave() {
	t.detached = true
	t.hold()
	if t.runner != nil {
		t.runner.Dispose()
	}
}

// steps returns the number of steps taken, and of those planned.
func (t *trial) steps() (taken, planned int) {
	switch {
	case t.result != nil:
		return t.result.Steps, t.result.PlannedSteps
	case t.record != nil:
		return t.record.Last.Step, cmp.Or(t.record.Last.Steps, t.record.Plan.Steps)
	}
	return 0, 0
}

// state says in words how it stands with a run that has started.
func (t *trial) state() string {
	taken, planned := t.steps()
	after := fmt.Sprintf("after step %s of %s", words.Count(taken), words.Count(planned))
	switch {
	case t.phase == failed && taken == 0:
		return "ended by an error before a step was seen"
	case t.phase == failed:
		return "ended by an error " + after
	case t.phase == done && t.result.Rested:
		return "came to rest " + after
	case t.phase == done && t.result.Stopped:
		return "stopped " + after
	case t.phase == done:
		return "finished"
	case taken == 0 && t.record.Config.Together.Parties > 0 && (t.party == nil || t.party.Fingerprint == ""):
		return "not started yet"
	default:
		return "in progress"
	}
}

// bought returns the private bounds that the run has paid for, of columns of the table at hand for which none are
// declared.
func (t *trial) bought(d *dataSource) map[string]run.Bounds {
	if t.result == nil || !t.record.Plan.Private || doubt(t.result) != "" || d.name != form.Files || d.report == nil {
		return nil
	}
	bounds := map[string]run.Bounds{}
	for _, c := range d.report.Columns {
		if b, ok := t.result.Released.Bounds[c.Name]; ok && c.Bounds == nil {
			bounds[c.Name] = b
		}
	}
	return bounds
}

// inFull says what a run that failed is charged, where it is charged at all.
func (t *trial) inFull() string {
	if t.phase != failed || t.unbegun || !t.record.Plan.Private {
		return ""
	}
	_, planned := t.steps()
	return "It is charged for all " + words.Plural(planned, "step") + ". "
}

// save downloads the run as a file of the given kind, json or csv.
func (t *trial) save(kind string, diagnostics bool) {
	if t.record == nil {
		return
	}
	taken, _ := t.steps()
	e := export.Run{Config: t.record.Config, Result: t.result, Steps: taken, Points: t.record.Points(), Changes: t.record.Changes, Diagnostics: diagnostics}
	var b strings.Builder
	write, mime := e.JSON, "application/json"
	if kind == "csv" {
		write, mime = e.CSV, "text/csv"
	}
	if err := write(&b); err != nil {
		t.fault = err.Error()
		t.changed()
		return
	}
	name := "clipscope-run"
	if diagnostics || !(t.record.Plan.NoiseMultiplier > 0) {
		name += "-not-private"
	}
	browser.Save(name+"."+kind, mime, b.String())
}

// saveModel downloads the model in a form, one at a time, and says how far that is.
func (t *trial) saveModel(form string) {
	if t.model == nil || t.writing != "" {
		return
	}
	t.fault = ""
	name := "clipscope-model." + form
	if form == "checkpoint" || form == "peft" {
		name = "clipscope-" + form + ".zip"
	}
	tell := func(s string) {
		t.writing = s
		t.changed()
	}
	tell("Writing " + name + " …")
	t.model.Save(form, name, &t.record.Config, func(bytes int) {
		tell("Writing " + name + ": " + words.Bytes(int64(bytes)))
	}, func(err error) {
		if err != nil {
			t.fault = err.Error()
		}
		tell("")
	})
}

// startable reports whether the run has left a model that another can start from.
func (t *trial) startable() bool {
	return t.result != nil && t.model != nil && !t.result.Charged && t.result.Unusable == ""
}

func (t *trial) use() {
	if t.model != nil {
		t.used(t.model.Named("the run of "+t.ended.Format("15:04:05"), &t.record.Config))
	}
}

// view is the run in the numbers of the run bar; until it has begun, those of
// the plan.
func (t *trial) view(plan *run.PlanInfo) runView {
	v := runView{Phase: t.phase, Left: math.NaN(), Spent: math.NaN(), Fault: t.fault, Place: t.place, PerStep: t.pace.perStep()}
	if t.result != nil { // as it is kept
		v.Place, v.PerStep = placeOf(t.result)
	}
	if r := t.record; r != nil {
		v.Step, v.Steps = t.steps()
		if t.trying.Number > 0 && t.result == nil {
			v.Trial, v.Of = t.trying, r.Plan.Tuning
		}
		if t.phase == running {
			v.Within = t.within
		}
		v.Stopped = t.result != nil && t.result.Stopped
		v.Whole, v.Left = r.Whole, t.pace.left(v.Steps)
		v.Unbacked = r.Plan.Unbacked() || t.result != nil && doubt(t.result) != ""
		if v.Of != nil {
			v.Left = t.pace.left(int(v.Of.Runs * float64(r.Plan.Steps)))
		}
		if r.Len() > 0 {
			v.Spent = float64(r.Last.Released.Epsilon)
			if d := r.Last.Diag; d != nil && t.result == nil {
				v.Moved = d.MovedBytes
			}
		}
	} else if plan != nil {
		v.Steps, v.Whole, v.Unbacked = plan.Steps, float64(plan.Epsilon), plan.Unbacked()
	}
	return v
}
