package client

import (
	"clipscope/core/run"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Audit audits the trainer and returns what ends that.
func (JS) Audit(request run.AuditRequest, progress func(step, steps int), done func(run.AuditReport, error)) func() {
	signal, cancel := canceller()
	watch := app.FuncOf(func(_ app.Value, args []app.Value) any {
		defer browser.Survive()
		var p run.AuditProgress
		if err := decode(args[0], &p); err == nil {
			progress(p.Step, p.Steps)
		}
		return nil
	})
	await(api().Call("audit", toJS(request), watch, signal), func(v app.Value, err error) {
		watch.Release()
		var r run.AuditReport
		if err == nil {
			err = decode(v, &r)
		}
		done(r, err)
	})
	return cancel
}
