package widget

import (
	"time"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Copy is a button that puts a text on the clipboard, and says for a while whether it is there.
type Copy struct {
	app.Compo
	ID, Label, Text string

	said string // of the last press; "": nothing any more
}

func (c *Copy) Render() app.UI {
	label := c.Label
	if c.said != "" {
		label = c.said
	}
	return app.Button().Type("button").ID(c.ID).OnClick(func(ctx app.Context, _ app.Event) {
		browser.Copy(c.Text, func(ok bool) {
			ctx.Dispatch(func(ctx app.Context) {
				c.said = map[bool]string{true: "Copied", false: "Refused: mark it, and copy it"}[ok]
				ctx.After(3*time.Second, func(app.Context) { c.said = "" })
			})
		})
	}).Body(Icon("share"), app.Span().Aria("live", "polite").Text(label))
}
