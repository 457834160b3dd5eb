//go:build js && wasm

package wasm

import (
	"syscall/js"
	"unsafe"

	"clipscope/core/data/source"
	"clipscope/core/run"
	"clipscope/wasm/worker"
)

// port is the worker's global scope as a place to send to and receive from.
type port struct {
	self js.Value
	send js.Value // postMessage, bound once
}

func newPort() *port {
	self := js.Global()
	return &port{self, self.Get("postMessage").Call("bind", self)}
}

func (p *port) post(m run.Message) {
	o := js.Global().Get("Object").New()
	o.Set("type", m.Type)
	o.Set("id", m.ID)
	o.Set("text", m.Text)
	if m.Step > 0 {
		o.Set("step", m.Step)
	}
	var moved []any // rather than copied
	if len(m.Parameters) > 0 {
		array := float32Array(m.Parameters)
		o.Set("parameters", array)
		moved = append(moved, array.Get("buffer"))
	}
	if b, ok := m.Blob.(js.Value); ok {
		o.Set("blob", b)
	}
	p.send.Invoke(o, moved)
}

// float32Array copies x into a new Float32Array.
func float32Array(x []float32) js.Value {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
	bytes := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(bytes, b)
	return js.Global().Get("Float32Array").New(bytes.Get("buffer"))
}

// listen hands every message to handle, for as long as the worker lives.
func (p *port) listen(handle func(worker.Request)) {
	p.self.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		m := args[0].Get("data")
		if m.Type() != js.TypeObject {
			return nil
		}
		handle(worker.Request{
			Message:    run.Message{Type: text(m, "type"), ID: number(m, "id"), Text: text(m, "text")},
			TrainFiles: files(m, "train"),
			TestFiles:  files(m, "test"),
		})
		return nil
	}))
}

func text(m js.Value, key string) string {
	if v := m.Get(key); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

func number(m js.Value, key string) int {
	if v := m.Get(key); v.Type() == js.TypeNumber {
		return v.Int()
	}
	return 0
}

func files(m js.Value, key string) []source.File {
	list, paths := m.Get(key), m.Get("paths")
	if list.Type() != js.TypeObject {
		return nil
	}
	var out []source.File
	for i := range list.Length() {
		b := blob{file: list.Index(i)}
		b.path = text(b.file, "name")
		if paths.Type() == js.TypeObject {
			if path := paths.Get(key).Index(i); path.Type() == js.TypeString {
				b.path = path.String()
			}
		}
		out = append(out, b)
	}
	return out
}

// yielder gives the event loop a turn: a message to itself comes back after the
// messages that were waiting. It costs a tenth of what a timer does.
type yielder struct {
	port js.Value
	back chan struct{}
}

func newYielder() *yielder {
	y := &yielder{back: make(chan struct{}, 1)}
	channel := js.Global().Get("MessageChannel").New()
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		y.back <- struct{}{}
		return nil
	}))
	y.port = channel.Get("port2")
	return y
}

func (y *yielder) yield() {
	y.port.Call("postMessage", js.Null())
	<-y.back
}
