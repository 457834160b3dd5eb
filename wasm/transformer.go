//go:build js && wasm

package wasm

import (
	"context"
	"fmt"
	"syscall/js"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// transformer makes one file of weights of a checkpoint's files, with what web/checkpoint.mjs makes of them, which is
// fetched from the site when it is first needed. See [worker.Host].
func transformer(ctx context.Context, files []source.File) (weights []byte, of []source.File, err error) {
	list := make([]any, len(files))
	for i, f := range files {
		b, ok := f.(blob)
		if !ok {
			return nil, nil, fmt.Errorf("%s is no file of the page's", f.Name())
		}
		list[i] = b.file
	}
	module, err := await(js.Global().Get("clipscopeWorker").Call("module", "checkpoint.js"))
	if err != nil {
		return nil, nil, &data.Error{File: files[0].Name(), Got: "what reads checkpoints could not be loaded from the site", Err: err, Fix: "Reload the page while there is a connection."}
	}
	made, err := await(module.Call("convert", list))
	if err != nil {
		return nil, nil, fileError(files[0].Name(), err)
	}
	array, at := made.Get("bytes"), made.Get("weights")
	weights = make([]byte, array.Length())
	js.CopyBytesToGo(weights, array)
	for i := range at.Length() {
		of = append(of, files[at.Index(i).Int()])
	}
	return weights, of, ctx.Err()
}
