package widget

import (
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Picture is an image of the data.
type Picture struct {
	app.Compo
	Pixels        string // base64 of raw 8-bit pixels
	Height, Width int
	Text          string // under it
	Label         string // for who cannot see it
}

// Render is the picture, which is painted once it is there and given its size then: a canvas
// forgets what is on it when that is set.
func (p *Picture) Render() app.UI {
	return app.Figure().Body(
		app.Canvas().Role("img").Aria("label", p.Label),
		app.FigCaption().Text(p.Text),
	)
}

func (p *Picture) OnMount(app.Context)  { p.paint() }
func (p *Picture) OnUpdate(app.Context) { p.paint() }

func (p *Picture) paint() {
	if browser.Glue().Truthy() {
		browser.Glue().Call("pixels", p.JSValue().Get("firstElementChild"), p.Pixels, p.Height, p.Width)
	}
}
