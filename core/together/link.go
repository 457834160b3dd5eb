package together

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clipscope/core/together/wire"
)

// Link is a connection to a room: frames in their order. Receive and Send are called by one goroutine
// each.
type Link interface {
	Send(ctx context.Context, frame []byte) error
	Receive(ctx context.Context) ([]byte, error)
	Close() error
}

// Dial connects to a room.
type Dial func(ctx context.Context) (Link, error)

// How often a room is asked again that does not answer, and how long in between: over a minute in all.
const redials = 7

var firstPause = 500 * time.Millisecond

// line is a link that is dialled anew when it breaks. Frames that come in wait for whoever takes them; each
// time that it is dialled, the room's welcome is the first of them.
type line struct {
	dial   Dial
	hello  func(entries uint32) wire.Hello
	cancel context.CancelFunc

	mu       sync.Mutex
	link     Link // nil while it is broken
	waiting  []heard
	bytes    int           // of all that wait
	changed  chan struct{} // closed when something has come, or was taken, and then made anew
	entries  uint32        // of the log that have come
	err      error         // nothing comes any more
	sent     int64
	received int64
}

// heard is a frame that has come, and its size.
type heard struct {
	wire.Frame
	bytes int
}

// open dials a room and begins to listen. entries of its log are known.
func open(ctx context.Context, dial Dial, entries uint32, hello func(uint32) wire.Hello) (*line, error) {
	ctx, cancel := context.WithCancel(ctx)
	l := &line{dial: dial, hello: hello, cancel: cancel, changed: make(chan struct{}), entries: entries}
	link, err := l.connect(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	go l.listen(ctx, link)
	return l, nil
}

// connect dials once, and says hello.
func (l *line) connect(ctx context.Context) (Link, error) {
	link, err := l.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("together: the room does not answer: %w", err)
	}
	l.mu.Lock()
	hello := l.hello(l.entries).Append(nil)
	l.sent += int64(len(hello))
	l.mu.Unlock()
	if err := link.Send(ctx, hello); err != nil { // before anybody else can send
		_ = link.Close()
		return nil, fmt.Errorf("together: the connection to the room: %w", err)
	}
	l.mu.Lock()
	l.link = link
	l.mu.Unlock()
	return link, nil
}

// listen takes in frames until nothing can come any more.
func (l *line) listen(ctx context.Context, link Link) {
	for {
		err := l.hear(ctx, link)
		l.mu.Lock()
		l.link = nil
		l.mu.Unlock()
		_ = link.Close()
		pause := firstPause
		for i := 0; err != nil && i < redials && !errors.Is(err, errOver); i++ {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			if ctx.Err() != nil { // asked again, as both may be so: a life that is over must not take its seat back
				l.end(ctx.Err())
				return
			}
			pause *= 2
			link, err = l.connect(ctx)
		}
		if err != nil {
			l.end(err)
			return
		}
	}
}

// errOver says that the room has ended.
var errOver = errors.New("together: the room is over")

// hear takes in the frames of one connection.
func (l *line) hear(ctx context.Context, link Link) error {
	for {
		b, err := link.Receive(ctx)
		if err != nil {
			return fmt.Errorf("together: the connection to the room: %w", err)
		}
		f, err := wire.Parse(b)
		if err != nil {
			return fmt.Errorf("together: what the room says: %w", err)
		}
		if !l.hasRoom(ctx) {
			return ctx.Err()
		}
		l.mu.Lock()
		l.received += int64(len(b))
		l.bytes += len(b)
		if isEntry(f, l.entries > 0) {
			l.entries++
		}
		l.waiting = append(l.waiting, heard{f, len(b)})
		l.change()
		l.mu.Unlock()
		if _, over := f.(wire.Over); over {
			return errOver
		}
	}
}

// mostWaiting bounds the bytes of frames that wait, beside one.
const mostWaiting = 64 << 20

// hasRoom waits until another frame may wait; false if ctx is done before.
func (l *line) hasRoom(ctx context.Context) bool {
	for {
		l.mu.Lock()
		full, changed := l.bytes > mostWaiting, l.changed
		l.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// isEntry reports whether a frame is one of the log. Before it begins, cards are shown that are none.
func isEntry(f wire.Frame, begun bool) bool {
	switch f.(type) {
	case wire.Roster, wire.Sum, wire.Void:
		return true
	case wire.Card:
		return begun
	}
	return false
}

func (l *line) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	l.change()
}

// change wakes who waits for one. The caller holds mu.
func (l *line) change() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// next waits for a frame.
func (l *line) next(ctx context.Context) (wire.Frame, error) {
	for {
		l.mu.Lock()
		if len(l.waiting) > 0 {
			f := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.bytes -= f.bytes
			l.change()
			l.mu.Unlock()
			return f.Frame, nil
		}
		err, changed := l.err, l.changed
		l.mu.Unlock()
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// holds reports whether a frame waits that is what is asked for.
func (l *line) holds(what func(wire.Frame) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.waiting {
		if what(f.Frame) {
			return true
		}
	}
	return false
}

// send sends a frame, unless the line is broken: when it is not any more, the room asks again.
func (l *line) send(ctx context.Context, f wire.Frame) {
	_ = l.write(ctx, f.Append(nil))
}

func (l *line) write(ctx context.Context, b []byte) error {
	l.mu.Lock()
	link := l.link
	l.sent += int64(len(b))
	l.mu.Unlock()
	if link == nil {
		return nil
	}
	if err := link.Send(ctx, b); err != nil {
		return fmt.Errorf("together: the connection to the room: %w", err)
	}
	return nil
}

// moved returns the bytes that were sent and that came in.
func (l *line) moved() (sent, received int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent, l.received
}

func (l *line) close() { l.cancel() }
