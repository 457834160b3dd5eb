// Package table reads tables of text. It finds their notation, decides what the columns mean and
// writes the rows as features. An [Encoder] makes the same features of the rows that a model is asked.
package table

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// A table is read in two passes. The first (scan) counts, per column, what its
// cells are; from that the kind of each column, its categories and the label
// are decided (decide); the second (fill) writes the rows into an array
// of the right size. The second takes the rows that the first has kept, or reads the
// files again where there are too many.

// Table is an open table file: its dialect is known and its header is behind.
type Table struct {
	*dialect
	name    string
	src     *source.Stream
	text    *source.Decoder
	r       *records
	width   int      // cells of a row; 0 before the first
	columns int      // at most
	bad     *BadRows // where rows that cannot be read are counted; nil: they are refused
	// Row n of the table, as a spreadsheet counts, is line n + inner − before of what r sees.
	before int // rows before it
	inner  int // ends of lines within cells so far
}

// mostHead limits the bytes of a table from which its dialect is detected.
const mostHead = 1 << 20

// Open opens f for a pass. d is nil for a file that has not been seen.
func Open(in *source.Reading, f source.File, phase string, ch Choices, d *dialect) (*Table, error) {
	s, err := in.Open(f, phase)
	if err != nil {
		return nil, err
	}
	t := &Table{name: f.Name(), src: s, columns: in.Limits.Columns}
	if err := startTable(in, t, ch, d); err != nil {
		s.Close()
		return nil, err
	}
	if in.Options.BadRows == "skip" { // but no header is
		t.bad = &BadRows{}
		t.width = cmp.Or(t.width, t.dialect.width)
	}
	return t, nil
}

func startTable(in *source.Reading, t *Table, ch Choices, d *dialect) error {
	if d != nil {
		ch.encoding = d.encoding
	}
	if written(t.src.File) {
		ch.comma, ch.encoding = ',', source.UTF8
	}
	if _, ok := t.src.File.(source.ColumnsFile); ok { // whatever its columns are called
		ch.header = "yes"
	}
	t.text = source.NewDecoder(t.src.Reader, ch.encoding)
	lines := t.src.Buffer(t.text, mostHead)
	var how notation
	if d != nil {
		how = d.notation
	} else if found, err := peekNotation(lines, ch.comma); err != nil {
		return err
	} else {
		how = found
	}
	if how != asCSV {
		ch.comma = '\t'
		lines = t.src.Buffer(&respelled{r: lines, kind: how}, mostHead)
	}
	head, err := peekHead(lines)
	if err != nil && err != io.EOF {
		return err
	}
	complete := err == io.EOF
	if few := bytes.SplitAfterN(head, []byte("\n"), 5); len(head) > source.HeadSize && len(few) == 5 { // so do a few rows as many
		head, complete = head[:len(head)-len(few[4])], false
	}
	if d == nil {
		found, err := detect(t.name, head, complete, ch, in)
		if err != nil {
			return err
		}
		d = &found
		if d.notation = how; how == verbatim {
			in.Warn("%s: quotes are read as characters of the text, since they are not around whole cells.", data.Shorten(t.name))
		}
	}
	t.dialect, t.before = d, d.skip-d.unseen
	if err := skipLines(lines, t.skip); err != nil {
		return err
	}
	t.r = newRecords(lines, d.comma, in.Limits.Record, t.src.File)
	if !d.header {
		return nil
	}
	return t.readHeader()
}

// peekHead returns the bytes of a table that its dialect is told from.
func peekHead(lines *bufio.Reader) ([]byte, error) {
	head, err := lines.Peek(source.HeadSize)
	if err == nil && bytes.Count(head, []byte("\n")) < 2 { // names of thousands of columns take more
		return lines.Peek(mostHead)
	}
	return head, err
}

// Name returns the name of the file.
func (t *Table) Name() string { return t.name }

// Names returns those of the header; nil where there is none.
func (t *Table) Names() []string { return t.names }

// Width returns the number of cells of a row; 0 before the first.
func (t *Table) Width() int { return t.width }

// Close closes the file.
func (t *Table) Close() error { return t.src.Close() }

func skipLines(r *bufio.Reader, n int) error {
	for range n {
		for {
			_, err := r.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				continue
			}
			if err != nil && err != io.EOF {
				return err
			}
			break
		}
	}
	return nil
}

func (t *Table) readHeader() error {
	cells, line, err := t.Next()
	if err == io.EOF {
		return &data.Error{File: t.name, Expected: "rows of data", Got: "nothing but a header", Fix: "Choose a file that has rows."}
	}
	if err != nil {
		return err
	}
	if t.rowNames {
		t.width++
		cells = slices.Concat([]string{rowNamesColumn}, cells)
	}
	if t.names != nil {
		return nil // from the pass before
	}
	names := make([]string, len(cells))
	at := map[string]int{}
	for i, c := range cells {
		c = strings.Clone(c)
		if c == "" {
			c = data.Nameless(i)
		}
		if first, ok := at[c]; ok {
			return &data.Error{File: t.name, Row: line, Column: i + 1, ColumnName: c, Expected: "a name of its own for each column",
				Got: fmt.Sprintf("the name of column %d again", first+1), Fix: "Rename one of the two columns, or say that there is no header."}
		}
		at[c] = i
		names[i] = c
	}
	t.names = names
	return nil
}

// BadRows counts the rows that cannot be read and are left out.
type BadRows struct {
	Count int
	First *data.Error // what is wrong with the first
}

// take counts a row by its error and reports whether it may be left out: not
// where b is nil, and not where the fault may take other rows with it.
func (b *BadRows) take(err error) bool {
	var e *data.Error
	if b == nil || !errors.As(err, &e) || e.Row == 0 || e.Got == openQuote {
		return false
	}
	if b.Count++; b.Count == 1 {
		b.First = e
	}
	return true
}

// Next returns the next row that can be read, trimmed, and its number. The cells
// are valid until the next call. The error is io.EOF after the last row.
func (t *Table) Next() ([]string, int, error) {
	for {
		cells, line, err := t.row()
		if !t.bad.take(err) {
			return cells, line, err
		}
	}
}

func (t *Table) row() ([]string, int, error) {
	cells, line, offset, err := t.r.next()
	if err != nil {
		return nil, 0, t.rowError(err, offset)
	}
	if err := t.src.SpendRow(len(cells)); err != nil {
		return nil, 0, err
	}
	line += t.before - t.inner
	for i, c := range cells {
		if strings.IndexByte(c, '\n') >= 0 {
			t.inner += strings.Count(c, "\n")
		}
		if n := len(c); n > 0 && !(inked(c[0]) && inked(c[n-1])) {
			cells[i] = strings.TrimSpace(c)
		}
	}
	if t.width == 0 {
		if len(cells) > t.columns {
			return nil, 0, TooWide(t.src.File, line, len(cells), t.columns)
		}
		t.width = len(cells)
	}
	if len(cells) != t.width {
		return cells, line, &data.Error{File: t.name, Row: line,
			Expected: fmt.Sprintf("%d cells, as in the rows before", t.width), Got: fmt.Sprintf("%d", len(cells)),
			Fix: advice(t.src.File, "Add or remove cells; quote cells that contain the delimiter; or "+data.SkipRows+".", "Add or remove cells, or "+data.SkipRows+".")}
	}
	return cells, line, nil
}

// inked reports whether a byte is surely no part of a space.
func inked(c byte) bool { return ' ' < c && c < utf8.RuneSelf }

const openQuote = "that its quote is still open lines later"

// rowError returns an error of csv in the owner's terms. Lines in it count from offset + 1.
func (t *Table) rowError(err error, offset int) error {
	var long *data.Error
	if written(t.src.File) && errors.As(err, &long) && long.File == t.name && long.Byte > 0 { // of its text, and none of the file's
		long.Byte, long.Got = 0, fmt.Sprintf("%s, row %d", long.Got, t.r.read+1+t.before)
	}
	var pe *csv.ParseError
	if err == io.EOF || !errors.As(err, &pe) {
		return err
	}
	e := &data.Error{File: t.name, Row: pe.StartLine + offset + t.before - t.inner}
	t.inner += pe.Line - pe.StartLine
	switch {
	case errors.Is(err, csv.ErrQuote) && pe.Line > pe.StartLine:
		// Who knows how many rows it takes with it: this is never skipped.
		e.Expected, e.Got = "a quoted cell to end", openQuote
		e.Fix = "Add the closing quote, or write a quote inside a quoted cell twice."
	default:
		e.Expected, e.Got = "quotes only around whole cells", fmt.Sprintf("a stray quote at character %d of the line", pe.Column)
		e.Fix = "Quote the whole cell, and write a quote inside a quoted cell twice."
	}
	return e
}

// TooWide returns the error of a row with more columns than are read.
func TooWide(f source.File, line, got, most int) error {
	return &data.Error{File: f.Name(), Row: line, Expected: fmt.Sprintf("at most %d columns", most),
		Got: fmt.Sprint(got), Fix: advice(f, "Keep the columns that matter, or choose another delimiter.", "Keep the columns that matter.")}
}

// written reports whether this program writes the text of a table, from Parquet or a spreadsheet.
func written(f source.File) bool {
	_, ok := f.(source.Written)
	return ok
}

// advice returns what to do about a table: one that is text has delimiters and quotes, one that is [written] has none.
func advice(f source.File, text, stored string) string {
	if written(f) {
		return stored
	}
	return text
}
