//go:build js && wasm

package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall/js"
	"unsafe"

	"clipscope/core/backbone"
	"clipscope/core/data/source"
	structure "clipscope/core/onnx"
	"clipscope/core/run"
	"clipscope/wasm/worker"
)

// onnx opens ONNX files by web/backbone.js, once core/onnx has examined them, and the tokenizers of transformers, or both together.
type onnx struct{}

// Version returns the versions of the runtime and of tokenizers in web/package.json, and of what is set in it.
func (onnx) Version() string { return "onnxruntime-web 1.30.0 wasm, tokenizers 0.2.0" }

func (onnx) Open(ctx context.Context, f, tokenizer source.File, memory int64) (worker.Backbone, error) {
	b, ok := f.(blob)
	if !ok {
		return nil, fmt.Errorf("%s is no file of the page's", f.Name())
	}
	beside := js.Undefined()
	if t, ok := tokenizer.(blob); ok {
		beside = t.file
	}
	if !run.IsTokenizer(f.Name()) {
		r, err := b.OpenAt()
		if err != nil {
			return nil, err
		}
		err = structure.Check(ctx, r, b.Size())
		r.Close()
		if err != nil {
			return nil, err
		}
	}
	abort := js.Global().Get("AbortController").New()
	defer context.AfterFunc(ctx, func() { abort.Call("abort") })()
	m, err := await(js.Global().Get("clipscopeWorker").Get("backbone").Call("open", b.file, memory, abort.Get("signal"), beside))
	if err != nil {
		return nil, err
	}
	o := &onnxModel{model: m}
	for key, to := range map[string]*[]run.BackboneTensor{"inputs": &o.inputs, "outputs": &o.outputs} {
		if err := json.Unmarshal([]byte(m.Get(key).String()), to); err != nil {
			o.Close()
			return nil, fmt.Errorf("its %s: %w", key, err)
		}
	}
	return o, nil
}

// onnxModel is a model in a worker of its own.
type onnxModel struct {
	model           js.Value
	inputs, outputs []run.BackboneTensor
}

func (o *onnxModel) Inputs() []run.BackboneTensor  { return o.inputs }
func (o *onnxModel) Outputs() []run.BackboneTensor { return o.outputs }
func (o *onnxModel) Memory() int64                 { return int64(o.model.Get("memory").Float()) }
func (o *onnxModel) Close()                        { o.model.Call("close") }

func (o *onnxModel) Run(ctx context.Context, input string, x backbone.Values, output string) (y backbone.Values, err error) {
	var values js.Value
	switch {
	case x.Text != nil:
		list := make([]any, len(x.Text))
		for i, s := range x.Text {
			list[i] = s
		}
		values = js.ValueOf(list)
	case x.U8 != nil:
		values = js.Global().Get("Uint8Array").New(len(x.U8))
		js.CopyBytesToJS(values, x.U8)
	default:
		values = float32Array(x.F32)
	}
	shape := make([]any, len(x.Shape))
	for i, d := range x.Shape {
		shape[i] = d
	}
	defer context.AfterFunc(ctx, o.Close)()
	reply, err := await(o.model.Call("run", input, x.Calls, shape, values, output))
	if err != nil {
		return y, err
	}
	y.Calls = x.Calls
	dims := reply.Get("shape")
	for i := range dims.Length() {
		y.Shape = append(y.Shape, dims.Index(i).Int())
	}
	array := reply.Get("values")
	y.F32 = make([]float32, array.Length())
	if len(y.F32) > 0 {
		bytes := js.Global().Get("Uint8Array").New(array.Get("buffer"))
		js.CopyBytesToGo(unsafe.Slice((*byte)(unsafe.Pointer(&y.F32[0])), 4*len(y.F32)), bytes)
	}
	return y, nil
}
