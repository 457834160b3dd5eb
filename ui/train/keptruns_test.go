package train

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeKeeper is a client with storage, which may be full.
type fakeKeeper struct {
	*fakeClient
	full    error
	entries []map[string]any
	bodies  map[string]client.KeptRun
	watch   func()
}

func (k *fakeKeeper) KeepRun(e any, text, points []byte, m client.Model, done func(error)) {
	if k.full != nil {
		done(k.full)
		return
	}
	b, err := json.Marshal(e)
	var stored map[string]any
	if err == nil {
		err = json.Unmarshal(b, &stored)
	}
	if err != nil {
		done(err)
		return
	}
	stored["bytes"] = len(text) + len(points)
	body := client.KeptRun{Text: text, Points: points}
	if r, ok := m.(*fakeRun); ok {
		body.Result, body.Model = r.result, r
	}
	k.entries = append(k.entries, stored)
	k.bodies[stored["id"].(string)] = body
	done(nil)
}

func (k *fakeKeeper) KeptRuns(done func([]byte, error)) {
	b, err := json.Marshal(k.entries)
	done(b, err)
}

func (k *fakeKeeper) OpenRun(id string, done func(client.KeptRun, error)) {
	body, ok := k.bodies[id]
	if !ok {
		done(body, errors.New("no longer there"))
		return
	}
	done(body, nil)
}

func (k *fakeKeeper) DeleteRun(id string, done func(error)) {
	k.entries = slices.DeleteFunc(k.entries, func(e map[string]any) bool { return e["id"] == id })
	delete(k.bodies, id)
	done(nil)
	k.watch()
}

func (k *fakeKeeper) WatchRuns(f func()) { k.watch = f }

func newShelfBench(t *testing.T) (*bench, *fakeKeeper) {
	t.Helper()
	k := &fakeKeeper{fakeClient: &fakeClient{}, bodies: map[string]client.KeptRun{}}
	b := benchOf(k, k.fakeClient)
	b.load(6000)
	return b, k
}

// run starts a run that takes steps of those planned and ends, or fails.
func (b *bench) run(t *testing.T, taken int, fails error) *fakeRun {
	t.Helper()
	b.trials.start()
	r := b.client.runs[len(b.client.runs)-1]
	for step := 1; step <= taken; step++ {
		r.events([]run.Event{series.Example(step)})
	}
	r.result = exampleResult()
	r.result.Steps, r.result.PlannedSteps, r.result.Stopped, r.result.TestRows = taken, 600, taken < 600, 1200
	b.clock = b.clock.Add(time.Minute)
	r.done(*r.result, fails)
	b.tick()
	return r
}

// apart is where a text begins to differ from another.
func apart(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return a[max(0, i-100):min(len(a), i+200)]
}

// stage is what is seen of the run that is shown.
func (b *bench) stage() string {
	html := app.HTMLString(&caption{View: b.caption(), Actions: captioned{b.keptRuns, b.trials, b.takeShown, b.takeBounds, b.startFromShown}})
	if r := b.trials.shown.result; r != nil {
		html += app.HTMLString(&resultView{Result: r, Saver: b.trials.shown})
	}
	for _, p := range b.trials.panels() {
		html += p.Text
	}
	return tags.ReplaceAllString(html, "")
}

var tags = regexp.MustCompile(`<[^>]*>`)

// A run that failed is charged what it had come to, not what it began with.
func TestAFailedRunIsChargedWithItsChanges(t *testing.T) {
	b, _ := newShelfBench(t)
	b.Set("seed", "1")
	b.client.planned = run.PlanInfo{Steps: 600, Epsilon: 2, NoiseMultiplier: 1}
	b.trials.start()
	r := b.client.runs[0]
	r.events([]run.Event{series.Example(1)})
	b.trials.Change(run.Change{"noise_multiplier": 0.5})
	r.replied(run.ChangeReply{Changes: []run.Changed{{Step: 2, Field: "noise_multiplier", From: 1, To: 0.5}}, Steps: 600, Epsilon: 9}, nil)
	r.done(run.Result{}, errors.New("it fell"))
	b.keptRuns.list()
	e := b.keptRuns.entries()[0]
	if e.Epsilon != 9 {
		t.Errorf("the list says ε = %v", e.Epsilon)
	}
	if b.keptRuns.chooseRun(e); b.trials.shown.record.Whole != 9 {
		t.Errorf("opened, it is charged %v", b.trials.shown.record.Whole)
	}
}

// Whatever is done after a run has ended, but for deleting it, the run is there and
// opens as it was.
func TestAnEndedRunStays(t *testing.T) {
	for name, act := range map[string]func(b *bench){
		"another run": func(b *bench) { b.trials.start() },
		"a run that is refused": func(b *bench) {
			b.client.train = func(run.Config, bool) error { return errors.New("no worker") }
			b.trials.start()
		},
		"Reset":         func(b *bench) { b.trials.reset() },
		"a preset":      func(b *bench) { b.usePreset("value") },
		"another link":  func(b *bench) { b.replace(run.Config{Method: "psac", Steps: 3}) },
		"another field": func(b *bench) { b.Set("max_grad_norm", "5") },
		"other data":    func(b *bench) { b.Set("data", "moons"); b.load(500) },
	} {
		b, k := newShelfBench(t)
		r := b.run(t, 600, nil)
		before, id := b.stage(), b.trials.shown.id
		if !strings.Contains(before, "Run of 14:04:25, finished") || len(k.entries) != 1 {
			t.Fatalf("%d runs are kept, and the stage shows %s", len(k.entries), before)
		}
		act(b)
		entries := b.keptRuns.entries()
		if len(entries) != 1 || entries[0].ID != id || slices.Contains(r.calls, "stop") {
			t.Fatalf("%s: %d runs are kept", name, len(entries))
		}
		if name == "a run that is refused" && (b.stage() != before || b.trials.view().Fault == "") {
			t.Errorf("%s takes the result away:\n%s", name, b.stage())
		}
		// In another visit, with the same settings.
		c := &fakeClient{}
		again := benchOf(&fakeKeeper{fakeClient: c, entries: k.entries, bodies: k.bodies}, c)
		again.clock = b.clock
		again.load(6000)
		again.keptRuns.chooseRun(entries[0])
		if after := again.stage(); after != before {
			t.Errorf("%s: the run came back as\n%s\nand was\n%s", name, apart(after, before), apart(before, after))
		}
		if v := again.trials.view(); v.Step != 600 || v.Phase != done {
			t.Errorf("%s: the run bar shows %+v", name, v)
		}
		if again.trials.shown.model == nil {
			t.Errorf("%s: the model is gone", name)
		}
	}
}

// A question before the next run leaves the last one where it is, and so does a no.
func TestDeclinedRunLeavesTheLast(t *testing.T) {
	b, _ := newLedgerBench(t)
	b.run(t, 600, nil)
	before := b.stage()
	b.client.train = func(run.Config, bool) error {
		return &client.Fault{Message: "more than your limit", Kind: client.OverLimit}
	}
	b.trials.start()
	if b.ledger.Question() == nil || b.stage() != before || b.trials.view().Phase != done {
		t.Errorf("the question takes the result away:\n%s", b.stage())
	}
	b.trials.DeclineRun()
	if b.stage() != before {
		t.Errorf("“Do not run” takes the result away:\n%s", b.stage())
	}
}

// Stopped and failed runs are kept as what they are, with why they failed and what they
// are charged, however early that was; one that was stopped before it began is not.
func TestStoppedAndFailedRunsAreKept(t *testing.T) {
	b, _ := newShelfBench(t)
	b.client.planned = run.PlanInfo{Private: true, Epsilon: 2, Steps: 600}
	b.run(t, 312, nil)
	if s := b.stage(); !strings.Contains(s, "stopped after step 312 of 600") || strings.Contains(s, "finished") {
		t.Errorf("a stopped run shows as %s", s)
	}
	b.run(t, 40, errors.New("out of memory"))
	b.run(t, 0, nil)
	b.run(t, 0, errors.New("out of memory"))
	entries := b.keptRuns.entries()
	if len(entries) != 3 || entries[2].State != "stopped after step 312 of 600" {
		t.Fatalf("kept %+v", entries)
	}
	b.keptRuns.toggle()
	for i, want := range []string{"ended by an error before a step was seen", "ended by an error after step 40 of 600"} {
		if e := entries[i]; e.State != want || e.Fault != "It is charged for all 600 steps. out of memory" || e.cost() != "ε 2.00" || e.Score != "" {
			t.Errorf("%q, %q, %s, %q", e.State, e.Fault, e.cost(), e.Score)
		}
		if s := b.stage(); !strings.Contains(s, want) || strings.Count(s, "It is charged for all 600 steps. out of memory") != 2 {
			t.Errorf("the list shows %s", s)
		}
	}
	b.keptRuns.chooseRun(entries[0])
	if v := b.trials.view(); v.Phase != failed || v.Fault != "out of memory" || v.Step != 0 || !strings.Contains(b.stage(), "before a step was seen") {
		t.Errorf("a run that failed at once came back as %+v", v)
	}
	b.keptRuns.chooseRun(entries[1])
	if v := b.trials.view(); v.Phase != failed || v.Fault != "out of memory" || v.Step != 40 || b.trials.shown.result != nil || len(b.trials.panels()[0].Rows) < 2 {
		t.Errorf("a failed run came back as %+v", v)
	}
}

// While a run goes on another can be looked at, and the run bar stays with the one
// that goes on.
func TestTheRunBarStaysWithTheRunThatGoesOn(t *testing.T) {
	b, _ := newShelfBench(t)
	b.run(t, 600, nil)
	b.trials.start()
	r := b.client.runs[1]
	r.events([]run.Event{series.Example(7)})
	b.keptRuns.chooseRun(b.keptRuns.entries()[0])
	b.trials.pause()
	if v := b.trials.view(); v.Step != 7 || v.Phase != paused || b.trials.shown.result == nil || b.caption().Back == "" {
		t.Errorf("the run bar shows %+v, the stage %+v", v, b.caption())
	}
	b.trials.back()
	if b.trials.shown.result != nil || b.caption().Back != "" || !strings.HasPrefix(b.caption().Title, "Run in progress") {
		t.Errorf("back: %+v", b.caption())
	}
	if b.trials.reset(); len(r.calls) != 1 || b.trials.last.phase != paused {
		t.Errorf("Reset ended a run: %v", r.calls)
	}
}

// What cannot be stored stays in memory, is said, and is stored when there is room.
func TestRunsThatCannotBeStoredStayInMemory(t *testing.T) {
	b, k := newShelfBench(t)
	b.run(t, 600, nil)
	k.full = errors.New("The list of runs in this browser's storage cannot be used (it is full).")
	b.run(t, 312, nil)
	b.keptRuns.toggle()
	s := b.stage()
	for _, want := range []string{"it is full", "in memory", "1 is in memory alone", "on this device only", "diagnostic"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in %s", want, s)
		}
	}
	entries := b.keptRuns.entries()
	if len(entries) != 2 || len(k.entries) != 1 || !b.unsafe() {
		t.Fatalf("%d runs, %d stored, leaving asks: %t", len(entries), len(k.entries), b.unsafe())
	}
	b.trials.reset()
	b.keptRuns.chooseRun(entries[0])
	if b.trials.shown.result == nil || b.trials.shown.result.Steps != 312 {
		t.Errorf("the run in memory opens as %+v", b.trials.shown.result)
	}
	k.full = nil
	b.keptRuns.removeRun(entries[1].ID, false)
	b.keptRuns.removeRun(entries[1].ID, true)
	if entries = b.keptRuns.entries(); len(entries) != 1 || len(k.entries) != 1 || entries[0].Bytes == 0 || b.caption().Fault != "" || b.unsafe() {
		t.Errorf("with room: %+v, said %q, leaving asks: %t", entries, b.caption().Fault, b.unsafe())
	}
}

func TestDeletingARunAsks(t *testing.T) {
	b, k := newShelfBench(t)
	b.run(t, 600, nil)
	id := b.trials.shown.id
	b.keptRuns.removeRun(id, true)
	if len(k.entries) != 1 {
		t.Fatal("deleted unasked")
	}
	b.keptRuns.removeRun("", false)
	b.keptRuns.removeRun(id, true)
	if len(k.entries) != 1 {
		t.Fatal("deleted in spite of a no")
	}
	b.keptRuns.removeRun("another", false)
	b.keptRuns.removeRun(id, true)
	if len(k.entries) != 1 {
		t.Fatal("deleted though another was asked about")
	}
	b.keptRuns.removeRun(id, false)
	b.keptRuns.removeRun(id, true)
	if len(k.entries) != 0 || len(k.bodies) != 0 || len(b.keptRuns.entries()) != 0 || b.trials.shown.record != nil {
		t.Errorf("%d entries and %d runs are left, shown %+v", len(k.entries), len(k.bodies), b.trials.shown)
	}
}

// Runs of the list are drawn one over the other, with what they differ in.
func TestRunsAreCompared(t *testing.T) {
	b, k := newShelfBench(t)
	for i := range mostCompared + 1 {
		b.Set("learning_rate", "0."+strconv.Itoa(i+1))
		b.run(t, 20, nil)
	}
	b.keptRuns.toggle()
	list := b.keptRuns.entries() // the newest first
	if html := b.stage(); !strings.Contains(html, "Compare") || strings.Contains(html, "another run to compare") {
		t.Errorf("nothing is offered, or compared unasked: %s", html)
	}
	b.keptRuns.compare(list[0])
	if html := b.stage(); !strings.Contains(html, "Choose another run") || b.keptRuns.compared.charts != nil {
		t.Errorf("of one run: %s", html)
	}
	b.keptRuns.compare(list[1])
	html := strings.Join(strings.Fields(b.stage()), " ")
	for _, want := range []string{"1: dc-e · SGD,", "2: dc-e · SGD,", "η 0.7", "η 0.6", "Test accuracy", "Threshold C", "Compared: 1", "Compared: 2"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	if _, after, _ := strings.Cut(html, "1: dc-e"); strings.Contains(after, "digits, 6,000") {
		t.Errorf("what they have in common is said of each: %s", html)
	}
	if o := b.keptRuns.compared.charts[0]; len(o.Spec.Series) != 2 || len(o.Feed.Numbers) == 0 {
		t.Errorf("the chart has %d lines", len(o.Spec.Series))
	}

	// A place is kept, and taken again.
	b.keptRuns.compare(list[0])
	b.keptRuns.compare(list[2])
	if one, two := b.keptRuns.compared.place(list[2].ID), b.keptRuns.compared.place(list[1].ID); one != 0 || two != 1 {
		t.Errorf("places %d and %d", one, two)
	}
	for _, e := range []entry{list[0], list[3], list[4], list[5]} {
		b.keptRuns.compare(e)
	}
	if b.keptRuns.fault != "" {
		t.Fatalf("six runs: %s", b.keptRuns.fault)
	}
	b.keptRuns.compare(list[6])
	if !strings.Contains(b.keptRuns.fault, "as many as can be told apart") || b.keptRuns.compared.place(list[6].ID) >= 0 {
		t.Errorf("a seventh: %q", b.keptRuns.fault)
	}

	// What is deleted, here or in another tab, is not compared any more.
	b.keptRuns.removeRun(list[2].ID, false)
	b.keptRuns.removeRun(list[2].ID, true)
	k.DeleteRun(list[1].ID, func(error) {})
	if lanes, _ := b.keptRuns.compared.lanes(); len(lanes) != 4 || b.keptRuns.compared.place(list[1].ID) >= 0 || b.keptRuns.compared.place(list[2].ID) >= 0 {
		t.Errorf("%d are left: %v", len(lanes), lanes)
	}
	k.bodies = map[string]client.KeptRun{}
	b.keptRuns.compare(list[6])
	if b.keptRuns.fault != "no longer there" {
		t.Errorf("a run that cannot be read: %q", b.keptRuns.fault)
	}
}

// A run goes on with the data it has, and the other is for the next.
func TestOtherDataInMidRunIsForTheNext(t *testing.T) {
	b, _ := newShelfBench(t)
	b.trials.start()
	r := b.client.runs[0]
	r.events([]run.Event{series.Example(1)})
	made := b.caption().Made
	b.Set("data", "regression-vc")
	b.client.opens[1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Rows: 114, Task: data.Regression, Outputs: 1}}, nil)
	r.events([]run.Event{series.Example(2)})
	b.tick()
	if len(r.calls) > 0 || b.trials.last.phase != running || b.trials.view().Step != 2 {
		t.Errorf("the run was told %v and is %s", r.calls, b.trials.last.phase)
	}
	if c := b.caption(); !slices.Equal(c.Made, made) || !slices.Equal(c.Next, []form.Card{form.Data, form.Privacy}) {
		t.Errorf("the run was made of %q, is made of %q, next %q", made, c.Made, c.Next)
	}
	if p := b.trials.panels()[2]; len(p.Charts) != 2 {
		t.Error("the accuracy of a classification went with the data of a regression")
	}
	html := app.HTMLString(&caption{View: b.caption(), Actions: captioned{b.keptRuns, b.trials, b.takeShown, b.takeBounds, b.startFromShown}})
	if !strings.Contains(html, "Not as in this run: Data, Privacy. These settings are for the next run.") {
		t.Error(html)
	}
}

// Another file is other data, though the settings are the same.
func TestAnotherFileIsOtherData(t *testing.T) {
	b, _ := newShelfBench(t)
	for _, name := range []string{"a.csv", "b.csv"} {
		b.data.open(form.Files, filesNamed(name))
		b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Name: name, Rows: 900, Outputs: 2}}, nil)
		b.trials.start()
	}
	if next := b.caption().Next; len(b.client.runs) != 1 || !slices.Equal(next, []form.Card{form.Data}) {
		t.Errorf("%d runs, another file changes %v", len(b.client.runs), next)
	}
}

// The run bar, the summary and the figures of a run are its own, whatever is edited.
func TestEditsAreForTheNextRun(t *testing.T) {
	for _, taken := range []int{0, 5, 600} {
		b, _ := newShelfBench(t)
		b.trials.start()
		r := b.client.runs[0]
		for step := 1; step <= taken; step++ {
			r.events([]run.Event{series.Example(step)})
		}
		if taken == 600 {
			r.done(*exampleResult(), nil)
		}
		b.tick()
		made, bar := strings.Join(b.caption().Made, ", "), b.trials.view()
		if !strings.Contains(made, "C\u00a01,") || len(b.caption().Next) > 0 {
			t.Fatalf("%d steps: made of %s, next %v", taken, made, b.caption().Next)
		}
		b.Set("max_grad_norm", "5")
		b.tick()
		b.client.plans[len(b.client.plans)-1](run.PlanInfo{Steps: 7, Epsilon: 99}, nil)
		if now := strings.Join(b.caption().Made, ", "); now != made || !slices.Equal(b.caption().Next, []form.Card{form.Clipping}) {
			t.Errorf("%d steps: made of %s after an edit, next %v", taken, now, b.caption().Next)
		}
		if now := b.trials.view(); now.Steps != bar.Steps || now.Whole != bar.Whole {
			t.Errorf("%d steps: the run bar shows %+v, and showed %+v", taken, now, bar)
		}
		if f := b.exp.formFor(b, b.next()...); !slices.Equal(f.Next, []form.Card{form.Clipping}) {
			t.Errorf("%d steps: the cards say %v", taken, f.Next)
		}
		if taken == 600 {
			b.trials.reset()
			if f := b.exp.formFor(b, b.next()...); len(f.Next) > 0 {
				t.Errorf("without a run the cards say %v", f.Next)
			}
		}
		b.Set("max_grad_norm", "1")
		if next := b.caption().Next; len(next) > 0 {
			t.Errorf("%d steps: taken back, %v is for the next run", taken, next)
		}
	}
}

// The figure on the test rows after the end is the result's, wherever it stands.
func TestTheTestFigureIsTheResults(t *testing.T) {
	b, _ := newShelfBench(t)
	b.run(t, 600, nil)
	s := b.stage()
	if strings.Count(s, "91.2 %") < 2 || !strings.Contains(s, "91.2 % of 1,200 test rows") || strings.Contains(s, "of 1,000 test rows") {
		t.Errorf("the stage shows %s", s)
	}
}
