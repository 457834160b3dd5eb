package client

import (
	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Ledger calls window.clipscope.ledger.
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

func (JS) WatchLedger(f func()) {
	api().Get("ledger").Call("on", app.FuncOf(func(app.Value, []app.Value) any {
		defer browser.Survive()
		f()
		return nil
	}))
}

func (JS) TrainAnyway(cfg run.Config, d Handle, paused bool, started func(Run, error)) {
	startRun(cfg, d, map[string]any{"paused": paused, "anyway": true}, started)
}
