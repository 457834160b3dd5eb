package worker

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"clipscope/core/data"
	"clipscope/core/run"
)

// recovered turns a panic into an error, so that one bad request or run does not
// end the worker.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{p, debug.Stack()}
	}
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("the trainer failed in a way it should not (%v); what was open before is still open", e.value)
}

// refusal is an error in files, with the part of them that was understood.
type refusal struct {
	*fault
	Report *data.Report `json:"report"`
}

type fault = data.Error

// failure is an error for the page, which shows its message.
func failure(err error) run.Failure {
	f := run.Failure{Message: brief(err.Error(), 1000)}
	var config *run.ConfigError
	var over *run.OverLimit
	var file *refusal
	var place *data.Error
	var internal *panicError
	switch {
	case errors.As(err, &config):
		f.Detail = run.ConfigError{Field: brief(config.Field, 100), Message: brief(config.Message, 1000)}
	case errors.As(err, &over):
		f.Detail = over
	case errors.As(err, &file):
		f.Detail = file
	case errors.As(err, &place):
		f.Detail = place
	case errors.As(err, &internal):
		f.Detail = map[string]string{"stack": string(internal.stack)}
	}
	return f
}

// brief leaves out the middle of what has more bytes than most: a request may have
// put any text into a message, and what to do stands at its end.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most*2/3], "") + " … " + strings.ToValidUTF8(s[len(s)-most/3:], "")
}
