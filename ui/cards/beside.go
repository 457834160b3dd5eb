package cards

import (
	"fmt"
	"strings"

	"clipscope/ui/browser"
	"clipscope/ui/widget"
	"clipscope/ui/words"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Choice says how the reading of a chosen file goes.
type Choice struct {
	Working bool
	Fault   string
}

// fileBeside is a file that a run takes beside its data: weights to start from, or public rows.
type fileBeside struct {
	id, key     string // key: of the hash in the configuration
	title, help string
	view        Choice
	sum         string // SHA-256 of the file that the configuration names; empty: it names none

	button, accept string
	several        bool                 // files may be chosen together
	choose         func(file app.Value) // or an array of them
	back           string               // label of the button that calls drop
	drop           func()
}

// beside draws the choice of a file, folded until there is one, and used once the configuration names it.
func (c *Model) beside(f fileBeside, used ...app.UI) app.UI {
	fault := f.view.Fault
	if f.sum != "" && fault == "" {
		fault = c.Form.Faults[f.key]
	}
	input, field := f.id+"-file", "f-"+strings.ReplaceAll(f.key, ".", "-")
	used = append(used, app.Button().Type("button").ID(f.id+"-drop").Text(f.back).OnClick(func(app.Context, app.Event) {
		f.drop()
		browser.Focus(input)
	}))
	return app.Details().Class("advanced").ID(f.id+"-from").Open(f.sum != "" || f.view.Working || f.view.Fault != "").Body(
		app.Summary().Text(f.title),
		app.Div().Class("advanced-body").Body(
			app.P().Class("help").Text(f.help),
			app.Label().Class("button").For(input).Text(f.button),
			app.Input().Type("file").ID(input).Class("visually-hidden").Accept(f.accept).Multiple(f.several).
				OnChange(picked(f.choose)),
			app.P().Class("loading").Role("status").Hidden(!f.view.Working).Text("Reading the file…"),
			widget.Message(field+"-fault", "fault", fault),
			widget.Message(field+"-warning", "warning", c.Form.Warnings[f.key]),
			app.Div().Class("summary").Hidden(f.sum == "").Body(used...),
		),
	)
}

// picked hands over the file that was chosen, or an array of several.
func picked(choose func(app.Value)) app.EventHandler {
	return func(ctx app.Context, _ app.Event) {
		files := app.Window().Get("Array").Call("from", ctx.JSSrc().Get("files"))
		if n := files.Length(); n > 0 {
			ctx.JSSrc().Set("value", "")
			if n == 1 {
				files = files.Index(0)
			}
			choose(files)
		}
	}
}

// fileInWords names a file by its name and the beginning of its hash.
func fileInWords(name, sum string) string {
	return fmt.Sprintf("%s (SHA-256 %s…)", words.Brief(name, mostOfName), sum[:min(12, len(sum))])
}
