package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/chart"
	"clipscope/ui/lesson"
	"clipscope/ui/link"
	"clipscope/ui/motion"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// lane holds the runs of one setting, a run for each seed.
type lane struct {
	lesson.Lane
	place int // index of its colour and mark
	runs  []*attempt
}

// earlierRun is an earlier run, drawn behind the present ones.
type earlierRun struct {
	label  string
	record *series.Record
	shown  outcome
}

// lanes holds the state of runs that are shown side by side. They share a seed, and with it data, first
// parameters, batches and noise; they differ in one setting.
type lanes struct {
	jobs    jobs
	base    run.Config
	watch   string         // the number that they are compared by, as in [lesson.Figure]
	about   *lesson.Figure // the paper's figure that they repeat; nil: none
	list    []*lane
	earlier []earlierRun
	seeds   int
	sets    int    // number of sets of lanes so far, which tells their buttons apart
	sort    string // the column that the table is sorted by; "": as they were made
	fault   string
	charts  []*chart.Overlay
	replay  *motion.Replay
	target  string // the lane that is steered; "": all
	refuse  string // why the last change was refused
}

// manySeeds is the number of seeds of a lane whose spread is shown.
const manySeeds = 3

// mostKept is the largest number of earlier runs that stay in the charts: more lines hide the others.
const mostKept = 6

// text returns the lanes as an address writes them; "" where no setting that an address can name was
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

// pending reports whether a lane lacks some of its runs, or has one that failed.
func (l *lanes) pending() bool {
	return slices.ContainsFunc(l.list, func(o *lane) bool {
		return len(o.runs) < l.seeds || slices.ContainsFunc(o.runs, func(a *attempt) bool { return a.fault != "" })
	})
}

// looks returns the lanes in the order in which charts draw them: earlier runs first, as they lie behind.
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

// find returns the lane with a label; nil if there is none.
func (l *lanes) find(label string) *lane {
	if i := slices.IndexFunc(l.list, func(o *lane) bool { return o.Label == label }); i >= 0 {
		return l.list[i]
	}
	return nil
}

// replayed returns the first run of each lane, and the earlier runs.
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

// still reports whether there is something to replay and no run under way moves.
func (l *lanes) still() bool { return (!l.jobs.busy() || l.jobs.paused) && l.replay.Some() }

// steered returns the runs under way that a change applies to.
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

// worst returns the least recall of a class on the test rows, and the class; NaN without classes.
func worst(r *run.Result) (recall float64, class string) {
	recall = math.NaN()
	for _, c := range r.TestClasses {
		if v := float64(c.Recall); !math.IsNaN(v) && !(v >= recall) {
			recall, class = v, c.Class
		}
	}
	return recall, data.Shown(class)
}

// facts calls note with the results of a run, if it is the first of a lane, has ended, and took all of
// its steps.
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

// outcome holds the results of a lane: means over its seeds, unless a field says otherwise.
type outcome struct {
	lesson.Outcome
	spread float64 // half the range of the accuracy
	runs   int     // number of runs that have a result
	state  string
	link   string  // address of the experiment of its first seed
	worst  float64 // least recall of a class with its first seed, see [worst]
	class  string
}

// first returns the time of a step of the first lane: the unit of all times. NaN if no run has begun.
func (l *lanes) first() float64 {
	if len(l.list) == 0 || len(l.list[0].runs) == 0 {
		return math.NaN()
	}
	return l.list[0].runs[0].perStep()
}

func (o *lane) outcome(unit float64) outcome {
	out := outcome{state: "waits", worst: math.NaN()}
	var accuracy, loss, squares, cosine, start, end, threshold average
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
		if a.squares.n > 0 { // a run that waits, or failed at once, has compared nothing
			squares.addValue(a.squares.value())
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
		MaxGradNorm: run.Number(threshold.value()), Error: run.Number(squares.value()), Cosine: run.Number(cosine.value()), Time: out.Time,
	}
	return out
}

// meanOf returns the mean of v without its NaN.
func meanOf(v []float64) float64 {
	var m average
	for _, x := range v {
		if !math.IsNaN(x) {
			m.addValue(x)
		}
	}
	return m.value()
}

// spent returns a sentence on what all lanes would cost together; "" for fewer than two runs.
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

// decimalSum returns the sum of numbers that are not negative by their decimal digits, so that three times 1e-5 is 3e-5 and is
// not rounded up to more; +Inf where a number is.
func decimalSum(numbers []float64) float64 {
	const first, last = 320, -360 // powers of ten
	var digits [first - last + 1]int
	for _, x := range numbers {
		mantissa, power, ok := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
		if !ok {
			return math.Inf(1)
		}
		exponent, _ := strconv.Atoi(power)
		for i, digit := range strings.Replace(mantissa, ".", "", 1) {
			digits[first-exponent+i] += int(digit - '0')
		}
	}
	var text [len(digits)]byte
	for i, carry := len(digits)-1, 0; i >= 0; i-- {
		carry += digits[i]
		text[i] = byte('0' + carry%10)
		carry /= 10
	}
	x, _ := strconv.ParseFloat(fmt.Sprintf("%se%d", text[:], last), 64)
	return x
}
