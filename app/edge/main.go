//go:build js && wasm

// Command edge keeps short links and rooms in a Cloudflare Worker, in front of the static site. The
// site needs no server: the host serves its files, with the headers of _headers. This
// program runs for /api/ and /x/ alone. It keeps links in a KV namespace bound as LINKS, rooms in
// durable objects bound as ROOMS, and refuses more requests than the rate limit bound as RATE allows.
//
// An instance of it is started for each request and ends with it; one in each durable object is its
// machine. It does without
// net/http, which would double the time that its start takes, and so without workers.Serve.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"syscall/js"
	"time"

	"clipscope/app/edge/answer"
	"clipscope/app/edge/links"
	"clipscope/app/edge/rooms"

	"github.com/syumai/workers/cloudflare/kv"
)

//go:wasmimport workers ready
func ready()

func main() {
	context := js.Global().Get("context")
	if object := context.Get("room"); object.Truthy() {
		serveRoom(object)
		return
	}
	done := make(chan struct{})
	context.Get("binding").Set("handleRequest", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				defer close(done)
				// Within the call to handleRequest the program must not end.
				if _, err := await(js.Global().Get("Promise").Call("resolve")); err == nil {
					settle[0].Invoke(answered(context.Get("env"), args[0]))
				}
			}()
			return nil
		}))
	}))
	ready()
	<-done
}

func answered(env, request js.Value) js.Value {
	rate, all, r := limiter{env.Get("RATE")}, objects{env.Get(namespace)}, requestOf(request)
	if v, met := all.meet(r, request); met {
		return v
	}
	if rooms.Asks(r.URL.Path) {
		return response((&rooms.Service{Host: all, Limiter: rate}).Answer(r))
	}
	return response((&links.Service{Store: store{}, Limiter: rate, Now: time.Now}).Answer(r))
}

// requestOf converts a Request of JavaScript.
func requestOf(request js.Value) *answer.Request {
	r := &answer.Request{Method: request.Get("method").String()}
	r.Header = func(name string) string {
		if v := request.Get("headers").Call("get", name); v.Type() == js.TypeString {
			return v.String()
		}
		return ""
	}
	address, err := url.Parse(request.Get("url").String())
	if err != nil {
		address = &url.URL{} // what a host has parsed and Go does not is at no address of ours
	}
	r.URL = address
	if stream := request.Get("body"); stream.Truthy() {
		r.Body = &body{reader: stream.Call("getReader", map[string]any{"mode": "byob"}), until: time.Now().Add(bodyTime)}
	}
	return r
}

// response is a Response of JavaScript.
func response(r answer.Response) js.Value {
	headers := js.Global().Get("Headers").New()
	for _, h := range r.Header {
		headers.Call("set", h[0], h[1])
	}
	var content any // null, as some statuses have no body
	if r.Body != "" {
		content = r.Body
	}
	return js.Global().Get("Response").New(content, map[string]any{"status": r.Status, "headers": headers})
}

// mostRead bytes are asked for at once. A host's own pieces have 4 kB, and each costs a turn
// of Go's scheduler.
const mostRead = 64 << 10

// bodyTime bounds how long a body may take. An instance that waits holds 5 MB of the 128 MB that
// the host gives to all instances together.
const bodyTime = 5 * time.Second

// body reads a ReadableStream of bytes until a deadline.
type body struct {
	reader js.Value
	rest   []byte
	until  time.Time
}

func (b *body) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		chunk, err := awaitUntil(b.reader.Call("read", js.Global().Get("Uint8Array").New(mostRead)), b.until)
		if err != nil {
			return 0, err
		}
		if chunk.Get("done").Bool() {
			return 0, io.EOF
		}
		value := chunk.Get("value")
		b.rest = make([]byte, value.Get("byteLength").Int())
		js.CopyBytesToGo(b.rest, value)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) { return awaitUntil(promise, time.Time{}) }

// awaitUntil waits for a promise until a deadline, the zero time for none. The error past it is
// [os.ErrDeadlineExceeded].
func awaitUntil(promise js.Value, until time.Time) (js.Value, error) {
	type outcome struct {
		v   js.Value
		err error
	}
	done := make(chan outcome, 1)
	var resolve, reject js.Func
	release := func() {
		resolve.Release()
		reject.Release()
	}
	resolve = js.FuncOf(func(_ js.Value, args []js.Value) any {
		release()
		done <- outcome{v: args[0]}
		return nil
	})
	reject = js.FuncOf(func(_ js.Value, args []js.Value) any {
		release()
		done <- outcome{err: errors.New(args[0].Call("toString").String())}
		return nil
	})
	promise.Call("then", resolve, reject)
	if until.IsZero() {
		o := <-done
		return o.v, o.err
	}
	// A host that is busy may come to the deadline before it comes to what has arrived by then:
	// it is given some more turns for that.
	const turns, turn = 5, 200 * time.Millisecond
	wait := max(time.Until(until), 0)
	for range 1 + turns {
		timer := time.NewTimer(wait)
		select {
		case o := <-done:
			timer.Stop()
			return o.v, o.err
		case <-timer.C:
			wait = turn
		}
	}
	return js.Value{}, os.ErrDeadlineExceeded
}

// store is the KV namespace.
type store struct{}

func (store) open() (*kv.Namespace, error) {
	ns, err := kv.NewNamespace("LINKS")
	if err != nil {
		return nil, fmt.Errorf("edge: no KV namespace is bound as LINKS: %w", err)
	}
	return ns, nil
}

func (s store) Get(name string) (value string, found bool, err error) {
	ns, err := s.open()
	if err != nil {
		return "", false, err
	}
	if value, err = ns.GetString(name, nil); err != nil {
		return "", false, fmt.Errorf("edge: %w", err)
	}
	return value, !strings.HasPrefix(value, "<"), nil // "<null>" is how nothing is written
}

func (s store) Put(name, value string, kept time.Duration) error {
	ns, err := s.open()
	if err == nil {
		err = ns.PutString(name, value, &kv.PutOptions{ExpirationTTL: int(kept / time.Second)})
	}
	if err != nil {
		return fmt.Errorf("edge: %w", err)
	}
	return nil
}

// limiter is the rate limit.
type limiter struct{ rate js.Value }

func (l limiter) Allow(client string) (bool, error) {
	if l.rate.IsUndefined() {
		return false, errors.New("edge: no rate limit is bound as RATE")
	}
	outcome, err := await(l.rate.Call("limit", map[string]any{"key": client}))
	if err != nil {
		return false, fmt.Errorf("edge: %w", err)
	}
	return outcome.Get("success").Bool(), nil
}
