package client

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// StartWeights says what weights a saved model has, a File object, and keeps it for runs whose configuration
// names them. The returned function cancels it.
func (JS) StartWeights(file app.Value, done func(run.StartInfo, error)) (cancel func()) {
	var info run.StartInfo
	return keep("start", file, &info, func(err error) { done(info, err) })
}

// PublicRows names a file of public rows, a File object, and keeps it for runs whose configuration names it. The
// returned function cancels it.
func (JS) PublicRows(file app.Value, done func(run.PublicRows, error)) (cancel func()) {
	var rows run.PublicRows
	return keep("publicRows", file, &rows, func(err error) { done(rows, err) })
}

// keep gives a file to a function of the API, and decodes what it says of the file.
func keep(name string, file app.Value, into any, done func(error)) (cancel func()) {
	signal, cancel := canceller()
	await(api().Call(name, file, signal), func(v app.Value, err error) {
		if err == nil {
			err = decode(v, into)
		}
		done(err)
	})
	return cancel
}
