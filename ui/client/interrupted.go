package client

import (
	"clipscope/core/data"
	"clipscope/ui/browser"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// InterruptedRuns calls back with the runs that were interrupted, as a list of
// [run.KeptRun] in JSON.
func (JS) InterruptedRuns(done func([]byte, error)) {
	await(api().Call("interrupted"), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done([]byte(browser.Glue().Call("stringify", v).String()), nil)
	})
}

// WatchInterrupted calls f when there may be others than before, of other tabs too.
func (JS) WatchInterrupted(f func()) {
	api().Call("onInterrupted", app.FuncOf(func(app.Value, []app.Value) any {
		defer browser.Survive()
		f()
		return nil
	}))
}

// ContinueRun continues an interrupted run, one on files with the data d; otherwise d is nil. The
// report is on its data.
func (JS) ContinueRun(id string, d Handle, started func(Run, data.Report, error)) {
	await(api().Call("continue", id, jsOf(d)), func(v app.Value, err error) {
		var report data.Report
		if err != nil {
			started(nil, report, err)
			return
		}
		r := &jsRun{run: v}
		if err = decode(v.Get("plan"), &r.plan); err == nil {
			err = decode(v.Get("summary"), &report)
		}
		if err != nil {
			r.Leave()
			started(nil, report, err)
			return
		}
		started(r, report, nil)
	})
}

// DiscardRun gives up an interrupted run.
func (JS) DiscardRun(id string, done func(error)) {
	await(api().Call("discard", id), func(_ app.Value, err error) { done(err) })
}
