package train

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// env is the page around the parts of a session, which outlive it.
type env struct {
	// changed asks for the page to be shown anew; nothing while none is.
	changed func()
	// after calls f on the page's thread once d has passed, unless stopped.
	after func(d time.Duration, f func()) (stop func() bool)
	now   func() time.Time
	// kept returns a text that this browser keeps, and keep has it keep one, or none for "".
	kept func(key string) string
	keep func(key, text string)
	// used takes the file of a model that is to be applied.
	used func(file app.Value)
	// checked takes the file of a model, a run or a statement that is to be checked.
	checked func(file app.Value)
}

func newEnv() *env {
	return &env{changed: func() {}, after: browser.After, now: time.Now, kept: browser.Kept, keep: browser.Keep, used: func(app.Value) {}, checked: func(app.Value) {}}
}

// experiment is the configuration that is being edited, with the texts in its
// fields, and what the planner says of it.
type experiment struct {
	cfg      run.Config
	example  *run.Config // the preset that it began as, while that is of use
	facts    run.Facts   // of the data at hand, from which what is not set follows
	drafts   map[string]string
	faults   map[string]string // of what was typed
	refused  map[string]string // of what the planner says
	openCard form.Card         // the open card
	epoch    int               // counts replacements of the whole configuration

	left     struct{ sigma, epsilon float64 } // what decided the noise before there was none
	plan     *run.PlanInfo
	planning bool
	edits    int  // counts what makes an answer of the planner out of date
	asking   bool // the planner has not answered yet
	due      bool // and is to be asked again when it has
	rest     func() bool
	reading  func() bool // whether other data is being read

	form *widget.Form // what the cards were last given; nil when out of date
}

func newExperiment(cfg run.Config) *experiment {
	return &experiment{cfg: cfg, example: &cfg, openCard: form.Clipping, reading: func() bool { return false },
		drafts: map[string]string{}, faults: map[string]string{}, refused: map[string]string{}}
}

// full is the configuration with its defaults.
func (x *experiment) full() run.Config { return x.cfg.WithDefaultsFor(x.facts) }

// pending reports whether the plan, and what was said with it, belongs to other settings
// than those in the fields.
func (x *experiment) pending() bool { return x.planning || x.reading() || len(x.faults) > 0 }

// formFor is the experiment for the cards; the same pointer until it, or next,
// changes.
func (x *experiment) formFor(ed widget.Editor, next ...form.Card) *widget.Form {
	if x.form == nil || !slices.Equal(x.form.Next, next) || x.form.Pending != x.pending() || x.form.Reading != x.reading() {
		warnings, notes := warningsOf(x.plan)
		x.form = &widget.Form{
			Config: x.cfg, Full: x.full(), Facts: x.facts, Drafts: maps.Clone(x.drafts), Faults: maps.Clone(x.refused),
			Warnings: warnings, Notes: notes, Next: next, Opened: x.openCard, Epoch: x.epoch, Editor: ed,
			Pending: x.pending(), Reading: x.reading(),
		}
		if x.plan != nil && x.form.Full.Scaling.Share == 0 {
			x.form.Full.Scaling.Share = x.plan.ScalingShare // which takes an accountant to tell
		}
		maps.Copy(x.form.Faults, x.faults)
	}
	return x.form
}

// warningsOf returns what a plan warns of by key, and the keys of which it has notes alone.
func warningsOf(p *run.PlanInfo) (warnings map[string]string, notes map[string]bool) {
	warnings, notes = map[string]string{}, map[string]bool{}
	if p == nil {
		return warnings, notes
	}
	for _, w := range p.Warnings {
		key := form.Find(w.Field).Key
		notes[key] = w.Note && (warnings[key] == "" || notes[key])
		warnings[key] = strings.TrimSpace(warnings[key] + " " + w.Message)
	}
	return warnings, notes
}

// told are the cards on which a setting is refused, on which the plan has a warning, and on which it has at least a note,
// each in their order.
func (x *experiment) told() (refused, warned, noted []form.Card) {
	faults := maps.Clone(x.refused)
	maps.Copy(faults, x.faults)
	warnings, notes := warningsOf(x.plan)
	noted = cardsOf(warnings)
	maps.DeleteFunc(warnings, func(key, _ string) bool { return notes[key] })
	return cardsOf(faults), cardsOf(warnings), noted
}

// cardsOf are the cards of what is said by key, in their order.
func cardsOf(said map[string]string) (list []form.Card) {
	for _, key := range form.Sorted(said) {
		if card := form.Find(key).Card; !slices.Contains(list, card) {
			list = append(list, card)
		}
	}
	return list
}

// set takes what was typed or chosen. An error stands at the field.
func (x *experiment) set(key, text string, rows int) error {
	x.form = nil
	switch key {
	case form.Budget:
		x.setBudget(text)
	case form.Length:
		x.setLength(text, rows)
	default:
		x.drafts[key] = text
		if err := x.put(form.Find(key), key, text); err != nil {
			x.faults[key] = err.Error()
			return err
		}
		delete(x.faults, key)
		x.writeOut(key)
	}
	return nil
}

// writeOut has the list of a model that follows from the data stand in its field, where it can be changed.
func (x *experiment) writeOut(key string) {
	if m := x.full().Model; key == "model.kind" && x.cfg.Model.ReadsTokens() && m.Kind == "layers" {
		x.cfg.Model, x.drafts[key] = m, m.Kind
		delete(x.drafts, "model.layers")
	}
}

// keepLabel keeps the label column of a table as one of several labels where another column becomes one, or the task asks for
// several: it would be a feature otherwise.
func (x *experiment) keepLabel(key, kind string, table *data.Report) {
	c := &x.cfg.CSV
	asked := key == "csv.task" && kind == string(data.MultiLabel)
	if !asked && !(strings.HasPrefix(key, "csv.columns.") && kind == string(data.Label)) || table == nil {
		return
	}
	if c.Label == "" {
		c.Label = table.Label
	}
	if c.Task != string(data.MultiLabel) {
		c.Task = ""
	}
	x.forget("csv.label", "csv.task")
}

// errNeeded is the fault of an empty field that decides something: without it
// another field would silently decide.
var errNeeded = errors.New("a number above 0 is needed here")

// put takes a field's text, and with it what depends on the field.
func (x *experiment) put(f form.Field, key, text string) error {
	f.Key = key // of a group, or of something in a group that has no control
	next, err := form.Varied(x.cfg, f, text)
	if err != nil {
		return err
	}
	if f.Needed && form.Get(&next, key) == "" {
		return errNeeded
	}
	if key == "learning_rate" && next.Optimizer == "" {
		next.Optimizer = x.full().Optimizer // for which it was meant: alone it would be SGD's
	}
	x.forget(f.Resets...)
	for key := range x.drafts {
		if !form.Takes(&next, key) {
			x.forget(key)
		}
	}
	x.cfg = next
	x.forgetHidden()
	if f.Kind == form.Menu && len(f.Resets) > 0 {
		x.remake()
	}
	return nil
}

// setBudget changes what decides the noise, starting from what the other
// choice came to, so that nothing jumps.
func (x *experiment) setBudget(kind string) {
	sigma, eps := 1.0, run.DefaultEpsilon
	if x.plan != nil && x.plan.NoiseMultiplier > 0 {
		sigma = form.Round(x.plan.NoiseMultiplier, 3)
	}
	if x.plan != nil && x.plan.Epsilon > 0 && x.plan.Epsilon < 1e4 {
		eps = form.Round(float64(x.plan.Epsilon), 2)
	}
	switch {
	case x.cfg.NoPrivacy && x.left.epsilon > 0:
		sigma, eps = x.left.sigma, x.left.epsilon
	case x.cfg.TargetEpsilon != nil:
		eps = *x.cfg.TargetEpsilon
	}
	x.left.sigma, x.left.epsilon = sigma, eps
	x.cfg.NoiseMultiplier, x.cfg.TargetEpsilon, x.cfg.NoPrivacy = nil, nil, false
	switch kind {
	case "noise_multiplier":
		x.cfg.NoiseMultiplier = &sigma
	case "no_privacy":
		sigma = 0
		x.cfg.NoiseMultiplier, x.cfg.NoPrivacy = &sigma, true
	default:
		x.cfg.TargetEpsilon = &eps
	}
	x.forget("noise_multiplier", "target_epsilon")
}

// setLength changes what decides when a run on rows ends; 0 is not known.
func (x *experiment) setLength(kind string, rows int) {
	full := x.full()
	if kind == "steps" {
		x.cfg.Steps, x.cfg.Epochs = 1000, 0
		if x.plan != nil && x.plan.Steps > 0 {
			x.cfg.Steps = x.plan.Steps
		}
	} else {
		x.cfg.Steps, x.cfg.Epochs = 0, run.DefaultEpochs
		if x.plan != nil && rows > 0 {
			x.cfg.Epochs = form.Round(float64(x.plan.Steps)*full.ExpectedBatchSize/float64(rows), 3)
		}
	}
	x.forget("epochs", "steps")
}

// forget takes back what was typed into fields that are set otherwise, and what
// was said of it: nobody could correct it.
func (x *experiment) forget(keys ...string) {
	for _, key := range keys {
		delete(x.drafts, key)
		delete(x.faults, key)
	}
}

// forgetHidden takes back what was typed into fields that are hidden now.
func (x *experiment) forgetHidden() {
	full := x.full()
	for key := range x.drafts {
		if f := form.Find(key); f.When != nil && !f.When(&full) {
			x.forget(key)
		}
	}
}

// forgetReading takes back what was typed of how files are read.
func (x *experiment) forgetReading() {
	for key := range x.drafts {
		if form.Reads(key) {
			x.forget(key)
		}
	}
	x.remake()
}

// effective is the configuration without what has no effect: how files are read says nothing
// of built-in data, and waits in the page until files are chosen again.
func (x *experiment) effective() run.Config {
	cfg := x.cfg
	if x.full().Data != form.Files {
		cfg.CSV = run.CSV{}
	}
	return cfg
}

// settle ends typing in a field.
func (x *experiment) settle(key string) {
	if x.faults[key] == "" {
		delete(x.drafts, key)
	}
	x.form = nil
}

// open opens a card, or none.
func (x *experiment) open(card form.Card) { x.openCard, x.form = card, nil }

// replace puts another whole configuration in place: from a link, a preset.
func (x *experiment) replace(cfg run.Config) {
	x.cfg, x.example = cfg, nil
	clear(x.drafts)
	clear(x.faults)
	clear(x.refused)
	x.remake()
}

// remake has all cards made anew, so that no control keeps what was typed into it.
func (x *experiment) remake() {
	x.epoch++
	x.form = nil
	browser.KeepPlace()
}

// unset takes back what the example has set and nobody has changed, but for the
// budget, so that it follows from other data; it says so.
func (x *experiment) unset() (said []string) {
	if x.example == nil {
		return nil
	}
	for _, key := range form.Following() {
		if v := form.Get(x.example, key); v == "" || form.Get(&x.cfg, key) != v {
			continue
		}
		if form.Set(&x.cfg, key, "") == nil {
			said = []string{"The example’s model, clipping, batches and optimiser were for its own data. Those you have not changed now follow from your data and ε."}
			x.forget(key)
		}
	}
	x.example = nil
	form.KeepParams(&x.cfg)
	x.remake()
	return said
}

// suit changes what cannot work with data, and says so: a model for another
// task, batches of more rows than there are, a δ of which each row has its share.
func (x *experiment) suit(r *data.Report) (said []string) {
	full := x.full()
	model := func(kind, what, why string) {
		x.cfg.Model.Kind = kind
		said = append(said, fmt.Sprintf("The model is now %s: %s.", what, why))
	}
	switch {
	case r.Task == data.Regression && full.Model.Kind == "softmax":
		model("linear", "linear regression", "the labels are numbers")
	case r.Task == data.MultiLabel && full.Model.Kind == "softmax":
		model("linear", "a logistic regression for each label", "a row has several labels")
	case r.Task == data.Classification && full.Model.Kind == "linear":
		model("softmax", "softmax regression", "the labels are classes")
	}
	if r.Task != data.Regression && x.cfg.Scaling.Target != "" {
		x.cfg.Scaling.Target = ""
		said = append(said, "The target is not scaled: the labels are no numbers.")
	}
	if rows := cmp.Or(full.NumExamples, r.Rows); full.ExpectedBatchSize > float64(rows) { // no declared run follows the counted number
		x.cfg.ExpectedBatchSize = math.Ceil(float64(rows) / 10)
		said = append(said, fmt.Sprintf("Batches of %s were more than all rows: expected_batch_size is now %s, a tenth of them.",
			form.Format(full.ExpectedBatchSize), form.Format(x.cfg.ExpectedBatchSize)))
	}
	if rows := cmp.Or(full.NumExamples, r.Rows); full.TargetDelta == run.DefaultDelta && float64(rows)*full.TargetDelta >= 1 {
		x.cfg.TargetDelta = math.Pow10(-1 - int(math.Floor(math.Log10(float64(rows)))))
		said = append(said, fmt.Sprintf("δ is now %s: it has to be below one in %s rows.", form.Format(x.cfg.TargetDelta), words.Count(rows)))
	}
	if len(said) > 0 {
		x.remake()
	}
	x.form = nil
	return said
}

// patience is the pause in typing after which the planner is asked.
const patience = 150 * time.Millisecond

// replan asks what the configuration comes to, once typing rests; done is called
// when that is known.
func (x *experiment) replan(e *env, ask func(run.Config, func(run.PlanInfo, error)), done func()) {
	x.unplan(true)
	x.rest = e.after(patience, func() { x.ask(ask, done) })
}

// unplan drops the plan, which still stands where another is coming.
func (x *experiment) unplan(coming bool) {
	x.planning, x.due, x.form = coming, false, nil
	if !coming {
		x.plan = nil
	}
	x.edits++
	if x.rest != nil {
		x.rest()
	}
}

// ask puts one question at a time: the planner cannot be interrupted, and would
// work off all that were ever asked.
func (x *experiment) ask(ask func(run.Config, func(run.PlanInfo, error)), done func()) {
	if x.due = x.asking; x.due {
		return
	}
	x.asking = true
	mine := x.edits
	ask(x.cfg, func(p run.PlanInfo, err error) {
		x.asking = false
		if mine == x.edits {
			x.planned(p, err)
			done()
		} else if x.due {
			x.ask(ask, done)
		}
	})
}

func (x *experiment) planned(p run.PlanInfo, err error) {
	x.planning, x.plan, x.form = false, nil, nil
	clear(x.refused)
	if err == nil {
		x.plan = &p
	} else {
		x.refuse(err)
	}
}

// refuse puts an error at the field it belongs to.
func (x *experiment) refuse(err error) {
	key, said := form.Plan, err.Error()
	if f := (*client.Fault)(nil); errors.As(err, &f) && f.Field != "" {
		key, said = form.Find(f.Field).Key, strings.TrimPrefix(said, f.Field+": ")
	}
	x.refused[key] = said
	x.form = nil
}
