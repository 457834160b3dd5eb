package lab

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// lane is one of the runs side by side, once for each seed.
type lane struct {
	lesson.Lane
	place int // of its colour and mark
	runs  []*attempt
}

// earlierRun is an earlier run, drawn behind the present ones.
type earlierRun struct {
	label  string
	record *series.Record
	shown  outcome
}

// lanes is the state of the runs side by side. They share data, first parameters, batches and
// noise, as they share a seed, and differ in one thing.
type lanes struct {
	jobs    jobs
	base    run.Config
	watch   string         // the number they are made for, as in [lesson.Figure]
	about   *lesson.Figure // the paper's figure they are made for; nil: none
	list    []*lane
	earlier []earlierRun
	seeds   int
	sets    int    // counts sets of lanes, which tells their buttons apart
	sort    string // the column that the table is sorted by; "": as they were made
	fault   string
	charts  []*chart.Overlay
	replay  *motion.Replay
	target  string // the lane that is steered; "": all
	refuse  string // why the last change was refused
}

// manySeeds is the number of runs of a lane where their spread is asked for.
const manySeeds = 3

// mostKept is the most runs that are kept: more lines hide the others.
const mostKept = 6

// text returns the lanes as they are written in an address, "" where nothing with a name was
// varied.
func (l *lanes) text() string {
	key := ""
	var values []string
	for _, one := range l.list {
		label := one.Label
		if label == link.Unbounded {
			label = "inf"
		}
		i := slices.IndexFunc(link.Varied, func(k string) bool { _, sets := one.Set[k]; return sets })
		if i < 0 || len(one.Set) > link.MostSet || key != "" && link.Varied[i] != key {
			return ""
		}
		key, values = link.Varied[i], append(values, label)
	}
	text := key + "=" + strings.Join(values, ",")
	if _, err := link.ParseLanes(text); err != nil {
		return ""
	}
	return text
}

// pending reports whether some lane has not had all of its runs.
func (l *lanes) pending() bool {
	return slices.ContainsFunc(l.list, func(o *lane) bool {
		return len(o.runs) < l.seeds || slices.ContainsFunc(o.runs, func(a *attempt) bool { return a.fault != "" })
	})
}

// looks returns the lanes as the charts draw them: the kept ones first, as they lie behind.
func (l *lanes) looks() []chart.Lane {
	var all []chart.Lane
	for _, k := range l.earlier {
		all = append(all, chart.Lane{Label: k.label, Kept: true})
	}
	for _, one := range l.list {
		all = append(all, chart.Lane{Label: one.Label, Place: one.place})
	}
	return all
}

// find returns the lane of a label, nil if there is none.
func (l *lanes) find(label string) *lane {
	if i := slices.IndexFunc(l.list, func(o *lane) bool { return o.Label == label }); i >= 0 {
		return l.list[i]
	}
	return nil
}

// replayed returns the first runs of the lanes, and the kept ones.
func (l *lanes) replayed() []motion.Run {
	var all []motion.Run
	for _, one := range l.list {
		if len(one.runs) > 0 {
			all = append(all, motion.Run{Name: one.Label, Record: one.runs[0].record})
		}
	}
	for _, k := range l.earlier {
		all = append(all, motion.Run{Name: k.label, Record: k.record})
	}
	return all
}

// still reports whether there is something to replay while nothing goes on.
func (l *lanes) still() bool { return (!l.jobs.busy() || l.jobs.paused) && l.replay.Some() }

// steered returns the runs under way that a change is for.
func (l *lanes) steered() []*attempt {
	var all []*attempt
	for _, a := range l.jobs.going {
		mine := func(o *lane) bool { return (l.target == "" || l.target == o.Label) && slices.Contains(o.runs, a) }
		if a.runner != nil && !a.ending && slices.ContainsFunc(l.list, mine) {
			all = append(all, a)
		}
	}
	return all
}

// worst finds the class with the least recall on the test rows; NaN without classes.
func worst(r *run.Result) (recall float64, class string) {
	recall = math.NaN()
	for _, c := range r.TestClasses {
		if v := float64(c.Recall); !math.IsNaN(v) && !(v >= recall) {
			recall, class = v, c.Class
		}
	}
	return recall, class
}

// facts calls note with the result of a run, where it is the first one of a lane.
func (l *lanes) facts(a *attempt, note func(name string, value float64)) {
	for _, one := range l.list {
		if len(one.runs) == 0 || one.runs[0] != a || a.result == nil || a.short() {
			continue
		}
		note("accuracy:"+one.Label, float64(a.result.TestAccuracy))
		if a.record.Len() > 0 {
			note("threshold:"+one.Label, a.record.Last.Released.MaxGradNorm)
		}
		recall, _ := worst(a.result)
		note("recall:"+one.Label, recall)
	}
}

// outcome is the result of a lane in numbers: means over its seeds.
type outcome struct {
	lesson.Outcome
	spread float64 // half the range of the accuracy
	runs   int     // that have ended well
	state  string
	link   string  // to the experiment of its first seed
	worst  float64 // of its first seed, as [worst] has it
	class  string
}

// first returns the time of a step of the first lane, the unit of all times.
func (l *lanes) first() float64 {
	if len(l.list) == 0 || len(l.list[0].runs) == 0 {
		return math.NaN()
	}
	return l.list[0].runs[0].perStep()
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
			start.addValue(meanOf(clipped[:tenth]))
			end.addValue(meanOf(clipped[len(clipped)-tenth:]))
			threshold.addValue(c[len(c)-1])
		}
		if a.noise.n > 0 { // one that waits, or failed at once, has compared nothing
			noise.addValue(a.noise.value())
			cosine.addValue(a.cosine.value())
		}
		if a.result == nil {
			continue
		}
		out.runs++
		accuracy.addValue(float64(a.result.TestAccuracy))
		loss.addValue(float64(a.result.TestLoss))
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

// meanOf returns the mean, NaN left out.
func meanOf(v []float64) float64 {
	var m average
	for _, x := range v {
		if !math.IsNaN(x) {
			m.addValue(x)
		}
	}
	return m.value()
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
