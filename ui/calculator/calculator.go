// Package calculator shows the Calculator page, which relates ε, noise, steps and sample
// rate, and audits the trainer. It needs no data and computes nothing: it asks.
package calculator

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"
)

// Calculator is the state of the page that relates ε, σ, steps and sample rate
// without any data. It computes nothing: it asks the trainer, one question at a
// time, and calls off what has been edited since.
type Calculator struct {
	client  Asker
	changed func()
	after   func(d time.Duration, f func()) (stop func() bool)

	// cfg holds what was typed. rows, sample_rate, runs and group, which no run
	// has, stand among its parameters.
	cfg    run.Config
	solve  string // what is asked for: epsilon, noise_multiplier, steps, sample_rate
	by     string // how the sample rate is given: rows, or sample_rate itself
	drafts map[string]string
	faults map[string]string
	epoch  int
	form   *widget.Form

	started      bool
	version      int    // counts edits
	turn         int    // counts what was called off: the answers to that are not wanted
	cancel       func() // calls off what is under way; nil: nothing is
	putQuestions int    // questions of an answer that were put
	stopped      bool   // a person called it off

	answer answer
	fault  string // why there is no answer
	charts struct{ steps, delta, attack chart.Feed }
	audit  auditState
}

// setting is a run as the calculator knows it.
type setting struct {
	Sigma, Rate, Epsilon, Delta float64
	Steps, Runs, Group          int // Group: rows of one person
}

// answer holds the trainer's answers for a setting.
type answer struct {
	version  int    // of the edits that it answers
	question string // as hash writes it
	setting  setting
	report   *run.ReportReply
	tuning   *run.TuningReply
	group    *groupCost
	attack   *run.Attack
	whole    bool // everything shown is about this setting
}

// groupCost is ε for someone who has several rows in the data.
type groupCost struct {
	Rows    int
	Epsilon float64
}

// New is a calculator with its defaults, which asks c once its page is shown. A c
// that can also audit the trainer does so for it.
func New(c Asker) *Calculator {
	k := &Calculator{client: c, changed: func() {}, after: browser.After, drafts: map[string]string{}, faults: map[string]string{}}
	k.audit.client, _ = c.(auditClient)
	k.audit.changed = func() { k.changed() }
	k.read("")
	return k
}

// The questions and their defaults: MNIST as in the papers.
const (
	solveEpsilon = "epsilon"
	solveNoise   = "noise_multiplier"
	solveSteps   = "steps"
	solveRate    = "sample_rate"
	byRows       = "rows"
	byRate       = "sample_rate"
)

func defaults() run.Config {
	sigma, eps := 1.1, 2.0
	return run.Config{
		NoiseMultiplier: &sigma, TargetEpsilon: &eps, TargetDelta: 1e-5, ExpectedBatchSize: 256, Epochs: 15,
		Params: map[string]float64{"rows": 60000, "sample_rate": 0.004, "runs": 10, "group": 2},
	}
}

// read takes what is asked from a URL's hash; what is not in it has its default.
func (k *Calculator) read(hash string) {
	k.cfg, k.solve, k.by = defaults(), solveEpsilon, byRows
	given := run.ParseHash(hash)
	for key, v := range given.Params {
		if _, known := k.cfg.Params[key]; known {
			k.cfg.Params[key] = v
		}
	}
	for _, key := range []string{"noise_multiplier", "target_epsilon", "target_delta", "expected_batch_size", "epochs", "steps"} {
		if s := form.Get(&given, key); s != "" {
			_ = form.Set(&k.cfg, key, s) // what it wrote it can read
			if key == "steps" {
				k.cfg.Epochs = 0
			}
		}
	}
	for pair := range strings.SplitSeq(strings.TrimPrefix(hash, "#"), "&") {
		switch key, value, _ := strings.Cut(pair, "="); {
		case key == "solve" && (value == solveEpsilon || value == solveNoise || value == solveSteps || value == solveRate):
			k.solve = value
		case key == "by" && (value == byRows || value == byRate):
			k.by = value
		}
	}
	k.remake()
	k.form = nil
}

// hash returns the address's hash, in the form that read takes.
func (k *Calculator) hash() string {
	h, err := k.cfg.Hash()
	if err != nil {
		return ""
	}
	return h + "&solve=" + k.solve + "&by=" + k.by
}

// formNow is the inputs for the fields; the same pointer until they change.
func (k *Calculator) formNow() *widget.Form {
	if k.form == nil {
		k.form = &widget.Form{Config: k.cfg, Full: k.cfg, Drafts: maps.Clone(k.drafts), Faults: maps.Clone(k.faults), Epoch: k.epoch, Editor: k}
	}
	return k.form
}

// Set takes a text that was typed or chosen in a control.
func (k *Calculator) Set(key, text string) {
	switch key {
	case "solve":
		k.setSolve(text)
	case "by":
		k.setBy(text)
	case "length":
		k.setLength(text)
	default:
		k.drafts[key] = text
		delete(k.faults, key)
		if err := form.Set(&k.cfg, key, text); err != nil {
			k.faults[key] = err.Error()
		}
	}
	k.edited()
}

// setSolve asks another question, starting from the last answer so that nothing
// jumps.
func (k *Calculator) setSolve(what string) {
	if a := k.answer; a.report != nil && a.version == k.version {
		if e := float64(a.report.PLD); e > 0 && !math.IsInf(e, 1) {
			e = form.Round(e, 4)
			k.cfg.TargetEpsilon = &e
		}
		sigma := form.Round(a.setting.Sigma, 5)
		k.cfg.NoiseMultiplier = &sigma
		k.cfg.Params = maps.Clone(k.cfg.Params)
		k.cfg.Params["sample_rate"] = form.Round(a.setting.Rate, 5)
		if k.solve == solveSteps || what == solveRate {
			k.cfg.Steps, k.cfg.Epochs = a.setting.Steps, 0
		}
		if k.solve == solveRate {
			k.by = byRate
		}
	}
	k.solve = what
	k.remake()
}

// remake has the fields made anew, so that none keeps what was typed into it.
func (k *Calculator) remake() {
	clear(k.drafts)
	clear(k.faults)
	k.epoch++
	browser.KeepPlace()
}

func (k *Calculator) setBy(how string) {
	if how == byRate && k.by == byRows {
		if q := k.cfg.ExpectedBatchSize / k.cfg.Params["rows"]; q > 0 && q <= 1 {
			k.cfg.Params = maps.Clone(k.cfg.Params)
			k.cfg.Params["sample_rate"] = form.Round(q, 5)
		}
	}
	k.by = how
}

func (k *Calculator) setLength(unit string) {
	q, _ := k.rate()
	if unit == "steps" && k.cfg.Steps == 0 {
		k.cfg.Steps = max(1, stepsOf(k.cfg.Epochs, q))
		k.cfg.Epochs = 0
	} else if unit == "epochs" && k.cfg.Steps > 0 {
		k.cfg.Epochs = max(form.Round(float64(k.cfg.Steps)*q, 4), 1e-4)
		k.cfg.Steps = 0
	}
	delete(k.drafts, "steps")
	delete(k.drafts, "epochs")
}

// stepsOf is the number of steps of so many epochs, as a run counts them.
func stepsOf(epochs, q float64) int {
	if !(q > 0) {
		return 0
	}
	return int(math.Min(math.Ceil(epochs/q-1e-9), 1e9))
}

// Settle ends the typing in a control.
func (k *Calculator) Settle(key string) {
	if k.faults[key] == "" {
		delete(k.drafts, key)
	}
	k.form = nil
	k.changed()
}

// Open is for cards, of which there are none.
func (k *Calculator) Open(form.Card) {}

func (k *Calculator) edited() {
	k.version++
	k.form = nil
	browser.SetHash(k.hash())
	k.recalculate()
	k.changed()
}

// start begins, or goes on with what an address says.
func (k *Calculator) start(hash string) {
	if hash != "" && hash != k.hash() {
		k.read(hash)
		k.version++
		k.changed() // what is shown is about another address
	}
	if k.started {
		if k.pending() {
			k.recalculate()
		}
		return
	}
	k.started = true
	k.client.Ready(func(err error) {
		if err != nil {
			k.started, k.fault = false, err.Error()
			k.changed()
			return
		}
		k.recalculate()
	})
}

// restless is the pause in typing after which the trainer is asked.
const restless = 60 * time.Millisecond

func (k *Calculator) recalculate() {
	if !k.started {
		return
	}
	k.drop()
	k.putQuestions, k.stopped = 0, false
	stop := k.after(restless, k.ask)
	k.cancel = func() { stop() }
}

// drop calls off what is under way. What is shown stays, and is about what it was.
func (k *Calculator) drop() {
	if k.cancel != nil {
		k.cancel()
	}
	k.turn++
	k.cancel = nil
}

// stop is drop at a person's wish.
func (k *Calculator) stop() {
	k.drop()
	k.stopped = true
	k.changed()
}

// resume begins anew after that.
func (k *Calculator) resume() {
	k.recalculate()
	k.changed()
}

// rate is the sample rate as it is given.
func (k *Calculator) rate() (float64, error) {
	if k.by == byRate {
		if q := k.cfg.Params["sample_rate"]; q > 0 && q <= 1 {
			return q, nil
		}
		return 0, &client.Fault{Message: "The sample rate is a probability: more than 0, at most 1.", Field: "sample_rate"}
	}
	n, b := k.cfg.Params["rows"], k.cfg.ExpectedBatchSize
	switch {
	case !(n >= 1):
		return 0, &client.Fault{Message: "Give the number of training rows.", Field: "rows"}
	case !(b > 0):
		return 0, &client.Fault{Message: "Give the expected batch size.", Field: "expected_batch_size"}
	case b > n:
		return 0, &client.Fault{Message: "A batch cannot be expected to hold more than all rows.", Field: "expected_batch_size"}
	}
	return b / n, nil
}

// given is the setting as far as it is; what is solved for is 0.
func (k *Calculator) given() (setting, error) {
	s := setting{Delta: k.cfg.TargetDelta, Runs: int(k.cfg.Params["runs"]), Group: int(k.cfg.Params["group"])}
	if !(s.Delta > 0 && s.Delta < 1) {
		return s, &client.Fault{Message: "δ is a probability: more than 0 and less than 1, usually below 1 over the number of rows.", Field: "target_delta"}
	}
	for key, most := range map[string]float64{"runs": run.MaxRuns, "group": run.MaxGroup} {
		if r := k.cfg.Params[key]; !(r >= 1 && r <= most && r == math.Trunc(r)) {
			return s, &client.Fault{Message: fmt.Sprintf("A whole number from 1 to %s.", words.Count(int(most))), Field: key}
		}
	}
	if k.solve != solveRate {
		q, err := k.rate()
		if err != nil {
			return s, err
		}
		s.Rate = q
	}
	if k.solve != solveNoise {
		if k.cfg.NoiseMultiplier == nil || !(*k.cfg.NoiseMultiplier > 0) {
			return s, &client.Fault{Message: "Give a positive noise multiplier: without noise, ε is ∞.", Field: "noise_multiplier"}
		}
		s.Sigma = *k.cfg.NoiseMultiplier
	}
	if k.solve != solveEpsilon {
		if k.cfg.TargetEpsilon == nil || !(*k.cfg.TargetEpsilon > 0) {
			return s, &client.Fault{Message: "Give a positive ε.", Field: "target_epsilon"}
		}
		s.Epsilon = *k.cfg.TargetEpsilon
	}
	if k.solve == solveSteps {
		return s, nil
	}
	if s.Steps = k.cfg.Steps; k.cfg.Epochs > 0 && k.solve != solveRate {
		s.Steps = stepsOf(k.cfg.Epochs, s.Rate)
	}
	if s.Steps < 1 || s.Steps > 1e8 {
		return s, &client.Fault{Message: "Between one step and 10⁸.", Field: form.LengthOf(&k.cfg)}
	}
	return s, nil
}

// ask works through the questions about the present setting.
func (k *Calculator) ask() {
	s, err := k.given()
	k.clearRefusals()
	if err == nil && len(k.faults) > 0 {
		err = &client.Fault{Message: "A field needs attention."}
	}
	if err != nil {
		k.refuse(err)
		return
	}
	k.fault = ""
	next := answer{version: k.version, question: k.hash(), setting: s}
	k.solved(next)
}

// clearRefusals takes back what was said of the last setting; what was said of
// text that is no number stays.
func (k *Calculator) clearRefusals() {
	for key := range k.faults {
		if _, draft := k.drafts[key]; !draft || form.Set(&run.Config{}, key, k.drafts[key]) == nil {
			delete(k.faults, key)
		}
	}
	k.form = nil
}

func (k *Calculator) refuse(err error) {
	k.cancel, k.fault = nil, err.Error()
	if f := (*client.Fault)(nil); errors.As(err, &f) && f.Field != "" {
		k.faults[f.Field] = f.Message
		k.fault = "A field needs attention."
	}
	k.answer = answer{version: k.version, question: k.hash()}
	k.charts.steps.Clear()
	k.charts.delta.Clear()
	k.charts.attack.Clear()
	k.form = nil
	k.changed()
}

// askNext puts one question of the chain; f is called with the answer unless it has
// been called off.
func askNext[T any](k *Calculator, function string, request any, f func(T)) {
	mine := k.turn
	k.putQuestions++
	k.changed()
	k.cancel = question(k.client, function, request, func(v T, err error) {
		switch {
		case mine != k.turn:
		case err != nil:
			k.refuse(err)
		default:
			f(v)
		}
	})
}

// questions returns the number of questions that make an answer.
func (k *Calculator) questions() int {
	const always = 7
	if k.solve == solveEpsilon {
		return always
	}
	return always + 1
}

// solved finds what is missing in the setting, if anything is, and goes on.
func (k *Calculator) solved(a answer) {
	if k.solve == solveEpsilon {
		k.reported(a)
		return
	}
	request := run.CalibrateRequest{TargetEpsilon: a.setting.Epsilon, TargetDelta: a.setting.Delta, SampleRate: a.setting.Rate}
	if k.solve != solveSteps {
		request.Steps = &a.setting.Steps
	}
	if k.solve != solveNoise {
		request.NoiseMultiplier = &a.setting.Sigma
	}
	askNext(k, "calibrate", request, func(s run.CalibrateReply) {
		switch k.solve {
		case solveNoise:
			a.setting.Sigma = s.NoiseMultiplier
		case solveSteps:
			a.setting.Steps = s.Steps
		case solveRate:
			a.setting.Rate = s.SampleRate
		}
		k.reported(a)
	})
}

func (k *Calculator) reported(a answer) {
	askNext(k, "report", a.setting.request(), func(r run.ReportReply) {
		a.report = &r
		a.setting.Epsilon = float64(r.PLD)
		k.show(a)
		k.drawSteps(a)
	})
}

func (s setting) request() run.EpsilonRequest {
	return run.EpsilonRequest{Mechanism: run.Mechanism{NoiseMultiplier: s.Sigma, SampleRate: s.Rate, Steps: s.Steps}, TargetDelta: s.Delta}
}

// drawSteps draws ε against steps, half as far again as the run goes.
func (k *Calculator) drawSteps(a answer) {
	request := run.CurveRequest{EpsilonRequest: a.setting.request(), To: math.Ceil(1.5 * float64(a.setting.Steps))}
	askNext(k, "curve", request, func(pld run.CurveReply) {
		request.Accountant = "rdp"
		askNext(k, "curve", request, func(rdp run.CurveReply) {
			if n := len(pld.Steps); n > 0 && len(rdp.Steps) == n {
				steps := floats(pld.Steps)
				k.charts.steps.Lines(steps[n-1], float64(a.setting.Steps), steps, floats(pld.Epsilon), floats(rdp.Epsilon))
			}
			k.drawDelta(a)
		})
	})
}

// drawDelta draws δ against ε, twice as far as the run's.
func (k *Calculator) drawDelta(a answer) {
	request := run.CurveRequest{EpsilonRequest: a.setting.request(), Over: "epsilon", To: math.Max(2*a.setting.Epsilon, 1e-6)}
	if math.IsInf(a.setting.Epsilon, 1) {
		request.To = 100
	}
	askNext(k, "curve", request, func(c run.CurveReply) {
		if e := floats(c.Epsilon); len(e) > 0 {
			k.charts.delta.Lines(e[len(e)-1], a.setting.Epsilon, e, positive(floats(c.Delta)))
		}
		k.priced(a)
	})
}

func (k *Calculator) priced(a answer) {
	askNext(k, "tuning", run.TuningRequest{EpsilonRequest: a.setting.request(), Runs: a.setting.Runs}, func(t run.TuningReply) {
		a.tuning = &t
		k.grouped(a)
	})
}

// grouped asks what the run costs someone who has several rows.
func (k *Calculator) grouped(a answer) {
	askNext(k, "group", run.GroupRequest{EpsilonRequest: a.setting.request(), Rows: a.setting.Group}, func(e run.Number) {
		a.group = &groupCost{a.setting.Group, float64(e)}
		k.attacked(a)
	})
}

// attacked asks what an attacker can tell about a row.
func (k *Calculator) attacked(a answer) {
	askNext(k, "attack", run.AttackRequest{EpsilonRequest: a.setting.request()}, func(bounds run.Attack) {
		a.attack, a.whole = &bounds, true
		chart.DrawAttack(&k.charts.attack, &bounds)
		k.cancel = nil
		k.show(a)
	})
}

func (k *Calculator) show(a answer) {
	if a.tuning == nil {
		a.tuning = k.answer.tuning // grey, until the new one is there
	}
	if a.group == nil {
		a.group = k.answer.group
	}
	if a.attack == nil {
		a.attack = k.answer.attack
	}
	k.answer = a
	k.changed()
}

func floats[T int | run.Number](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// smallest is the lower end of a chart of δ.
const smallest = 1e-16

// positive makes gaps of what a logarithmic axis cannot show.
func positive(x []float64) []float64 {
	for i, v := range x {
		if !(v >= smallest) {
			x[i] = math.NaN()
		}
	}
	return x
}

// sentence says in words what the answer means.
func (a *answer) sentence() string {
	if a.report == nil {
		return ""
	}
	e := float64(a.report.PLD)
	if math.IsInf(e, 1) {
		return "Nothing is protected."
	}
	likely := "e^ε = " + words.Upper(math.Exp(e), 3)
	if e > 20 {
		likely = "e^ε > 10⁸"
	}
	return fmt.Sprintf("Whatever is published after these steps is at most %s times as likely with any one row as with an empty one in its place (zero-out), but for a probability of δ. Where N is declared, that holds for adding or removing the row as well. A run that is stopped early is charged for all of these steps. The calculator prices ideal noise. Float noise ends at 11.6 standard deviations: a run pays for that out of δ, is refused where δ is too small for it, and has no guarantee where σ is.", likely)
}

// sentence says what the group's figure means.
func (g *groupCost) sentence() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("For someone with %s in the data, ε = %s at the same δ.", words.Plural(g.Rows, "row"), words.Upper(g.Epsilon, 4))
}

// attackText says what an attacker's bounds mean.
func attackText(a *run.Attack) string {
	if a == nil {
		return ""
	}
	percent := func(share run.Number) string { return words.Upper(min(100*float64(share), 100), 3) + " %" }
	lucky := fmt.Sprintf("A lucky attacker learns more, but is never more than %s sure of either answer, except with probability δ.", percent(a.Sure))
	if a.AllButCertain() {
		lucky = "A lucky attacker may become all but certain."
	}
	text := fmt.Sprintf("An attacker who knows all other rows and thinks it 50 %% likely that this one is in the data guesses right at most %s of the time. That is an average. %s A test that wrongly accuses 1 of 1,000 rows that were not in the data finds at most %s of those that were.",
		percent(a.Right), lucky, percent(run.Number(a.TruePositiveAt(0.001))))
	if accused := 1000 * float64(a.HalfCosts); accused >= 1 {
		text += fmt.Sprintf(" To find half of them, it wrongly accuses at least %s of 1,000.", words.Lower(accused, 3))
	}
	return text
}
