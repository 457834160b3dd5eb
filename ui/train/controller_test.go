package train

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/ui/cards"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeClient keeps what it was asked, and answers when the test says so.
type fakeClient struct {
	planned run.PlanInfo // of every run
	opens   []*openCall
	plans   []func(run.PlanInfo, error)
	runs    []*fakeRun
	train   func(run.Config, bool) error
	ready   []func(error)
	late    bool // the trainer is not ready when it is asked
}

type openCall struct {
	source   any
	progress func(source.Progress)
	done     func(client.Opened, error)
	aborted  bool
}

type fakeHandle struct{ closed bool }

func (h *fakeHandle) Close() { h.closed = true }

func (c *fakeClient) Ready(f func(error)) {
	if c.late {
		c.ready = append(c.ready, f)
		return
	}
	f(nil)
}

func (c *fakeClient) Open(source any, _ run.CSV, progress func(source.Progress), done func(client.Opened, error)) func() {
	o := &openCall{source: source, progress: progress, done: done}
	c.opens = append(c.opens, o)
	return func() { o.aborted = true }
}

func (c *fakeClient) Plan(_ run.Config, _ client.Handle, done func(run.PlanInfo, error)) {
	c.plans = append(c.plans, done)
}

func (c *fakeClient) Train(cfg run.Config, _ client.Handle, paused bool, started func(client.Run, error)) {
	if c.train != nil {
		if err := c.train(cfg, paused); err != nil {
			started(nil, err)
			return
		}
	}
	r := &fakeRun{cfg: cfg, plan: c.planned}
	c.runs = append(c.runs, r)
	started(r, nil)
}

type fakeRun struct {
	id     string // empty: its address
	cfg    run.Config
	calls  []string
	events func([]run.Event)
	place  func(run.Place)
	trial  func(run.Trial)
	party  func(run.PartyState)
	done   func(run.Result, error)
	plan   run.PlanInfo
	result *run.Result // for those who keep it

	replied func(run.ChangeReply, error) // to the last change

	written func(int)
	saved   func(error)
}

func (r *fakeRun) Pause()         { r.calls = append(r.calls, "pause") }
func (r *fakeRun) Resume()        { r.calls = append(r.calls, "resume") }
func (r *fakeRun) Step()          { r.calls = append(r.calls, "step") }
func (r *fakeRun) Stop()          { r.calls = append(r.calls, "stop") }
func (r *fakeRun) StartTogether() { r.calls = append(r.calls, "start together") }
func (r *fakeRun) Dispose()       { r.calls = append(r.calls, "dispose") }
func (r *fakeRun) Leave()         { r.calls = append(r.calls, "leave") }
func (r *fakeRun) Pace(perSecond float64) {
	r.calls = append(r.calls, fmt.Sprint("pace ", perSecond))
}

func (r *fakeRun) Change(c run.Change, done func(run.ChangeReply, error)) {
	r.calls = append(r.calls, fmt.Sprint("change ", c))
	r.replied = done
}

func (r *fakeRun) Named(string, *run.Config) app.Value { return nil }
func (r *fakeRun) ID() string                          { return cmp.Or(r.id, fmt.Sprintf("%p", r)) }
func (r *fakeRun) Plan() run.PlanInfo                  { return r.plan }
func (r *fakeRun) Watch(l client.Listener) {
	r.events, r.place, r.trial, r.party, r.done = l.Events, l.Place, l.Trial, l.Party, l.Done
}

func (r *fakeRun) Save(form, name string, _ *run.Config, written func(int), done func(error)) {
	r.calls = append(r.calls, "save "+form+" as "+name)
	r.written, r.saved = written, done
}

// fakeFiles is an array of File objects as far as the page looks at them.
type fakeFiles struct {
	app.Value
	names []string
}

func filesNamed(names ...string) app.Value { return fakeFiles{app.Null(), names} }

func (f fakeFiles) Length() int           { return len(f.names) }
func (f fakeFiles) Index(i int) app.Value { return fakeFile{app.Null(), f.names[i]} }

type fakeFile struct {
	app.Value
	name string
}

func (f fakeFile) Get(string) app.Value { return fakeText{app.Null(), f.name} }

type fakeText struct {
	app.Value
	text string
}

func (t fakeText) String() string { return t.text }

// bench is a session whose clock the test turns.
type bench struct {
	*Controller
	client *fakeClient
	queue  []*task
	clock  time.Time
}

type task struct {
	f       func()
	stopped bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := &fakeClient{}
	return benchOf(c, c)
}

// benchOf has a session whose client is as, which is fake or more.
func benchOf(as Client, fake *fakeClient) *bench {
	b := &bench{Controller: New(as), client: fake, clock: time.Date(2026, 11, 21, 14, 3, 25, 0, time.Local)}
	b.now = func() time.Time { return b.clock }
	b.after = func(_ time.Duration, f func()) func() bool {
		k := &task{f: f}
		b.queue = append(b.queue, k)
		return func() bool { k.stopped = true; return true }
	}
	b.beginWork()
	return b
}

// tick lets all the time pass that anything waits for.
func (b *bench) tick() {
	queue := b.queue
	b.queue = nil
	for _, k := range queue {
		if !k.stopped {
			k.f()
		}
	}
}

// load answers the newest opening with data of n rows.
func (b *bench) load(n int) *fakeHandle {
	h := &fakeHandle{}
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: h, Report: data.Report{Rows: n, Task: data.Classification, Outputs: 10}}, nil)
	return h
}

func TestFirstVisitIsOnePressFromARun(t *testing.T) {
	b := newBench(t)
	if len(b.client.opens) != 1 || b.client.opens[0].source != "digits" {
		t.Fatalf("opened %v", b.client.opens)
	}
	b.load(6000)
	b.trials.start()
	if len(b.client.runs) != 1 || b.client.runs[0].cfg.Data != "digits" || b.data.handle == nil {
		t.Fatalf("one press started %d runs", len(b.client.runs))
	}
	b.client.runs[0].events([]run.Event{series.Example(1), series.Example(2)})
	b.tick()
	if v := b.trials.view(); v.Phase != running || v.Step != 2 || v.Steps != 600 {
		t.Errorf("the run bar shows %+v", v)
	}
	if p := b.trials.panels(); p[0].Blank || p[0].Text == "" || len(p[0].Charts[0].Feed.Numbers) == 0 {
		t.Errorf("nothing is drawn: %+v", p[0])
	}
}

func TestWhatIsTypedWrongStaysAndChangesNothing(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	before := b.exp.cfg.MaxGradNorm
	b.Set("max_grad_norm", "1..5")
	b.Settle("max_grad_norm")
	f := b.exp.formFor(b)
	if f.Text("max_grad_norm") != "1..5" || f.Faults["max_grad_norm"] == "" || b.exp.cfg.MaxGradNorm != before {
		t.Errorf("text %q, fault %q, C %v", f.Text("max_grad_norm"), f.Faults["max_grad_norm"], b.exp.cfg.MaxGradNorm)
	}
	b.trials.start()
	if fault := b.trials.view().Fault; len(b.client.runs) != 0 || fault == "" || b.exp.openCard != form.Clipping {
		t.Errorf("a run started over a fault, or the fault is not shown: %d, %q, %q", len(b.client.runs), fault, b.exp.openCard)
	}
	b.Set("max_grad_norm", "1.5")
	if f := b.exp.formFor(b); len(f.Faults) != 0 || b.exp.cfg.MaxGradNorm != 1.5 {
		t.Errorf("faults %v, C %v", f.Faults, b.exp.cfg.MaxGradNorm)
	}
}

func TestAnEmptiedFieldDoesNotHandOverToAnother(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	for _, key := range []string{"target_epsilon", "noise_multiplier", "steps"} {
		b.Set(key, "3")
		before := b.exp.cfg
		b.Set(key, "")
		if f := b.exp.formFor(b); f.Faults[key] == "" || form.BudgetOf(&b.exp.cfg) != form.BudgetOf(&before) || form.LengthOf(&b.exp.cfg) != form.LengthOf(&before) {
			t.Errorf("%s emptied: faults %v, budget %s, length %s", key, f.Faults, form.BudgetOf(&b.exp.cfg), form.LengthOf(&b.exp.cfg))
		}
		b.Set(key, "4")
		if f := b.exp.formFor(b); len(f.Faults) != 0 {
			t.Errorf("%s filled again: faults %v", key, f.Faults)
		}
	}
}

// One question is put to the planner at a time, and what was edited meanwhile in one
// more.
func TestOnlyTheNewestPlanCounts(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.tick()
	for _, c := range []string{"2", "3", "4"} {
		b.Set("max_grad_norm", c)
		b.tick()
	}
	if n := len(b.client.plans); n != 1 {
		t.Fatalf("the planner was asked %d times before it answered", n)
	}
	b.client.plans[0](run.PlanInfo{Steps: 5}, nil)
	if n := len(b.client.plans); n != 2 || b.exp.plan != nil || !b.exp.planning {
		t.Fatalf("the planner was asked %d times, plan %+v", n, b.exp.plan)
	}
	b.client.plans[1](run.PlanInfo{Steps: 100, Warnings: []run.Warning{{Field: "scaling", Message: "a leak"}}}, nil)
	if f := b.exp.formFor(b); len(b.client.plans) != 2 || b.exp.plan.Steps != 100 || f.Warnings["scaling.kind"] != "a leak" || b.exp.planning {
		t.Errorf("plan %+v, warnings %v", b.exp.plan, f.Warnings)
	}
	if html := app.HTMLString(&runBar{View: b.trials.view(), Actions: b.trials, Setup: b.Controller}); !strings.Contains(html, "a warning to read before the run: see Data.") {
		t.Errorf("beside the button nothing says that there is a warning: %s", html)
	}
	note := run.Warning{Field: "max_grad_norm", Message: "it is not used", Note: true}
	for want, warnings := range map[string][]run.Warning{
		"There is a note to read before the run: see Clipping.":   {note},
		"There is a warning to read before the run: see Data.":    {note, {Field: "scaling", Message: "a leak"}},
		"There is a warning to read before the run: see Clipping": {note, {Field: "max_grad_norm", Message: "too large"}, note},
	} {
		b.exp.plan, b.exp.form = &run.PlanInfo{Steps: 100, Warnings: warnings}, nil
		html := app.HTMLString(&runBar{View: b.trials.view(), Actions: b.trials, Setup: b.Controller})
		if warned := len(warnings) > 1; !strings.Contains(html, want) || b.exp.formFor(b).Notes["max_grad_norm"] == (len(warnings) == 3) || strings.Contains(html, `class="warning`) != warned {
			t.Errorf("no %q in %s", want, html)
		}
	}
	b.exp.refuse(&client.Fault{Message: "model.layers: it takes tokens", Field: "model.layers"})
	html := app.HTMLString(&runBar{View: b.trials.view(), Actions: b.trials, Setup: b.Controller})
	for _, want := range []string{`class="fault"`, "There is a fault to mend before the run: see Model.", "not ready"} {
		if !strings.Contains(html, want) {
			t.Errorf("a setting is refused: no %q in %s", want, html)
		}
	}
}

// A length that was typed can be taken back: it follows from the data again.
func TestEmptiedEpochsFollowAgain(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.tick()
	b.Set("epochs", "7")
	b.Settle("epochs")
	b.Set("epochs", "")
	b.Settle("epochs")
	full := b.exp.full()
	if f := b.exp.formFor(b); b.exp.cfg.Epochs != 0 || full.Epochs == 0 || len(f.Faults) != 0 || f.Text("epochs") != form.Get(&full, "epochs") {
		t.Errorf("epochs %v, shown as %q, faults %v", full.Epochs, f.Text("epochs"), f.Faults)
	}
}

// What kept a run from starting is said no longer than it does.
func TestARefusalGoesWithItsReason(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.tick()
	b.Set("max_grad_norm", "x")
	b.trials.start()
	if v := b.trials.view(); v.Fault == "" {
		t.Error("a field is wrong, and nothing says why no run starts")
	}
	b.Set("max_grad_norm", "2")
	if v := b.trials.view(); v.Fault != "" {
		t.Errorf("the field is mended, and the page says %q", v.Fault)
	}
}

func TestTheFieldAtFaultIsNamed(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.tick()
	b.client.plans[len(b.client.plans)-1](run.PlanInfo{}, &client.Fault{Message: "noise_multiplier: must be above 0", Field: "noise_multiplier"})
	if f := b.exp.formFor(b); f.Faults["noise_multiplier"] != "must be above 0" || b.exp.plan != nil {
		t.Errorf("faults %v", f.Faults)
	}
	b.client.plans[len(b.client.plans)-1](run.PlanInfo{Steps: 1}, nil)
	if f := b.exp.formFor(b); len(f.Faults) != 0 || b.exp.plan == nil {
		t.Errorf("a fault of an earlier plan stays: %v", f.Faults)
	}
}

// blockedBy fails the test unless no run can begin, and says why.
func (b *bench) blockedBy(t *testing.T, want string) {
	t.Helper()
	n := len(b.client.runs)
	b.trials.start()
	b.trials.step()
	html := app.HTMLString(&runBar{View: b.trials.view(), Actions: b.trials, Setup: b.Controller})
	if len(b.client.runs) != n || !strings.Contains(html, want) || strings.Contains(html, `aria-disabled="false"`) || b.exp.openCard != form.Data {
		t.Errorf("%d runs began, the bar is %s", len(b.client.runs)-n, html)
	}
}

// No run begins on other data than the page names: what was open before is kept, and
// gone back to at a person's wish.
func TestABadFileLeavesTheDataInPlace(t *testing.T) {
	b := newBench(t)
	h := b.load(6000)
	b.tick()
	b.client.plans[0](run.PlanInfo{Steps: 5}, nil)
	b.Set("data", "moons")
	b.tick()
	if v := b.data.view(); !v.Slow || v.Source != "moons" {
		t.Errorf("while it loads the card shows %+v", v)
	}
	b.Open(form.Data)
	b.blockedBy(t, "The data is still being read.")
	b.client.opens[1].done(client.Opened{}, &client.Fault{Message: "moons, row 3: expected a number"})
	if v := b.data.view(); v.Fault == "" || v.Report != nil || v.Source != "moons" || h.closed || b.exp.cfg.Data != "digits" || b.exp.openCard != form.Data {
		t.Errorf("after an error the card shows %+v, closed %v, data %q", v, h.closed, b.exp.cfg.Data)
	}
	b.blockedBy(t, "There is no data to train on yet: see Data.")
	if b.tick(); b.exp.plan != nil || b.exp.planning || len(b.client.plans) != 1 {
		t.Errorf("planned for data that is not there: %+v", b.exp.plan)
	}
	b.data.CancelOpen()
	if v := b.data.view(); v.Fault != "" || v.Report == nil || v.Report.Rows != 6000 || v.Source != "digits" || b.data.lack() != "" {
		t.Errorf("gone back, the card shows %+v", v)
	}
	if b.tick(); len(b.client.plans) != 2 {
		t.Errorf("the planner was asked %d times", len(b.client.plans))
	}
	b.Set("data", "blobs")
	b.load(500)
	if v := b.data.view(); v.Fault != "" || v.Report.Rows != 500 || !h.closed || b.exp.cfg.Data != "blobs" {
		t.Errorf("after the next data the card shows %+v, closed %v", v, h.closed)
	}
	if b.trials.start(); len(b.client.runs) != 1 {
		t.Error("no run begins on data that is there")
	}
}

// A number of rows that is declared has those of a file held out each by itself, once, and not where
// a test file is given or the data is built in.
func TestDeclaredRowsAreHeldOutByThemselves(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Set("num_examples", "5000")
	if b.exp.cfg.CSV.HoldOut != "" || len(b.client.opens) != 1 {
		t.Errorf("built-in data is read anew: %+v", b.exp.cfg.CSV)
	}
	b.Set("num_examples", "")
	b.data.open(form.Files, filesNamed("rows.csv"))
	b.load(80)
	for _, text := range []string{"9", "90", ""} {
		b.Set("num_examples", text)
		if got := b.exp.cfg.CSV.HoldOut; got != "row" || len(b.client.opens) != 3 {
			t.Errorf("%q declared: held out by %q, read %d times", text, got, len(b.client.opens))
		}
		if text == "9" {
			b.load(80)
		}
	}
	c := newBench(t)
	c.load(6000)
	c.data.open(form.Files, filesNamed("rows.csv", "rows.test.csv"))
	c.load(80)
	c.data.report.Files = []data.FileRole{{Name: "rows.csv", Role: "train"}, {Name: "rows.test.csv", Role: "test"}}
	if c.Set("num_examples", "90"); c.exp.cfg.CSV.HoldOut != "" || len(c.client.opens) != 2 {
		t.Errorf("beside a test file rows are held out by %q", c.exp.cfg.CSV.HoldOut)
	}
}

// Whoever goes back to a table goes back to how it was read.
func TestATableIsGoneBackToAsItWasRead(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.data.open(form.Files, filesNamed("good.csv"))
	b.load(80)
	b.Set("csv.columns.a", "ignored")
	b.load(80)
	b.exp.cfg.CSV = run.CSV{} // as other files have it
	b.data.open(form.Files, filesNamed("bad.csv"))
	b.client.opens[len(b.client.opens)-1].done(client.Opened{}, &client.Fault{Message: "bad.csv, row 3: expected a number"})
	b.Set("csv.columns.b", "numeric")
	if len(b.exp.cfg.CSV.Columns) != 1 {
		t.Fatalf("the other table is read with %v", b.exp.cfg.CSV.Columns)
	}
	b.data.CancelOpen()
	if c := b.exp.cfg.CSV.Columns; len(c) != 1 || c["a"] != "ignored" || b.data.lack() != "" {
		t.Errorf("gone back, and the columns are %v", c)
	}
}

// Files that are chosen before anything can read them are read when it can.
func TestFilesWaitForTheTrainer(t *testing.T) {
	c := &fakeClient{late: true}
	b := benchOf(c, c)
	b.data.open(form.Files, filesNamed("cells.csv"))
	if len(b.client.opens) != 0 {
		t.Fatal("files were opened by a trainer that is not there")
	}
	b.client.ready[0](nil)
	if len(b.client.opens) != 1 || b.client.opens[0].source == "digits" {
		t.Fatalf("opened %v", b.client.opens)
	}
}

// Files that come before the first data are there, and cannot be read, leave the page
// without any until a person says so.
func TestABadFileBeforeAnyDataLeavesThePageWithout(t *testing.T) {
	b := newBench(t)
	b.data.open(form.Files, filesNamed("cells.csv"))
	b.client.opens[1].done(client.Opened{}, &client.Fault{Message: "cells.csv, row 4: expected a value"})
	if v := b.data.view(); len(b.client.opens) != 2 || v.Fault == "" || !v.Refused || v.Report != nil || v.Source != form.Files {
		t.Fatalf("opened %d times, the card shows %+v", len(b.client.opens), v)
	}
	b.blockedBy(t, "There is no data")
	b.data.CancelOpen()
	if n := len(b.client.opens); n != 3 || b.client.opens[2].source != "digits" {
		t.Fatalf("opened %d times", n)
	}
	b.load(6000)
	if v := b.data.view(); v.Fault != "" || v.Report == nil || v.Report.Rows != 6000 || b.data.name != "digits" {
		t.Errorf("the card shows %+v", v)
	}
}

// A link to files says how to read them, also when their reading was cancelled.
func TestCancelledFilesKeepTheLinksReading(t *testing.T) {
	c := &fakeClient{late: true}
	b := benchOf(c, c)
	b.replace(run.Config{Data: "files", CSV: run.CSV{Label: "y"}})
	b.client.ready[0](nil)
	b.data.open(form.Files, filesNamed("big.csv"))
	b.data.CancelOpen()
	if v := b.data.view(); v.Source != form.Files || v.Fault != "" || b.exp.cfg.CSV.Label != "y" || b.data.lack() == "" {
		t.Errorf("the card shows %+v, the label is %q", v, b.exp.cfg.CSV.Label)
	}
}

// Batches of more rows than there are, and a model for another task, give way
// to the data, and the card says so.
func TestWhatDoesNotSuitTheDataGivesWay(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.exp.cfg.Model.Kind, b.exp.cfg.ExpectedBatchSize = "softmax", 512
	if len(b.data.view().Suited) > 0 {
		t.Fatalf("changed without need: %v", b.data.view().Suited)
	}
	b.Set("data", "regression-vc")
	b.client.opens[1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Rows: 114, Task: data.Regression, Outputs: 1}}, nil)
	if b.exp.cfg.Model.Kind != "linear" || b.exp.cfg.ExpectedBatchSize != 12 || len(b.data.view().Suited) != 2 {
		t.Errorf("model %q, batches of %v, said %q", b.exp.cfg.Model.Kind, b.exp.cfg.ExpectedBatchSize, b.data.view().Suited)
	}
	b.Set("data", "moons")
	b.load(6000)
	if b.exp.cfg.Model.Kind != "softmax" || b.exp.cfg.ExpectedBatchSize != 12 || len(b.data.view().Suited) != 1 {
		t.Errorf("model %q, batches of %v, said %q", b.exp.cfg.Model.Kind, b.exp.cfg.ExpectedBatchSize, b.data.view().Suited)
	}
}

// A table that is refused can be read in another way; what is known of its
// columns is shown though the data in use is another.
func TestARefusedTableIsReadAgain(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	files := filesNamed("cells.csv")
	b.data.open(form.Files, files)
	b.client.opens[1].done(client.Opened{}, &client.Refusal{Fault: &client.Fault{Message: "cells.csv, row 4: expected a value"}, Report: &data.Report{Columns: []data.Column{{Name: "a", Missing: 3}}}})
	if v := b.data.view(); !v.Refused || v.Table == nil || v.Table.Columns[0].Missing != 3 || v.Report != nil || v.Fault == "" || v.Source != form.Files {
		t.Fatalf("the card shows %+v", v)
	}
	b.blockedBy(t, "There is no data")
	b.Set("csv.missing", "drop")
	if n := len(b.client.opens); n != 3 || b.client.opens[2].source == "digits" || b.exp.cfg.CSV.Missing != "drop" {
		t.Fatalf("opened %d times, csv %+v", n, b.exp.cfg.CSV)
	}
	b.load(80)
	if v := b.data.view(); v.Refused || v.Fault != "" || v.Report.Rows != 80 || b.exp.cfg.Data != form.Files {
		t.Errorf("the card shows %+v", v)
	}
}

func TestRefusedImagesAreNotTables(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.data.open(form.Files, filesNamed("train-images-idx3-ubyte.gz"))
	b.client.opens[1].done(client.Opened{}, &client.Fault{Message: "cut short"})
	if v := b.data.view(); v.Refused || v.Table != nil || v.Fault == "" {
		t.Errorf("the card shows %+v", v)
	}
}

func TestCancelledLoadingIsNoError(t *testing.T) {
	b := newBench(t)
	h := b.load(6000)
	b.Set("data", "moons")
	b.data.CancelOpen()
	late := &fakeHandle{}
	b.client.opens[1].done(client.Opened{Handle: late, Report: data.Report{Rows: 1}}, nil)
	if !b.client.opens[1].aborted || !late.closed || h.closed || b.data.report.Rows != 6000 || b.data.fault != "" {
		t.Errorf("aborted %v, late closed %v, earlier closed %v, report %+v, fault %q", b.client.opens[1].aborted, late.closed, h.closed, b.data.report, b.data.fault)
	}
	b.Set("data", "moons")
	b.client.opens[2].done(client.Opened{}, client.ErrAborted)
	if b.data.fault != "" {
		t.Errorf("a cancelled opening is called an error: %q", b.data.fault)
	}
}

func TestALinkMadeWithFilesAsksForThem(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.replace(run.Config{Data: "files", Method: "psac"})
	if v := b.data.view(); v.Fault == "" || v.Report != nil || v.Source != form.Files || b.exp.openCard != form.Data || b.exp.cfg.Method != "psac" {
		t.Errorf("the card shows %+v, card %q", v, b.exp.openCard)
	}
	b.blockedBy(t, "There is no data")
	b.data.CancelOpen()
	if v := b.data.view(); v.Source != "digits" || b.exp.cfg.Data != "digits" || b.exp.cfg.Method != "psac" || b.data.lack() != "" {
		t.Errorf("gone back, the card shows %+v, the configuration has %q", v, b.exp.cfg.Data)
	}
	b.replace(run.Config{Data: "files"})
	b.replace(run.Config{Data: "digits"})
	b.load(6000)
	if v := b.data.view(); v.Fault != "" || v.Source != "digits" || b.data.lack() != "" {
		t.Errorf("the card shows %+v", v)
	}
}

// A link that reads the open files in another way has them read again.
func TestALinkReadsTheOpenFilesAsItSays(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.data.choose(filesNamed("a.csv"))
	b.load(50)
	n := len(b.client.opens)
	b.replace(run.Config{Data: "files", CSV: run.CSV{Label: "b"}})
	if len(b.client.opens) != n+1 || b.exp.cfg.CSV.Label != "b" {
		t.Errorf("%d openings, label %q", len(b.client.opens)-n, b.exp.cfg.CSV.Label)
	}
	b.load(50)
	b.replace(run.Config{Data: "files", CSV: run.CSV{Label: "b"}, Method: "psac"})
	if len(b.client.opens) != n+1 {
		t.Error("files that are read so already are read again")
	}
}

// TestBoughtBoundsAreTaken: of columns of the table at hand, beside those that are declared, from a run with a guarantee.
func TestBoughtBoundsAreTaken(t *testing.T) {
	b := newBench(t)
	b.client.planned.Private = true
	b.Set("csv.bounds.age", "0 … 120")
	b.data.open(form.Files, filesNamed("rows.csv"))
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Rows: 600, Task: data.Classification, Features: 2, Outputs: 2, Columns: []data.Column{
		{Name: "age", Kind: data.Numeric, Bounds: &data.Bound{Hi: 120}}, {Name: "income", Kind: data.Numeric, First: 1}, {Name: "city", Kind: data.Ignored, First: -1},
	}}}, nil)
	b.tick()
	b.trials.start()
	b.client.runs[0].events([]run.Event{series.Example(1)})
	made := run.Result{Steps: 1, PlannedSteps: 1, Released: run.Summary{Bounds: map[string]run.Bounds{"age": {Lo: 1, Hi: 64}, "income": {Lo: -8, Hi: 4096}, "of another table": {Hi: 1}}}}
	b.client.runs[0].done(made, nil)
	shown := func() string {
		return app.HTMLString(&caption{View: b.caption(), Actions: captioned{b.keptRuns, b.trials, b.takeShown, b.takeBounds, b.startFromShown}})
	}
	if b.caption().Bought != 1 || !strings.Contains(shown(), "Take its bounds") {
		t.Fatalf("%d columns: %s", b.caption().Bought, shown())
	}
	opened := len(b.client.opens)
	b.takeBounds()
	if got, want := b.exp.cfg.CSV.Bounds, map[string]run.Bounds{"age": {Hi: 120}, "income": {Lo: -8, Hi: 4096}}; !maps.Equal(got, want) || len(b.client.opens) != opened+1 {
		t.Errorf("declared are %v, and the table is read %d times anew", got, len(b.client.opens)-opened)
	}
	b.trials.shown.record.Plan.Private = false
	if n := b.caption().Bought; n != 0 {
		t.Errorf("of a run without a guarantee %d columns", n)
	}
}

// The settings of a run come back whole, and its files by name.
func TestTheSettingsOfARunAreTaken(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Set("method", "psac")
	b.Set("learning_rate", "0.25")
	b.trials.start()
	made := b.exp.full()
	b.client.runs[0].events([]run.Event{series.Example(1)})
	b.client.runs[0].done(run.Result{Steps: 1, Stopped: true}, nil)
	b.Set("method", "constant")
	b.Set("data", "moons")
	b.load(300)
	if html := app.HTMLString(&caption{View: b.caption(), Actions: captioned{b.keptRuns, b.trials, b.takeShown, b.takeBounds, b.startFromShown}}); !strings.Contains(html, "Take these settings") {
		t.Error("its settings are not offered")
	}
	b.takeShown()
	b.load(6000)
	if got := b.exp.full(); !reflect.DeepEqual(got, made) {
		t.Errorf("taken %+v, made with %+v", got, made)
	}
	if len(b.caption().Next) != 0 {
		t.Errorf("and %v differ", b.caption().Next)
	}
	b.take(run.Config{Data: form.Files}, run.Facts{}, "patients.csv")
	if !strings.Contains(b.data.fault, "Choose patients.csv here again") {
		t.Errorf("said %q", b.data.fault)
	}
}

// checking is a client that knows what the page saves.
type checking struct {
	*fakeClient
	verdict run.Verdict
}

func (c checking) Recognise(_ app.Value, done func(run.Verdict, error)) func() {
	var err error
	if c.verdict.Kind == "" {
		err = errors.New("unknown")
	}
	done(c.verdict, err)
	return func() {}
}

// A file that the page saves is told from one of rows, and what it is good for is offered.
func TestWhatThePageSavesIsRecognised(t *testing.T) {
	cfg := run.Config{Method: "psac", LearningRate: 0.25}
	for _, c := range []struct {
		name     string
		verdict  run.Verdict
		saved    bool
		settings bool
	}{
		{"run.json", run.Verdict{Kind: "run, JSON", Config: &cfg}, true, true},
		{"statement.txt", run.Verdict{Kind: "privacy statement, text"}, true, false},
		{"notes.txt", run.Verdict{}, false, false},
		{"rows.csv", run.Verdict{Kind: "run, CSV"}, false, false},
	} {
		fake := &fakeClient{}
		b := benchOf(checking{fake, c.verdict}, fake)
		b.load(6000)
		b.data.choose(filesNamed(c.name))
		fake.opens[len(fake.opens)-1].done(client.Opened{}, errors.New("stray quote"))
		v := b.data.view()
		if v.Saved != c.saved || v.Settings != c.settings || c.saved == strings.Contains(v.Fault, "stray quote") {
			t.Errorf("%s: %+v", c.name, v)
		}
		b.data.TakeSaved()
		if taken := b.exp.cfg.Method == "psac" && b.data.view().Fault == "" && b.exp.full().Data == "digits"; taken != c.settings {
			t.Errorf("%s: taken %v: method %q, fault %q", c.name, taken, b.exp.cfg.Method, b.data.fault)
		}
	}
}

// slowly is a client that has not yet told what a file is.
type slowly struct {
	*fakeClient
	done     *func(run.Verdict, error)
	canceled *int
}

func (c slowly) Recognise(_ app.Value, done func(run.Verdict, error)) func() {
	*c.done = done
	return func() { *c.canceled++ }
}

// While a refused file is looked at the card says so, until that is known, called off or of no more interest.
func TestLookingAtARefusedFileIsShown(t *testing.T) {
	cfg := run.Config{Method: "psac"}
	known := run.Verdict{Kind: "run, JSON", Config: &cfg}
	for name, tc := range map[string]struct {
		ends     func(*bench, func(run.Verdict, error))
		saved    bool
		canceled int
		fault    string
	}{
		"recognised":  {func(_ *bench, done func(run.Verdict, error)) { done(known, nil) }, true, 0, "this page saved it"},
		"not its own": {func(_ *bench, done func(run.Verdict, error)) { done(run.Verdict{}, errors.New("unknown")) }, false, 0, "stray quote"},
		"Esc": {func(b *bench, done func(run.Verdict, error)) {
			b.data.StopLooking()
			done(known, nil) // too late
		}, false, 1, "stray quote"},
		"another choice": {func(b *bench, done func(run.Verdict, error)) {
			b.data.choose(filesNamed("rows.csv"))
			done(known, nil)
		}, false, 1, ""},
		"going back": {func(b *bench, done func(run.Verdict, error)) {
			b.data.CancelOpen()
			done(known, nil)
		}, false, 1, ""},
	} {
		fake, canceled := &fakeClient{}, 0
		var done func(run.Verdict, error)
		b := benchOf(slowly{fake, &done, &canceled}, fake)
		b.load(6000)
		b.data.choose(filesNamed("run.json"))
		fake.opens[len(fake.opens)-1].done(client.Opened{}, errors.New("stray quote"))
		if v := b.data.view(); v.Looking {
			t.Errorf("%s: shown at once", name)
		}
		b.tick()
		if v := b.data.view(); !v.Looking || !strings.Contains(v.Fault, "stray quote") {
			t.Errorf("%s: while it is looked at the card shows %+v", name, v)
		}
		tc.ends(b, done)
		b.tick()
		if v := b.data.view(); v.Looking || v.Saved != tc.saved || canceled != tc.canceled || !strings.Contains(v.Fault, tc.fault) || tc.fault == "" && v.Fault != "" {
			t.Errorf("%s: in the end canceled %d times, the card shows %+v", name, canceled, v)
		}
	}
}

// A file's settings are read as a link's: what is not understood is left out, and named. The note of an earlier
// link goes.
func TestSettingsOfAFileAreReadAsALink(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.address.lost = "of a link before"
	b.takeSaved(run.Config{Data: "../x", Method: "nosuch", Backend: "<b>", LearningRate: 0.25, Params: map[string]float64{"p1": 1}})
	if got := b.exp.cfg; got.Data != "" || got.Method != "" || got.Backend != "" || len(got.Params) > 0 || got.LearningRate != 0.25 {
		t.Errorf("taken %+v", got)
	}
	for _, name := range []string{"in this file", "data", "method", "backend", "p1"} {
		if !strings.Contains(b.address.lost, name) {
			t.Errorf("%s is not in %q", name, b.address.lost)
		}
	}
	b.takeSaved(run.Config{Method: "psac"})
	if b.address.lost != "" || b.exp.cfg.Method != "psac" {
		t.Errorf("%q of settings that are understood, method %q", b.address.lost, b.exp.cfg.Method)
	}
}

func TestARunFromStartToEnd(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.trials.start()
	r := b.client.runs[0]
	r.events([]run.Event{series.Example(1)})
	b.trials.pause()
	b.trials.step()
	b.trials.start() // resumes
	b.trials.stop()
	b.trials.stop()
	r.done(run.Result{Steps: 1, Stopped: true, Epsilon: 0.5, TestAccuracy: run.Number(math.NaN())}, nil)
	if got := strings.Join(r.calls, " "); got != "pause step resume stop" {
		t.Errorf("the run was told %q", got)
	}
	if b.trials.last.phase != done || b.trials.last.result == nil || b.trials.last.record.Len() != 1 {
		t.Errorf("phase %q, result %+v", b.trials.last.phase, b.trials.last.result)
	}
	b.trials.start()
	if r.calls[len(r.calls)-1] != "dispose" || b.trials.last.phase != running || b.trials.last.result != nil || b.trials.last.record.Len() != 0 {
		t.Errorf("the second run began with %+v", b.trials.last)
	}
	r.events([]run.Event{series.Example(9)})
	r.done(run.Result{}, errors.New("late"))
	if b.trials.last.phase != running || b.trials.last.record.Len() != 0 {
		t.Error("an earlier run still speaks")
	}
}

func TestStepBeforeStartTakesOneStep(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	asked := false
	b.client.train = func(_ run.Config, paused bool) error { asked = paused; return nil }
	b.trials.step()
	if !asked || b.trials.last.phase != paused || strings.Join(b.client.runs[0].calls, " ") != "step" {
		t.Errorf("paused %v, phase %q, told %v", asked, b.trials.last.phase, b.client.runs[0].calls)
	}
}

func TestACrashKeepsEverythingElse(t *testing.T) {
	b := newBench(t)
	h := b.load(6000)
	b.trials.start()
	b.client.runs[0].events([]run.Event{series.Example(1)})
	b.client.runs[0].done(run.Result{}, &client.Fault{Message: "out of memory"})
	if b.trials.last.phase != failed || b.trials.last.fault != "out of memory" || h.closed || b.trials.last.record.Len() != 1 {
		t.Errorf("phase %q, fault %q, closed %v", b.trials.last.phase, b.trials.last.fault, h.closed)
	}
	b.trials.start()
	if len(b.client.runs) != 2 || b.trials.last.phase != running || b.trials.last.fault != "" {
		t.Error("another run does not start after a crash")
	}
}

func TestARefusedRunShowsWhere(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.client.train = func(run.Config, bool) error {
		return &client.Fault{Message: "must be at most N", Field: "expected_batch_size"}
	}
	b.trials.start()
	if f := b.exp.formFor(b); f.Faults["expected_batch_size"] == "" || b.exp.openCard != form.Privacy || b.trials.last.phase != idle {
		t.Errorf("faults %v, card %q, phase %q", f.Faults, b.exp.openCard, b.trials.last.phase)
	}
}

func TestAnotherMethodDropsParametersItDoesNotTake(t *testing.T) {
	b := newBench(t)
	b.Set("method", "psac")
	b.Set("r", "0.5")
	if b.exp.cfg.Params["r"] != 0.5 {
		t.Fatalf("parameters %v", b.exp.cfg.Params)
	}
	b.Set("method", "constant")
	if len(b.exp.cfg.Params) != 0 {
		t.Errorf("parameters %v are left for a method without any", b.exp.cfg.Params)
	}
}

func TestTheBudgetChangesSidesWithoutAJump(t *testing.T) {
	b := newBench(t)
	b.exp.plan = &run.PlanInfo{NoiseMultiplier: 1.23456, Epsilon: 2.3456, Steps: 700}
	b.Set("budget", "noise_multiplier")
	if c := b.exp.cfg; c.TargetEpsilon != nil || c.NoiseMultiplier == nil || *c.NoiseMultiplier != 1.23 {
		t.Errorf("σ: %+v", c)
	}
	b.exp.plan = &run.PlanInfo{NoiseMultiplier: 1.23, Epsilon: 2.3456, Steps: 700}
	b.Set("budget", "target_epsilon")
	if c := b.exp.cfg; c.NoiseMultiplier != nil || c.TargetEpsilon == nil || *c.TargetEpsilon != 2.3 {
		t.Errorf("ε: %+v", c)
	}
	b.Set("budget", "no_privacy")
	if c := b.exp.cfg; !c.NoPrivacy || c.NoiseMultiplier == nil || *c.NoiseMultiplier != 0 || form.BudgetOf(&c) != "no_privacy" {
		t.Errorf("none: %+v", c)
	}
	b.exp.plan = &run.PlanInfo{Steps: 700}
	b.Set("budget", "target_epsilon")
	if c := b.exp.cfg; c.NoPrivacy || c.TargetEpsilon == nil || *c.TargetEpsilon != 2.3 {
		t.Errorf("ε again after no noise: %+v", c)
	}
	b.Set("length", "steps")
	if c := b.exp.cfg; c.Steps != 700 || c.Epochs != 0 {
		t.Errorf("steps: %+v", c)
	}
}

func TestReplacingTheConfigurationRemakesTheCards(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Set("learning_rate", "0.3x")
	before := (&cards.Optimiser{Form: b.exp.formFor(b)}).CompoID()
	b.replace(run.Config{LearningRate: 2})
	f := b.exp.formFor(b)
	if (&cards.Optimiser{Form: f}).CompoID() == before || f.Text("learning_rate") != "2" || len(f.Faults) != 0 {
		t.Errorf("id %q, text %q, faults %v", before, f.Text("learning_rate"), f.Faults)
	}
}

// What is wrong first on the page is what is shown, whatever else is wrong.
func TestTheFirstFaultIsShown(t *testing.T) {
	for range 20 { // the order of a map is another each time
		b := newBench(t)
		b.load(6000)
		for _, key := range []string{"momentum", "target_delta", "model.hidden", "max_grad_norm"} {
			b.Set(key, "?")
		}
		b.trials.start()
		if b.exp.openCard != form.Model {
			t.Fatalf("opened %q", b.exp.openCard)
		}
	}
}

// The seed stands on no card: a fault in it opens none and closes none.
func TestAFaultInTheSeedLeavesTheCards(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.Open(form.Optimiser)
	b.Set("seed", "-1")
	b.trials.start()
	if fault := b.trials.view().Fault; b.exp.openCard != form.Optimiser || fault == "" {
		t.Errorf("opened %q, said %q", b.exp.openCard, fault)
	}
}

// A column may have no name; its kind decides how the file is read all the same.
func TestAColumnWithoutANameIsReadAgain(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.data.open(form.Files, filesNamed("a.csv"))
	b.load(80)
	n := len(b.client.opens)
	b.Set("csv.columns.", "ignored")
	if len(b.client.opens) != n+1 || b.exp.cfg.CSV.Columns[""] != "ignored" {
		t.Errorf("opened %d times, columns %v", len(b.client.opens)-n, b.exp.cfg.CSV.Columns)
	}
}

func showsCurves(s *Controller) bool {
	return slices.ContainsFunc(s.trials.panels(), func(p *chart.Panel) bool { return p.ID == "curves" })
}

// The curves go with the rule, by whatever name it was chosen.
func TestCurvesGoWithTheRule(t *testing.T) {
	for _, c := range []struct {
		cfg  run.Config
		want bool
	}{
		{run.Config{Method: "dc-e"}, true}, {run.Config{Method: "psac", Threshold: "dc-e"}, true},
		{run.Config{Method: "dc-e", Threshold: "quantile"}, false}, {run.Config{Method: "constant"}, false},
	} {
		s := New(nil)
		s.exp.cfg = c.cfg
		if showsCurves(s) != c.want {
			t.Errorf("%s with rule %q: curves %t", c.cfg.Method, c.cfg.Threshold, showsCurves(s))
		}
	}
}

// A fault in a field that another choice takes away keeps nothing from running.
func TestAFaultGoesWithItsField(t *testing.T) {
	for _, c := range [][4]string{
		{"target_epsilon", "", form.Budget, "noise_multiplier"}, {"epochs", "?", form.Length, "steps"},
		{"learning_rate", "0.3x", "optimizer", "adam"}, {"sigma_h", "?", "method", "constant"},
	} {
		b := newBench(t)
		b.load(6000)
		b.Set("method", "dc-e")
		b.Set(c[0], c[1])
		b.trials.start()
		if len(b.client.runs) != 0 {
			t.Fatalf("%s: a run started over a fault", c[0])
		}
		b.Set(c[2], c[3])
		b.trials.start()
		if len(b.client.runs) != 1 || b.exp.formFor(b).Faults[c[0]] != "" {
			t.Errorf("%s is gone and still at fault: %v", c[0], b.exp.faults)
		}
	}
}

// What a preset has set for its own data gives way to files, but for the budget and
// what was changed; then the form says that it follows. What a link names stays.
func TestAnExampleGivesWayToFiles(t *testing.T) {
	table := func(b *bench) {
		b.data.open(form.Files, filesNamed("table.csv"))
		last := b.client.opens[len(b.client.opens)-1]
		last.done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Format: "csv", Task: data.Classification, Rows: 4000, Features: 2, Outputs: 2,
			Columns: []data.Column{{Name: "a", Kind: data.Numeric}, {Name: "b", Kind: data.Numeric, First: 1}, {Name: "c", Kind: data.Label, First: -1}}}}, nil)
	}
	b := newBench(t)
	b.load(6000)
	b.Set("learning_rate", "0.7")
	b.Settle("learning_rate")
	table(b)
	c, full := b.exp.cfg, b.exp.full()
	if c.Method != "" || c.ExpectedBatchSize != 0 || c.Epochs != 0 || c.Model.Kind != "" || c.TargetEpsilon == nil || *c.TargetEpsilon != 4 || c.LearningRate != 0.7 {
		t.Errorf("of the example is left %+v", c)
	}
	if full.Method != "constant" || full.ExpectedBatchSize != 1000 || full.Epochs != 75 || full.Optimizer != "sgd" {
		t.Errorf("it becomes %+v", full)
	}
	if said := strings.Join(b.data.view().Suited, " "); !strings.Contains(said, "follow from your data and ε") {
		t.Errorf("the card says %q", said)
	}

	b = newBench(t)
	b.load(6000)
	b.replace(run.Config{Data: "digits", Method: "dc-e", ExpectedBatchSize: 512, Epochs: 60})
	table(b)
	if c := b.exp.cfg; c.Method != "dc-e" || c.ExpectedBatchSize != 512 || c.Epochs != 60 || len(b.data.view().Suited) > 0 {
		t.Errorf("of the link is left %+v, and said %q", c, b.data.view().Suited)
	}
}

// TestALabelColumnStaysOne: the label column of a table stays a label where another column becomes one, and would be a
// feature otherwise; the task of one label is forgotten.
func TestALabelColumnStaysOne(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.data.open(form.Files, filesNamed("good.csv"))
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{
		Format: "csv", Task: data.Classification, Rows: 80, Features: 2, Outputs: 2, Label: "c", Columns: []data.Column{{Name: "a"}, {Name: "b"}, {Name: "c", Kind: data.Label}},
	}}, nil)
	b.exp.cfg.CSV.Task = "classification"
	b.Set("csv.columns.a", "ignored")
	if c := b.exp.cfg.CSV; c.Label != "" || c.Task != "classification" {
		t.Errorf("an ignored column changes %+v", c)
	}
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{
		Format: "csv", Task: data.Classification, Rows: 80, Features: 2, Outputs: 2, Label: "c", Columns: []data.Column{{Name: "a"}, {Name: "b"}, {Name: "c", Kind: data.Label}},
	}}, nil)
	before := b.exp.cfg
	b.Set("csv.task", "multi-label")
	if c := b.exp.cfg.CSV; c.Label != "c" || c.Task != "multi-label" {
		t.Errorf("where several labels are asked for the table is read with %+v", c)
	}
	b.exp.cfg = before
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{
		Format: "csv", Task: data.Classification, Rows: 80, Features: 2, Outputs: 2, Label: "c", Columns: []data.Column{{Name: "a"}, {Name: "b"}, {Name: "c", Kind: data.Label}},
	}}, nil)
	b.Set("csv.columns.b", "label")
	if c := b.exp.cfg.CSV; c.Label != "c" || c.Task != "" || c.Columns["b"] != "label" {
		t.Errorf("beside a new label the table is read with %+v", c)
	}
}
