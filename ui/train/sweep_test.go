package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// plan answers all questions about plans, and refuses the first so many of them that refused has texts.
func (b *bench) plan(refused ...string) {
	b.tick()
	for len(b.client.plans) > 0 {
		done := b.client.plans[0]
		b.client.plans = b.client.plans[1:]
		why := ""
		if len(refused) > 0 {
			why, refused = refused[0], refused[1:]
		}
		if why != "" {
			done(run.PlanInfo{}, errors.New(why))
			continue
		}
		done(run.PlanInfo{Steps: 20, Private: true, Epsilon: 1, Delta: 1e-5, NoiseMultiplier: 1, Layers: []run.Layer{{Products: 10}}}, nil)
	}
}

// newSweepBench has the card open in which several runs are set up, of a method at an ε.
func newSweepBench(t *testing.T) *bench {
	t.Helper()
	b, _ := newShelfBench(t)
	b.Set("method", "constant")
	b.plan()
	b.Open(form.Compare)
	return b
}

// outline returns the sentences of the card.
func (b *bench) outline() string {
	return tags.ReplaceAllString(app.HTMLString(b.sweep.card(b.exp.formFor(b))), "")
}

// progress returns the sentence on the runs that were started.
func (b *bench) progress() string {
	return tags.ReplaceAllString(app.HTMLString(b.sweep.view()), " ")
}

// endRun ends the newest run after its last step, or with an error.
func (b *bench) endRun(fails error) {
	r := b.client.runs[len(b.client.runs)-1]
	r.result = exampleResult()
	r.result.Steps, r.result.PlannedSteps = 20, 20
	b.clock = b.clock.Add(10 * time.Second)
	r.done(*r.result, fails)
	b.tick()
}

// made says what runs have been started, by what they differ in.
func (b *bench) made() (all []string) {
	for _, r := range b.client.runs {
		s := r.cfg.Method
		if r.cfg.TargetEpsilon != nil {
			s += fmt.Sprint(" ", *r.cfg.TargetEpsilon)
		}
		if r.cfg.Seed != nil {
			s += fmt.Sprint(" seed ", *r.cfg.Seed)
		}
		all = append(all, s)
	}
	return all
}

func TestASweepMakesAllRunsOneAfterTheOther(t *testing.T) {
	b := newSweepBench(t)
	b.sweep.toggle(form.Find("method"), "psac")
	b.sweep.set("target_epsilon", "1; 4")
	b.sweep.repeat("2")
	b.plan()
	for _, want := range []string{"2 × method, 2 × target_epsilon", "8 runs: 4 settings, 2 repeats of each.", "The first run will tell", "Built-in data are public", "Start 8 runs"} {
		if said := b.outline(); !strings.Contains(said, want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	b.client.planned = run.PlanInfo{Steps: 20, Private: true, Epsilon: 1, Layers: []run.Layer{{Products: 10}}}
	b.sweep.start()
	for i := range 8 {
		if n := len(b.client.runs); n != i+1 {
			t.Fatalf("%d runs were started when %d had ended", n, i)
		}
		if said := b.progress(); !strings.Contains(said, fmt.Sprintf("Run %d of 8 (method ", i+1)) || strings.Contains(said, "left") != (i > 0) {
			t.Errorf("after %d: %s", i, said)
		}
		b.endRun(nil)
	}
	want := []string{"constant 1", "constant 4", "psac 1", "psac 4"}
	if got := b.made(); !slices.Equal(got, append(want, want...)) {
		t.Errorf("runs %v", got)
	}
	if said := b.progress(); strings.TrimSpace(said) != "" || b.sweep.busy() { // the table says all
		t.Errorf("at the end: %s", said)
	}
	if rows := tabled(b.results.made()); len(rows) != 4 || rows[0]["runs"] != "2" || len(b.keptRuns.entries()) != 8 {
		t.Errorf("rows %v of %d kept runs", rows, len(b.keptRuns.entries()))
	}
	b.sweep.follow()
	b.plan()
	if said := b.outline(); !strings.Contains(said, "as fast as the last run") {
		t.Errorf("no time in %s", said)
	}
}

func TestASweepGoesOnAfterARunFails(t *testing.T) {
	b := newSweepBench(t)
	b.sweep.set("target_epsilon", "1; 4")
	b.sweep.repeat("1")
	b.plan()
	b.sweep.start()
	b.endRun(errors.New("out of memory"))
	b.endRun(nil)
	if said := b.progress(); !strings.Contains(said, "2 runs of 2 have ended, 1 of them early.") || !strings.Contains(said, "target_epsilon 1: out of memory") {
		t.Errorf("%s", said)
	}
	// So it does where one is refused before it begins.
	b.client.train = func(cfg run.Config, _ bool) error {
		if *cfg.TargetEpsilon == 1 {
			return errors.New("no worker")
		}
		return nil
	}
	before := len(b.client.runs)
	b.sweep.start()
	b.tick()
	if len(b.client.runs) != before+1 {
		t.Fatalf("%d runs after the refusal", len(b.client.runs)-before)
	}
	b.endRun(nil)
	if said := b.progress(); !strings.Contains(said, "target_epsilon 1: no worker") || b.sweep.busy() {
		t.Errorf("%s", said)
	}
	b.sweep.dismiss()
	if said := b.progress(); strings.TrimSpace(said) != "" {
		t.Errorf("dismissed: %s", said)
	}
}

func TestASweepIsStopped(t *testing.T) {
	for _, how := range []string{"running", "paused", "between runs"} {
		b := newSweepBench(t)
		b.sweep.set("target_epsilon", "1; 4")
		b.plan()
		b.sweep.start()
		r := b.client.runs[0]
		switch how {
		case "paused":
			b.trials.pause()
		case "between runs":
			r.done(*exampleResult(), nil)
		}
		b.sweep.stop()
		if stopped := slices.Contains(r.calls, "stop"); stopped != (how != "between runs") {
			t.Errorf("%s: calls %v", how, r.calls)
		}
		if how != "between runs" {
			r.result = exampleStopped()
			r.done(*r.result, nil)
		}
		b.tick()
		if len(b.client.runs) != 1 || b.sweep.busy() || !strings.Contains(b.progress(), "1 run of 6 have ended") || !strings.Contains(b.progress(), "Stopped.") {
			t.Errorf("%s: %d runs, %s", how, len(b.client.runs), b.progress())
		}
	}
}

func TestStopOfTheRunBarEndsOneRunOfASweep(t *testing.T) {
	b := newSweepBench(t)
	b.sweep.repeat("2")
	b.plan()
	b.sweep.start()
	b.trials.stop()
	b.client.runs[0].done(*exampleStopped(), nil)
	b.tick()
	if len(b.client.runs) != 2 || !strings.Contains(b.progress(), "stopped after step 312 of 938") {
		t.Errorf("%d runs: %s", len(b.client.runs), b.progress())
	}
}

func TestASweepEndsWithItsData(t *testing.T) {
	b := newSweepBench(t)
	b.sweep.repeat("2")
	b.plan()
	b.sweep.start()
	b.Set("data", "moons")
	b.load(400)
	b.endRun(nil)
	if len(b.client.runs) != 1 || !strings.Contains(b.progress(), "Other data were opened.") {
		t.Errorf("%d runs: %s", len(b.client.runs), b.progress())
	}
}

func TestRepeatsOfAFixedSeedHaveSeedsOfTheirOwn(t *testing.T) {
	b := newSweepBench(t)
	b.Set("seed", "7")
	b.sweep.repeat("3")
	b.plan()
	if said := b.outline(); !strings.Contains(said, "With the seeds 7, 8, …") || !strings.Contains(said, "takes the guarantee") {
		t.Errorf("%s", said)
	}
	b.sweep.start()
	for range 3 {
		b.endRun(nil)
	}
	if got, want := b.made(), []string{"constant 4 seed 7", "constant 4 seed 8", "constant 4 seed 9"}; !slices.Equal(got, want) {
		t.Errorf("runs %v, not %v", got, want)
	}
	if rows := tabled(b.results.made()); len(rows) != 1 || rows[0]["runs"] != "3" {
		t.Errorf("rows %v", rows)
	}
}

func TestASweepSaysWhatIsWrong(t *testing.T) {
	b := newSweepBench(t)
	for _, c := range []struct{ key, text, repeats, want string }{
		{"target_epsilon", "1; what", "3", "“what” is not a number"},
		{"target_epsilon", "1; 4", "0", "“0” is no number of repeats"},
		{"target_epsilon", "1; 4", "many", "“many” is no number of repeats"},
		{"target_epsilon", manyValues(201), "1", "more than 200 runs"},
		{"target_epsilon", manyValues(100), "3", "300 runs are more than 200"},
	} {
		b.sweep.repeat(c.repeats)
		b.sweep.set(c.key, c.text)
		b.plan()
		if said := b.outline(); !strings.Contains(said, c.want) {
			t.Errorf("%.20s, %s: no %q in %s", c.text, c.repeats, c.want, said)
		}
		b.sweep.start()
	}
	if len(b.client.runs) != 0 {
		t.Errorf("%d runs were started", len(b.client.runs))
	}
	b.sweep.repeat("1")
	b.sweep.set("target_epsilon", "1; 4")
	b.plan("no noise gives this")
	if said := b.outline(); !strings.Contains(said, "Left out: target_epsilon 1. no noise gives this") || !strings.Contains(said, "Start 1 run") {
		t.Errorf("%s", said)
	}
	b.Set("max_grad_norm", "1..5")
	if said := b.outline(); !strings.Contains(said, "A field needs attention.") {
		t.Errorf("%s", said)
	}
	if b.sweep.start(); len(b.client.runs) != 0 {
		t.Error("a run was started over a fault")
	}
}

// manyValues are so many numbers.
func manyValues(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d; ", i+1)
	}
	return b.String()
}

func TestFieldsAreAddedToASweepAndDropped(t *testing.T) {
	b := newSweepBench(t)
	b.sweep.add("learning_rate_schedule")
	b.sweep.add("nesterov")
	b.sweep.toggle(form.Find("learning_rate_schedule"), "cosine")
	b.sweep.repeat("1")
	b.plan()
	b.sweep.start()
	b.endRun(nil)
	b.endRun(nil)
	var schedules []string
	for _, r := range b.client.runs {
		schedules = append(schedules, r.cfg.LearningRateSchedule)
	}
	if len(schedules) != 2 || schedules[0] == schedules[1] || schedules[1] != "cosine" {
		t.Errorf("schedules %q", schedules)
	}
	b.sweep.drop("learning_rate_schedule")
	b.plan()
	if said := b.outline(); !strings.Contains(said, "Start 1 run") {
		t.Errorf("%s", said)
	}
}

// fakeLedger is a client with a ledger, which asks about every run unless it is overruled.
type fakeSweepLedger struct {
	*fakeKeeper
	asked [][]run.Entry
}

func (l *fakeSweepLedger) Ledger(function string, done func([]byte, error), args ...any) {
	if next, ok := args[len(args)-1].([]run.Entry); ok {
		l.asked = append(l.asked, next)
		done([]byte(`{"runs":[],"epsilon":0.5,"guaranteed_epsilon":0.5,"delta":1e-5,"next_epsilon":6.5,"limit":3}`), nil)
		return
	}
	done(json.RawMessage(`{"runs":[],"epsilon":0.5,"guaranteed_epsilon":0.5,"delta":1e-5}`), nil)
}

func (l *fakeSweepLedger) WatchLedger(func()) {}

func (l *fakeSweepLedger) TrainAnyway(cfg run.Config, d client.Handle, paused bool, started func(client.Run, error)) {
	train := l.train
	l.train = nil
	l.Train(cfg, d, paused, started)
	l.train = train
}

func TestASweepOnFilesIsPricedAndAskedAboutOnce(t *testing.T) {
	for _, yes := range []bool{true, false} {
		l := &fakeSweepLedger{fakeKeeper: &fakeKeeper{fakeClient: &fakeClient{}, bodies: map[string]client.KeptRun{}}}
		l.watch = func() {}
		b := benchOf(l, l.fakeClient)
		b.load(6000)
		b.data.open(form.Files, filesNamed("mine.csv"))
		b.load(300)
		b.Open(form.Compare)
		b.sweep.repeat("3")
		b.plan()
		if len(l.asked) == 0 || len(l.asked[len(l.asked)-1]) != 3 {
			t.Fatalf("asked about %v", l.asked)
		}
		for _, want := range []string{"this data will have cost ε = 6.50 (now 0.50, δ = 1e−5). That covers publishing all runs. Choosing the best by its score is not covered.", "more than your limit of 3.00"} {
			if said := b.outline(); !strings.Contains(said, want) {
				t.Errorf("no %q in %s", want, said)
			}
		}
		l.train = func(run.Config, bool) error {
			return &client.Fault{Kind: client.OverLimit, Message: "It is over the limit."}
		}
		b.sweep.start()
		if b.ledger.Question() == nil || len(b.client.runs) != 0 {
			t.Fatalf("no question, %d runs", len(b.client.runs))
		}
		if !yes {
			b.trials.DeclineRun()
			if b.sweep.busy() || !strings.Contains(b.progress(), "You declined") {
				t.Errorf("declined: %s", b.progress())
			}
			continue
		}
		b.trials.ConfirmRun()
		priced := len(l.asked)
		for range 3 {
			b.endRun(nil)
		}
		if len(l.asked) == priced {
			t.Error("what has been spent since is not in the total")
		}
		if len(b.client.runs) != 3 || b.ledger.Question() != nil || b.sweep.busy() || b.sweep.done() != 3 {
			t.Errorf("confirmed: %d runs, %s", len(b.client.runs), b.progress())
		}
	}
}
