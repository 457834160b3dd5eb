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
	weights = make([]byte, made.Get("size").Int())
	for rest := weights; ; {
		piece, err := nextOf(made.Get("pieces"))
		if err == io.EOF && len(rest) == 0 {
			break
		}
		if err == io.EOF {
			err = &data.Error{File: files[0].Name(), Got: "a file that became shorter while it was read", Fix: "Choose the files again."}
		}
		if err != nil {
			return nil, nil, fileError(files[0].Name(), err)
		}
		rest = rest[js.CopyBytesToGo(rest, piece):]
	}
	at := made.Get("weights")
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
			piece, err := nextOf(pieces)
			if err != nil {
				return nil, fileError(files[0].Name(), err) // which leaves io.EOF as it is
			}
			b := make([]byte, piece.Length())
			js.CopyBytesToGo(b, piece)
			return b, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// nextOf returns the next of what an asynchronous generator yields, and io.EOF when there are no more.
func nextOf(pieces js.Value) (js.Value, error) {
	next, err := await(pieces.Call("next"))
	switch {
	case err != nil:
		return next, err
	case next.Get("done").Bool():
		return next, io.EOF
	}
	return next.Get("value"), nil
}
