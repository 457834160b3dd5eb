package train

import (
	"fmt"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/ui/chart"
	"clipscope/ui/results"
	"clipscope/ui/series"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// mostCompared limits the compared runs to those that colour and mark tell apart.
const mostCompared = 6

// A comparison is some runs of the list, their charts drawn one over the other.
type comparison struct {
	runs     []*trial // by place, which a run keeps; nil where there is none
	charts   []*chart.Overlay
	drawings int    // how often the charts were made anew
	apart    string // whether the runs differ by more than chance
}

// place returns a run's index; −1 where it is not compared.
func (c *comparison) place(id string) int {
	return slices.IndexFunc(c.runs, func(t *trial) bool { return t != nil && t.id == id })
}

// addRun puts a run at the first place that is free; false where there is none.
func (c *comparison) addRun(t *trial) bool {
	i := slices.Index(c.runs, nil)
	switch {
	case i >= 0:
		c.runs[i] = t
	case len(c.runs) < mostCompared:
		c.runs = append(c.runs, t)
	default:
		return false
	}
	c.draw()
	return true
}

func (c *comparison) remove(id string) {
	if i := c.place(id); i >= 0 {
		c.runs[i] = nil
		c.draw()
	}
}

// dropMissing removes the runs that are not in the list any more.
func (c *comparison) dropMissing(list []entry) {
	for _, t := range slices.Clone(c.runs) {
		if t != nil && !hasEntry(list, t.id) {
			c.remove(t.id)
		}
	}
}

// lanes are the runs as the charts draw them.
func (c *comparison) lanes() (lanes []chart.Lane, runs []*trial) {
	for i, t := range c.runs {
		if t != nil {
			lanes, runs = append(lanes, chart.Lane{Label: fmt.Sprintf("%d: %s", i+1, t.record.Config.Method), Place: i}), append(runs, t)
		}
	}
	return lanes, runs
}

// draw makes the charts, of two runs or more: of accuracy where all have classes.
func (c *comparison) draw() {
	c.drawings++
	c.charts, c.apart = nil, ""
	lanes, runs := c.lanes()
	if len(runs) < 2 {
		return
	}
	records, outcomes := make([]*series.Record, len(runs)), make([]results.Run, len(runs))
	for i, t := range runs {
		records[i], outcomes[i] = t.record, t.outcome(t.entry())
	}
	c.apart = results.New(outcomes).Difference()
	regression := slices.ContainsFunc(runs, func(t *trial) bool { return t.data.Task == data.Regression })
	c.charts = chart.Overlays(lanes, regression, false)
	for _, o := range c.charts {
		o.Draw(records)
	}
}

// view is the charts, and above them in what the runs differ.
func (c *comparison) view() app.UI {
	lanes, runs := c.lanes()
	switch {
	case len(runs) == 0:
		return app.Div().ID("compared").Hidden(true)
	case len(runs) == 1:
		return app.Div().ID("compared").Body(app.P().Class("help").Role("status").Text("Choose another run to compare this one with."))
	}
	parts := apartFrom(runs)
	return app.Div().ID("compared").Body(
		app.Ul().Class("compared").Aria("label", "Runs compared").Body(app.Range(runs).Slice(func(i int) app.UI {
			return app.Li().Body(lanes[i].Glyph(), app.Strong().Text(lanes[i].Label), app.Text(" · "+parts[i]))
		})),
		widget.Message("compared-difference", "value-diagnostic", c.apart),
		app.Div().Class("overlays").ID(fmt.Sprintf("compared-%d", c.drawings)).Body(
			app.Range(c.charts).Slice(func(i int) app.UI { return c.charts[i].View() }),
		),
		app.P().Class("help").Text("Each run's ε is its own: a choice among runs by their diagnostics is covered by none of them."),
	)
}

// apartFrom says of each run how it ended, and what of it was made otherwise than in others.
func apartFrom(runs []*trial) []string {
	made, in := make([][]string, len(runs)), map[string]int{}
	for i, t := range runs {
		made[i] = t.description()
		for _, part := range made[i] {
			in[part]++
		}
	}
	said := make([]string, len(runs))
	for i, t := range runs {
		parts := slices.DeleteFunc(made[i], func(part string) bool { return in[part] == len(runs) })
		if len(parts) == 0 {
			parts = []string{"made as the others"}
		}
		if score := t.score(); score != "" {
			parts = append(parts, score)
		}
		said[i] = strings.Join(append(parts, t.state()), " · ")
	}
	return said
}

// compare draws a run of the list over those that are compared already, or takes it away.
func (s *keptRuns) compare(e entry) {
	if s.compared.place(e.ID) >= 0 {
		s.compared.remove(e.ID)
		s.changed()
		return
	}
	s.fetchRun(e, func(t *trial, err error) {
		s.fault = ""
		switch {
		case err != nil:
			s.fault = err.Error()
		case t.record.Len() == 0:
			s.fault = "This run has no charts to compare."
		case s.compared.place(e.ID) < 0 && !s.compared.addRun(t):
			s.fault = fmt.Sprintf("%d runs are compared, as many as can be told apart: take one away first.", mostCompared)
		}
		s.changed()
	})
}
