package client

import (
	"encoding/json"

	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Embed has ask answer what the page asks that shows this one in its frame: why that is
// refused, or "". What it returns tells that page a body of a kind (web/embed.js); nil
// where there is no such page.
func (JS) Embed(ask func(what, text string) (why string)) (tell func(kind string, body any)) {
	embed := browser.Embed()
	if !embed.Truthy() {
		return nil
	}
	embed.Call("attach", app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		return ask(args[0].String(), args[1].String())
	}))
	return func(kind string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			app.Log("ui: ", err)
			return
		}
		embed.Call("tell", kind, string(b))
	}
}
