package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"clipscope/core/data"
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

// progress returns a function that tells the page how far the reading of files is.
func (m mail) progress(id int) func(data.Progress) {
	return func(p data.Progress) { m.send(ProgressType, id, p) }
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
