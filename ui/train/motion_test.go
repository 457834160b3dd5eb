package train

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// A run with a seed can be slowed and changed while it goes on, and no other.
func TestATeachingRunIsSteered(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.trials.start()
	if b.trials.steering() != nil {
		t.Fatal("a run without a seed can be changed")
	}
	b.trials.Change(run.Change{"max_grad_norm": 3})
	b.trials.Pace(10) // for those to come
	if calls := b.client.runs[0].calls; len(calls) > 0 {
		t.Fatalf("it was told %v", calls)
	}
	b.trials.stop()
	b.client.runs[0].done(run.Result{Steps: 1, PlannedSteps: 1}, nil)

	b.Set("seed", "1")
	b.Set("max_grad_norm", "1")
	b.trials.reset()
	if s := b.trials.steering(); s == nil || s.Records != nil || strings.Contains(app.HTMLString(s.View()), "Learning rate") {
		t.Error("before a teaching run begins its speed cannot be chosen, or more can")
	}
	b.trials.start()
	r := b.client.runs[1]
	if !slices.Equal(r.calls, []string{"pace 10"}) || b.trials.steering().Speed != 10 {
		t.Fatalf("it was told %v", r.calls)
	}
	r.events([]run.Event{series.Example(1), series.Example(2)})
	b.trials.Change(run.Change{"max_grad_norm": 3})
	changes := []run.Changed{{Step: 3, Field: "max_grad_norm", From: 1, To: 3}}
	r.replied(run.ChangeReply{Changes: changes, Steps: 500, Epsilon: 4}, nil)
	if v := b.trials.view(); v.Steps != 500 || b.trials.last.record.Now("max_grad_norm") != 3 {
		t.Errorf("after a change C is %v, of %d steps", b.trials.last.record.Now("max_grad_norm"), v.Steps)
	}
	if n := b.trials.panels()[0].Charts[0].Feed.Numbers; !slices.Equal(n[len(n)-6:], []float64{1, 0, 3, 0, 1, 3}) {
		t.Errorf("the chart marks %v", n[len(n)-6:])
	}
	b.trials.Change(run.Change{"noise_multiplier": -1})
	r.replied(run.ChangeReply{}, errors.New("noise_multiplier: -1 adds no noise"))
	if s := b.trials.steering(); !strings.Contains(app.HTMLString(s.View()), "adds no noise") || len(b.trials.last.record.Changes) != 1 {
		t.Error("a refusal is not said, or changed something")
	}
	b.trials.Fault("C: “x” is not a number")
	b.trials.Change(run.Change{"learning_rate": 2})
	r.replied(run.ChangeReply{Changes: changes, Steps: 500, Epsilon: 4}, nil)
	if s := b.trials.steering(); s.Fault != "" {
		t.Errorf("a fault outlives its reason: %q", s.Fault)
	}
	b.trials.stop()
	r.done(run.Result{Steps: 2, PlannedSteps: 500, Stopped: true, Epsilon: 4, Changes: changes}, nil)
	if b.trials.steering() != nil {
		t.Error("a run that has ended can be changed")
	}
	late := r.replied // which comes after the end
	late(run.ChangeReply{}, errors.New("the run has ended"))
}

// What is replayed is drawn and said, and nothing but what goes on is once that does.
func TestARunIsReplayed(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	if b.trials.still() {
		t.Error("before there is a run there is something to replay")
	}
	b.trials.start()
	r := b.client.runs[0]
	var events []run.Event
	for step := 1; step <= 60; step++ {
		events = append(events, series.Example(step))
	}
	r.events(events)
	if b.trials.still() {
		t.Error("a run that goes on is replayed")
	}
	b.trials.pause()
	html := func() string { return app.HTMLString(app.Div().Body(b.trials.replay.View())) }
	if !b.trials.still() || strings.Contains(html(), "replay") {
		t.Fatalf("a paused run cannot be replayed, or is at once: %s", html())
	}
	b.trials.replay.Open()
	if h := html(); !strings.Contains(h, `aria-valuetext="Step 60 of 60: accuracy`) {
		t.Errorf("the handle is %s", h)
	}
	b.trials.replay.Seek(30)
	p := b.trials.panels()
	if n := p[0].Charts[0].Feed.Numbers; n[1] != 30 || n[2] < 60 {
		t.Errorf("of 60 steps %v are drawn, on an axis to %v", n[1], n[2])
	}
	if !p[1].Past || len(p[1].Charts[0].Feed.Numbers) != 0 || !strings.Contains(p[3].Text, "planned to end after 30 steps") || !strings.Contains(html(), "Step 30 of 60") {
		t.Errorf("the panels are not those of step 30: %q", p[3].Text)
	}
	b.trials.start()
	if p := b.trials.panels(); p[1].Past || !strings.Contains(p[3].Text, "60 steps") {
		t.Error("a run that goes on is shown as it was")
	}
	b.trials.stop()
	r.done(run.Result{Steps: 60, PlannedSteps: 600, Stopped: true}, nil)
	b.trials.replay.Open()
	b.trials.replay.Seek(5)
	b.trials.reset()
	if b.trials.still() || strings.Contains(html(), "replay") {
		t.Error("what was reset is replayed")
	}
}
