package widget

import (
	"strconv"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// icons are drawn on a 16×16 grid. Each stands beside or instead of a text that
// says the same.
var icons = map[string]string{
	"start": `<path d="M4 2.5v11l9-5.5z"/>`,
	"pause": `<path d="M4 3h3v10H4zM9 3h3v10H9z"/>`,
	"step":  `<path d="M3 3v10l6-5zM10 3h2.5v10H10z"/>`,
	"stop":  `<path d="M3.5 3.5h9v9h-9z"/>`,
	"reset": `<path d="M8 3a5 5 0 1 1-4.6 3.05l1.4.58A3.5 3.5 0 1 0 8 4.5V7L4.5 3.75 8 .5z"/>`,
	"share": `<path d="M5 1.5h8.5V11H12V3H5zM2.5 4.5h8v10h-8zM4 6v7h5V6z" fill-rule="evenodd"/>`,
	"theme": `<path d="M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 3v10A5 5 0 0 0 8 3z" fill-rule="evenodd"/>`,
	"setup": `<path d="M2 3.5h6v1.5H2zM11 3.5h3v1.5h-3zM8.5 2.5H10v3.5H8.5zM2 11h3v1.5H2zM8 11h6v1.5H8zM5.5 10H7v3.5H5.5z"/>`,
	"room":  `<path d="M1.5 2h13v9h-13zM3 3.5v6h10v-6zM7.25 11h1.5v1.5h2.25v1.5h-6v-1.5h2.25z" fill-rule="evenodd"/>`,
	"close": `<path d="M3.5 2.4 8 6.9l4.5-4.5 1.1 1.1L9.1 8l4.5 4.5-1.1 1.1L8 9.1l-4.5 4.5-1.1-1.1L6.9 8 2.4 3.5z"/>`,
	"save":  `<path d="M7.25 1.5h1.5v6.7l2.2-2.2 1.05 1.05L8 11 4 7.05 5.05 6l2.2 2.2zM2.5 12.5h11V14h-11z"/>`,
}

// Icon returns an icon in the colour of the text beside it.
func Icon(name string) app.UI {
	return app.Raw(`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="currentColor" aria-hidden="true">` + icons[name] + `</svg>`)
}

// Button is an icon with its name, as the run bar has them. One that is off looks
// and is read so, but keeps the focus, which a browser takes from a disabled one:
// whoever gets the event has to ignore it. The handler is scoped by name and label,
// as go-app tells handlers apart by their code alone.
func Button(name, label, class string, off bool, f app.EventHandler) app.HTMLButton {
	return app.Button().Type("button").Class("act "+class).ID("act-"+name).Aria("disabled", strconv.FormatBool(off)).
		OnClick(f, app.EventScope(name, label)).Body(Icon(name), app.Span().Text(label))
}

// Download is a button that saves a file.
func Download(name, label string, f app.EventHandler) app.UI {
	return app.Button().Type("button").ID("save-"+name).Aria("label", "Download "+label).OnClick(f, app.EventScope(name)).
		Body(Icon("save"), app.Span().Text(label))
}

// Then does what a button says, and moves the focus, as the button may be gone.
func Then(to string, f func()) app.EventHandler {
	return func(app.Context, app.Event) {
		f()
		browser.Focus(to)
	}
}

// Escape is for what asks a question: the key says no to it, and nothing else.
func Escape(no app.EventHandler) app.EventHandler {
	return func(ctx app.Context, e app.Event) {
		if e.Get("key").String() == "Escape" {
			e.Call("stopPropagation")
			no(ctx, e)
		}
	}
}
