//go:build js && wasm

package wasm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/wasm/party"
	"clipscope/wasm/worker"
)

// site is the host of the page as a host of rooms, by the browser's own requests and sockets: a library's would bring
// Go's network.
type site struct {
	mu    sync.Mutex
	known map[string][]byte // what rooms are for, which never changes, by their paths: so that it is asked for once
}

var _ together.Host = (*site)(nil)

// Ask is of [together.Host].
func (s *site) Ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	s.mu.Lock()
	answer := s.known[path]
	s.mu.Unlock()
	if method != "GET" || answer == nil {
		var err error
		if answer, err = ask(ctx, method, path, body); err != nil {
			return nil, err
		}
	}
	if method == "GET" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known[path] = answer
	}
	return answer, nil
}

// answersWithin bounds the time of a host for an answer: other questions to the worker wait meanwhile.
const answersWithin = 30 * time.Second

func ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	options := map[string]any{"method": method}
	if body != nil {
		options["body"], options["headers"] = string(body), map[string]any{"Content-Type": "application/json"}
	}
	off := js.Global().Get("AbortController").New()
	options["signal"] = off.Get("signal")
	defer context.AfterFunc(ctx, func() { off.Call("abort") })()
	answer, err := await(js.Global().Call("fetch", js.Global().Get("origin").String()+path, options))
	if err != nil {
		return nil, fmt.Errorf("wasm: it does not answer: %w", err)
	}
	said, err := await(answer.Call("text"))
	switch status := answer.Get("status").Int(); {
	case err != nil:
		return nil, fmt.Errorf("wasm: %w", err)
	case status >= 300:
		return nil, fmt.Errorf("wasm: it says (%d): %s", status, strings.TrimSpace(said.String()))
	}
	return []byte(said.String()), nil
}

// Dial is of [together.Host].
func (*site) Dial(ctx context.Context, path string) (together.Link, error) {
	socket, err := newSocket("ws" + strings.TrimPrefix(js.Global().Get("origin").String(), "http") + path)
	if err != nil {
		return nil, err
	}
	select {
	case <-socket.opened:
		return socket, nil
	case <-socket.closed:
	case <-ctx.Done():
	}
	_ = socket.Close()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("wasm: the host of rooms takes no connection")
}

// mostFrames bounds the bytes of frames that wait, beside one. A browser cannot have the other side wait: the connection is
// closed instead, and dialled anew when these are taken.
const mostFrames = 64 << 20

// socket is a web socket: a frame is a message.
type socket struct {
	value          js.Value
	opened, closed chan struct{}
	release        func()

	mu     sync.Mutex
	frames [][]byte
	bytes  int           // of frames
	come   chan struct{} // has one where frames may have some
}

func newSocket(address string) (s *socket, err error) {
	defer func() {
		if p := recover(); p != nil { // what the browser throws
			err = fmt.Errorf("wasm: %v", p)
		}
	}()
	s = &socket{value: js.Global().Get("WebSocket").New(address), opened: make(chan struct{}), closed: make(chan struct{}), come: make(chan struct{}, 1)}
	s.value.Set("binaryType", "arraybuffer")
	var all []js.Func
	on := func(event string, f func(js.Value)) {
		handler := js.FuncOf(func(_ js.Value, args []js.Value) any { f(args[0]); return nil })
		all = append(all, handler)
		s.value.Set("on"+event, handler)
	}
	on("open", func(js.Value) { close(s.opened) })
	var once sync.Once
	on("close", func(js.Value) { once.Do(func() { close(s.closed) }) })
	on("message", func(e js.Value) {
		if m := e.Get("data"); m.Type() == js.TypeObject {
			array := js.Global().Get("Uint8Array").New(m)
			frame := make([]byte, array.Length())
			js.CopyBytesToGo(frame, array)
			s.mu.Lock()
			s.frames = append(s.frames, frame)
			s.bytes += len(frame)
			full := s.bytes > mostFrames
			s.mu.Unlock()
			if full {
				s.value.Set("onmessage", js.Null())
				s.value.Call("close")
			}
			select {
			case s.come <- struct{}{}:
			default:
			}
		}
	})
	s.release = sync.OnceFunc(func() {
		for _, f := range all {
			f.Release()
		}
	})
	return s, nil
}

// Send is of [together.Link].
func (s *socket) Send(ctx context.Context, frame []byte) error {
	const open = 1
	if s.value.Get("readyState").Int() != open {
		return errors.New("wasm: the connection is closed")
	}
	array := js.Global().Get("Uint8Array").New(len(frame))
	js.CopyBytesToJS(array, frame)
	s.value.Call("send", array)
	return ctx.Err()
}

// Receive is of [together.Link].
func (s *socket) Receive(ctx context.Context) ([]byte, error) {
	for {
		s.mu.Lock()
		if len(s.frames) > 0 {
			frame := s.frames[0]
			s.frames = s.frames[1:]
			s.bytes -= len(frame)
			s.mu.Unlock()
			return frame, nil
		}
		s.mu.Unlock()
		select {
		case <-s.come:
		case <-s.closed:
			return nil, errors.New("wasm: the connection to the room is closed")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close is of [together.Link].
func (s *socket) Close() error {
	for _, event := range []string{"open", "close", "message"} {
		s.value.Set("on"+event, js.Null())
	}
	s.value.Call("close")
	s.release()
	return nil
}

// agreement returns what the parties of a room have agreed on.
func (s *site) agreement(ctx context.Context, in run.Invitation) (run.Agreed, error) {
	a, err := party.Find(ctx, s, in)
	return a.Agreed(), err
}

var _ worker.Shareable = planned{}

// Invite is of [worker.Shareable].
func (p planned) Invite(ctx context.Context, classes []string) (run.Invitation, error) {
	return party.Invite(ctx, p.site, p.Plan, classes)
}

// Compare is of [worker.Shareable].
func (p planned) Compare(ctx context.Context, in run.Invitation, classes []string) ([]run.Difference, error) {
	theirs, err := party.Find(ctx, p.site, in)
	if err != nil {
		return nil, err
	}
	return party.Compare(&theirs, p.Plan, classes)
}

// Join is of [worker.Shareable].
func (p planned) Join(ctx context.Context, ds *data.Dataset, be compute.Backend, m worker.Meeting) (worker.Trainer, error) {
	return member(party.Join(ctx, p.site, p.Plan, ds, be, m))
}

// Rejoin is of [worker.Shareable].
func (p planned) Rejoin(ctx context.Context, ds *data.Dataset, be compute.Backend, m worker.Meeting, state []byte, released int) (worker.Trainer, error) {
	return member(party.Rejoin(ctx, p.site, p.Plan, ds, be, m, state, released))
}

func member(t *party.Trainer, err error) (worker.Trainer, error) {
	if err != nil {
		return nil, err // not a Trainer that is nil in an interface that is not
	}
	return t, nil
}
