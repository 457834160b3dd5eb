//go:build js && wasm

package wasm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"syscall/js"
)

// features is a folder in the file system that the browser keeps for the site (OPFS).
type features struct{}

const (
	featuresFolder = "clipscope-features"
	// mostFeatures limits the bytes that are kept in all.
	mostFeatures = 2 << 30
)

func (features) folder() (dir js.Value, err error) {
	storage := js.Global().Get("navigator").Get("storage")
	if !storage.Truthy() || !storage.Get("getDirectory").Truthy() {
		return dir, errors.New("the browser gives this page no storage for files")
	}
	root, err := await(storage.Call("getDirectory"))
	if err != nil {
		return dir, err
	}
	return await(root.Call("getDirectoryHandle", featuresFolder, map[string]any{"create": true}))
}

func (f features) Open(name string) (_ io.ReadCloser, err error) {
	defer caught(&err)
	dir, err := f.folder()
	if err != nil {
		return nil, err
	}
	handle, err := await(dir.Call("getFileHandle", name))
	if err != nil {
		return nil, nil // it is not there
	}
	file, err := await(handle.Call("getFile"))
	if err != nil {
		return nil, err
	}
	return blob{file: file}.Open()
}

func (f features) Create(name string, size int64) (_ io.WriteCloser, err error) {
	defer caught(&err)
	dir, err := f.folder()
	if err != nil {
		return nil, err
	}
	if err := f.makeRoom(dir, size); err != nil {
		return nil, err
	}
	handle, err := await(dir.Call("getFileHandle", name, map[string]any{"create": true}))
	if err != nil {
		return nil, err
	}
	// What is written is in its place once it is closed, and not before.
	stream, err := await(handle.Call("createWritable"))
	if err != nil {
		return nil, err
	}
	return &featuresFile{stream: stream}, nil
}

// makeRoom removes the oldest files until so many bytes more can be kept.
func (f features) makeRoom(dir js.Value, size int64) error {
	if size > mostFeatures {
		return fmt.Errorf("%d MB are more than are kept", size>>20)
	}
	for {
		var total int64
		oldest, at := "", math.Inf(1)
		err := f.each(dir, func(name string, file js.Value) {
			total += int64(file.Get("size").Float())
			if t := file.Get("lastModified").Float(); t < at {
				oldest, at = name, t
			}
		})
		if err != nil || total+size <= mostFeatures {
			return err
		}
		if _, err := await(dir.Call("removeEntry", oldest)); err != nil {
			return err
		}
	}
}

// each calls do for every file that is kept. Nothing here makes folders, and they stay.
func (features) each(dir js.Value, do func(name string, file js.Value)) error {
	for entries := dir.Call("entries"); ; {
		next, err := await(entries.Call("next"))
		if err != nil || next.Get("done").Bool() {
			return err
		}
		handle := next.Get("value").Index(1)
		if handle.Get("kind").String() != "file" {
			continue
		}
		file, err := await(handle.Call("getFile"))
		if err != nil {
			return err
		}
		do(next.Get("value").Index(0).String(), file)
	}
}

func (f features) Remove(name string) (err error) {
	defer caught(&err)
	dir, err := f.folder()
	if err != nil {
		return err
	}
	_, err = await(dir.Call("removeEntry", name))
	return err
}

func (f features) Clear() (total int64, err error) {
	defer caught(&err)
	dir, err := f.folder()
	if err != nil {
		return 0, nil // then nothing is kept either
	}
	var names []string
	err = f.each(dir, func(name string, file js.Value) {
		names = append(names, name)
		total += int64(file.Get("size").Float())
	})
	for _, name := range names {
		if err == nil {
			_, err = await(dir.Call("removeEntry", name))
		}
	}
	return total, err
}

// featuresFile is a file that is being written.
type featuresFile struct {
	stream js.Value
	buffer []byte
}

func (w *featuresFile) Write(p []byte) (int, error) {
	if w.buffer = append(w.buffer, p...); len(w.buffer) >= sliceSize {
		return len(p), w.flush()
	}
	return len(p), nil
}

func (w *featuresFile) flush() (err error) {
	defer caught(&err)
	array := js.Global().Get("Uint8Array").New(len(w.buffer))
	js.CopyBytesToJS(array, w.buffer)
	w.buffer = w.buffer[:0]
	_, err = await(w.stream.Call("write", array))
	return err
}

func (w *featuresFile) Close() (err error) {
	defer caught(&err)
	if err := w.flush(); err != nil {
		await(w.stream.Call("abort"))
		return err
	}
	_, err = await(w.stream.Call("close"))
	return err
}
