package motion

import (
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// watch is a clock that goes when the test says so.
type watch struct {
	at   time.Time
	due  func()
	when time.Time
}

func (w *watch) after(d time.Duration, f func()) func() bool {
	w.due, w.when = f, w.at.Add(d)
	return func() bool { w.due = nil; return true }
}

// pass lets time pass, with all that is due in it.
func (w *watch) pass(d time.Duration) {
	end := w.at.Add(d)
	for w.due != nil && !w.when.After(end) {
		f := w.due
		w.due, w.at = nil, w.when
		f()
	}
	w.at = end
}

func told(steps int) *series.Record {
	r := series.NewRecord(run.Config{Method: "constant", MaxGradNorm: 1, ExpectedBatchSize: 100}, run.PlanInfo{NoiseMultiplier: 1, Steps: steps, Epsilon: 2, Private: true})
	for step := 1; step <= steps; step++ {
		r.Add([]run.Event{series.Example(step)})
	}
	return r
}

func TestReplayDrawsEachRunAtItsStep(t *testing.T) {
	w, r, other := &watch{at: time.Unix(1, 0)}, told(400), told(100)
	shown := 0
	p := NewReplay(func() []Run { return []Run{{"a", r}, {"b", other}, {"c", nil}} }, func() { shown++ }, w.after, func() time.Time { return w.at })
	is := func(step int, what string) {
		t.Helper()
		if got := p.At(r).Last.Step; got != step {
			t.Errorf("%s: step %d, want %d", what, got, step)
		}
		if got := p.At(other).Last.Step; got != min(step, 100) {
			t.Errorf("%s: the shorter run is at step %d", what, got)
		}
		if p.At(nil) != nil {
			t.Error("of nothing there is something")
		}
	}
	is(400, "closed")
	p.Open()
	is(400, "opened")
	p.Seek(30)
	is(30, "moved")
	p.pace(10)
	p.play()
	w.pass(2 * time.Second)
	is(50, "ten steps a second")
	before := shown
	w.pass(tick) // less than a step, and so nothing to draw
	if shown != before {
		t.Error("what is there already was drawn again")
	}
	p.pace(100)
	w.pass(time.Second)
	is(150, "a hundred steps a second")
	p.Seek(200)
	w.pass(time.Second)
	is(300, "moved while it plays")
	p.pause()
	w.pass(time.Hour)
	is(300, "paused")
	p.play()
	w.pass(10 * time.Second)
	is(400, "played to the end")
	if p.rest != nil {
		t.Error("it plays on after the end")
	}
	p.pace(Full)
	p.play() // from the beginning
	is(1, "begun anew")
	w.pass(whole * time.Second / 2)
	is(201, "half of the time of all")
	p.Open()
	w.pass(time.Hour)
	is(400, "closed")
	p.Seek(1 << 40)
	is(400, "beyond the end")
	p.Seek(-7)
	if got := p.At(r).Last.Step; got != 1 {
		t.Errorf("before the beginning it is at step %d", got)
	}
	if (&Replay{runs: func() []Run { return []Run{{"", told(1)}} }}).Some() {
		t.Error("one step is replayed")
	}
}

// What a handle says is what the charts then say.
func TestHandlesSayWhatTheChartsSay(t *testing.T) {
	r := told(100)
	if got, want := Figures(r.Until(60), false), "accuracy 43.5 %, C 0.608, 58 % clipped, ε 0.64"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	taught := r.Until(60)
	taught.Plan.Private = false
	if got, want := Figures(taught, false), "accuracy 43.5 %, C 0.608, 58 % clipped, ε 0.64 without guarantee"; got != want {
		t.Errorf("without a guarantee it says %q, want %q", got, want)
	}
	if got, want := Figures(r.Until(60), true), "accuracy 43.5 %, C 0.608"; got != want {
		t.Errorf("in brief it says %q, want %q", got, want)
	}
	blind := series.NewRecord(run.Config{}, run.PlanInfo{})
	blind.Add([]run.Event{{Step: 1, Released: run.Released{MaxGradNorm: 1, Epsilon: 0.5}}})
	if got := Figures(blind, false); got != "C 1, ε 0.50" {
		t.Errorf("of a blind run it says %q", got)
	}
}

type steered struct{ Steer }

// What cannot be changed of a run is off, and says why; what differs between runs is empty.
func TestSteeringSaysWhatCannotBeChanged(t *testing.T) {
	record := func(c float64, held map[string]string) *series.Record {
		cfg := run.Config{Method: "constant", MaxGradNorm: c, LearningRate: 0.25}
		return series.NewRecord(cfg.WithDefaults(), run.PlanInfo{NoiseMultiplier: 2, Held: held})
	}
	why := map[string]string{"noise_multiplier": "it is settled"}
	html := app.HTMLString(Steering{Name: "x", To: steered{}, Records: []*series.Record{record(1, nil), record(3, why)}}.View())
	for _, want := range []string{`value="0.25"`, `value="2"`, `placeholder="differs"`, `aria-label="Learning rate η"`, `100 steps a second`, `full speed`, `title="Noise multiplier σ: it is settled"`, `title="Learning rate η"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is not in %s", want, html)
		}
	}
	if strings.Contains(html, `value="3"`) {
		t.Error("where runs differ, one of their numbers is shown")
	}
}
