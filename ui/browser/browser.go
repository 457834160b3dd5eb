// Package browser calls the browser for the page: address, clipboard, downloads, and the
// page's own scripts.
package browser

import (
	"strings"
	"time"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Hash returns the part of the URL after the #.
func Hash() string {
	return strings.TrimPrefix(app.Window().Get("location").Get("hash").String(), "#")
}

// SetHash replaces it without a step in the history.
func SetHash(hash string) {
	if !app.IsClient {
		return
	}
	location := app.Window().Get("location")
	url := location.Get("pathname").String() + location.Get("search").String() + "#" + hash
	app.Window().Get("history").Call("replaceState", app.Null(), "", url)
}

// Kept returns a text that [Keep] has put into this browser's storage, "" where there is none.
func Kept(key string) string {
	if v := storage("getItem", key); v.Truthy() {
		return v.String()
	}
	return ""
}

// Keep puts a text into this browser's storage, if it has room, or deletes it where it is "".
func Keep(key, text string) {
	if text == "" {
		storage("removeItem", key)
		return
	}
	storage("setItem", key, text)
}

// storage calls a function of the browser's storage, which it may refuse. In another page's
// frame there is none, as that page decides what is shown.
func storage(function string, args ...any) (v app.Value) {
	v = app.Undefined()
	if !app.IsClient || Embed().Truthy() {
		return v
	}
	defer Survive()
	return app.Window().Get("localStorage").Call(function, args...)
}

// Copy puts text on the clipboard, and says whether it is there: browsers refuse some pages, and
// have no clipboard for others.
func Copy(text string, done func(ok bool)) {
	clipboard := app.Window().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		done(false)
		return
	}
	Settle(clipboard.Call("writeText", text), func(_ app.Value, rejected bool) { done(!rejected) })
}

// Save downloads text as a file.
func Save(name, mime, text string) { Glue().Call("download", name, mime, text) }

// Address returns the page's address as it is shared: not in big type, which is of a room's screen.
func Address() string { return Glue().Call("address").String() }

// Presented has a page that has just come say in its address whether it is in big type.
func Presented() {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("presented")
	}
}

// Reveal scrolls so that an element which is about to change is in sight.
func Reveal(id string) {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("reveal", id)
	}
}

// Cover says that something covers the page, or no more: what a device closes such things
// with, as Android does with "Back", presses the button whose selector is given.
func Cover(covered bool, button string) {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("cover", covered, button)
	}
}

// Scroll brings an element, which may be about to appear, in sight, as gently as the person
// wants it.
func Scroll(id string) {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("scroll", id)
	}
}

// Focus moves the keyboard to an element which may be about to appear.
func Focus(id string) {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("focus", id)
	}
}

// KeepPlace leaves the keyboard where it is, and what is unfolded as it is, though these are about to be made anew.
func KeepPlace() {
	if app.IsClient && Glue().Truthy() {
		Glue().Call("keepPlace")
	}
}

// After calls f on the page's thread once d has passed, unless stopped.
func After(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// AskBeforeLeaving has the browser ask before the page is closed, left or loaded
// anew, whenever unsafe says so.
func AskBeforeLeaving(unsafe func() bool) {
	if !app.IsClient {
		return
	}
	app.Window().Call("addEventListener", "beforeunload", app.FuncOf(func(_ app.Value, args []app.Value) any {
		if unsafe() {
			args[0].Call("preventDefault")
		}
		return nil
	}))
}

// Settle calls f once with what promise settles to.
func Settle(promise app.Value, f func(v app.Value, rejected bool)) {
	var resolve, reject app.Func
	as := func(rejected bool) app.Func {
		return app.FuncOf(func(_ app.Value, args []app.Value) any {
			defer Survive()
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

// Survive keeps a fault in one callback from ending the whole page.
func Survive() {
	if r := recover(); r != nil {
		app.Logf("ui: a callback failed: %v", r)
	}
}
