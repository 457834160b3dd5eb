package lab

import (
	"clipscope/ui/lesson"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// papersView is the papers' figures.
type papersView struct{ part }

func (v *papersView) view() app.UI {
	return app.Section().Class("papers").ID("papers").Aria("label", "The papers’ figures").Body(
		widget.Message("papers-fault", "fault", v.papers.fault),
		app.If(len(v.papers.list) > 0, func() app.UI {
			return app.Details().Body(
				app.Summary().Text("Figures of the papers: the claim, the experiment in small, our result"),
				app.Div().Class("figure-list").Body(app.Range(order).Slice(func(i int) app.UI { return v.ofPaper(order[i]) })),
				app.If(v.papers.at != nil, func() app.UI { return v.figureView(v.papers.at) }),
			)
		}),
	)
}

// ofPaper returns the choice among a paper's figures.
func (v *papersView) ofPaper(paper string) app.UI {
	var all []*lesson.Figure
	for i := range v.papers.list {
		if v.papers.list[i].Paper == paper {
			all = append(all, &v.papers.list[i])
		}
	}
	return app.Div().Class("figure-paper").Role("group").Aria("label", titles[paper]).Body(
		app.H3().Text(titles[paper]),
		app.Range(all).Slice(func(i int) app.UI { return v.button(all[i]) }),
	)
}

func (v *papersView) button(f *lesson.Figure) app.UI {
	return app.Button().Type("button").ID("figure-"+f.ID).Class("chip").Aria("pressed", v.papers.at == f).
		Aria("label", titles[f.Paper]+", "+f.Figure).Text(f.Figure).OnClick(func(app.Context, app.Event) { v.send(openFigure{f}) }, app.EventScope(f.ID))
}

func (v *papersView) figureView(f *lesson.Figure) app.UI {
	return app.Article().Class("figure").ID("figure").Body(
		app.H3().Text(titles[f.Paper]+", "+f.Figure),
		app.P().Text(f.Claim),
		app.P().Class("help").Text("Otherwise than in the paper: "+f.Differs),
		app.Button().Type("button").ID("figure-run").Class("primary").Text("Run it here").OnClick(func(app.Context, app.Event) { v.send(reproduce{f}) }, app.EventScope(f.ID)),
		app.If(f.Full != nil, func() app.UI { return fullView(f) }),
		app.If(len(f.Stored) > 0, func() app.UI { return storedView(f) }),
	)
}

// fullView leads to the runs on the paper's own data, which take too long for a lane, and
// whose files the visitor has.
func fullView(f *lesson.Figure) app.UI {
	configs, _ := f.FullConfigs() // read before
	return app.Div().Class("in-full").Body(
		app.P().Class("help").Text("With the network and the batch of the paper, on your own files of MNIST or Fashion-MNIST, which you choose there:"),
		app.Ul().Body(app.Range(configs).Slice(func(i int) app.UI {
			hash, _ := configs[i].Hash()
			return app.Li().Body(app.A().Href(widget.Link("/")+"#"+hash).Aria("label", "Open in Train, in full: "+f.Lanes[i].Label).Text(f.Lanes[i].Label))
		})),
	)
}

// storedView shows the stored results of a figure's runs, so marked.
func storedView(f *lesson.Figure) app.UI {
	head, cell := column(f.Watch)
	return app.Div().Class("stored").Body(
		app.P().Class("help").Text("Stored, from one machine (make stored-figures); the same seed here gives the same, up to rounding."),
		app.Table().Body(
			app.THead().Body(app.Tr().Body(app.Th().Scope("col").Text("run"), app.Th().Scope("col").Text(head))),
			app.TBody().Body(app.Range(f.Stored).Slice(func(i int) app.UI {
				o := &f.Stored[i]
				return app.Tr().Body(app.Th().Scope("row").Text(o.Label), app.Td().Class("number").Text(cell(o)))
			})),
		),
	)
}
