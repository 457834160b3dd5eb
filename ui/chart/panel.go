package chart

import (
	"strconv"

	"clipscope/ui/series"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Panel shows one or two charts, with a sentence and the latest values.
type Panel struct {
	app.Compo
	ID      string
	Charts  []*Chart // pointers, so that comparing panels is cheap
	Blank   bool     // nothing has been drawn yet
	Past    bool     // what is shown is of a step before the last
	Bare    bool     // of what is shown not all has a guarantee
	Without []bool   // by chart: this run has nothing for it
	Hidden  string   // why diagnostics are not shown; empty: they are
	Text    string   // one sentence in words
	Rows    []Row
}

// say fills in what a run says, nil where there is none.
func (p *Panel) say(r *series.Record) {
	if r == nil {
		p.Rows = []Row{{"nothing yet", words.Missing, Released}}
		return
	}
	p.Past = r.Past()
	for _, c := range p.Charts {
		p.Without = append(p.Without, !c.has(r))
		if c.sentence != nil {
			p.Text = join(p.Text, c.sentence(r))
		}
		if c.rows != nil {
			p.Rows = append(p.Rows, c.rows(r)...)
		}
	}
}

// CompoID tells panels apart, also one panel with more charts.
func (p *Panel) CompoID() string { return p.ID + strconv.Itoa(len(p.Charts)) }

func (p *Panel) Render() app.UI {
	class := "panel panel-" + p.ID
	if p.Blank {
		class += " blank"
	}
	return app.Section().Class(class).ID("panel-"+p.ID).Aria("label", p.Charts[0].Title).Body(
		app.Range(p.Charts).Slice(func(i int) app.UI { return p.figure(i) }),
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
	c := p.Charts[i]
	return app.Div().Class("figure-box").Body(
		app.Div().Class("figure-head").Body(
			app.H2().Text(c.Title),
			badge(c.Ink, p.Bare),
			app.If(i == 0, func() app.UI { return p.values() }),
			Save(c.Title),
		),
		app.Div().Class("plot-box").Body(
			&Plot{Spec: &c.Spec, Feed: &c.Feed, Label: c.Title + ", " + string(c.Ink)},
			app.P().Class("empty").Hidden(!p.Blank && !p.without(i)).Text(p.instead(i)),
		),
	)
}

func (p *Panel) without(i int) bool { return i < len(p.Without) && p.Without[i] }

// instead returns the text of an empty chart.
func (p *Panel) instead(i int) string {
	if p.Hidden != "" && p.Charts[i].Ink == Diagnostic {
		return p.Hidden
	}
	if p.Past {
		return "Only the newest of these is kept, so it is not replayed."
	}
	if p.Blank || p.Charts[i].None == "" {
		return p.Charts[i].Empty
	}
	return p.Charts[i].None
}

// Save is a button that offers what the chart beside it shows as files: a picture, or its
// numbers (web/save.mjs). It is a word, with dots, as a picture of a download would be taken
// for one, of who knows what.
//
// Guarantee: what is diagnostic is in a file only where the person has asked for it there.
func Save(title string) app.UI {
	return app.Button().Type("button").Class("plain save").DataSet("opens", "save").DataSet("title", title).
		Aria("label", "Save…: "+title).Aria("haspopup", "dialog").Title("Choose what to save: a picture, or numbers").Text("Save…")
}

// badge says whether what a chart shows may be published; bare is of a run without a
// guarantee, which releases nothing that may.
func badge(ink Ink, bare bool) app.UI {
	switch {
	case ink == Diagnostic:
		return app.Span().Class("badge badge-diagnostic").Title("Computed from the private data without noise: for your eyes only.").Text("diagnostic")
	case ink == Public:
		return app.Span().Class("badge badge-public").Title("It follows from the settings alone, and costs no ε.").Text("public")
	case bare:
		return app.Span().Class("badge badge-plain").Title("What a run with a guarantee would release. This one carries none: it is not to be published.").Text("no guarantee")
	default:
		return app.Span().Class("badge badge-released").Title("Noised, and paid for in ε: it may be published.").Text("released")
	}
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
					app.Td().Body(badge(r.Ink, p.Bare)),
				)
			})),
		),
	)
}
