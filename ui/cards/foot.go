package cards

import (
	"strconv"

	"clipscope/ui/form"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Foot is the end of the experiment: seed and link.
type Foot struct {
	app.Compo
	Form   *widget.Form
	Said   string // of the last press; "": nothing any more
	Sharer Sharer
}

// Sharer receives the foot's event.
type Sharer interface{ Share() }

func (c *Foot) CompoID() string { return "foot-" + strconv.Itoa(c.Form.Epoch) }

func (c *Foot) Render() app.UI {
	text := "Copy link"
	if c.Said != "" {
		text = c.Said
	}
	s := c.Sharer
	return app.Div().Class("foot").ID("foot").Body(
		&seedField{Form: c.Form},
		app.Button().Type("button").ID("share").Title("The link holds every setting, never any data").
			OnClick(func(app.Context, app.Event) { s.Share() }).Body(app.Span().Aria("live", "polite").Text(text)),
		widget.QR(),
	)
}

// seedField fixes the random choices, which takes the guarantee away.
type seedField struct {
	app.Compo
	Form *widget.Form
}

func (c *seedField) Render() app.UI {
	f := c.Form
	d := form.Find("seed")
	if f.Config.Seed != nil && f.Warnings[d.Key] == "" {
		d.Help = "A fixed seed makes the noise predictable: teaching only."
	}
	return app.Div().Class("seed").Body(f.Field(d))
}
