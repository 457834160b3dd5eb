//go:build js && wasm

package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// openParquet opens a Parquet file with what web/parquet.mjs makes of it, which is
// fetched from the site when the first one is opened.
func openParquet(ctx context.Context, f source.File, opt run.CSV) (source.Columns, error) {
	b, ok := f.(blob)
	if !ok {
		return nil, &data.Error{File: f.Name(), Expected: "a Parquet file by itself", Got: "one inside another file", Fix: "Unpack it first."}
	}
	reader, err := await(js.Global().Get("clipscopeWorker").Call("module", "parquet.js"))
	if err != nil {
		return nil, &data.Error{File: f.Name(), Got: "what reads Parquet files could not be loaded from the site", Err: err, Fix: "Reload the page while there is a connection, or save the table as CSV."}
	}
	file, err := await(reader.Call("open", b.file, opt.Label, float64(source.Allowance(f.Size()))))
	if err == nil {
		_, err = await(file.Call("settle"))
	}
	if err != nil {
		return nil, fileError(f.Name(), err)
	}
	return columns{b, file}, ctx.Err()
}

// fileError is a [data.Error] of what web/parquet.mjs, or web/checkpoint.mjs, finds wrong with a file.
func fileError(name string, err error) error {
	r := (*rejection)(nil)
	if !errors.As(err, &r) {
		return err
	}
	said := func(key string) string {
		if v := r.reason.Get(key); v.Type() == js.TypeString {
			return v.String()
		}
		return ""
	}
	e := &data.Error{File: name, Expected: said("expected"), Got: said("got"), Fix: said("fix")}
	if e.Fix == "" {
		e.Got, e.Err, e.Fix = "a file that could not be read", err, "Choose the file again; it may have been moved or changed since."
	}
	return e
}

// columns is an open Parquet file.
type columns struct {
	blob blob
	file js.Value
}

func (c columns) Pictures() bool    { return c.file.Get("pictures").Bool() }
func (c columns) Rows() int64       { return int64(c.file.Get("rows").Float()) }
func (c columns) Classes() []string { return texts(c.file.Get("classes")) }
func (c columns) Skipped() []string { return texts(c.file.Get("skipped")) }
func (c columns) Text(i int) bool   { return c.file.Call("text", i).Bool() }

func texts(list js.Value) (all []string) {
	for i := range list.Length() {
		all = append(all, list.Index(i).String())
	}
	return all
}

func (c columns) Open() (io.ReadCloser, error) {
	return &columnsReader{name: c.blob.Name(), rows: c.file.Call("read")}, nil
}

// columnsReader reads the rows.
type columnsReader struct {
	name string
	rows js.Value
	buf  []byte
	rest []byte
}

// Done returns the number of the file's bytes that have been read.
func (r *columnsReader) Done() int64 { return int64(r.rows.Call("done").Float()) }

func (r *columnsReader) Close() error { return nil }

// Read gives nothing, and no error, while there is nothing yet.
func (r *columnsReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		array, err := await(r.rows.Call("next"))
		if err != nil {
			return 0, fileError(r.name, err)
		}
		if array.IsNull() {
			return 0, io.EOF
		}
		n := array.Length()
		if cap(r.buf) < n {
			r.buf = make([]byte, n)
		}
		r.rest = r.buf[:n]
		if js.CopyBytesToGo(r.rest, array) != n {
			return 0, fmt.Errorf("reading %s: %w", r.name, io.ErrUnexpectedEOF)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
