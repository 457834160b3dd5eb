package ui

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Ledger calls window.clipscope.ledger.
func (jsClient) Ledger(function string, done func([]byte, error), args ...any) {
	list := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case handle:
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
		done([]byte(glue().Call("stringify", v).String()), nil)
	})
}

func (jsClient) WatchLedger(f func()) {
	api().Get("ledger").Call("on", app.FuncOf(func(app.Value, []app.Value) any {
		defer survive()
		f()
		return nil
	}))
}

func (jsClient) TrainAnyway(cfg run.Config, d handle, paused bool, started func(runner, error)) {
	startRun(cfg, d, map[string]any{"paused": paused, "anyway": true}, started)
}
