package train

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/ledger"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeLedger is a ledger that answers when the test says so.
type fakeLedger struct {
	calls   []ledgerCall
	watcher func()
	anyway  []func(client.Run, error)
}

type ledgerCall struct {
	function string
	args     []any
	done     func([]byte, error)
}

func (l *fakeLedger) Ledger(function string, done func([]byte, error), args ...any) {
	l.calls = append(l.calls, ledgerCall{function, args, done})
}

func (l *fakeLedger) WatchLedger(f func()) { l.watcher = f }

func (l *fakeLedger) TrainAnyway(_ run.Config, _ client.Handle, _ bool, started func(client.Run, error)) {
	l.anyway = append(l.anyway, started)
}

func (l *fakeLedger) take(t *testing.T) ledgerCall {
	t.Helper()
	if len(l.calls) == 0 {
		t.Fatal("the ledger was not asked")
	}
	c := l.calls[0]
	l.calls = l.calls[1:]
	return c
}

// newLedgerBench has files open, a plan, and a ledger that was asked about them.
func newLedgerBench(t *testing.T) (*bench, *fakeLedger) {
	t.Helper()
	l := &fakeLedger{}
	c := &fakeClient{}
	b := benchOf(struct {
		*fakeClient
		*fakeLedger
	}{c, l}, c)
	b.load(6000)
	b.data.open(form.Files, filesNamed("a.csv"))
	b.client.opens[len(b.client.opens)-1].done(client.Opened{Handle: &fakeHandle{}, Report: data.Report{Rows: 100, Task: data.Classification, Outputs: 2}}, nil)
	b.plans(t, run.PlanInfo{Steps: 40, Events: run.Events{PerStep: json.RawMessage(`{"kind":"gaussian","noise_multiplier":1}`)}})
	return b, l
}

// plans answers the newest question to the planner.
func (b *bench) plans(t *testing.T, p run.PlanInfo) {
	t.Helper()
	b.tick()
	if len(b.client.plans) == 0 {
		t.Fatal("the planner was not asked")
	}
	b.client.plans[len(b.client.plans)-1](p, nil)
}

func TestLedgerFollowsTheFiles(t *testing.T) {
	b, l := newLedgerBench(t)
	c := l.take(t)
	next, _ := c.args[1].(run.Entry)
	if c.function != "total" || c.args[0] != b.data.handle || next.Steps != 40 || !next.Unprotected {
		t.Fatalf("asked %s %v", c.function, c.args)
	}
	c.done([]byte(`{"runs":["x"],"open":1,"unprotected":0,"epsilon":1.5,"delta":1e-5,"next_epsilon":2.5,"limit":2}`), nil)
	html := app.HTMLString(&ledger.Block{View: b.ledger.View(), Actions: b.ledger})
	for _, want := range []string{"1.50", "2.50", `class="over"`, "all of its planned steps", `value="2"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	// A change while it is asked leads to one more question, not to many.
	l.watcher()
	l.watcher()
	l.watcher()
	if len(l.calls) != 1 {
		t.Fatalf("%d questions at once", len(l.calls))
	}
	l.take(t).done([]byte(`{"runs":[],"epsilon":9,"delta":1e-5}`), nil)
	if b.ledger.View().Total.Epsilon == 9 {
		t.Error("an answer from before the change is shown")
	}
	l.take(t).done(nil, errors.New("no storage"))
	if b.ledger.View().Fault != "no storage" {
		t.Errorf("%+v", b.ledger.View())
	}
	l.watcher()
	l.take(t).done([]byte(`{"runs":["x","y"],"unprotected":1,"epsilon":{"$numberDouble":"Infinity"},"guaranteed_epsilon":3.9981,"delta":1e-5,"next_epsilon":{"$numberDouble":"Infinity"}}`), nil)
	html = app.HTMLString(&ledger.Block{View: b.ledger.View(), Actions: b.ledger})
	for _, want := range []string{`<dd id="ledger-spent">∞`, "ε = ∞: 1 of these 2 runs has no guarantee. The other has spent 4.00.", "with a guarantee"} {
		if !strings.Contains(strings.ReplaceAll(html, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	b.data.openNamed("moons")
	b.load(100)
	b.plans(t, run.PlanInfo{Steps: 40})
	if len(l.calls) > 0 || b.ledger.View().Shown {
		t.Error("built-in data has a ledger")
	}
}

func TestOverTheLimitIsAsked(t *testing.T)        { asksBeforeARun(t, client.OverLimit) }
func TestRunWithoutGuaranteeIsAsked(t *testing.T) { asksBeforeARun(t, client.NoGuarantee) }

// asksBeforeARun has a run refused as kind says, and tries both answers.
func asksBeforeARun(t *testing.T, kind string) {
	b, l := newLedgerBench(t)
	refuse := true
	b.client.train = func(run.Config, bool) error {
		if refuse {
			return &client.Fault{Message: "more than your limit", Kind: kind}
		}
		return nil
	}
	b.trials.start()
	if q := b.ledger.Question(); q == nil || q.Kind != kind || b.trials.last.phase != idle || b.trials.last.fault != "" {
		t.Fatalf("asks %+v, phase %s, fault %q", q, b.trials.last.phase, b.trials.last.fault)
	}
	b.trials.DeclineRun()
	if b.ledger.Question() != nil || len(l.anyway) > 0 {
		t.Fatal("declining did not end it")
	}
	b.trials.start()
	b.trials.ConfirmRun()
	if b.ledger.Question() != nil || len(l.anyway) != 1 || b.trials.last.phase != starting {
		t.Fatalf("confirming started %d runs, phase %s", len(l.anyway), b.trials.last.phase)
	}
	r := &fakeRun{}
	l.anyway[0](r, nil)
	if b.trials.last.phase != running {
		t.Errorf("phase %s", b.trials.last.phase)
	}
	// A confirmation is for one run.
	r.done(run.Result{}, nil)
	b.trials.start()
	if b.ledger.Question() == nil || len(l.anyway) != 1 {
		t.Error("the next run was not asked about")
	}
}

func TestTheLimitIsSentAsANumber(t *testing.T) {
	b, l := newLedgerBench(t)
	l.take(t).done([]byte(`{"runs":[],"epsilon":0,"delta":1e-5}`), nil)
	b.ledger.SetLimit("much")
	if len(l.calls) > 0 || b.ledger.View().Wrong == "" || *b.ledger.View().Draft != "much" {
		t.Errorf("%+v", b.ledger.View())
	}
	b.ledger.SetLimit("2,5")
	c := l.take(t)
	if got, err := json.Marshal(c.args[0]); c.function != "limit" || err != nil || string(got) != `{"epsilon":2.5}` {
		t.Errorf("%s %s %v", c.function, got, err)
	}
	c.done([]byte("{}"), nil)
	l.take(t) // the total
	b.ledger.SetLimit(" ")
	if got, _ := json.Marshal(l.take(t).args[0]); string(got) != "null" {
		t.Errorf("an empty limit is sent as %s", got)
	}
}

func TestForgettingIsConfirmed(t *testing.T) {
	b, l := newLedgerBench(t)
	l.take(t).done([]byte(`{"runs":[],"epsilon":0,"delta":1e-5}`), nil)
	b.ledger.Forget(true)
	if len(l.calls) > 0 {
		t.Fatal("deleted without asking")
	}
	b.ledger.Forget(false)
	if !b.ledger.View().Sure || len(l.calls) > 0 {
		t.Fatalf("%+v", b.ledger.View())
	}
	b.ledger.Forget(false)
	if b.ledger.View().Sure {
		t.Fatal("it cannot be kept")
	}
	b.ledger.Forget(false)
	b.ledger.Forget(true)
	if c := l.take(t); c.function != "forget" || c.args[0] != b.data.handle {
		t.Errorf("%s %v", c.function, c.args)
	}
}
