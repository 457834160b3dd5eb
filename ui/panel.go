package ui

import (
	"strconv"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Row is one line of a chart's text alternative.
type Row struct {
	Name, Value string
	Ink         Ink
}

// figure is one chart with its heading, as part of a panel.
type figure struct {
	Title string
	Ink   Ink // what the badge says
	Badge string
	Spec  *Spec
	Feed  *Feed
	Empty string // what will be here, while nothing is
	None  string // why nothing is here, though a run goes on
	// has reports whether a run has anything for the chart.
	has func(*live) bool
}

// Panel is one or two charts with a sentence and the latest values.
type Panel struct {
	app.Compo
	ID      string
	Figures []*figure // pointers, so that comparing panels is cheap
	Blank   bool      // nothing has been drawn yet
	Without []bool    // by figure: this run has nothing for it
	Hidden  string    // why diagnostics are not shown; empty: they are
	Text    string    // one sentence in words
	Rows    []Row
}

// CompoID tells panels apart, also one panel with more figures.
func (p *Panel) CompoID() string { return p.ID + strconv.Itoa(len(p.Figures)) }

func (p *Panel) Render() app.UI {
	class := "panel panel-" + p.ID
	if p.Blank {
		class += " blank"
	}
	return app.Section().Class(class).ID("panel-"+p.ID).Aria("label", p.Figures[0].Title).Body(
		app.Range(p.Figures).Slice(func(i int) app.UI { return p.figure(i) }),
		app.P().Class("sentence").Text(p.sentence()),
	)
}

// sentence is never empty, so that the panel keeps its height.
func (p *Panel) sentence() string {
	if p.Text == "" {
		return "\u00a0"
	}
	return p.Text
}

func (p *Panel) figure(i int) app.UI {
	f := p.Figures[i]
	return app.Div().Class("figure-box").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text(f.Title),
			badge(f.Ink, f.Badge),
			app.If(i == 0, func() app.UI { return p.values() }),
		),
		app.Div().Class("plot-box").Body(
			&plot{Spec: f.Spec, Feed: f.Feed, Label: f.Title + ", " + string(f.Ink)},
			app.P().Class("empty").Hidden(!p.Blank && !p.without(i)).Text(p.instead(i)),
		),
	)
}

func (p *Panel) without(i int) bool { return i < len(p.Without) && p.Without[i] }

// instead is what stands in an empty chart.
func (p *Panel) instead(i int) string {
	if p.Hidden != "" && p.Figures[i].Ink == Diagnostic {
		return p.Hidden
	}
	if p.Blank || p.Figures[i].None == "" {
		return p.Figures[i].Empty
	}
	return p.Figures[i].None
}

// badge says whether what a chart shows may be published.
func badge(ink Ink, text string) app.UI {
	title := "Computed from the private data without noise: for your eyes only."
	if ink == Released {
		title = "Noised and paid for in ε: may be published."
	}
	if text == "" {
		text = string(ink)
	}
	return app.Span().Class("badge badge-" + string(ink)).Title(title).Text(text)
}

// values is the chart's text alternative: its newest numbers.
func (p *Panel) values() app.UI {
	return app.Details().Class("values").Body(
		app.Summary().Text("Values"),
		app.Table().Body(
			app.Caption().Class("visually-hidden").Text("Latest values"),
			app.TBody().Body(app.Range(p.Rows).Slice(func(i int) app.UI {
				r := p.Rows[i]
				return app.Tr().Body(
					app.Th().Scope("row").Text(r.Name),
					app.Td().Class("figure value-"+string(r.Ink)).Text(r.Value),
					app.Td().Body(badge(r.Ink, "")),
				)
			})),
		),
	)
}
