package client

import (
	"clipscope/core/data/source"
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Backbone says what inputs and outputs a model has, a File object. The returned
// function cancels it.
func (JS) Backbone(file app.Value, progress func(source.Progress), done func(run.BackboneInfo, error)) func() {
	return watched(progress, func(watch app.Func, signal app.Value) app.Value {
		return api().Call("backbone", file, watch, signal)
	}, func(v app.Value, err error) {
		var info run.BackboneInfo
		if err == nil {
			err = decode(v, &info)
		}
		done(info, err)
	})
}

// Features opens the data of a handle once more, with the features that a model makes
// of its rows.
func (JS) Features(file app.Value, d Handle, q run.BackboneRequest, progress func(source.Progress), done func(Opened, error)) func() {
	return watched(progress, func(watch app.Func, signal app.Value) app.Value {
		return api().Call("features", file, jsOf(d), toJS(q), watch, signal)
	}, func(v app.Value, err error) {
		o := Opened{}
		if err == nil {
			o.Handle = &jsHandle{v}
			err = decode(v.Get("summary"), &o.Report)
		}
		done(o, err)
	})
}

// watched makes a call that tells how far it is and can be cancelled.
func watched(progress func(source.Progress), call func(watch app.Func, signal app.Value) app.Value, done func(app.Value, error)) func() {
	signal, cancel := canceller()
	watch := watcher(progress)
	await(call(watch, signal), func(v app.Value, err error) {
		watch.Release()
		done(v, err)
	})
	return cancel
}
