package data

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"clipscope/core/run"
)

// A table is read twice. The first pass (scan) counts, per column, what its
// cells are; from that the kind of each column, its categories and the label
// are decided (decide); the second pass (fill) writes the rows into an array
// of the right size. So no more than the result is ever held.

// csvChoices are the user's choices that bear on a file's dialect.
type csvChoices struct {
	comma    rune
	header   string
	encoding string
}

func choices(opt run.CSV, lim limits) (csvChoices, error) {
	c := csvChoices{header: opt.Header, encoding: opt.Encoding}
	switch opt.Delimiter {
	case "":
	case "tab", `\t`:
		c.comma = '\t'
	default:
		r, n := utf8.DecodeRuneInString(opt.Delimiter)
		if n != len(opt.Delimiter) || !delimits(r) {
			return c, badOption("delimiter", "one character such as , ; | or tab", opt.Delimiter)
		}
		c.comma = r
	}
	for _, o := range []struct {
		field, got string
		want       []string
	}{
		{"encoding", opt.Encoding, []string{utf8Text, utf16Text, windows1252}},
		{"header", opt.Header, []string{"yes", "no"}},
		{"decimal", opt.Decimal, []string{".", ","}},
		{"thousands", opt.Thousands, []string{"none", ".", ",", "'", " "}},
		{"date", opt.Date, []string{"ymd", "dmy", "mdy"}},
		{"missing", opt.Missing, []string{"error", "drop", "zero", "indicator"}},
		{"bad_rows", opt.BadRows, []string{"error", "skip"}},
		{"task", opt.Task, []string{string(Classification), string(Regression)}},
		{"labels", opt.Labels, []string{fineLabels, coarseLabels}},
	} {
		if o.got != "" && !slices.Contains(o.want, o.got) {
			return c, badOption(o.field, "one of "+strings.Join(o.want, " "), o.got)
		}
	}
	if opt.Decimal != "" && opt.Decimal == opt.Thousands {
		return c, badOption("thousands", "another mark than the decimal one", opt.Thousands)
	}
	texts := 0
	for _, kind := range opt.Columns {
		if !slices.Contains([]string{string(Numeric), string(Categorical), bucketed, textual, string(Ignored)}, kind) {
			return c, badOption("columns", `"numeric", "categorical", "bucketed", "text" or "ignored"`, kind)
		}
		if kind == textual {
			texts++
		}
	}
	if texts > 1 {
		return c, badOption("columns", `"text" for one column, which a backbone reads`, fmt.Sprint(texts))
	}
	for _, b := range opt.Bounds {
		if !(b.Lo < b.Hi) || math.IsInf(b.Hi-b.Lo, 0) {
			return c, badOption("bounds", "finite, with lo below hi", fmt.Sprintf("%v and %v", b.Lo, b.Hi))
		}
	}
	for _, v := range opt.Fill {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return c, badOption("fill", "finite numbers", fmt.Sprint(v))
		}
	}
	if opt.Buckets < 0 || opt.Buckets > lim.categories {
		return c, badOption("buckets", fmt.Sprintf("a number up to %d", lim.categories), fmt.Sprint(opt.Buckets))
	}
	return c, nil
}

// delimits reports whether r can part cells.
func delimits(r rune) bool {
	return r != utf8.RuneError && r != '"' && r != '\n' && r != '\r' && r != 0
}

func badOption(field, expected, got string) error {
	return &Error{Expected: fmt.Sprintf("csv.%s to be %s", field, expected), Got: quote(got), Fix: "Correct the option."}
}

// table is an open table file: its dialect is known and its header is behind.
type table struct {
	*dialect
	name    string
	src     *source
	text    *decoder
	r       *csv.Reader
	guard   *recordGuard
	width   int      // cells of a row; 0 before the first
	columns int      // at most
	bad     *badRows // where rows that cannot be read are counted; nil: they are refused
	// Row n of the table, as a spreadsheet counts, is line n + inner − before of what r sees.
	before int // rows before it
	inner  int // ends of lines within cells so far
}

// mostHead limits the bytes of a table that its dialect is told from.
const mostHead = 1 << 20

// written is a File whose CSV text this program writes, from another form of tables:
// with a point in numbers that were numbers there, and the year first in dates.
type written interface{ writesCSV() }

// openTable opens f for a pass. d is nil for a file that has not been seen.
func (l *loader) openTable(f File, phase string, ch csvChoices, d *dialect) (*table, error) {
	s, err := l.open(f, phase)
	if err != nil {
		return nil, err
	}
	t := &table{name: f.Name(), src: s, columns: l.limits.columns}
	if err := l.startTable(t, ch, d); err != nil {
		s.Close()
		return nil, err
	}
	if l.opt.BadRows == "skip" { // but no header is
		t.bad = &badRows{}
		t.width = cmp.Or(t.width, t.dialect.width)
	}
	return t, nil
}

func (l *loader) startTable(t *table, ch csvChoices, d *dialect) error {
	if d != nil {
		ch.encoding = d.encoding
	}
	if _, ok := t.src.file.(written); ok { // by this program
		ch.comma, ch.encoding = ',', utf8Text
	}
	if _, ok := t.src.file.(columnsFile); ok { // whatever its columns are called
		ch.header = "yes"
	}
	t.text = newDecoder(t.src.Reader, ch.encoding)
	lines := t.src.buffer(t.text, mostHead)
	head, err := lines.Peek(headSize)
	if err == nil && bytes.Count(head, []byte("\n")) < 2 { // names of thousands of columns take more
		head, err = lines.Peek(mostHead)
	}
	if err != nil && err != io.EOF {
		return err
	}
	complete := err == io.EOF
	if few := bytes.SplitAfterN(head, []byte("\n"), 5); len(head) > headSize && len(few) == 5 { // so do a few rows as many
		head, complete = head[:len(head)-len(few[4])], false
	}
	if d == nil {
		found, err := detect(t.name, head, complete, ch, l.warn)
		if err != nil {
			return err
		}
		d = &found
	}
	t.dialect, t.before = d, d.skip-d.unseen
	t.guard = &recordGuard{r: lines, limit: l.limits.record, file: t.name}
	if err := skipLines(lines, t.skip); err != nil {
		return err
	}
	t.r = csv.NewReader(t.guard)
	t.r.Comma = d.comma
	t.r.FieldsPerRecord = -1
	t.r.ReuseRecord = true
	t.r.TrimLeadingSpace = d.comma != '\t' && d.comma != ' '
	if !d.header {
		return nil
	}
	return t.readHeader()
}

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

func (t *table) readHeader() error {
	cells, line, err := t.next()
	if err == io.EOF {
		return &Error{File: t.name, Expected: "rows of data", Got: "nothing but a header", Fix: "Choose a file that has rows."}
	}
	if err != nil {
		return err
	}
	if t.names != nil {
		return nil // from the pass before
	}
	names := make([]string, len(cells))
	at := map[string]int{}
	for i, c := range cells {
		c = strings.Clone(c)
		if c == "" {
			c = columnName(i)
		}
		if first, ok := at[c]; ok {
			return &Error{File: t.name, Row: line, Column: i + 1, ColumnName: c, Expected: "a name of its own for each column",
				Got: fmt.Sprintf("the name of column %d again", first+1), Fix: "Rename one of the two columns, or say that there is no header."}
		}
		at[c] = i
		names[i] = c
	}
	t.names = names
	return nil
}

func tooWide(file string, line, got, most int) error {
	return &Error{File: file, Row: line, Expected: fmt.Sprintf("at most %d columns", most),
		Got: fmt.Sprint(got), Fix: "Keep the columns that matter, or choose another delimiter."}
}

// badRows are rows that cannot be read and are left out.
type badRows struct {
	count int
	first *Error // what is wrong with the first
}

// take counts a row by its error and reports whether it may be left out: not
// where b is nil, and not where the fault may take other rows with it.
func (b *badRows) take(err error) bool {
	var e *Error
	if b == nil || !errors.As(err, &e) || e.Row == 0 || e.Got == openQuote {
		return false
	}
	if b.count++; b.count == 1 {
		b.first = e
	}
	return true
}

// next returns the next row that can be read, trimmed, and its number. The cells
// are valid until the next call. The error is io.EOF after the last row.
func (t *table) next() ([]string, int, error) {
	for {
		cells, line, err := t.row()
		if !t.bad.take(err) {
			return cells, line, err
		}
	}
}

func (t *table) row() ([]string, int, error) {
	t.guard.start = t.r.InputOffset()
	cells, err := t.r.Read()
	if err != nil {
		return nil, 0, t.rowError(err)
	}
	if t.src.made {
		if err := t.src.raw.l.spend(t.name, rowCost+cellCost*int64(len(cells))); err != nil {
			return nil, 0, err
		}
	}
	line, _ := t.r.FieldPos(0)
	line += t.before - t.inner
	for i, c := range cells {
		t.inner += strings.Count(c, "\n")
		cells[i] = strings.TrimSpace(c)
	}
	if t.width == 0 {
		if len(cells) > t.columns {
			return nil, 0, tooWide(t.name, line, len(cells), t.columns)
		}
		t.width = len(cells)
	}
	if len(cells) != t.width {
		return cells, line, &Error{File: t.name, Row: line,
			Expected: fmt.Sprintf("%d cells, as in the rows before", t.width), Got: fmt.Sprintf("%d", len(cells)),
			Fix: "Add or remove cells; quote cells that contain the delimiter; or skip rows that cannot be read."}
	}
	return cells, line, nil
}

const openQuote = "that its quote is still open lines later"

func (t *table) rowError(err error) error {
	var pe *csv.ParseError
	if err == io.EOF || !errors.As(err, &pe) {
		return err
	}
	e := &Error{File: t.name, Row: pe.StartLine + t.before - t.inner}
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

// recordGuard ends a row that goes on and on: an open quote would otherwise
// collect the rest of the file in memory.
type recordGuard struct {
	r     io.Reader
	limit int64
	file  string
	fix   string
	read  int64
	start int64 // of the current row
}

func (g *recordGuard) Read(p []byte) (int, error) {
	if g.read-g.start > g.limit {
		return 0, &Error{File: g.file, Byte: g.start, Expected: fmt.Sprintf("rows of at most %d MB", g.limit>>20),
			Got: "a longer one", Fix: cmp.Or(g.fix, "Look for a quote that is not closed, or choose a file with line ends.")}
	}
	n, err := g.r.Read(p)
	g.read += int64(n)
	return n, err
}
