//go:build js && wasm

package wasm

import (
	"context"
	"fmt"
	"io"
	"syscall/js"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// transformer makes one file of weights of a checkpoint's files, with what web/checkpoint.mjs makes of them, which is
// fetched from the site when it is first needed. See [worker.Host].
func transformer(ctx context.Context, files []source.File) (weights []byte, of []source.File, err error) {
	module, list, err := checkpoint(files)
	if err != nil {
		return nil, nil, err
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

// checkpoint returns what reads checkpoints, and the files of one.
func checkpoint(files []source.File) (module js.Value, list []any, err error) {
	for _, f := range files {
		b, ok := f.(blob)
		if !ok {
			return module, nil, fmt.Errorf("%s is no file of the page's", f.Name())
		}
		list = append(list, b.file)
	}
	module, err = await(js.Global().Get("clipscopeWorker").Call("module", "checkpoint.js"))
	if err != nil {
		err = &data.Error{File: files[0].Name(), Got: "what reads checkpoints could not be loaded from the site", Err: err, Fix: "Reload the page while there is a connection."}
	}
	return module, list, err
}

// restore is a [worker.Restorer].
func restore(_ context.Context, to string, model []byte, files []source.File, add func(name string, next func() ([]byte, error)) error) error {
	module, list, err := checkpoint(files)
	if err != nil {
		return err
	}
	ours := js.Global().Get("Uint8Array").New(len(model))
	js.CopyBytesToJS(ours, model)
	made, err := await(module.Call("restore", ours, list, to))
	if err != nil {
		return fileError(files[0].Name(), err)
	}
	for i := range made.Length() {
		pieces := made.Index(i).Get("pieces")
		err := add(made.Index(i).Get("name").String(), func() ([]byte, error) {
			piece, err := await(pieces.Call("next"))
			switch {
			case err != nil:
				return nil, fileError(files[0].Name(), err)
			case piece.Get("done").Bool():
				return nil, io.EOF
			}
			b := make([]byte, piece.Get("value").Length())
			js.CopyBytesToGo(b, piece.Get("value"))
			return b, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
