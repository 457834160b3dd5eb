package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// mail sends messages to the page.
type mail struct {
	post  func(run.Message)
	yield func() // lets waiting messages be handled
	now   func() time.Time
}

// send sends body as JSON.
func (m mail) send(kind string, id int, body any) { m.write(run.Message{Type: kind, ID: id}, body) }

// write sends a message with body as its text. What cannot be written is a fault of ours and
// reaches the page as an error instead of nothing.
func (m mail) write(msg run.Message, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		kind := ErrorType
		if msg.Type == DoneType || msg.Type == EventsType {
			kind = FailedType
		}
		text, _ = json.Marshal(run.Failure{Message: fmt.Sprintf("worker: %s: %v", msg.Type, err)})
		msg = run.Message{Type: kind, ID: msg.ID, Step: msg.Step}
	}
	msg.Text = string(text)
	m.post(msg)
}

// progress returns a function that tells the page how far the reading of files is.
func (m mail) progress(id int) func(source.Progress) {
	return func(p source.Progress) { m.send(ProgressType, id, p) }
}

// throttle returns a throttle that opens in so long.
func (m mail) throttle(every time.Duration) *throttle { return &throttle{m.now, every, m.now()} }

// throttle bounds how often something is done.
type throttle struct {
	now   func() time.Time
	every time.Duration
	last  time.Time // when it was open; zero: it opens at once
}

// open reports whether it is time again, and if so begins to wait anew.
func (t *throttle) open() bool {
	now := t.now()
	if now.Sub(t.last) < t.every {
		return false
	}
	t.last = now
	return true
}

// Blob is bytes on their way to the page, which the host keeps where it has room.
type Blob interface {
	io.Writer
	// Sent returns the blob as [run.Message] carries it.
	Sent() any
}

// blobbed is a reply with bytes beside it.
type blobbed struct {
	reply any
	blob  Blob
}

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

// failure writes an error for the page, which shows its message.
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

// brief leaves out the middle of a text of more bytes than most: a request may have put any
// text into a message, and the remedy stands at its end.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most*2/3], "") + " … " + strings.ToValidUTF8(s[len(s)-most/3:], "")
}
