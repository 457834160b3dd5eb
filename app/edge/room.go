//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall/js"
	"time"

	"clipscope/app/edge/answer"
	"clipscope/app/edge/rooms"
	"clipscope/core/together/room"
)

// namespace is the binding of the durable objects that rooms are.
const namespace = "ROOMS"

// objects are the rooms, a durable object each.
type objects struct{ all js.Value }

func (o objects) fetch(name string, args ...any) (js.Value, error) {
	if o.all.IsUndefined() {
		return js.Value{}, errors.New("edge: no durable objects are bound as " + namespace)
	}
	v, err := await(o.all.Call("get", o.all.Call("idFromName", name)).Call("fetch", args...))
	if err != nil {
		return js.Value{}, fmt.Errorf("edge: %w", err)
	}
	return v, nil
}

func (o objects) Open(name string, welcome []byte) error {
	made, err := o.fetch(name, "https://room/", map[string]any{"method": "POST", "body": valueOf(welcome)})
	if err == nil && made.Get("status").Int() != 201 {
		err = errors.New("edge: the room does not open")
	}
	return err
}

func (o objects) Get(name string) ([]byte, error) {
	made, err := o.fetch(name, "https://room/")
	if err != nil || made.Get("status").Int() != 200 {
		return nil, err
	}
	body, err := await(made.Call("arrayBuffer"))
	if err != nil {
		return nil, fmt.Errorf("edge: %w", err)
	}
	return bytesOf(js.Global().Get("Uint8Array").New(body)), nil
}

// meet answers who comes to a room itself: with the object's own answer, which has the web socket.
func (o objects) meet(r *answer.Request, request js.Value) (js.Value, bool) {
	name, named := rooms.NameOf(r.URL.Path)
	if !named || r.Method != "GET" || !strings.EqualFold(r.Header("Upgrade"), "websocket") {
		return js.Value{}, false
	}
	if origin := r.Header("Origin"); origin != "" && origin != r.URL.Scheme+"://"+r.URL.Host {
		return response(answer.Finish(r, answer.Refuse(403, "This is for the site's own pages.").Response())), true
	}
	v, err := o.fetch(name, request)
	if err != nil {
		return response(answer.Finish(r, answer.Refuse(503, "The room cannot be reached now.").Response())), true
	}
	return v, true
}

// serveRoom gives the durable object around this program its machine: calls that return at once what
// is to be sent.
func serveRoom(object js.Value) {
	store := shelf{object.Get("store")}
	machine, err := room.Open(store)
	if err != nil {
		object.Set("broken", err.Error())
	}
	calls := map[string]func(now time.Time, args []js.Value) ([]room.Send, error){
		"open": func(now time.Time, args []js.Value) ([]room.Send, error) {
			terms, sealed, err := rooms.Opening(bytesOf(args[0]))
			if err == nil {
				machine, err = room.New(store, terms, sealed, now)
			}
			return nil, err
		},
		"receive": func(now time.Time, args []js.Value) ([]room.Send, error) {
			return machine.Receive(now, room.Conn(args[0].Int()), bytesOf(args[1]))
		},
		"lost": func(now time.Time, args []js.Value) ([]room.Send, error) {
			return machine.Lost(now, room.Conn(args[0].Int()))
		},
		"tick": func(now time.Time, _ []js.Value) ([]room.Send, error) { return machine.Tick(now) },
	}
	for name, call := range calls {
		object.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) any {
			if machine == nil && name != "open" {
				return map[string]any{"error": "there is no such room"}
			}
			sends, err := call(time.Now(), args)
			if err != nil {
				return map[string]any{"error": err.Error()}
			}
			return map[string]any{"sends": sendsOf(sends), "next": milliseconds(machine.Next()), "over": machine.Over() != 0, "busy": machine.Busy()}
		}))
	}
	object.Set("is", js.FuncOf(func(js.Value, []js.Value) any { return machine != nil }))
	object.Set("seat", js.FuncOf(func(_ js.Value, args []js.Value) any { return machine.SeatOf(room.Conn(args[0].Int())) }))
	object.Set("attach", js.FuncOf(func(_ js.Value, args []js.Value) any {
		machine.Attach(room.Conn(args[0].Int()), args[1].Int())
		return nil
	}))
	object.Set("welcome", js.FuncOf(func(js.Value, []js.Value) any {
		b, err := machine.Welcome()
		if err != nil {
			return nil
		}
		return valueOf(b)
	}))
	ready()
	select {} // as long as the object is
}

// sendsOf converts what is to be sent. A frame that goes to many is one array.
func sendsOf(sends []room.Send) any {
	list := make([]any, len(sends))
	var last []byte
	var array js.Value
	for i, s := range sends {
		m := map[string]any{"to": int(s.To), "close": s.Close}
		if len(s.Frame) > 0 {
			if len(last) != len(s.Frame) || &last[0] != &s.Frame[0] {
				last, array = s.Frame, valueOf(s.Frame)
			}
			m["frame"] = array
		}
		list[i] = m
	}
	return list
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func bytesOf(v js.Value) []byte {
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}

func valueOf(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}

// shelf is the object's storage, whose calls return at once.
type shelf struct{ store js.Value }

func (s shelf) Get(key string) (value []byte, err error) {
	defer recovered(&err)
	if v := s.store.Call("get", key); v.Truthy() {
		return bytesOf(v), nil
	}
	return nil, nil
}

func (s shelf) Put(key string, value []byte) (err error) {
	defer recovered(&err)
	s.store.Call("put", key, valueOf(value))
	return nil
}

// recovered makes an error of what a call to JavaScript threw.
func recovered(err *error) {
	if thrown := recover(); thrown != nil {
		e, ok := thrown.(js.Error)
		if !ok {
			panic(thrown)
		}
		*err = e
	}
}

var _ room.Store = shelf{}
