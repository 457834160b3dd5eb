package client

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// StartWeights says what weights a saved model has, a File object, and keeps it for runs whose configuration
// names them. The returned function cancels it.
func (JS) StartWeights(file app.Value, done func(run.StartInfo, error)) (cancel func()) {
	signal, cancel := canceller()
	await(api().Call("start", file, signal), func(v app.Value, err error) {
		var info run.StartInfo
		if err == nil {
			err = decode(v, &info)
		}
		done(info, err)
	})
	return cancel
}
