package calculator

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// fakeAsker keeps the questions until the test answers them.
type fakeAsker struct{ calls []askCall }

type askCall struct {
	function string
	request  map[string]any
	done     func([]byte, error)
	called   *bool // off
}

func (a *fakeAsker) Ready(f func(error)) { f(nil) }

func (a *fakeAsker) Ask(function string, request any, done func([]byte, error)) func() {
	b, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	call := askCall{function: function, done: done, called: new(bool)}
	if err := json.Unmarshal(b, &call.request); err != nil {
		panic(err)
	}
	a.calls = append(a.calls, call)
	return func() { *call.called = true }
}

// take removes the oldest question.
func (a *fakeAsker) take(t *testing.T) askCall {
	t.Helper()
	if len(a.calls) == 0 {
		t.Fatal("nothing was asked")
	}
	c := a.calls[0]
	a.calls = a.calls[1:]
	return c
}

// answerAll answers everything that is asked, for a run whose ε is epsilon.
func (a *fakeAsker) answerAll(t *testing.T, epsilon float64) (functions []string) {
	t.Helper()
	for len(a.calls) > 0 {
		c := a.take(t)
		functions = append(functions, c.function)
		c.done(fakeAnswer(t, c, epsilon), nil)
	}
	return functions
}

func fakeAnswer(t *testing.T, c askCall, epsilon float64) []byte {
	t.Helper()
	var v any
	switch c.function {
	case "calibrate":
		v = map[string]any{"noise_multiplier": 1.234, "steps": 777, "sample_rate": 0.0123, "epsilon": epsilon}
		if c.request["noise_multiplier"] == nil {
			delete(v.(map[string]any), "steps")
		}
	case "report":
		v = map[string]any{"pld": epsilon, "pld_lower_bound": epsilon * 0.99, "rdp": epsilon * 1.1, "rdp_order": 9.5, "gdp_approximation": epsilon * 0.9}
	case "curve":
		if c.request["over"] == "epsilon" {
			v = map[string]any{"epsilon": []float64{0, epsilon}, "delta": []float64{0.1, 0}}
		} else {
			v = map[string]any{"steps": []float64{0, 10}, "epsilon": []float64{0, epsilon}}
		}
	case "tuning":
		v = map[string]any{"runs": c.request["runs"], "composition_pld": 4, "composition_rdp": 5, "liu_talwar": run.Number(math.Inf(1)), "repeat_geometric": 3, "repeat_logarithmic": 2.5, "repeat_poisson": 3, "cheapest": "repeat_logarithmic"}
	case "group":
		v = 7.7771
	case "attack":
		v = run.Attack{Sure: 0.9123, Except: 1e-5, Right: 0.61, HalfCosts: 0.3217, FalsePositive: []run.Number{0.001, 1}, TruePositive: []run.Number{0.045, 1}}
	default:
		t.Fatalf("asked %q", c.function)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newTestCalculator has a timer that fires when the test says so.
func newTestCalculator() (*Calculator, *fakeAsker, func()) {
	a := &fakeAsker{}
	k := New(a)
	var due []func()
	k.after = func(_ time.Duration, f func()) func() bool {
		live := true
		due = append(due, func() {
			if live {
				f()
			}
		})
		return func() bool { live = false; return true }
	}
	return k, a, func() {
		now := due
		due = nil
		for _, f := range now {
			f()
		}
	}
}

func TestCalculatorAnswers(t *testing.T) {
	for solve, want := range map[string]string{
		solveEpsilon: "report curve curve curve tuning group attack", solveNoise: "calibrate report curve curve curve tuning group attack",
		solveSteps: "calibrate report curve curve curve tuning group attack", solveRate: "calibrate report curve curve curve tuning group attack",
	} {
		k, a, tick := newTestCalculator()
		k.start("steps=500&solve=" + solve)
		tick()
		if got := strings.Join(a.answerAll(t, 1.5), " "); got != want {
			t.Errorf("%s asks %q, want %q", solve, got, want)
		}
		if k.pending() || k.fault != "" || k.answer.report == nil || float64(k.answer.report.PLD) != 1.5 || !math.IsInf(float64(k.answer.tuning.LiuTalwar), 1) {
			t.Errorf("%s: %+v", solve, k.answer)
		}
		s := k.answer.setting
		if solve == solveNoise && s.Sigma != 1.234 || solve == solveSteps && s.Steps != 777 || solve == solveRate && s.Rate != 0.0123 || solve == solveEpsilon && s.Steps != 500 {
			t.Errorf("%s: setting %+v", solve, s)
		}
		if len(k.charts.steps.Numbers) == 0 || len(k.charts.delta.Numbers) == 0 {
			t.Errorf("%s: a chart is empty", solve)
		}
	}
}

// An edit calls off the question under way, whose answer is never shown, and what
// was known stays in grey until the new answer is there.
func TestCalculatorCallsOffWhatWasEdited(t *testing.T) {
	k, a, tick := newTestCalculator()
	page := &Page{Around: alone{}, Calculator: k}
	grey := func() int { return strings.Count(app.HTMLString(page), "stale\"") }
	k.start("")
	tick()
	a.answerAll(t, 1.5)
	if grey() != 0 {
		t.Fatal("the whole answer is grey")
	}
	k.Set("noise_multiplier", "2")
	tick()
	old := a.take(t)
	k.Set("noise_multiplier", "3")
	if !*old.called {
		t.Fatal("the question is still under way")
	}
	old.done(fakeAnswer(t, old, 99), nil)
	if len(a.calls) != 0 || float64(k.answer.report.PLD) != 1.5 || grey() != 7 {
		t.Fatalf("%d questions, %+v, %d parts in grey", len(a.calls), k.answer, grey())
	}
	tick()
	c := a.take(t)
	if c.request["noise_multiplier"] != 3.0 {
		t.Fatalf("asked %+v", c.request)
	}
	c.done(fakeAnswer(t, c, 0.7), nil)
	if float64(k.answer.report.PLD) != 0.7 || grey() != 6 {
		t.Errorf("the figures are there: %+v, %d parts in grey", k.answer, grey())
	}
	a.answerAll(t, 0.7)
	if k.pending() || grey() != 0 {
		t.Errorf("%+v, %d parts in grey", k.answer, grey())
	}
}

// Another address greys what is shown at once, before anything is asked about it, and the
// answer names the question that it answers.
func TestCalculatorGreysAtAnotherAddress(t *testing.T) {
	k, a, tick := newTestCalculator()
	page := &Page{Around: alone{}, Calculator: k}
	html := ""
	k.changed = func() { html = app.HTMLString(page) }
	k.start("")
	tick()
	a.answerAll(t, 1.5)
	first := k.hash()
	if strings.Contains(html, `stale"`) || k.answer.question != first {
		t.Fatalf("the answer is to %q, not %q", k.answer.question, first)
	}
	k.start("steps=500")
	if n := strings.Count(html, `stale"`); n != 7 || k.answer.question != first {
		t.Fatalf("%d parts in grey about another address", n)
	}
	tick()
	a.answerAll(t, 2)
	if k.pending() || k.answer.question != k.hash() || k.hash() == first {
		t.Errorf("the answer is to %q, not %q", k.answer.question, k.hash())
	}
}

// A person may call it off and begin it anew; leaving the page calls it off, too.
func TestCalculatorIsCalledOff(t *testing.T) {
	k, a, tick := newTestCalculator()
	page := &Page{Around: alone{}, Calculator: k}
	k.start("")
	tick()
	for _, leave := range []func(){k.stop, k.drop} {
		c := a.take(t)
		leave()
		if c.done(nil, client.ErrAborted); !*c.called || k.fault != "" || !k.pending() {
			t.Errorf("called off: %t, fault %q", *c.called, k.fault)
		}
		if said := strings.Contains(app.HTMLString(page), "Cancelled."); said != k.stopped {
			t.Errorf("says that it was cancelled: %t", said)
		}
		k.start("")
		tick()
	}
	if a.answerAll(t, 1); k.pending() || k.stopped {
		t.Error("not begun anew")
	}
	k.start("")
	if tick(); len(a.calls) != 0 {
		t.Error("what is known is asked again")
	}
}

func TestCalculatorAsksNothingAtAFault(t *testing.T) {
	for hash, key := range map[string]string{
		"rows=100&expected_batch_size=200": "expected_batch_size", "target_delta=1.5": "target_delta", "runs=0.5": "runs",
		"by=sample_rate&sample_rate=2": "sample_rate", "noise_multiplier=0": "noise_multiplier", "solve=steps&target_epsilon=-1": "target_epsilon",
		"rows=0": "rows", "steps=2000000000": "steps",
	} {
		k, a, tick := newTestCalculator()
		k.start(hash)
		tick()
		if k.faults[key] == "" || len(a.calls) > 0 || k.answer.report != nil {
			t.Errorf("%s: faults %v, %d questions", hash, k.faults, len(a.calls))
		}
	}
	k, a, tick := newTestCalculator()
	k.start("")
	tick()
	a.take(t).done(nil, errors.New("no ε"))
	if k.fault != "no ε" || k.answer.report != nil {
		t.Errorf("fault %q", k.fault)
	}
	k.Set("noise_multiplier", "1.")
	k.Set("noise_multiplier", "1.x")
	tick()
	if k.faults["noise_multiplier"] == "" || len(a.calls) > 0 {
		t.Errorf("text that is no number: faults %v", k.faults)
	}
	k.Set("noise_multiplier", "1.5")
	tick()
	a.answerAll(t, 1)
	if len(k.faults) > 0 || k.fault != "" || k.answer.report == nil {
		t.Errorf("corrected, and still %v %q", k.faults, k.fault)
	}
}

func TestCalculatorHashIsReadBack(t *testing.T) {
	k, _, _ := newTestCalculator()
	k.Set("solve", solveNoise)
	k.Set("by", byRate)
	k.Set("sample_rate", "0.02")
	k.Set("length", "steps")
	k.Set("steps", "1234")
	k.Set("runs", "50")
	k.Set("group", "3")
	l, _, _ := newTestCalculator()
	l.read(k.hash())
	if l.hash() != k.hash() || l.solve != solveNoise || l.by != byRate || l.cfg.Steps != 1234 || l.cfg.Epochs != 0 || l.cfg.Params["runs"] != 50 || l.cfg.Params["group"] != 3 || l.cfg.Params["sample_rate"] != 0.02 {
		t.Errorf("%s became %s", k.hash(), l.hash())
	}
	l.read("steps=<script>&solve=everything&bogus=1")
	if l.solve != solveEpsilon || l.cfg.Steps != 0 || len(l.cfg.Params) != 4 {
		t.Errorf("a hostile hash became %s", l.hash())
	}
}

// Another question starts from the last answer, so that nothing jumps.
func TestCalculatorKeepsTheSetting(t *testing.T) {
	k, a, tick := newTestCalculator()
	k.start("")
	tick()
	a.answerAll(t, 1.5)
	k.Set("solve", solveNoise)
	if *k.cfg.TargetEpsilon != 1.5 {
		t.Errorf("ε = %v", *k.cfg.TargetEpsilon)
	}
	tick()
	a.answerAll(t, 1.5)
	k.Set("solve", solveEpsilon)
	if *k.cfg.NoiseMultiplier != 1.234 {
		t.Errorf("σ = %v", *k.cfg.NoiseMultiplier)
	}
}

// alone is a site of which there is nothing but the calculator.
type alone struct{}

func (alone) Show(func())           {}
func (alone) Hide()                 {}
func (alone) Config() run.Config    { return run.Config{}.WithDefaults() }
func (alone) Sent() widget.Requests { return widget.Requests{} }

func TestCalculatorRenders(t *testing.T) {
	k, a, tick := newTestCalculator()
	page := &Page{Around: alone{}, Calculator: k}
	if html := app.HTMLString(page); !strings.Contains(html, "Calculating…") {
		t.Error("it does not say that it calculates")
	}
	k.start("")
	tick()
	a.answerAll(t, 1.25)
	html := app.HTMLString(page)
	for _, want := range []string{">1.25<", "upper bound, PLD", "1.237", "approximation", "which is no bound", "cheapest", "does not hold for a grid", "about 256 of 60,000 rows", "3,516", "∞", "For someone with 2 rows in the data, ε = 7.778 at the same δ", "guesses right at most 61 % of the time", "more than 91.3 % sure", "finds at most 4.5 % of those", "at least 321 of 1,000", "stopped early is charged"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(html, "style=") {
		t.Error("an inline style, which the policy forbids")
	}
}
