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

func (m mail) send(kind string, id int, body any) { m.sendStep(kind, id, 0, body) }

// sendStep sends body as JSON. What cannot be written is a fault of ours and
// reaches the page as an error instead of nothing.
func (m mail) sendStep(kind string, id, step int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		if kind == DoneType || kind == EventsType {
			kind = FailedType
		} else {
			kind = ErrorType
		}
		text, _ = json.Marshal(run.Failure{Message: fmt.Sprintf("worker: reply: %v", err)})
	}
	m.post(run.Message{Type: kind, ID: id, Step: step, Text: string(text)})
}

// sendResult sends the parameters beside the JSON: as text, those of a large
// model would hold up the page's thread.
func (m mail) sendResult(id int, result run.Result) {
	parameters := result.Released.Parameters
	result.Released.Parameters = nil
	text, err := json.Marshal(result)
	if err != nil {
		m.send(FailedType, id, run.Failure{Message: fmt.Sprintf("worker: result: %v", err)})
		return
	}
	m.post(run.Message{Type: DoneType, ID: id, Text: string(text), Parameters: parameters})
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

// sendBlob sends a reply with bytes beside it.
func (m mail) sendBlob(id int, b blobbed) {
	text, err := json.Marshal(b.reply)
	if err != nil {
		m.send(ErrorType, id, run.Failure{Message: fmt.Sprintf("worker: reply: %v", err)})
		return
	}
	m.post(run.Message{Type: ReplyType, ID: id, Text: string(text), Blob: b.blob.Sent()})
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
