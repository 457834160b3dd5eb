package chart

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"clipscope/core/run"
	"clipscope/ui/browser"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Ink says what a line is made from; the stylesheet gives both their colour,
// and diagnostic lines are dashed.
type Ink string

// What is drawn in either; and two that are written alone: public, which no row decides, and
// plain, which carries no guarantee.
const (
	Released   Ink = "released"
	Diagnostic Ink = "diagnostic"
	Public     Ink = "public"
	Plain      Ink = "plain"
)

// Spec describes a chart's axes and lines. It does not change while the chart is shown.
type Spec struct {
	Kind      string `json:"kind"` // lines or histogram
	X         Axis   `json:"x"`
	Y         Axis   `json:"y"`
	Series    []Line `json:"series"`
	Sync      string `json:"sync,omitempty"`      // charts of one name share the cursor
	Mark      string `json:"mark,omitempty"`      // vertical or horizontal: how the mark is drawn
	MarkLabel string `json:"markLabel,omitempty"` // stands at the mark, before its value
	// Values says what is shown, for who saves it: what the lines' inks do not tell. Whatever
	// is not said to be released is taken for diagnostic.
	Values Ink `json:"values,omitempty"`
	// Side is the room for names at the lines' ends, in pixels; 0: as much as short ones need.
	Side float64 `json:"side,omitempty"`
}

// Axis is an axis of a chart. Max fixes its end; otherwise it grows in steps.
type Axis struct {
	Label  string  `json:"label,omitempty"`
	Format string  `json:"format,omitempty"` // percent, number, or rounded up: bound, and epsilon with two decimals
	Log    bool    `json:"log,omitempty"`
	Max    float64 `json:"max,omitempty"`
	Hidden bool    `json:"hidden,omitempty"`
	Free   bool    `json:"free,omitempty"` // it spans what is drawn, wherever 0 is
}

// Line is a series to draw.
type Line struct {
	Label   string  `json:"label"`
	Name    string  `json:"name,omitempty"` // in files, of one that has no label
	Ink     Ink     `json:"ink"`
	Scale   string  `json:"scale,omitempty"`
	Width   float64 `json:"width,omitempty"`
	Points  bool    `json:"points,omitempty"`
	Stepped bool    `json:"stepped,omitempty"`
	Mark    string  `json:"mark,omitempty"` // circle, square, triangle, diamond, cross or plus: a shape along the line
}

// Feed carries numbers to a chart past the virtual DOM. It outlives the chart,
// which shows the feed's last numbers when it is mounted.
type Feed struct {
	// Numbers is what was sent last, laid out as charts.js reads it.
	Numbers []float64
	// Since is where the lines begin because what was before is not known, which is
	// marked; 0: nothing is lacking.
	Since float64
	Marks []Mark // of the next lines
	Cover Cover  // of what is drawn as released
	sink  func([]float64)
}

// Cover is the kind of protection of the values in a chart, for who saves it.
type Cover int

const (
	Bare    Cover = iota // not at all: there is no noise in it
	Taught               // there is noise, and no guarantee
	Covered              // by a guarantee
)

// coverOf returns the protection of the least protected of runs; those that have not begun have
// nothing.
func coverOf(runs []*series.Record) Cover {
	least := Covered
	for _, r := range withEvents(runs) {
		switch {
		case !(r.Plan.NoiseMultiplier > 0):
			return Bare
		case r.Plan.Unbacked():
			least = Taught
		}
	}
	return least
}

// Mark says at its step what was changed of the run that a line is of.
type Mark struct {
	Line int // from 0
	run.Changed
}

// changeable are the fields that a mark can be of, as charts.js numbers them.
var changeable = []string{"max_grad_norm", "noise_multiplier", "learning_rate"}

// mark adds the changes of a run that a line is of.
func (f *Feed) mark(line int, r *series.Record) {
	for _, c := range r.Changes {
		f.Marks = append(f.Marks, Mark{line, c})
	}
}

// Lines sets a line chart: x's end, the mark (NaN for none) and columns of
// equal length, x first. NaN is a gap. The feed's marks come with them.
func (f *Feed) Lines(end, mark float64, columns ...[]float64) {
	b := f.Numbers[:0]
	b = append(b, float64(len(columns)), float64(len(columns[0])), end, mark, f.Since)
	for _, c := range columns {
		b = append(b, c...)
	}
	b = append(b, float64(len(f.Marks)))
	for _, m := range f.Marks {
		b = append(b, float64(m.Line), float64(m.Step), float64(slices.Index(changeable, m.Field)), m.From, m.To)
	}
	f.set(b)
}

// Histogram is the data of a histogram chart.
type Histogram struct {
	Start            float64 // of a logarithmic axis; 0: the axis is linear and starts there
	End, Mark        float64
	Counts           []float64 // diagnostic bins over [Low, Max]
	Low, Max         float64   // where Low > 0, bins are even on a logarithmic axis, and the first begins at 0
	Noisy            []float64 // released bins over [0, Range]
	Range            float64
	Norms, Weights   []float64 // the weight function, both of one length
	HighestOfWeights float64
}

// Histogram sets a histogram chart.
func (f *Feed) Histogram(h Histogram) {
	b := append(f.Numbers[:0], h.Start, h.End, h.Mark, h.HighestOfWeights, h.Low, h.Max, float64(len(h.Counts)))
	b = append(append(b, h.Counts...), h.Range, float64(len(h.Noisy)))
	b = append(append(b, h.Noisy...), float64(len(h.Norms)))
	f.set(append(append(b, h.Norms...), h.Weights...))
}

// Clear empties the chart.
func (f *Feed) Clear() { f.set(f.Numbers[:0]) }

func (f *Feed) set(numbers []float64) {
	f.Numbers = numbers
	if f.sink != nil {
		f.sink(numbers)
	}
}

// Plot owns one uPlot chart: it renders an empty element and fills it when
// mounted, so that the virtual DOM never touches what uPlot made.
type Plot struct {
	app.Compo
	Spec  *Spec
	Feed  *Feed
	Label string

	chart app.Value
	bytes app.Value
	room  int
}

// CompoID keeps one chart's canvas from being given to another, which may be of the same
// name: what is drawn of runs that took the place of others comes from another feed.
func (p *Plot) CompoID() string { return fmt.Sprintf("%s %p", p.Label, p.Feed) }

func (p *Plot) Render() app.UI {
	return app.Div().Class("plot").Role("img").TabIndex(0).Aria("label", p.Label)
}

func (p *Plot) OnMount(app.Context) {
	glue := browser.Glue()
	if !glue.Truthy() {
		return
	}
	spec, err := json.Marshal(p.Spec)
	if err != nil {
		app.Log("ui: chart: ", err)
		return
	}
	p.chart = glue.Call("chart", p.JSValue(), string(spec))
	p.Feed.sink = p.show
	p.show(p.Feed.Numbers)
}

func (p *Plot) OnDismount() {
	p.Feed.sink = nil
	if p.chart != nil {
		p.chart.Call("destroy")
		p.chart = nil
	}
}

func (p *Plot) show(numbers []float64) {
	if p.chart == nil {
		return
	}
	if len(numbers) == 0 {
		p.chart.Call("clear")
		return
	}
	if p.bytes == nil || p.room < len(numbers) {
		p.bytes = p.chart.Call("room", len(numbers))
		p.room = p.bytes.Length() / 8
	}
	app.CopyBytesToJS(p.bytes, bytesOf(numbers))
	p.chart.Call("draw", len(numbers), int(p.Feed.Cover))
}

// bytesOf is v's memory; a browser's arrays have the same byte order as wasm.
func bytesOf(v []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}

// growing is the end of an axis that must reach x and will not pass limit: it
// doubles, so that the picture holds still between. limit 0 is no limit.
func growing(x, limit float64) float64 {
	if limit <= 0 {
		limit = math.Inf(1)
	}
	end := 1.0
	if !math.IsInf(limit, 1) {
		end = limit / 8
	}
	for end < x {
		end *= 2
	}
	return min(end, limit)
}

// stretch moves an axis's end only when need passes it or falls far below it,
// and then in steps of about a quarter.
func stretch(end, need float64) float64 {
	if !(need > 0) || math.IsInf(need, 1) || need <= end && need > end/3 {
		return end
	}
	p := math.Pow(10, math.Floor(math.Log10(need)))
	for _, m := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if m*p >= need {
			return m * p
		}
	}
	return 10 * p
}
