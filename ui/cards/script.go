package cards

import (
	"errors"

	"clipscope/core/run"
	"clipscope/ui/script"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Script shows the experiment as programs, once it is opened.
type Script struct {
	app.Compo
	Form *widget.Form
	Plan *run.PlanInfo // nil: there is none for these settings

	open bool
}

func (c *Script) Render() app.UI {
	return app.Details().Class("as-script").ID("script").On("toggle", func(ctx app.Context, _ app.Event) { c.open = ctx.JSSrc().Get("open").Bool() }).Body(
		app.Summary().Text("As a script"),
		app.If(c.open, func() app.UI {
			return app.Div().Body(
				program("javascript", "JavaScript, for this page’s console", script.JavaScript(c.Form.Config)),
				c.python("python", "Opacus", script.Opacus),
				c.python("fastdp", "fastDP", script.FastDP),
			)
		}),
	)
}

// python draws the program for a library, or says why there is none.
func (c *Script) python(id, library string, write func(run.Config, run.Facts, *run.PlanInfo) (string, error)) app.UI {
	err := errors.New("the experiment has no plan yet")
	if c.Plan != nil && !c.Form.Pending {
		var text string
		if text, err = write(c.Form.Full, c.Form.Facts, c.Plan); err == nil {
			return program(id, "Python, for "+library, text)
		}
	}
	return app.P().Class("help").ID("script-lacks-" + id).Text("For " + library + " there is none: " + err.Error() + ".")
}

func program(id, title, text string) app.UI {
	return app.Div().Body(
		app.Div().Class("script-head").Body(app.Strong().Text(title), &widget.Copy{ID: "copy-" + id, Label: "Copy", Text: text}),
		app.Pre().ID("script-"+id).TabIndex(0).Text(text),
	)
}
