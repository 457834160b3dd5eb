package widget

import (
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// QR is the page's address as a code that a room can photograph. It is made on this
// device when it is unfolded.
type QR struct {
	app.Compo

	open  bool
	drawn string // the address that is shown
	fault string
}

func (q *QR) Render() app.UI {
	return app.Details().Class("qr").OnToggle(func(ctx app.Context, _ app.Event) {
		q.open = ctx.JSSrc().Get("open").Bool()
		q.drawn = ""
		q.draw(ctx)
	}).Body(
		app.Summary().Text("QR code"),
		app.Canvas().Class("qr-code").Role("img").Aria("label", "The address of this page as a QR code"),
		app.P().Class("fault").Role("status").Hidden(q.fault == "").Text(q.fault),
	)
}

// OnUpdate draws it anew where the address has changed since.
func (q *QR) OnUpdate(ctx app.Context) { q.draw(ctx) }

func (q *QR) draw(ctx app.Context) {
	address := app.Window().Get("location").Get("href").String()
	if !q.open || address == q.drawn {
		return
	}
	q.drawn = address
	canvas := q.JSValue().Call("querySelector", "canvas")
	browser.Settle(browser.Glue().Call("qr", canvas, address), func(v app.Value, rejected bool) {
		q.fault = ""
		if rejected {
			q.fault = v.Get("message").String()
		}
		ctx.Dispatch(nil)
	})
}
