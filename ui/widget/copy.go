package widget

import (
	"time"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Copy is a button that puts a text on the clipboard, and says so for a while where there is one.
type Copy struct {
	app.Compo
	ID, Label, Text string

	copied bool
}

func (c *Copy) Render() app.UI {
	label := c.Label
	if c.copied {
		label = "Copied"
	}
	return app.Button().Type("button").ID(c.ID).OnClick(func(ctx app.Context, _ app.Event) {
		browser.Copy(c.Text, func(ok bool) {
			ctx.Dispatch(func(ctx app.Context) {
				c.copied = ok
				ctx.After(3*time.Second, func(app.Context) { c.copied = false })
			})
		})
	}).Body(Icon("share"), app.Span().Aria("live", "polite").Text(label))
}
