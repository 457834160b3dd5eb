package worker

import (
	"errors"
	"testing"

	"clipscope/core/run"
)

// FuzzRequest holds that no text makes a request panic. (What a run costs is
// left out: package privacy fuzzes its own numbers, and some take long.)
func FuzzRequest(f *testing.F) {
	f.Add(uint8(0), `{"data":"digits"}`)
	f.Add(uint8(1), anyRun)
	f.Add(uint8(2), `{"config":{"steps":-1,"seed":18446744073709551615},"paused":true}`)
	f.Add(uint8(2), `{"config":null}`)
	f.Add(uint8(2), `[`)
	f.Add(uint8(1), `{"config":{"":"x"}}`)
	f.Add(uint8(1), `{"config":{"model":{"hidden":"x"}}}`)
	kinds := []string{Open, Plan, Train}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		p := newPage(t, steps(1))
		r := Request{Message: run.Message{Type: kinds[int(kind)%len(kinds)], ID: 1, Text: text}}
		_, err := p.s.answer(t.Context(), r)
		var internal *panicError
		if errors.As(err, &internal) {
			t.Fatalf("%s %q: %v\n%s", r.Type, text, err, internal.stack)
		}
		var config *run.ConfigError
		if errors.As(err, &config) && config.Field == "" {
			t.Errorf("%s %q: a configuration error without a field: %v", r.Type, text, err)
		}
	})
}
