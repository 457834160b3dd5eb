package calculator

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

type fakeAuditor struct {
	requests  []run.AuditRequest
	progress  func(int, int)
	done      func(run.AuditReport, error)
	cancelled int
}

func (f *fakeAuditor) Audit(request run.AuditRequest, progress func(int, int), done func(run.AuditReport, error)) func() {
	f.requests = append(f.requests, request)
	f.progress, f.done = progress, done
	return func() { f.cancelled++ }
}

var found = run.AuditReport{Claimed: 4, Delta: 1e-5, LowerBound: 2.05, AnyMechanism: 1.3, Confidence: 0.95, Canaries: 2000, Guesses: 400, Correct: 330, Steps: 200, SampleRate: 0.1, NoiseMultiplier: 1.76}

var worstCaseFound = run.AuditReport{
	Claimed: 1, Delta: 1e-5, Confidence: 0.95, Steps: 1, SampleRate: 1, NoiseMultiplier: 3.73, Runs: 200,
	WorstCases: []run.WorstCase{{Name: "a sum that rounds", Rows: 60_000, Included: 80, Excluded: 77}},
}

func TestAuditPanelRunsOneAuditAtATime(t *testing.T) {
	f := &fakeAuditor{}
	a := &auditState{client: f, changed: func() {}}
	cfg := run.Config{Method: "psac", NoiseMode: "secure", TargetEpsilon: new(float64), Steps: 9, Seed: new(uint64)}.WithDefaults()
	html := func() string { return app.HTMLString(newAuditPanel(cfg, a)) }
	a.start(cfg)
	a.start(cfg)
	if len(f.requests) != 1 {
		t.Fatalf("%d audits at once", len(f.requests))
	}
	b, err := json.Marshal(f.requests[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"seed", "steps", "epsilon", "expected"} {
		if strings.Contains(string(b), not) {
			t.Errorf("the request has %s: %s", not, b)
		}
	}
	if !strings.Contains(string(b), `"method":"constant"`) || !strings.Contains(string(b), `"noise_mode":"secure"`) {
		t.Errorf("the request is %s", b)
	}
	f.progress(50, 200)
	if h := html(); !strings.Contains(h, "audit-stop") || !strings.Contains(h, `value="50"`) {
		t.Errorf("no progress in %s", h)
	}
	f.done(found, nil)
	for _, want := range []string{"The claim stands", "ε 2.05", "ε 4", "330 of 400", "95 % confidence", "secure noise"} {
		if !strings.Contains(html(), want) {
			t.Errorf("no %q in %s", want, html())
		}
	}
	broken := found
	broken.LowerBound, broken.Refuted = 5.3, true
	a.start(cfg)
	f.done(broken, nil)
	if h := html(); !strings.Contains(h, "The claim is refuted") || !strings.Contains(h, "trust no ε") {
		t.Errorf("no alarm in %s", h)
	}
	a.kind = "worst-case"
	a.start(cfg)
	if last := f.requests[len(f.requests)-1]; last.Data != "worst-case" {
		t.Errorf("the request is %v", last)
	}
	f.done(worstCaseFound, nil)
	for _, want := range []string{"The claim stands", "a sum that rounds, 60,000 rows", "80 of 150", "no pair of data sets could be told apart"} {
		if !strings.Contains(html(), want) {
			t.Errorf("no %q in %s", want, html())
		}
	}
	a.kind = "full"
	a.start(cfg)
	if last := f.requests[len(f.requests)-1]; last.SampleRate != 1 {
		t.Errorf("the request is %v", last)
	}
	late := f.done
	a.stop()
	late(found, nil)
	if a.report != nil || a.running || f.cancelled != 1 {
		t.Error("a cancelled audit has a report")
	}
	a.start(cfg)
	f.done(run.AuditReport{}, errors.New("out of memory"))
	if !strings.Contains(html(), "out of memory") {
		t.Error("a failure is not shown")
	}
}
