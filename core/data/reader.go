package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"clipscope/core/run"
)

// Reader reads the rows of a table, one after the other, in any encoding and with any
// delimiter that [Load] knows. It holds a row at a time, and some hundred kilobytes; of
// Parquet a row group.
type Reader struct {
	t *table
	l *loader
}

// OpenTable opens a table: CSV, or the first sheet of a spreadsheet. Where named is true
// its first row has the columns' names; otherwise that is detected. progress may be nil, and is called as [Load] has it. The
// caller closes the reader. The error is an [*Error], or ctx's.
func OpenTable(ctx context.Context, f File, named bool, progress func(Progress)) (*Reader, error) {
	return Loader{}.OpenTable(ctx, f, named, progress)
}

// OpenTable is as the function of its name, and opens Parquet tables as well.
func (how Loader) OpenTable(ctx context.Context, f File, named bool, progress func(Progress)) (*Reader, error) {
	l := newLoader(ctx, run.CSV{})
	l.progress, l.parquet = progress, how.Parquet
	ch := csvChoices{}
	if named {
		ch.header = "yes"
	}
	l.allow(f)
	var t *table
	f, err := l.tableIn(f)
	if err == nil {
		t, err = l.openTable(f, phaseRead, ch, nil)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return &Reader{t, l}, nil
}

// tableIn is the table that f is, or has as an archive.
func (l *loader) tableIn(f File) (File, error) {
	var kind format
	files, err := l.sniff(f, func(_ File, k format) error {
		kind = cmp.Or(kind, k)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case kind == formatXLSX:
		return l.openSheet(files[0].(*archive))
	case kind == formatCSV && len(files) == 1:
		return files[0], nil
	case kind == formatParquet && len(files) == 1 && l.parquet != nil:
		c, err := l.parquet(l.ctx, files[0], l.opt)
		if err != nil || !c.Pictures() {
			return columnsFile{files[0], c}, err
		}
	}
	return nil, &Error{File: f.Name(), Expected: "a table: CSV, a spreadsheet (.xlsx) or Parquet", Got: "a file of another kind (" + string(kind) + ")",
		Fix: "Choose a table with the columns that the model was trained on, or save it as CSV."}
}

// Names are those of the header; nil where there is none.
func (r *Reader) Names() []string { return r.t.names }

// Classes are the names of the labels 0, 1 … where the file's first line has them, as
// scikit-learn's files do.
func (r *Reader) Classes() []string { return r.t.classes }

// Row is the next row's cells, trimmed and valid until the next call, and its number, as
// [Error.Row] has it. The
// error is io.EOF after the last row, an [*Error] for a row that cannot be read, of which
// [Reader.Survives] says whether the next one can, or ctx's.
func (r *Reader) Row() (cells []string, line int, err error) {
	cells, line, err = r.t.row()
	var e *Error
	if errors.As(err, &e) {
		line = e.Row
	}
	return cells, line, err
}

// Survives reports whether an error of Row is about one row alone.
func (r *Reader) Survives(err error) bool { return (&badRows{}).take(err) }

// Comma returns the separator of cells.
func (r *Reader) Comma() rune { return r.t.comma }

// Encoding is that of the text, as far as it has been read: empty for ASCII.
func (r *Reader) Encoding() string { return r.t.text.encoding }

// Stored reports whether the cells come from values that a spreadsheet or Parquet stores,
// and not from text: see [Encoder.Stored].
func (r *Reader) Stored() bool {
	_, ok := r.t.src.file.(written)
	return ok
}

// Close closes the file.
func (r *Reader) Close() error {
	defer r.l.close()
	return r.t.src.Close()
}

// Width returns the number of cells of a row; 0 before the first.
func (r *Reader) Width() int { return r.t.width }

// Nameless is the name of column i, from 0, of a table without a header.
func Nameless(i int) string { return columnName(i) }

// NotThere is the error of a table that lacks a column.
func NotThere(file, name string, names []string) error {
	return &Error{File: file, Row: 1, Expected: fmt.Sprintf("a column %s, which the model was trained on", quote(name)),
		Got: "the columns " + list(names), Fix: "Name the columns in the first row as in the training table."}
}
