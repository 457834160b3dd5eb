package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/form"
	"clipscope/ui/ledger"
	"clipscope/ui/words"
)

// Limits of a sweep.
const (
	usualRepeats = 3
	mostRepeats  = 20
	mostSwept    = 200 // runs
)

// sweep has runs of several settings made, one after the other, on the data that is open.
type sweep struct {
	*env
	client  Client
	exp     *experiment
	data    *dataSource
	ledger  *ledger.Ledger
	trials  *trials
	results *resultsTable

	// What is to be run.
	texts   map[string]string // what was typed or chosen as the values of a field, by its key
	added   []string          // keys of the fields that were added to the usual ones
	repeats string
	fault   string

	// What it comes to.
	plans    []plannedRun // a configuration each; nil: not known
	planning bool
	edits    int // counts what makes answers out of date
	rest     func() bool
	total    *run.SpentReply // of the data after all runs; nil: there is no ledger, or it is not known yet
	rate     float64         // seconds for a unit of work, of the last run that ended; NaN: none has
	beside   float64         // seconds of the last run beside its steps: until it began, and for its test

	// The runs that were started.
	runs     []*sweptRun
	handle   client.Handle // of their data
	current  *trial        // nil: none is under way
	asking   bool          // the ledger's question is open
	overrule bool          // it was answered with yes, for all that follow
	ending   string        // why no further run begins; empty: they do
	began    time.Time     // when the first was started
	begun    time.Time     // when the current one was
}

// plannedRun is a configuration with its plan, or why it has none.
type plannedRun struct {
	config run.Config
	label  string
	plan   *run.PlanInfo
	why    string
}

// sweptRun is a run of a sweep.
type sweptRun struct {
	config run.Config
	label  string
	work   float64
	ended  bool
	fault  string // why it did not finish; empty: it did, or has not ended
}

func newSweep(s *Controller) *sweep {
	return &sweep{env: s.env, client: s.client, exp: s.exp, data: s.data, ledger: s.ledger, trials: s.trials, results: s.results,
		texts: map[string]string{}, repeats: strconv.Itoa(usualRepeats), rate: math.NaN(), beside: 1}
}

// fields returns the fields with values to set: the method, what decides the noise, and those that were added.
func (w *sweep) fields() (list []form.Field) {
	for _, f := range w.offered() {
		if f.Key == "method" || f.Key == "target_epsilon" || f.Key == "noise_multiplier" || slices.Contains(w.added, f.Key) {
			list = append(list, f)
		}
	}
	return list
}

// offered returns all fields that can be varied.
func (w *sweep) offered() []form.Field {
	full := w.exp.full()
	return form.Vary(&full)
}

// values returns a field's values: those that were given, or the experiment's own.
func (w *sweep) values(f form.Field) []string {
	if list := form.Values(f.Key, w.texts[f.Key]); len(list) > 0 {
		return list
	}
	full := w.exp.full()
	own := cmp.Or(form.Get(&full, f.Key), f.Preset)
	switch {
	case f.Kind == form.Tick:
		own = cmp.Or(own, "false")
	case f.Kind == form.Menu:
		own = cmp.Or(own, usualValue)
	}
	return []string{own}
}

// usualValue stands for the option of a menu that has no value.
const usualValue = "default"

// configs returns the configurations of all combinations, each once. The error is about a value.
func (w *sweep) configs() ([]plannedRun, error) {
	list := []plannedRun{{config: w.exp.effective()}}
	for _, f := range w.fields() {
		values := w.values(f)
		if len(form.Values(f.Key, w.texts[f.Key])) == 0 {
			continue // as it is set, where it follows from other settings
		}
		if len(list)*len(values) > mostSwept {
			return nil, fmt.Errorf("these are more than %d runs", mostSwept)
		}
		var next []plannedRun
		for _, p := range list {
			for _, value := range values {
				text := value
				if f.Kind == form.Menu && value == usualValue {
					text = ""
				}
				cfg, err := form.Varied(p.config, f, text)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", f.Label, err)
				}
				if f.Key == "learning_rate" && cfg.Optimizer == "" {
					cfg.Optimizer = w.exp.full().Optimizer // or it would be SGD's
				}
				q := plannedRun{config: cfg, label: p.label}
				if len(values) > 1 {
					q.label = strings.TrimPrefix(p.label+", "+f.Key+" "+words.Brief(value, mostOfLabel), ", ")
				}
				next = append(next, q)
			}
		}
		list = next
	}
	return list, nil
}

// count returns the number of repeats.
func (w *sweep) count() (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(w.repeats))
	if err != nil || n < 1 || n > mostRepeats {
		return 0, fmt.Errorf("“%s” is no number of repeats: give a whole number from 1 to %d", words.Brief(w.repeats, mostOfLabel), mostRepeats)
	}
	return n, nil
}

// set takes the values of a field.
func (w *sweep) set(key, text string) {
	w.texts[key] = text
	w.follow()
	w.changed()
}

// toggle takes an option of a menu into the values, or out.
func (w *sweep) toggle(f form.Field, value string) {
	now := w.values(f)
	if i := slices.Index(now, value); i >= 0 {
		now = slices.Delete(now, i, i+1)
	} else {
		now = append(now, value)
	}
	w.set(f.Key, strings.Join(now, "; "))
}

// add offers another field for values.
func (w *sweep) add(key string) {
	if !slices.Contains(w.added, key) {
		w.added = append(w.added, key)
	}
	w.follow()
	w.changed()
}

// drop takes an added field away.
func (w *sweep) drop(key string) {
	w.added = slices.DeleteFunc(w.added, func(k string) bool { return k == key })
	delete(w.texts, key)
	w.follow()
	w.changed()
}

// repeat takes the number of repeats.
func (w *sweep) repeat(text string) {
	w.repeats = text
	w.follow()
	w.changed()
}

// follow asks anew what the runs come to, once nothing has changed for a while, where their card is open.
func (w *sweep) follow() {
	w.edits++
	w.plans, w.total, w.fault, w.planning = nil, nil, "", false
	if w.rest != nil {
		w.rest()
	}
	if w.exp.openCard != form.Compare || w.data.lack() != "" {
		return
	}
	list, err := w.configs()
	n, wrong := w.count()
	if err = errors.Join(err, wrong); err == nil && len(list)*n > mostSwept {
		err = fmt.Errorf("%d runs are more than %d", len(list)*n, mostSwept)
	}
	if err != nil {
		w.fault = err.Error()
		return
	}
	w.planning = true
	mine := w.edits
	w.rest = w.after(patience, func() { w.ask(mine, list, 0) })
}

// ask has one configuration after the other planned, as the planner cannot be interrupted.
func (w *sweep) ask(mine int, list []plannedRun, at int) {
	if mine != w.edits {
		return
	}
	if at == len(list) {
		w.plans, w.planning = list, false
		w.price(mine)
		w.changed()
		return
	}
	w.client.Plan(list[at].config, w.data.handle, func(p run.PlanInfo, err error) {
		if err != nil {
			list[at].why = plainly(err)
		} else {
			list[at].plan = &p
		}
		w.ask(mine, list, at+1)
	})
}

// able returns the configurations that can run.
func (w *sweep) able() []plannedRun {
	return slices.DeleteFunc(slices.Clone(w.plans), func(p plannedRun) bool { return p.plan == nil })
}

// price asks the ledger what all runs cost together.
func (w *sweep) price(mine int) {
	n, _ := w.count()
	var next []run.Entry
	for _, p := range w.able() {
		next = append(next, slices.Repeat([]run.Entry{p.plan.Entry()}, n)...)
	}
	if len(next) == 0 {
		return
	}
	w.ledger.Together(next, func(t run.SpentReply, err error) {
		if mine != w.edits {
			return
		}
		if err != nil {
			w.fault = err.Error()
		} else {
			w.total = &t
		}
		w.changed()
	})
}

// workOf returns the work of a run: multiplications, or steps where the plan does not tell them.
func workOf(cfg *run.Config, p *run.PlanInfo) float64 {
	var products int64
	for _, l := range p.Layers {
		products += l.Products
	}
	return float64(p.Steps) * max(cfg.ExpectedBatchSize, 1) * float64(max(products, 1))
}

// seconds estimates how long all runs take, NaN before any run has ended.
func (w *sweep) seconds() float64 {
	n, _ := w.count()
	work := 0.0
	for _, p := range w.able() {
		full := p.config.WithDefaultsFor(w.exp.facts)
		work += float64(n) * workOf(&full, p.plan)
	}
	return work*w.rate + float64(n*len(w.able()))*w.beside
}

// busy reports whether runs are under way.
func (w *sweep) busy() bool { return len(w.runs) > 0 && w.ending == "" && w.done() < len(w.runs) }

// done counts the runs that have ended.
func (w *sweep) done() (n int) {
	for _, r := range w.runs {
		if r.ended {
			n++
		}
	}
	return n
}

// start starts all runs: the first repeat of each configuration, then the second, so that all are seen soon.
func (w *sweep) start() {
	n, err := w.count()
	if err != nil || len(w.able()) == 0 || w.off() != "" {
		return
	}
	w.runs, w.handle, w.ending, w.overrule, w.began = nil, w.data.handle, "", false, w.now()
	for i := range n {
		for _, p := range w.able() {
			cfg := p.config
			if cfg.Seed != nil {
				seed := *cfg.Seed + uint64(i)
				cfg.Seed = &seed
			}
			full := cfg.WithDefaultsFor(w.exp.facts)
			w.runs = append(w.runs, &sweptRun{config: cfg, label: p.label, work: workOf(&full, p.plan)})
		}
	}
	w.results.begin()
	w.next()
}

// next starts the next run, or ends the sweep.
func (w *sweep) next() {
	i := slices.IndexFunc(w.runs, func(r *sweptRun) bool { return !r.ended })
	switch {
	case !w.busy() || w.current != nil || w.asking || w.trials.last.phase.active():
		return // or it is called again
	case w.handle != w.data.handle:
		w.end("Other data were opened.")
		return
	}
	r := w.runs[i]
	w.begun = w.now()
	as := ledger.Train(w.client.Train)
	if w.ledger.Anyway(); w.overrule && w.ledger.Overrules() != nil {
		as = w.ledger.Overrules()
	}
	refused := false
	t := w.trials.begin(as, r.config, false, func(err error) {
		refused = true
		w.current = nil
		if w.asking = w.ledger.Asks(err, false); w.asking {
			return
		}
		r.ended, r.fault = true, plainly(err)
		w.after(0, w.next)
	})
	if !refused && !r.ended {
		w.current = t
	}
}

// over notes that a run has ended, and starts the next.
func (w *sweep) over(t *trial) {
	if t.result != nil && t.result.Steps > 0 && t.result.TrainSeconds > 0 {
		w.rate = t.result.TrainSeconds / (workOf(&t.record.Config, &t.record.Plan) * float64(t.result.Steps) / float64(max(t.record.Plan.Steps, 1)))
	}
	if t == w.current {
		w.current = nil
		if t.result != nil {
			w.beside = max(0, w.now().Sub(w.begun).Seconds()-t.result.TrainSeconds)
		}
		r := w.runs[w.done()]
		r.ended = true
		switch {
		case t.phase == failed:
			r.fault = t.fault
		case t.result == nil:
			r.fault = "called off"
		case t.result.Unfinished():
			r.fault = t.state()
		}
	}
	if w.busy() {
		w.after(0, w.next)
	} else if w.plans != nil {
		w.price(w.edits) // more has been spent
	}
}

// answered takes the answer to the ledger's question about a run of the sweep, for all that follow.
func (w *sweep) answered(yes bool) bool {
	if !w.asking {
		return false
	}
	w.asking = false
	if w.overrule = yes; yes {
		w.next()
	} else {
		w.end("You declined the run.")
	}
	return true
}

// stop stops the run that is under way, and begins no other.
func (w *sweep) stop() {
	if !w.busy() {
		return
	}
	t := w.current
	w.end("Stopped.")
	if t == nil {
		return
	}
	if t.phase == starting {
		w.trials.reset()
	}
	t.stop()
}

func (w *sweep) end(why string) {
	w.ending = why
	w.changed()
}

// dismiss takes what is said of the runs away.
func (w *sweep) dismiss() {
	if !w.busy() {
		w.runs = nil
		w.changed()
	}
}

// left estimates the seconds that the runs still take, from those that have ended; NaN before.
func (w *sweep) left() float64 {
	done, left := 0.0, 0.0
	for _, r := range w.runs {
		switch {
		case !r.ended:
			left += r.work
		case r.fault == "":
			done += r.work
		}
	}
	if done == 0 {
		return math.NaN()
	}
	return w.now().Sub(w.began).Seconds() / done * left
}
