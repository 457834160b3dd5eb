package widget

import (
	"slices"
	"strconv"

	"clipscope/ui/form"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Card is a step of the experiment: a heading with one line that says what
// was chosen, and its controls when it is open.
type Card struct {
	ID            form.Card
	Number, Title string
	Line          string // what was chosen
	Planned       bool   // the line has figures of the plan
}

// View is the card with its controls.
func (c Card) View(f *Form, body ...app.UI) app.UI {
	open := f.Opened == c.ID
	class := "card"
	if open {
		class += " open"
	}
	return app.Section().Class(class).ID("card-"+string(c.ID)).Body(
		c.head(f, open),
		app.Div().Class("card-body").ID("card-body-"+string(c.ID)).Hidden(!open).Body(body...),
	)
}

func (c Card) head(f *Form, open bool) app.UI {
	ed := f.Editor
	return app.H2().Body(
		app.Button().Type("button").Class("card-head").
			Aria("expanded", strconv.FormatBool(open)).Aria("controls", "card-body-"+string(c.ID)).
			OnClick(func(app.Context, app.Event) { ed.Open(c.ID) }, app.EventScope(c.ID)).
			Body(
				app.Span().Class("card-number").Text(c.Number),
				app.Span().Class("card-title").Text(c.Title),
				c.mark(f),
				app.Span().Class(Stale("card-line", f.Reading || c.Planned && f.Pending)).Text(c.Line),
			),
	)
}

// mark points at a card with a fault in it, or with settings that are not those of
// the run that is shown.
func (c Card) mark(f *Form) app.UI {
	switch {
	case f.faulty(c.ID):
		return app.Span().Class("card-mark card-fault").Text("needs attention")
	case slices.Contains(f.Next, c.ID):
		return app.Span().Class("card-mark card-next").Text("next run")
	}
	return app.Span().Class("card-mark").Hidden(true)
}
