package widget

import (
	"fmt"
	"strconv"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/pages"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Link is the address of a page of the app. go-app prefixes links with the
// site's sub-path when it renders on a server, but not in the browser.
func Link(path string) string {
	if app.IsClient {
		return strings.TrimRight(app.Getenv("GOAPP_ROOT_PREFIX"), "/") + path
	}
	return path
}

// Requests counts the requests that left the page for the network since it was ready.
type Requests struct {
	Known bool
	Count int
	Names string
	// Bytes to a room in which several parties train, and from there.
	ToRoom, FromRoom int64
}

// Around is the rest of the site, as far as a page shows it.
type Around interface {
	Show(changed func()) // who is to be told when there is something new to show
	Hide()
	Sent() Requests
}

// Header is the top of every page.
type Header struct {
	app.Compo
	Page string // the name of the page that is shown
	Sent Requests

	shown bool // the explanation of the count is open
}

func (h *Header) OnPreRender(ctx app.Context) {
	ctx.Page().SetTitle(pages.Find(h.Page).Title + " · Clipscope")
}
func (h *Header) OnMount(ctx app.Context) {
	h.OnPreRender(ctx)
	browser.Presented()
}

func (h *Header) Render() app.UI {
	return app.Header().Class("top").Body(
		app.A().Class("brand").Href(Link("/")).Body(app.Raw(Mark), app.Span().Text("Clipscope")),
		app.Nav().Aria("label", "Pages").Body(
			app.Range(pages.All).Slice(func(i int) app.UI {
				return app.If(pages.All[i].Tab, func() app.UI { return h.tab(pages.All[i]) })
			}),
		),
		h.counter(),
		app.Button().Type("button").Class("plain present").DataSet("opens", "present").Aria("label", "Big type, for a room").Aria("keyshortcuts", "Alt+P").
			Title("Big type, for a room (Alt+P)").Body(Icon("room")),
		app.Button().Type("button").Class("plain").Aria("label", "Light or dark").Title("Light or dark").OnClick(h.toggle).Body(Icon("theme")),
	)
}

// Mark is the sign of the project, a bell curve cut at a threshold, as SVG.
const Mark = `<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path class="mark-curve" d="M2 20C7 20 7 5 12 5"/><path class="mark-cut" d="M12 5c3.200 0 4.400 6 5.500 9.500"/><path class="mark-line" d="M12 2v20M2 20h20"/></svg>`

func (h *Header) tab(p pages.Page) app.UI {
	a := app.A().Href(Link(p.Path())).Text(p.Word)
	if h.Page == p.Name {
		a = a.Aria("current", "page")
	}
	return a
}

// counter says what left the page since it was ready.
func (h *Header) counter() app.UI {
	if !h.Sent.Known {
		return app.Div().Class("counter")
	}
	return app.Div().Class("counter").Body(
		app.Button().Type("button").Class("plain").ID("counter").Aria("expanded", strconv.FormatBool(h.shown)).
			OnClick(func(app.Context, app.Event) { h.shown = !h.shown }).
			Body(app.Span().Class("dot"), app.Span().Body(app.Text(sentText(h.Sent)), app.Span().Class("since").Text(" since load"))),
		app.Div().Class("popover").Hidden(!h.shown).Body(
			app.P().Text("Counted by the browser itself: requests of this page that reached the network since it was ready. Your files are read and trained on in this tab, and the browser refuses requests of this page to any site but the one it came from."),
			app.If(h.Sent.Count > 0, func() app.UI {
				return app.Pre().Text(h.Sent.Names)
			}),
			app.If(h.Sent.ToRoom > 0, func() app.UI {
				return app.P().Text(fmt.Sprintf("Beside them, %s to the room in which you train with others, and %s from there, counted by the trainer: sums under masks, public keys, hashes, and your name, sealed. Nothing of a row is in them without the noise.", words.Bytes(h.Sent.ToRoom), words.Bytes(h.Sent.FromRoom)))
			}),
		),
	)
}

func sentText(r Requests) string {
	switch {
	case r.ToRoom > 0:
		return words.Bytes(r.ToRoom) + " sent"
	case r.Count == 0:
		return "0 bytes sent"
	}
	return words.Plural(r.Count, "request")
}

func (h *Header) toggle(app.Context, app.Event) {
	g := browser.Glue()
	if !g.Truthy() {
		return
	}
	theme := "dark"
	if g.Call("dark").Bool() {
		theme = "light"
	}
	g.Call("setTheme", theme)
}
