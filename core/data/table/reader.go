package table

import (
	"errors"
	"fmt"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// Reader reads the rows of a table, one after the other, in any encoding and with any
// delimiter that load.Load knows. It holds a row at a time, and some hundred kilobytes; of
// Parquet a row group.
type Reader struct {
	*Table
	in *source.Reading
}

// NewReader opens f, which is text, for one pass. Where named is true its first row has the columns'
// names; otherwise that is detected. The reader closes in.
func NewReader(in *source.Reading, f source.File, named bool) (*Reader, error) {
	ch := Choices{}
	if named {
		ch.header = "yes"
	}
	t, err := Open(in, f, source.PhaseRead, ch, nil)
	if err != nil {
		return nil, err
	}
	return &Reader{t, in}, nil
}

// Classes returns the names of the labels 0, 1 … where the file's first line has them, as
// scikit-learn's files do.
func (r *Reader) Classes() []string { return r.classes }

// Row returns the cells of the next row, trimmed and valid until the next call, and the row's number, as
// in [data.Error.Row]. The error is io.EOF after the last row, ctx's, or a [*data.Error] for a row that
// cannot be read; [Reader.Survives] then says whether the next row can.
func (r *Reader) Row() (cells []string, line int, err error) {
	cells, line, err = r.row()
	var e *data.Error
	if errors.As(err, &e) {
		line = e.Row
	}
	return cells, line, err
}

// Survives reports whether an error of Row is about one row alone.
func (r *Reader) Survives(err error) bool { return (&BadRows{}).take(err) }

// Comma returns the separator of cells.
func (r *Reader) Comma() rune { return r.comma }

// Encoding returns the encoding of the text, as far as it has been read; empty for ASCII.
func (r *Reader) Encoding() string { return r.text.Encoding }

// Stored reports whether the cells come from values that a spreadsheet or Parquet stores,
// and not from text: see [Encoder.Stored].
func (r *Reader) Stored() bool { return written(r.src.File) }

// Close closes the file, and the reading that it was opened for.
func (r *Reader) Close() error {
	defer r.in.Close()
	return r.Table.Close()
}

// NotThere returns the error of a table that lacks a column.
func NotThere(file, name string, names []string) error {
	return &data.Error{File: file, Row: 1, Expected: fmt.Sprintf("a column %s, which the model was trained on", data.Quote(name)),
		Got: "the columns " + data.List(names), Fix: "Name the columns in the first row as in the training table."}
}
