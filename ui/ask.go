package ui

import (
	"encoding/json"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// asker puts a question that needs no data to the trainer: a function of
// window.clipscope with one argument. The answer comes later, as JSON, on the
// page's thread.
type asker interface {
	Ready(func(error))
	Ask(function string, request any, done func(answer []byte, err error))
}

// Ask calls window.clipscope.
func (jsClient) Ask(function string, request any, done func([]byte, error)) {
	if !api().Truthy() || !glue().Truthy() {
		done(nil, &fault{Message: "The page is incomplete: a script did not load. Reload it."})
		return
	}
	await(api().Call(function, toJS(request)), func(v app.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done([]byte(glue().Call("stringify", v).String()), nil)
	})
}

// question is Ask with the answer decoded.
func question[T any](a asker, function string, request any, done func(T, error)) {
	a.Ask(function, request, func(b []byte, err error) {
		var v T
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		done(v, err)
	})
}
