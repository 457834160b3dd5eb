package client

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Check checks a file that the page saved, in a worker of its own, and returns what cancels
// that.
func (JS) Check(file app.Value, done func(run.Verdict, error)) (cancel func()) {
	return verdict(file, map[string]any{}, done)
}

// Recognise returns a file's kind and settings alone, which takes no accounting.
func (JS) Recognise(file app.Value, done func(run.Verdict, error)) (cancel func()) {
	return verdict(file, map[string]any{"recognise": true}, done)
}

func verdict(file app.Value, options map[string]any, done func(run.Verdict, error)) (cancel func()) {
	if err := complete(); err != nil {
		done(run.Verdict{}, err)
		return func() {}
	}
	signal, cancel := canceller()
	await(api().Call("check", file, signal, options), func(v app.Value, err error) {
		var verdict run.Verdict
		if err == nil {
			err = decode(v, &verdict)
		}
		done(verdict, err)
	})
	return cancel
}
