package browser

import "github.com/maxence-charriere/go-app/v10/pkg/app"

// script returns one of the page's own scripts. web/page.js lists them.
func script(name string) app.Value {
	page := app.Window().Get("clipscopePage")
	if !page.Truthy() {
		return app.Undefined()
	}
	return page.Get(name)
}

// Glue returns the script that draws charts, moves the page and saves files (web/charts.js).
func Glue() app.Value { return script("ui") }

// Lab returns the script that draws the laboratory (web/lab.js).
func Lab() app.Value { return script("lab") }

// Use returns the script that decodes pictures, and keeps the model that is open (web/use.js).
func Use() app.Value { return script("use") }

// Runs returns the store of runs that have ended (web/runs.js).
func Runs() app.Value { return script("runs") }

// Early returns the script that runs before the page is drawn, and keeps the files that were
// chosen meanwhile (web/early.js).
func Early() app.Value { return script("early") }

// Embed returns the script that talks with the page around this one (web/embed.js), which is
// not truthy outside a frame.
func Embed() app.Value { return app.Window().Get("clipscopeEmbed") }
