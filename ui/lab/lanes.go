package lab

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/chart"
	"clipscope/ui/form"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// lane is one of the runs side by side, once for each seed.
type lane struct {
	lesson.Lane
	place int // its colour and mark, as long as it is there
	runs  []*attempt
}

// kept is a run from before, drawn behind those that are shown now.
type kept struct {
	label  string
	record *series.Record
	shown  outcome
}

// lanes are runs side by side, which share data, first parameters, batches and noise, as
// they share a seed, and differ in one thing.
type lanes struct {
	lab    *Lab
	queue  queue
	base   run.Config
	watch  string         // what they are about, as [lesson.Figure] has it
	about  *lesson.Figure // the figure of a paper that they are made for; nil: none
	list   []*lane
	kept   []kept
	seeds  int
	made   int    // how many sets of lanes there were, which tells their buttons apart
	sort   string // the column that the table is sorted by; "": as they were made
	fault  string
	charts []*chart.Overlay
	replay *motion.Replay
	target string // the lane that is changed while it goes on; "": all
	refuse string // why the last change was refused
}

// manySeeds is how many runs a lane has where their spread is asked for.
const manySeeds = 3

// mostKept is how many runs are kept: more lines behind the others hide them.
const mostKept = 6

func newLanes(l *Lab) lanes {
	s := lanes{lab: l, seeds: 1}
	s.replay = motion.NewReplay(func() []motion.Run { return l.lanes.replayed() }, func() { l.lanes.draw(); l.changed() },
		func(d time.Duration, f func()) func() bool { return l.lanes.queue.after(d, f) }, time.Now)
	s.queue = newQueue(l.client, func() { l.lanes.draw(); l.changed() }, func(a *attempt) { l.lanes.ended(a) })
	return s
}

// vary are the choices that fill the lanes: what they set, and its values.
var vary = []struct{ key, text, values string }{
	{"max_grad_norm", "C", "0.1,0.3,1,3,10,30"},
	{"target_epsilon", "ε", "0.5,2,8,inf"},
	{"method", "method", "constant,auto-s,psac,quantile,dc-p,dc-e"},
	{"expected_batch_size", "B", "64,256,512,1024"},
}

// state is the lanes as text, for the address: "" where nothing one can name was varied.
func (l *lanes) state() string {
	key := ""
	var values []string
	for _, one := range l.list {
		label := one.Label
		if label == link.Unbounded {
			label = "inf"
		}
		found := ""
		for _, k := range link.Varied {
			if _, sets := one.Set[k]; sets {
				found = k
				break
			}
		}
		if found == "" || len(one.Set) > link.MostSet || key != "" && found != key {
			return ""
		}
		key, values = found, append(values, label)
	}
	text := key + "=" + strings.Join(values, ",")
	if _, err := link.ParseLanes(text); err != nil {
		return ""
	}
	return text
}

// restore makes lanes of what state wrote, or a lesson says; they wait to be started.
func (l *lanes) restore(text string) error {
	list, err := link.ParseLanes(text)
	if err == nil {
		err = l.fill(l.lab.config, list, "accuracy")
	}
	return err
}

// compare starts runs side by side that differ from base in what list sets. watch is what
// they are about, as of a figure.
func (l *lanes) compare(base run.Config, list []lesson.Lane, watch string) {
	l.fault = ""
	if err := l.fill(base, list, watch); err != nil {
		l.fault = err.Error()
		l.lab.changed()
		return
	}
	l.start()
}

// fill makes lanes, which wait to be started, in the place of those there were. Those
// stay where these cannot be.
func (l *lanes) fill(base run.Config, list []lesson.Lane, watch string) error {
	if base.Seed == nil {
		base.Seed = link.First().Seed
	}
	for _, one := range list {
		if _, err := base.With(one.Set); err != nil {
			return fmt.Errorf("%s: %w", one.Label, err)
		}
	}
	l.queue.drop()
	l.base, l.watch, l.list, l.fault, l.target, l.about = base, watch, nil, "", "", nil
	for i, one := range list[:min(len(list), lesson.MostLanes)] {
		l.list = append(l.list, &lane{Lane: one, place: i})
	}
	l.remake()
	return nil
}

// vary fills the lanes with values of one field, over the experiment as it is, and starts.
func (l *lanes) vary(key, values string) {
	list, err := link.ParseLanes(key + "=" + values)
	if err != nil {
		l.fault = err.Error()
		return
	}
	l.compare(l.lab.config, list, "accuracy")
	l.lab.address.write()
}

// add puts the experiment as it is now beside the others.
func (l *lanes) add() {
	cfg := l.lab.config
	if len(l.list) == 0 {
		l.base, l.watch = cfg, "accuracy"
	}
	set, err := over(&l.base, &cfg)
	if err != nil || len(l.list) >= lesson.MostLanes {
		return
	}
	label := fmt.Sprintf("%s, C = %s, ε = %s", cfg.Method, form.Format(cfg.MaxGradNorm), epsilonNow(&cfg))
	for slices.ContainsFunc(l.list, func(o *lane) bool { return o.Label == label }) {
		label += "′"
	}
	place := 0
	for slices.ContainsFunc(l.list, func(o *lane) bool { return o.place == place }) {
		place++
	}
	l.list = append(l.list, &lane{Lane: lesson.Lane{Label: label, Set: set}, place: place})
	l.remake()
	l.lab.changed()
}

// over is what takes one configuration to another: all fields of the other, and nil for
// those that it does not have.
func over(from, to *run.Config) (map[string]any, error) {
	was, err := from.Fields()
	if err != nil {
		return nil, err
	}
	set, err := to.Fields()
	if err != nil {
		return nil, err
	}
	for key := range was {
		if _, has := set[key]; !has {
			set[key] = nil
		}
	}
	return set, nil
}

// remove takes a lane away, and calls off its runs.
func (l *lanes) remove(one *lane) {
	if len(one.runs) > 0 {
		l.queue.drop(one.runs...)
	}
	l.list = slices.DeleteFunc(l.list, func(o *lane) bool { return o == one })
	l.remake()
	l.lab.address.write()
	l.lab.changed()
}

// start has every lane run that has not.
func (l *lanes) start() {
	made := l.made
	l.fault, l.refuse = "", ""
	l.replay.Close()
	l.lab.pinned(l.base, func(base run.Config, err error) {
		switch {
		case made != l.made || l.queue.busy():
			return // there are others now, or these go on
		case err != nil:
			l.fault = err.Error()
		default:
			l.base = base
			l.begin()
			browser.Scroll("lanes-charts")
		}
		l.lab.changed()
	})
}

// begin queues what has not run: seed by seed, so that all lanes are seen soon.
func (l *lanes) begin() {
	var all []*attempt
	for i := range l.seeds {
		for _, one := range l.list {
			if len(one.runs) > i && one.runs[i].fault == "" {
				continue
			}
			cfg, err := l.base.With(one.Set)
			if err != nil {
				l.fault = one.Label + ": " + err.Error()
				return
			}
			seed := *l.base.Seed + uint64(i)
			cfg.Seed, cfg.Threads = &seed, 1
			a := &attempt{cfg: cfg}
			if len(one.runs) > i {
				one.runs[i] = a
			} else {
				one.runs = append(one.runs, a)
			}
			all = append(all, a)
		}
	}
	l.queue.add(all...)
}

// again has all lanes run anew.
func (l *lanes) again() {
	l.queue.drop()
	for _, one := range l.list {
		one.runs = nil
	}
	l.remake()
	l.start()
}

// pending reports whether some lane has not had all of its runs.
func (l *lanes) pending() bool {
	return slices.ContainsFunc(l.list, func(o *lane) bool {
		return len(o.runs) < l.seeds || slices.ContainsFunc(o.runs, func(a *attempt) bool { return a.fault != "" })
	})
}

// keep holds a lane's first run behind those to come, until it is removed.
func (l *lanes) keep(one *lane) {
	if len(l.kept) >= mostKept || len(one.runs) == 0 || one.runs[0].record.Len() == 0 {
		return
	}
	label := "kept: " + one.Label
	for n := 2; slices.ContainsFunc(l.kept, func(k kept) bool { return k.label == label }); n++ {
		label = fmt.Sprintf("kept: %s (%d)", one.Label, n)
	}
	l.kept = append(l.kept, kept{label, one.runs[0].record, one.outcome(l.first())})
	l.remake()
	l.lab.changed()
}

// forget removes a kept run.
func (l *lanes) forget(label string) {
	l.kept = slices.DeleteFunc(l.kept, func(k kept) bool { return k.label == label })
	l.remake()
	l.lab.changed()
}

// looks are the lanes as the charts draw them: those kept first, as they lie behind.
func (l *lanes) looks() []chart.Lane {
	var all []chart.Lane
	for _, k := range l.kept {
		all = append(all, chart.Lane{Label: k.label, Kept: true})
	}
	for _, one := range l.list {
		all = append(all, chart.Lane{Label: one.Label, Place: one.place})
	}
	return all
}

// remake makes the charts anew, for the lanes that there are now.
func (l *lanes) remake() {
	l.made++
	l.charts = nil
	if looks := l.looks(); len(looks) > 0 {
		l.charts = chart.Overlays(looks, strings.HasPrefix(l.base.Data, "regression"), l.watch == "loss")
	}
	l.draw()
}

func (l *lanes) draw() {
	var records []*series.Record
	for _, k := range l.kept {
		records = append(records, l.replay.At(k.record))
	}
	for _, one := range l.list {
		var r *series.Record
		if len(one.runs) > 0 {
			r = one.runs[0].record
		}
		records = append(records, l.replay.At(r))
	}
	for _, c := range l.charts {
		c.Draw(records)
	}
}

// ended notes for a lesson what came of a run: that of a lane's first seed.
func (l *lanes) ended(a *attempt) {
	for _, one := range l.list {
		if len(one.runs) == 0 || one.runs[0] != a || a.result == nil || a.short() {
			continue
		}
		note := l.lab.course.note
		note("accuracy:"+one.Label, float64(a.result.TestAccuracy))
		if a.record.Len() > 0 {
			note("threshold:"+one.Label, a.record.Last.Released.MaxGradNorm)
		}
		recall, _ := worst(a.result)
		note("recall:"+one.Label, recall)
	}
}

// worst is the class whose test rows are found least often, and the share of them that is;
// NaN without classes.
func worst(r *run.Result) (recall float64, class string) {
	recall = math.NaN()
	for _, c := range r.TestClasses {
		if v := float64(c.Recall); !math.IsNaN(v) && !(v >= recall) {
			recall, class = v, c.Class
		}
	}
	return recall, class
}

// outcome is what came of a lane, in numbers: means over its seeds.
type outcome struct {
	lesson.Outcome
	spread float64 // of the accuracy: half of what lies between its least and its greatest
	runs   int     // that have ended well
	state  string
	link   string  // to the experiment of its first seed
	worst  float64 // of its first seed, as [worst] has it
	class  string
}

// first is what times are told in parts of.
func (l *lanes) first() float64 {
	if len(l.list) == 0 || len(l.list[0].runs) == 0 {
		return math.NaN()
	}
	return l.list[0].runs[0].perStep()
}

// perStep is the time of a step in seconds, NaN until the end.
func (a *attempt) perStep() float64 {
	if a.result == nil || a.result.Steps == 0 {
		return math.NaN()
	}
	return a.result.TrainSeconds / float64(a.result.Steps)
}

func (o *lane) outcome(unit float64) outcome {
	out := outcome{state: "waits", worst: math.NaN()}
	var accuracy, loss, noise, cosine, start, end, threshold average
	least, greatest := math.Inf(1), math.Inf(-1)
	for i, a := range o.runs {
		if i == 0 {
			cfg := a.cfg
			cfg.Threads = 0
			out.link, _ = cfg.Hash()
			out.state = a.state()
		}
		if a.record.Len() > 0 {
			clipped, c := a.record.Column(series.Clipped), a.record.Column(series.C)
			tenth := max(1, len(clipped)/10)
			start.add(meanOf(clipped[:tenth]))
			end.add(meanOf(clipped[len(clipped)-tenth:]))
			threshold.add(c[len(c)-1])
		}
		if a.noise.n > 0 { // one that waits, or failed at once, has compared nothing
			noise.add(a.noise.value())
			cosine.add(a.cosine.value())
		}
		if a.result == nil {
			continue
		}
		out.runs++
		accuracy.add(float64(a.result.TestAccuracy))
		loss.add(float64(a.result.TestLoss))
		least, greatest = min(least, float64(a.result.TestAccuracy)), max(greatest, float64(a.result.TestAccuracy))
		if i == 0 {
			out.worst, out.class = worst(a.result)
			out.Time = run.Number(a.perStep() / unit)
		}
	}
	out.spread = (greatest - least) / 2
	out.Outcome = lesson.Outcome{
		Label: o.Label, Accuracy: run.Number(accuracy.value()), Loss: run.Number(loss.value()),
		Clipped:     [2]run.Number{run.Number(start.value()), run.Number(end.value())},
		MaxGradNorm: run.Number(threshold.value()), Noise: run.Number(noise.value()), Cosine: run.Number(cosine.value()), Time: out.Time,
	}
	return out
}

// meanOf is the mean of what is a number.
func meanOf(v []float64) float64 {
	var m average
	for _, x := range v {
		if !math.IsNaN(x) {
			m.add(x)
		}
	}
	return m.value()
}

// walk is where the run's threshold went; nil where it stands still.
func (a *attempt) walk() []float64 {
	if a.record.Len() == 0 {
		return nil
	}
	if cs := a.record.Column(series.C); slices.Min(cs) < slices.Max(cs) {
		return cs
	}
	return nil
}

// short reports whether a run was stopped before its last step.
func (a *attempt) short() bool { return a.result != nil && a.result.Steps < a.result.PlannedSteps }

// state says how it stands with a run.
func (a *attempt) state() string {
	switch {
	case a.fault != "":
		return a.fault
	case a.short():
		return fmt.Sprintf("stopped at step %s of %s", words.Count(a.result.Steps), words.Count(a.result.PlannedSteps)) + a.changed()
	case a.result != nil:
		return "done" + a.changed()
	case a.record.Len() > 0:
		return fmt.Sprintf("step %s of %s", words.Count(a.record.Last.Step), words.Count(a.record.Last.Steps))
	}
	return "waits"
}

// spent says what all lanes cost together.
func (l *lanes) spent() string {
	var epsilons, deltas []float64
	for _, one := range l.list {
		for _, a := range one.runs {
			if a.record != nil {
				epsilons, deltas = append(epsilons, float64(a.record.Plan.Epsilon)), append(deltas, a.record.Plan.Delta)
			}
		}
	}
	sum, delta, n := decimalSum(epsilons), decimalSum(deltas), len(epsilons)
	switch {
	case n < 2:
		return ""
	case math.IsInf(sum, 1):
		return fmt.Sprintf("On private data these %d runs together would have no bound: one of them has no noise.", n)
	}
	return fmt.Sprintf("On private data, and with seeds that nobody knows, these %d runs together would cost at most ε = %s at δ = %s: whoever sees all of them, and chooses, pays for all of them.", n, words.Epsilon(sum), words.Upper(delta, 2))
}

// decimalSum returns the sum of numbers as they are written in decimals, so that three
// times 1e-5 is 3e-5 and is not rounded up to more. +Inf where one of them is.
func decimalSum(numbers []float64) float64 {
	sum := new(big.Rat)
	for _, x := range numbers {
		r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		if !ok {
			return math.Inf(1)
		}
		sum.Add(sum, r)
	}
	x, _ := sum.Float64()
	return x
}

// changed says of a run that it is not what its lane says all along.
func (a *attempt) changed() string {
	if len(a.record.Changes) == 0 {
		return ""
	}
	return ", changed on its way"
}
