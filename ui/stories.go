package ui

import (
	"slices"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// storiesPage shows every component alone, with fixed data and no client.
type storiesPage struct {
	app.Compo
	list []Story
}

func (p *storiesPage) OnInit() { p.list = stories() }

func (p *storiesPage) Render() app.UI {
	return app.Div().Class("page prose").Body(
		&Header{Page: "stories", Sent: requests{Known: true}},
		app.Main().Class("stories").Body(
			app.H1().Text("Components"),
			app.Range(p.list).Slice(func(i int) app.UI {
				return app.Section().Class("story").Body(app.H2().Text(p.list[i].Name), p.list[i].View())
			}),
		),
	)
}

// stories are those of all rooms.
func stories() []Story {
	return slices.Concat(trainStories(), cardsStories(), ledgerStories(), calculatorStories(), chartStories())
}
