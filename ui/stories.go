package ui

import (
	"slices"

	"clipscope/ui/calculator"
	"clipscope/ui/cards"
	"clipscope/ui/chart"
	"clipscope/ui/check"
	"clipscope/ui/ledger"
	"clipscope/ui/spent"
	"clipscope/ui/train"
	"clipscope/ui/use"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// storiesPage shows every component alone, with fixed data and no client.
type storiesPage struct {
	app.Compo
	list []widget.Story
}

func (p *storiesPage) OnInit() { p.list = stories() }

func (p *storiesPage) Render() app.UI {
	return app.Div().Class("page prose").Body(
		&widget.Header{Page: "stories", Sent: widget.Requests{Known: true}},
		app.Main().Class("stories").Body(
			app.H1().Text("Components"),
			app.Range(p.list).Slice(func(i int) app.UI {
				return app.Section().Class("story").Body(app.H2().Text(p.list[i].Name), p.list[i].View())
			}),
		),
	)
}

// stories returns the stories of all pages.
func stories() []widget.Story {
	return slices.Concat(train.Stories(), cards.Stories(), ledger.Stories(), calculator.Stories(), use.Stories(), check.Stories(), spent.Stories(), chart.Stories())
}
