package train

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/client"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeGatherer is a client whose host has rooms.
type fakeGatherer struct {
	*fakeClient
	opened  []run.Config
	asked   []*run.Config // with what a room was compared
	joins   []run.Joining
	anyway  []bool
	agreed  run.Agreed
	refused error
	later   func() // answers the last question; nil: it is answered at once
	late    bool
}

func (c *fakeGatherer) Rooms() bool { return true }

func (c *fakeGatherer) OpenRoom(cfg run.Config, _ client.Handle, done func(run.Invitation, error)) {
	c.opened = append(c.opened, cfg)
	done(run.Invitation{Room: "here", Secret: "s3cret"}, c.refused)
}

func (c *fakeGatherer) Invited(_ run.Invitation, cfg *run.Config, _ client.Handle, done func(run.Agreed, error)) {
	c.asked = append(c.asked, cfg)
	c.later = func() { done(c.agreed, c.refused) }
	if !c.late {
		c.later()
	}
}

func (c *fakeGatherer) TrainTogether(cfg run.Config, d client.Handle, join run.Joining, anyway bool, started func(client.Run, error)) {
	c.joins, c.anyway = append(c.joins, join), append(c.anyway, anyway)
	c.Train(cfg, d, false, started)
}

// gathering is a bench whose data is read, and whose plan is known.
func gathering(t *testing.T) (*bench, *fakeGatherer) {
	t.Helper()
	c := &fakeGatherer{fakeClient: &fakeClient{planned: run.PlanInfo{Steps: 40, Epsilon: 2, Together: &run.TogetherPlan{EpsilonAlone: 5.9, StepBytes: 1000}}}}
	b := benchOf(c, c.fakeClient)
	b.load(6000)
	b.answer()
	return b, c
}

// answer has the planner answer.
func (b *bench) answer() {
	b.tick()
	for _, done := range b.client.plans {
		done(b.client.planned, nil)
	}
	b.client.plans = nil
}

func (b *bench) panel() string { return app.HTMLString(b.together.view(b.trials.last, nil)) }

// TestARoomIsOpenedAndLedTo: one press opens it and joins it, and the address is the invitation until the end.
func TestARoomIsOpenedAndLedTo(t *testing.T) {
	b, c := gathering(t)
	b.Set("together.parties", "3")
	if got := b.exp.cfg; got.NumExamples != 18000 || got.Together != (run.Together{Parties: 3, Tolerance: 2}) {
		t.Errorf("three parties are proposed %d rows and %+v", got.NumExamples, got.Together)
	}
	b.answer()
	if html := b.panel(); !strings.Contains(html, "3 parties train one model") || !strings.Contains(html, "5.9") || !strings.Contains(html, "40 kB") {
		t.Errorf("before: %s", html)
	}
	b.together.SetName("  St. Anna ")
	b.trials.start()
	if len(c.opened) != 1 || len(c.joins) != 1 || c.joins[0].Secret != "s3cret" || b.address.room != "here.s3cret" {
		t.Fatalf("opened %d, joined %+v, at %q", len(c.opened), c.joins, b.address.room)
	}
	party := b.client.runs[0].party
	party(run.PartyState{Seats: []run.PartySeat{{Name: "St. Anna", You: true}, {}, {Name: "Mercy"}}})
	if html := b.panel(); !strings.Contains(html, "2 of 3 parties are here") || !strings.Contains(html, "Start with 2 parties") || strings.Contains(html, `disabled="true"`) {
		t.Errorf("with two, of a quorum of two: %s", html)
	}
	if said := b.trials.last.state(); said != "not started yet" {
		t.Errorf("in the lobby the run is %s", said)
	}
	b.trials.pause()
	b.trials.step()
	b.together.view(b.trials.last, nil).Run.StartTogether()
	if got := b.client.runs[0].calls; len(got) != 1 || got[0] != "start together" {
		t.Errorf("the run was told %q", got)
	}
	party(run.PartyState{Seats: []run.PartySeat{{Name: "St. Anna", You: true}}, Fingerprint: "abcd", Present: 2, Void: 1, Sent: 3000, Received: 4000, Waiting: true})
	if html := b.panel(); !strings.Contains(html, "2 of 3 parties in the last step") || !strings.Contains(html, "did not answer: 1 step") || !strings.Contains(html, "abcd") || !strings.Contains(html, "Waiting") {
		t.Errorf("under way: %s", html)
	}
	if said := b.trials.last.state(); said != "in progress" {
		t.Errorf("under way the run is %s", said)
	}
	if sent := b.Sent(); sent.ToRoom != 3000 || sent.FromRoom != 4000 {
		t.Errorf("counted: %+v", sent)
	}
	b.client.runs[0].done(run.Result{Steps: 40, PlannedSteps: 40}, nil)
	if sent := b.Sent(); sent.ToRoom != 3000 || b.address.room != "" {
		t.Errorf("after the end: %+v at %q", sent, b.address.room)
	}
	b.Set("together.parties", "")
	if got := b.exp.cfg; got.NumExamples != 0 || got.Together != (run.Together{}) {
		t.Errorf("one party keeps %d rows and %+v", got.NumExamples, got.Together)
	}
}

// TestAnInvitationIsCompared with the settings and data at hand, each time that they change; only the last answer counts.
func TestAnInvitationIsCompared(t *testing.T) {
	b, c := gathering(t)
	c.agreed.Config = run.Config{Method: "dc-e", Together: run.Together{Parties: 2}, NumExamples: 12000}
	in := run.Invitation{Room: "there", Secret: "x"}
	b.together.follow(in)
	if b.exp.cfg.Method != "dc-e" || b.exp.cfg.NumExamples != 12000 {
		t.Fatalf("the settings are %+v", b.exp.cfg)
	}
	b.answer()
	if len(c.asked) != 2 || c.asked[0] != nil || c.asked[1] == nil || !strings.Contains(b.panel(), "as agreed") {
		t.Fatalf("asked %d times: %s", len(c.asked), b.panel())
	}
	c.agreed.Differences = []run.Difference{{Path: "data.columns.2.name", Theirs: `"height"`, Yours: `"<b>depth"`}}
	c.late = true
	b.Set("max_grad_norm", "3")
	b.answer()
	first := c.later
	b.Set("max_grad_norm", "4")
	b.answer()
	if html := b.panel(); strings.Contains(html, "as agreed") {
		t.Errorf("what was said of other settings still stands: %s", html)
	}
	first()
	if b.together.compared {
		t.Error("the answer to an earlier question counts")
	}
	c.later()
	if html := b.panel(); !strings.Contains(html, "column 2, name") || strings.Contains(html, "<b>") {
		t.Errorf("what differs: %s", html)
	}

	// Whoever leaves before the start can join again; later the room is over.
	b.trials.start()
	b.client.runs[0].party(run.PartyState{Seats: []run.PartySeat{{Name: "x"}, {Name: "y", You: true}}})
	b.client.runs[0].done(run.Result{Stopped: true}, nil)
	if b.together.room == nil || !strings.Contains(b.panel(), "You are invited") {
		t.Errorf("after a stop before the start: %s", b.panel())
	}
	b.trials.start()
	if len(c.joins) != 2 || c.joins[1].Room != "there" {
		t.Fatalf("joined %+v", c.joins)
	}
	b.client.runs[1].party(run.PartyState{Seats: []run.PartySeat{{Name: "x"}, {Name: "y", You: true}}, Fingerprint: "1"})
	b.client.runs[1].done(run.Result{}, errors.New("the connection is gone"))
	if b.together.room != nil {
		t.Error("a room that began is still led to")
	}
}

// TestALinkThatIsNotWholeIsSaid in the panel, and leaves the settings.
func TestALinkThatIsNotWholeIsSaid(t *testing.T) {
	b, c := gathering(t)
	before := b.exp.cfg.Method
	c.refused = errors.New("the link is not whole: copy all of it")
	b.together.follow(run.Invitation{Room: "there"})
	if html := b.panel(); !strings.Contains(html, "copy all of it") || b.exp.cfg.Method != before {
		t.Errorf("a link that is cut off: %s", html)
	}
}

// TestAnInvitationIsReadAsALinkIs: whoever made the room may have written anything.
func TestAnInvitationIsReadAsALinkIs(t *testing.T) {
	s := New(&fakeClient{})
	own := s.exp.cfg.Data
	hostile := run.Config{Method: "<img src=x>", Optimizer: "none of ours", Data: "elsewhere", Steps: 17, Params: map[string]float64{}, Together: run.Together{Parties: 3}}
	for i := range 20 {
		hostile.Params[fmt.Sprint("p", i)] = 1
	}
	s.takeAgreed(run.Agreed{Config: hostile})
	c := s.exp.cfg
	if len(c.Params) > 0 || c.Method == hostile.Method || c.Optimizer == hostile.Optimizer || c.Data != own {
		t.Errorf("the page takes method %q, optimizer %q, data %q and %d parameters", c.Method, c.Optimizer, c.Data, len(c.Params))
	}
	if c.Steps != 17 || c.Together.Parties != 3 || s.address.lost == "" {
		t.Errorf("of what is understood the page takes %d steps and %d parties, and says %q", c.Steps, c.Together.Parties, s.address.lost)
	}
}
