package client

import (
	"encoding/json"

	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Audit audits the trainer and returns what ends that.
func (JS) Audit(request any, progress func(step, steps int), done func(run.AuditReport, error)) func() {
	abort := app.Window().Get("AbortController").New()
	watch := app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		progress(args[0].Get("step").Int(), args[0].Get("steps").Int())
		return nil
	})
	await(api().Call("audit", toJS(request), watch, abort.Get("signal")), func(v app.Value, err error) {
		watch.Release()
		var r run.AuditReport
		if err == nil {
			err = json.Unmarshal([]byte(browser.Glue().Call("stringify", v).String()), &r)
		}
		done(r, err)
	})
	return func() { abort.Call("abort") }
}
