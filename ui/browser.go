package ui

import (
	"strings"
	"time"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// glue is the page's own scripts.
func glue() app.Value { return app.Window().Get("clipscopeUI") }

// hashNow is what stands after the # in the URL.
func hashNow() string {
	return strings.TrimPrefix(app.Window().Get("location").Get("hash").String(), "#")
}

// setHash replaces it without a step in the history.
func setHash(hash string) {
	if !app.IsClient {
		return
	}
	location := app.Window().Get("location")
	url := location.Get("pathname").String() + location.Get("search").String() + "#" + hash
	app.Window().Get("history").Call("replaceState", app.Null(), "", url)
}

// copyText puts text on the clipboard, where there is one, and says whether it is
// there.
func copyText(text string, done func(ok bool)) {
	clipboard := app.Window().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		return
	}
	settle(clipboard.Call("writeText", text), func(_ app.Value, rejected bool) { done(!rejected) })
}

// saveFile downloads text as a file.
func saveFile(name, mime, text string) { glue().Call("download", name, mime, text) }

// reveal scrolls so that an element which is about to change is in sight.
func reveal(id string) {
	if app.IsClient && glue().Truthy() {
		glue().Call("reveal", id)
	}
}

// afterFunc calls f on the page's thread once d has passed, unless stopped.
func afterFunc(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// settle calls f once with what promise settles to.
func settle(promise app.Value, f func(v app.Value, rejected bool)) {
	var resolve, reject app.Func
	as := func(rejected bool) app.Func {
		return app.FuncOf(func(_ app.Value, args []app.Value) any {
			defer survive()
			resolve.Release()
			reject.Release()
			v := app.Undefined()
			if len(args) > 0 {
				v = args[0]
			}
			f(v, rejected)
			return nil
		})
	}
	resolve, reject = as(false), as(true)
	promise.Call("then", resolve, reject)
}

// survive keeps a fault in one callback from ending the whole page.
func survive() {
	if r := recover(); r != nil {
		app.Logf("ui: a callback failed: %v", r)
	}
}
