// Package chart draws the charts of a run. Each is one file, with its title, its drawing
// and its words, and one list has their order. Numbers go from a series to the canvas past
// the virtual DOM.
package chart

import (
	"math"
	"slices"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// order is the panels as they stack, and the charts of each, which share a
// sentence.
func order() []Panel {
	return []Panel{
		{ID: "clipping", Charts: []*Chart{clipping(), threshold()}},
		{ID: "norms", Charts: []*Chart{norms()}},
		{ID: "learning", Charts: []*Chart{accuracy(), loss()}},
		{ID: "epsilon", Charts: []*Chart{epsilon(), rate()}},
		{ID: "room", Charts: []*Chart{room()}},
		{ID: "curves", Charts: []*Chart{curves()}},
	}
}

// Chart is a chart of runs: what it draws and what it says. Where it can show
// but one run, that is the last.
type Chart struct {
	Title string
	Ink   Ink // what the badge says
	Spec  Spec
	Empty string // what will be here, while nothing is
	None  string // why nothing is here, though a run goes on; Empty where it is empty

	Feed Feed
	// fits reports whether an experiment can have the chart at all; nil: all can. The record is
	// that of the last run; nil: there is none.
	fits func(c *run.Config, task data.Task, last *series.Record) bool
	// has reports whether a run has anything for it.
	has func(*series.Record) bool
	// draw sends what there is to the feed. No run is without points.
	draw func(*Feed, []*series.Record)
	// sentence and rows are what the newest step says; nil: nothing.
	sentence func(*series.Record) string
	rows     func(*series.Record) []Row
}

// Row is a line of a chart's text alternative.
type Row struct {
	Name, Value string
	Ink         Ink
}

// Set is the charts of some runs.
type Set struct{ panels []Panel }

// New makes empty charts. Those over steps have their lines for each of so many
// runs; the others show the last.
func New(runs int) *Set {
	s := &Set{order()}
	for c := range s.charts {
		if c.Spec.Values = c.Ink; c.Ink == Public {
			c.Spec.Values = Released // which may be saved as that
		}
		if c.Spec.Kind == "lines" && c.Spec.Sync == syncSteps {
			c.Spec.Series = slices.Repeat(c.Spec.Series, runs)
		}
	}
	return s
}

func (s *Set) charts(yield func(*Chart) bool) {
	for _, p := range s.panels {
		for _, c := range p.Charts {
			if !yield(c) {
				return
			}
		}
	}
}

// Draw shows what the runs have reported.
func (s *Set) Draw(runs []*series.Record) {
	runs = withEvents(runs)
	if len(runs) == 0 {
		return
	}
	last := runs[len(runs)-1]
	cover := coverOf(runs)
	for c := range s.charts {
		if c.Feed.Cover != cover { // what is not drawn anew is of other runs
			c.Feed.Clear()
			c.Feed.Cover = cover
		}
		if last.Past() && !c.has(last) { // of which nothing is kept
			c.Feed.Clear()
			continue
		}
		c.draw(&c.Feed, runs)
	}
}

// Clear empties the charts.
func (s *Set) Clear() {
	for c := range s.charts {
		c.Feed.Clear()
	}
}

// withEvents are the runs that have reported something.
func withEvents(runs []*series.Record) []*series.Record {
	return slices.DeleteFunc(slices.Clone(runs), func(r *series.Record) bool { return r.Len() == 0 })
}

// Panels are the charts in their order, those that an experiment can have, with
// what is to be said of the runs; over is whether the last has come to its end.
func (s *Set) Panels(runs []*series.Record, c run.Config, task data.Task, over bool) []*Panel {
	var last *series.Record
	if runs = withEvents(runs); len(runs) > 0 {
		last = runs[len(runs)-1]
	}
	var list []*Panel
	for _, p := range s.panels {
		p.Charts = slices.DeleteFunc(slices.Clone(p.Charts), func(x *Chart) bool { return x.fits != nil && !x.fits(&c, task, last) })
		if len(p.Charts) == 0 {
			continue
		}
		p.Hidden, p.Blank, p.Bare = hidden(&c, over), last == nil, coverOf(runs) != Covered
		p.say(last)
		list = append(list, &p)
	}
	return list
}

// hidden says why diagnostics are not shown, if they are not.
func hidden(c *run.Config, over bool) string {
	switch {
	case c.Tuning.Runs > 0 && over:
		return "Not measured: of runs that are compared nothing is shown but how they came out."
	case c.Tuning.Runs > 0:
		return "Not measured: several runs are tried, and the best is shown once it is known."
	case !c.Blind:
		return ""
	case over:
		return "Not measured: this run was blind."
	default:
		return "Not measured: the run is blind, so that only released values can decide when to stop it."
	}
}

// syncSteps is shared by the charts over steps: they move their cursors together.
const syncSteps = "steps"

var (
	stepAxis   = Axis{Label: "step"}
	stepHidden = Axis{Label: "step", Hidden: true}
)

// column reports whether a run has had a number in a column.
func column(c series.Column) func(*series.Record) bool {
	return func(r *series.Record) bool { return r.Has(c) }
}

// lines draws columns over steps.
func lines(columns ...series.Column) func(*Feed, []*series.Record) {
	return markedLines(func(*series.Record) float64 { return math.NaN() }, columns...)
}

// markedLines are lines with a mark for the last run.
func markedLines(mark func(*series.Record) float64, columns ...series.Column) func(*Feed, []*series.Record) {
	var buffer [][]float64
	return func(f *Feed, runs []*series.Record) {
		step, steps := 0, 0
		f.Since = float64(runs[len(runs)-1].Resumed)
		f.Marks = f.Marks[:0]
		for _, r := range runs {
			step, steps = max(step, r.Reach()), max(steps, r.Last.Steps)
			f.mark(0, r)
		}
		buffer = overSteps(buffer[:0], runs, columns)
		f.Lines(growing(float64(step), float64(steps)), mark(runs[len(runs)-1]), buffer...)
	}
}

// overSteps appends to dst the steps of all runs, and the columns of each over
// them: NaN where a run has no point.
func overSteps(dst [][]float64, runs []*series.Record, columns []series.Column) [][]float64 {
	if len(runs) == 1 {
		dst = append(dst, runs[0].Column(series.Step))
		for _, c := range columns {
			dst = append(dst, runs[0].Column(c))
		}
		return dst
	}
	var steps []float64
	for _, r := range runs {
		steps = append(steps, r.Column(series.Step)...)
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	dst = append(dst, steps)
	for _, r := range runs {
		for _, c := range columns {
			dst = append(dst, spread(steps, r.Column(series.Step), r.Column(c)))
		}
	}
	return dst
}

// spread is values at some of the steps over all of them, NaN between.
func spread(steps, at, values []float64) []float64 {
	out := make([]float64, len(steps))
	for i, k := 0, 0; i < len(steps); i++ {
		out[i] = math.NaN()
		if k < len(at) && at[k] == steps[i] {
			out[i] = values[k]
			k++
		}
	}
	return out
}

// diagnostics returns the diagnostics of the newest step, all missing where it has none.
func diagnostics(m words.Moment) *run.Diag {
	if m.Event.Diag != nil {
		return m.Event.Diag
	}
	nan := run.Number(math.NaN())
	return &run.Diag{ClipFraction: nan, TrainLoss: nan, TrainAcc: nan}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
