package calculator

import "encoding/json"

// Asker puts a question that needs no data to the trainer: a function of
// window.clipscope with one argument. The answer comes later, as JSON, on the
// page's thread. The returned function calls the question off.
type Asker interface {
	Ready(func(error))
	Ask(function string, request any, done func(answer []byte, err error)) (cancel func())
}

// question is Ask with the answer decoded.
func question[T any](a Asker, function string, request any, done func(T, error)) (cancel func()) {
	return a.Ask(function, request, func(b []byte, err error) {
		var v T
		if err == nil {
			err = json.Unmarshal(b, &v)
		}
		done(v, err)
	})
}
