package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Lane is the look of one of several runs that are drawn over each other. Colour is not
// alone in telling them apart: each has a mark, and its name at its line's end.
type Lane struct {
	Label string
	Place int  // from 0: which colour and mark it has
	Kept  bool // from before: drawn faint behind the others
}

// Faint is the ink of earlier results.
const Faint Ink = "muted"

// marks are the shapes at lines, in the order of the lanes' colours.
var marks = []string{"circle", "square", "triangle", "diamond", "cross", "plus"}

// Mark is the shape that goes with the lane's colour.
func (l Lane) Mark() string { return marks[l.Place%len(marks)] }

// glyphs are the marks of lines, as text.
var glyphs = map[string]string{"circle": "○", "square": "□", "triangle": "△", "diamond": "◇", "cross": "×", "plus": "+"}

// Glyph is the lane's mark in its colour, before its name in a text.
func (l Lane) Glyph() app.UI {
	glyph := "–"
	if !l.Kept {
		glyph = glyphs[l.Mark()]
	}
	return app.Span().Class("ink-"+string(l.Ink())).Aria("hidden", true).Text(glyph + " ")
}

// Ink is the lane's colour.
func (l Lane) Ink() Ink {
	if l.Kept {
		return Faint
	}
	return Ink("lane" + strconv.Itoa(1+l.Place%len(marks)))
}

func (l Lane) line() Line {
	if l.Kept {
		return Line{Label: l.Label, Ink: Faint, Width: 1}
	}
	return Line{Label: l.Label, Ink: l.Ink(), Width: 2, Mark: l.Mark()}
}

// Overlay is a quantity of several runs over their steps. It does not change which
// runs these are: another set of lanes is another overlay.
type Overlay struct {
	Title  string
	Ink    Ink // what the badge says
	Spec   Spec
	Feed   Feed
	Empty  string // what will be here, while no run has reported
	column series.Column
	names  string
}

// Overlays are the threshold, the accuracy (of regression the test loss) and the share
// that is clipped, or the batch's loss in its place.
func Overlays(lanes []Lane, regression, loss bool) []*Overlay {
	last := overlay(lanes, "Clipped share", Diagnostic, series.Clipped, Axis{Format: "percent", Max: 1},
		"The share of each batch whose gradients are longer than C, once the runs have started.")
	if loss {
		last = overlay(lanes, "Loss of each batch", Diagnostic, series.TrainLoss, Axis{}, "Loss on each batch, once the runs have started.")
	}
	second := overlay(lanes, "Test accuracy", Diagnostic, series.TestAcc, Axis{Format: "percent", Max: 1}, "Accuracy on the test rows, once the runs have started.")
	if regression {
		second = overlay(lanes, "Test loss", Diagnostic, series.TestLoss, Axis{}, "Loss on the test rows, once the runs have started.")
	}
	return []*Overlay{second, overlay(lanes, "Threshold C", Released, series.C, Axis{Log: true}, "The threshold of each step, once the runs have started."), last}
}

func overlay(lanes []Lane, title string, ink Ink, column series.Column, y Axis, empty string) *Overlay {
	o := &Overlay{Title: title, Ink: ink, Empty: empty, column: column}
	o.Spec = Spec{Kind: "lines", Sync: "lanes", X: stepAxis, Y: y, Side: side(lanes), Values: ink}
	var names []string
	for _, l := range lanes {
		o.Spec.Series = append(o.Spec.Series, l.line())
		names = append(names, l.Label)
	}
	o.names = strings.Join(names, ", ")
	return o
}

// side is the room that names need at the lines' ends, in pixels: about 7 a letter of 12
// pixels, and some for the mark.
func side(lanes []Lane) float64 {
	longest := 0
	for _, l := range lanes {
		longest = max(longest, len([]rune(l.Label)))
	}
	return min(max(56, 7*float64(longest)+16), 160)
}

// Draw shows what the runs have reported, nil or empty where one has not yet; there are
// as many as lanes.
func (o *Overlay) Draw(runs []*series.Record) {
	step, steps := 0, 0
	var all []float64
	o.Feed.Marks, o.Feed.Cover = o.Feed.Marks[:0], coverOf(runs)
	for i, r := range runs {
		if r.Len() > 0 {
			step, steps = max(step, r.Reach()), max(steps, r.Last.Steps)
			o.Feed.mark(i, r)
			all = append(all, r.Column(series.Step)...)
		}
	}
	if len(all) == 0 {
		o.Feed.Clear()
		return
	}
	slices.Sort(all)
	all = slices.Compact(all)
	columns := [][]float64{all}
	for _, r := range runs {
		if r.Len() == 0 {
			columns = append(columns, spread(all, nil, nil))
			continue
		}
		columns = append(columns, spread(all, r.Column(series.Step), r.Column(o.column)))
	}
	o.Feed.Lines(growing(float64(step), float64(steps)), math.NaN(), columns...)
}

// View is the chart under its title.
func (o *Overlay) View() app.UI {
	empty := ""
	if len(o.Feed.Numbers) == 0 {
		empty = o.Empty
	}
	return figure(o.Title, o.Ink, &o.Spec, &o.Feed, o.names, empty)
}

// figure is a chart under its title, what it is of for who cannot see it, and what stands
// there instead; "": the chart itself.
func figure(title string, ink Ink, spec *Spec, feed *Feed, of, instead string) app.UI {
	return app.Div().Class("figure-box").Body(
		app.Div().Class("figure-head").Body(app.H3().Text(title), badge(ink, len(feed.Numbers) > 0 && feed.Cover != Covered), Save(title)),
		app.Div().Class("plot-box").Body(
			&Plot{Spec: spec, Feed: feed, Label: title + ", " + string(ink) + ": " + of},
			app.P().Class("empty").Hidden(instead == "").Text(instead),
		),
	)
}

// Swept is accuracy against the threshold of whole runs.
type Swept struct {
	Spec  Spec
	Feed  Feed
	lanes []Lane
}

// Curve holds the results at each C so far: means over seeds, and the least and greatest of
// them, NaN where there is none.
type Curve struct{ Mean, Least, Greatest []float64 }

// NewSwept makes an empty chart with a curve for each lane.
func NewSwept(lanes []Lane, regression bool) *Swept {
	s := &Swept{lanes: lanes}
	s.Spec = Spec{Kind: "lines", X: Axis{Label: "C", Log: true}, Y: Axis{Format: "percent", Max: 1}, Side: side(lanes), Values: Diagnostic, Mark: "vertical", MarkLabel: "best C"}
	if regression {
		s.Spec.Y = Axis{}
	}
	for _, l := range lanes {
		rim := func(of string) Line { return Line{Name: l.Label + ", " + of, Ink: l.Ink(), Width: 0.75} }
		s.Spec.Series = append(s.Spec.Series, l.line(), rim("least"), rim("greatest"))
	}
	return s
}

// Draw shows curves over cs, with the best C marked; NaN: none is known.
func (s *Swept) Draw(cs []float64, best float64, curves []Curve) {
	columns := [][]float64{cs}
	for _, c := range curves {
		columns = append(columns, c.Mean, c.Least, c.Greatest)
	}
	s.Feed.Lines(cs[len(cs)-1], best, columns...)
}

// View is the chart under its title.
func (s *Swept) View(title string) app.UI {
	var names []string
	for _, l := range s.lanes {
		names = append(names, l.Label)
	}
	return figure(title, Diagnostic, &s.Spec, &s.Feed, strings.Join(names, ", "), "")
}
