package cards

import (
	"fmt"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Together is the sixth card: who trains.
type Together struct {
	app.Compo
	Form  *widget.Form
	Rooms bool // the page's host has some
}

func (c *Together) CompoID() string { return "together-" + strconv.Itoa(c.Form.Epoch) }

func (c *Together) Render() app.UI {
	f, rows := c.Form, form.On(form.Together)
	head := widget.Card{ID: form.Together, Number: "6", Title: "Together", Line: togetherLine(f.Full.Together)}
	if !c.Rooms && f.Full.Together.Parties == 0 {
		return head.View(f, app.P().Class("help").Body(
			app.Text("Several people can train one model, each in a tab of its own, and no row leaves any of them. They meet in a room, which this page’s host does not have. "),
			app.A().Href(widget.Link("/guides/hosting/")).Text("How a host gets rooms"), app.Text(".")))
	}
	body := []app.UI{app.P().Class("help").Text("Several people train one model, each in a tab of its own. What leaves a tab is a sum with noise in it, masked so that only the sum of all can be read.")}
	return head.View(f, append(append(body, f.Plain(rows)...), f.Advanced(rows))...)
}

func togetherLine(t run.Together) string {
	if t.Parties == 0 {
		return "one party"
	}
	return fmt.Sprintf("%s, tolerance %s", words.Plural(t.Parties, "party"), words.Count(t.Tolerance))
}
