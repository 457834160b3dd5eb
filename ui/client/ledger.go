package client

import (
	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Ledger calls a function of window.clipscope.ledger with its arguments, of which
// a handle stands for its data. The answer is JSON.
func (JS) Ledger(function string, done func([]byte, error), args ...any) {
	list := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case Handle:
			list[i] = jsOf(a)
		case nil:
			list[i] = app.Undefined()
		default:
			list[i] = toJS(a)
		}
	}
	await(api().Get("ledger").Call(function, list...), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done([]byte(browser.Glue().Call("stringify", v).String()), nil)
	})
}

// WatchLedger calls f after every change, those of other tabs too.
func (JS) WatchLedger(f func()) {
	api().Get("ledger").Call("on", app.FuncOf(func(app.Value, []app.Value) any {
		defer browser.Survive()
		f()
		return nil
	}))
}

// TrainAnyway is Train in spite of the limit, or of a ledger that cannot be written.
func (JS) TrainAnyway(cfg run.Config, d Handle, paused bool, started func(Run, error)) {
	startRun(cfg, d, map[string]any{"paused": paused, "anyway": true}, started)
}
