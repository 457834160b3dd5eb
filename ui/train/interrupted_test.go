package train

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/client"
)

// fakeContinuer is a client that has interrupted runs.
type fakeContinuer struct {
	*fakeClient
	list      []run.KeptRun
	on        []client.Handle
	fault     error
	discarded []string
	watch     func()
}

func (c *fakeContinuer) WatchInterrupted(f func()) { c.watch = f }

func (c *fakeContinuer) InterruptedRuns(done func([]byte, error)) { done(json.Marshal(c.list)) }

func (c *fakeContinuer) ContinueRun(id string, d client.Handle, started func(client.Run, data.Report, error)) {
	c.on = append(c.on, d)
	if c.fault != nil {
		started(nil, data.Report{}, c.fault)
		return
	}
	r := &fakeRun{id: id, plan: run.PlanInfo{Steps: 1000}}
	c.runs = append(c.runs, r)
	c.list = slices.DeleteFunc(c.list, func(in run.KeptRun) bool { return in.ID == id })
	c.watch()
	started(r, data.Report{Name: "moons", Rows: 2000, Features: 2, Outputs: 2}, nil)
}

func (c *fakeContinuer) DiscardRun(id string, done func(error)) {
	c.discarded = append(c.discarded, id)
	c.list = slices.DeleteFunc(c.list, func(in run.KeptRun) bool { return in.ID == id })
	c.watch()
	done(nil)
}

func interruptedBench(t *testing.T) (*bench, *fakeContinuer) {
	t.Helper()
	c := &fakeContinuer{fakeClient: &fakeClient{}, list: []run.KeptRun{
		{ID: "b", CheckpointInfo: run.CheckpointInfo{Data: "german.csv", Steps: 1000}, Step: 340, Released: 352},
		{ID: "a", CheckpointInfo: run.CheckpointInfo{Data: "moons", Builtin: "moons", Steps: 1000, Config: run.Config{Data: "moons", Method: "psac"}}, Step: 12, Released: 12},
	}}
	b := benchOf(c, c.fakeClient)
	b.beginWork()
	return b, c
}

// An interrupted run is said once the page is there, goes on as the run that is shown,
// and is said no more.
func TestAnInterruptedRunGoesOn(t *testing.T) {
	b, c := interruptedBench(t)
	v := b.interrupted.view(false)
	if got := v.said(v.List[0]); !strings.HasPrefix(got, "A run on german.csv was interrupted at step 340 of 1,000. Open that file again") {
		t.Errorf("it says %q", got)
	}
	b.interrupted.choose(c.list[1])
	r := c.runs[len(c.runs)-1]
	if b.trials.last.runner != client.Run(r) || b.trials.shown != b.trials.last || b.trials.last.phase != running {
		t.Fatalf("the run is not the one that is shown: %+v", b.trials.last)
	}
	if cfg := b.trials.last.record.Config; cfg.Method != "psac" || b.trials.last.data.Name != "moons" {
		t.Errorf("its configuration is %+v, on %+v", cfg, b.trials.last.data)
	}
	if len(b.interrupted.list) != 1 || !b.interrupted.view(true).Busy || c.on[0] != nil {
		t.Errorf("left are %+v", b.interrupted.list)
	}
	b.interrupted.choose(c.list[0])
	if len(c.on) != 1 {
		t.Error("a second run went on beside the first")
	}
	if title := b.caption().Title; !strings.Contains(title, "Drawn from step 12, where it was resumed.") {
		t.Errorf("the charts have no beginning that is said: %q", title)
	}
	r.done(run.Result{}, errors.New("it fell"))
	if b.trials.last.phase != failed || b.interrupted.view(false).Busy {
		t.Error("a run that has failed is in progress")
	}
}

// What keeps a run from going on is said, and the run is offered still.
func TestAnInterruptedRunThatCannotGoOnSaysWhy(t *testing.T) {
	b, c := interruptedBench(t)
	before := b.trials.last
	c.fault = errors.New("other rows")
	b.interrupted.choose(c.list[0])
	if b.interrupted.fault != "other rows" || len(b.interrupted.list) != 2 || b.trials.last != before {
		t.Errorf("%q, %d runs", b.interrupted.fault, len(b.interrupted.list))
	}
}

// A run is discarded once its owner is sure.
func TestAnInterruptedRunIsDiscardedOnceSure(t *testing.T) {
	b, c := interruptedBench(t)
	b.interrupted.discard("b", true) // not asked before
	b.interrupted.discard("", false)
	b.interrupted.discard("b", false)
	if len(c.discarded) > 0 {
		t.Fatal("discarded without being sure")
	}
	b.interrupted.discard("b", true)
	if !slices.Equal(c.discarded, []string{"b"}) || len(b.interrupted.list) != 1 {
		t.Errorf("discarded are %v, left %+v", c.discarded, b.interrupted.list)
	}
}

// A run that failed and may go on is in one place: where it may, until it does, or never
// will; and when it has ended it is in the list of runs once.
func TestFailedRunsAreInOnePlace(t *testing.T) {
	c := &fakeClient{planned: run.PlanInfo{Steps: 1000, Private: true, Epsilon: 2}}
	k := &fakeKeeper{fakeClient: c, bodies: map[string]client.KeptRun{}}
	in := &fakeContinuer{fakeClient: c}
	b := benchOf(struct {
		*fakeClient
		*fakeKeeper
		*fakeContinuer
	}{c, k, in}, c)
	b.load(6000)
	states := func() (list []string) {
		b.keptRuns.list()
		for _, e := range b.keptRuns.entries() {
			list = append(list, e.State)
		}
		return list
	}
	is := func(want ...string) {
		t.Helper()
		if got := states(); !slices.Equal(got, want) {
			t.Errorf("listed are %q, want %q", got, want)
		}
	}
	fail := func(r *fakeRun, left bool) {
		if left {
			in.list = []run.KeptRun{{ID: r.ID(), CheckpointInfo: run.CheckpointInfo{Data: "moons", Builtin: "moons", Steps: 1000}, Step: 12}}
		}
		b.clock = b.clock.Add(time.Minute)
		r.done(run.Result{}, errors.New("it fell"))
		in.watch()
	}
	b.trials.start()
	fail(c.runs[0], true)
	is()
	b.interrupted.choose(in.list[0])
	is()
	fail(c.runs[1], true)
	is()
	b.interrupted.discard(in.list[0].ID, false)
	b.interrupted.discard(in.list[0].ID, true)
	is("ended by an error before a step was seen")
	b.trials.start()
	fail(c.runs[2], true)
	b.interrupted.choose(in.list[0])
	b.clock = b.clock.Add(time.Minute)
	c.runs[3].done(run.Result{Steps: 1000, PlannedSteps: 1000}, nil)
	is("finished", "ended by an error before a step was seen")
	b.trials.start()
	fail(c.runs[4], false) // nothing was stored
	if got := states(); len(got) != 3 {
		t.Errorf("listed are %q", got)
	}
}

// The list follows its changes, those of other tabs too.
func TestInterruptedRunsFollowOtherTabs(t *testing.T) {
	b, c := interruptedBench(t)
	c.list = c.list[:1]
	c.watch()
	if len(b.interrupted.list) != 1 {
		t.Error("a run that goes on in another tab is offered")
	}
}

// A run whose checkpoints are damaged is said to be, and does not go on.
func TestADamagedRunSaysSo(t *testing.T) {
	v := exampleInterrupted(false)
	v.Files = true
	for _, c := range []struct{ data, on string }{{"german.csv", "german.csv"}, {"", "unknown data"}} {
		in := run.KeptRun{ID: "c", CheckpointInfo: run.CheckpointInfo{Data: c.data}, Fault: "its files are damaged"}
		if s := v.said(in); !strings.HasPrefix(s, "A run on "+c.on+" was interrupted: its files are damaged.") || strings.Contains(s, "step") || strings.Contains(s, "can go on") {
			t.Errorf("of a damaged run it is said: %s", s)
		}
	}
}
