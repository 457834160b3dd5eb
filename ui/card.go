package ui

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// card is one step of the experiment: a heading with one line that says what
// was chosen, and its controls when it is open.
type card struct {
	id, number, title string
	line              string // what was chosen
	keys              []string
}

func (c card) view(f *Form, body ...app.UI) app.UI {
	open := f.Opened == c.id
	class := "card"
	if open {
		class += " open"
	}
	return app.Section().Class(class).ID("card-"+c.id).Body(
		c.head(f, open),
		app.Div().Class("card-body").ID("card-body-"+c.id).Hidden(!open).Body(body...),
	)
}

func (c card) head(f *Form, open bool) app.UI {
	id, ed := c.id, f.Editor
	return app.H2().Body(
		app.Button().Type("button").Class("card-head").
			Aria("expanded", boolText(open)).Aria("controls", "card-body-"+id).
			OnClick(func(app.Context, app.Event) { ed.Open(id) }, app.EventScope(id)).
			Body(
				app.Span().Class("card-number").Text(c.number),
				app.Span().Class("card-title").Text(c.title),
				c.mark(f),
				app.Span().Class("card-line").Text(c.line),
			),
	)
}

// mark points at a closed card with a fault in it.
func (c card) mark(f *Form) app.UI {
	return app.Span().Class("card-fault").Hidden(!f.faulty(c.keys...)).Text("needs attention")
}
