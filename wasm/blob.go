//go:build js && wasm

package wasm

import (
	"cmp"
	"fmt"
	"io"
	"syscall/js"

	"clipscope/core/data/source"
	"clipscope/wasm/worker"
)

// sliceSize is the number of a file's bytes in memory at a time.
const sliceSize = 1 << 20

// blob is a File of the page as a source.File. Only slices of it are ever read.
type blob struct {
	file js.Value
	path string // below a folder that was chosen, or its name
}

func (b blob) Name() string { return cmp.Or(b.path, "file") }

func (b blob) Size() int64 { return int64(b.file.Get("size").Float()) }

func (b blob) Open() (io.ReadCloser, error) {
	return &blobReader{file: b.file, size: b.Size(), buf: make([]byte, 0, min(b.Size(), sliceSize))}, nil
}

// OpenAt is for archives, whose parts lie anywhere.
func (b blob) OpenAt() (source.ReaderAtCloser, error) {
	return &blobWindow{blobReader{file: b.file, size: b.Size()}}, nil
}

// blobWindow reads a blob anywhere, a slice at a time: what is read next mostly lies
// behind what was read before. It is for one goroutine.
type blobWindow struct{ blobReader }

func (w *blobWindow) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		from := at + int64(n)
		if from >= w.size {
			return n, io.EOF
		}
		begin := w.next - int64(len(w.buf))
		if from < begin || from >= w.next {
			w.next, w.buf = from, w.buf[:0]
			if err := w.fill(); err != nil {
				return n, err
			}
			begin = from
		}
		n += copy(p[n:], w.buf[from-begin:])
	}
	return n, nil
}

type blobReader struct {
	file js.Value
	size int64
	next int64  // offset of the first byte after buf
	buf  []byte // the present slice
	rest []byte // what of buf has not been read
}

// Read blocks its goroutine while the browser fetches the next slice, which lets
// messages in.
func (r *blobReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.rest) == 0 {
		if r.next >= r.size {
			return 0, io.EOF
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *blobReader) fill() error {
	end := min(r.next+sliceSize, r.size)
	buffer, err := await(r.file.Call("slice", float64(r.next), float64(end)).Call("arrayBuffer"))
	if err != nil {
		return fmt.Errorf("reading at byte %d: %w", r.next, err)
	}
	array := js.Global().Get("Uint8Array").New(buffer)
	r.buf = r.buf[:0]
	if n := array.Length(); cap(r.buf) < n {
		r.buf = make([]byte, n)
	} else {
		r.buf = r.buf[:n]
	}
	n := js.CopyBytesToGo(r.buf, array)
	if n == 0 {
		return io.ErrUnexpectedEOF // the file shrank
	}
	r.rest = r.buf[:n]
	r.next += int64(n)
	return nil
}

func (r *blobReader) Close() error {
	r.buf, r.rest, r.next = nil, nil, r.size
	return nil
}

// outgoing is bytes that the browser keeps, on disk where they are many.
type outgoing struct {
	parts  js.Value // Blobs
	buffer []byte   // not yet one of them
}

func newOutgoing() worker.Blob { return &outgoing{parts: js.Global().Get("Array").New()} }

func (b *outgoing) Write(p []byte) (int, error) {
	if b.buffer = append(b.buffer, p...); len(b.buffer) >= sliceSize {
		b.flush()
	}
	return len(p), nil
}

func (b *outgoing) flush() {
	array := js.Global().Get("Uint8Array").New(len(b.buffer))
	js.CopyBytesToJS(array, b.buffer)
	b.parts.Call("push", js.Global().Get("Blob").New([]any{array}))
	b.buffer = b.buffer[:0]
}

func (b *outgoing) Sent() any {
	b.flush()
	return js.Global().Get("Blob").New(b.parts, map[string]any{"type": "text/csv"})
}

// await blocks the goroutine until the promise settles.
func await(promise js.Value) (js.Value, error) {
	type settled struct {
		value js.Value
		err   error
	}
	result := make(chan settled, 1)
	fulfilled := js.FuncOf(func(_ js.Value, args []js.Value) any {
		result <- settled{value: args[0]}
		return nil
	})
	defer fulfilled.Release()
	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		result <- settled{err: &rejection{args[0]}}
		return nil
	})
	defer rejected.Release()
	promise.Call("then", fulfilled, rejected)
	r := <-result
	return r.value, r.err
}

// rejection is the reason of a rejected promise.
type rejection struct{ reason js.Value }

func (r *rejection) Error() string {
	if v := r.reason.Get("message"); v.Type() == js.TypeString {
		return v.String()
	}
	return "the browser gave no reason"
}
