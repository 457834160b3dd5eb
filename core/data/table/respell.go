package table

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// Some tables are published in a notation that CSV does not have. Their text is written anew as it is read,
// line for line, as CSV with tabs.

// notation is a way to write tables.
type notation int

const (
	asCSV    notation = iota
	verbatim          // cells between tabs, in which quotes are characters like others: GLUE's
	listed            // a line with the number of rows, one with names, and rows, parted by runs of spaces: CelebA's
	unnamed           // the same, where the first column, of files, has no name
)

// notationOf returns the notation of a table that begins so. complete says that head is all of it.
// comma is the delimiter where the owner has said it.
func notationOf(head []byte, complete bool, comma rune) notation {
	if !complete {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(string(head), "\r\n", "\n"), "\n"), "\n")
	switch {
	case len(lines) < 2:
	case comma == 0 && listedRows(lines) != asCSV:
		return listedRows(lines)
	case (comma == 0 || comma == '\t') && strayQuotes(lines):
		return verbatim
	}
	return asCSV
}

// peekNotation returns the notation of a table of which nothing has been read. Of tables of tabs as much is looked at
// as there is room for: a stray quote may come late.
func peekNotation(lines *bufio.Reader, comma rune) (notation, error) {
	head, err := peekHead(lines)
	if first, _, _ := bytes.Cut(head, []byte("\n")); err == nil && bytes.IndexByte(first, '\t') >= 0 {
		head, err = lines.Peek(mostHead)
	}
	if err != nil && err != io.EOF {
		return asCSV, err
	}
	return notationOf(head, err == io.EOF, comma), nil
}

// listedRows recognises a count of rows, a header and rows of a name and whole numbers.
func listedRows(lines []string) notation {
	if n, err := strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || n < 1 || len(lines) < 3 {
		return asCSV
	}
	names := strings.Fields(lines[1])
	if len(names) < 2 || strings.ContainsAny(lines[1], ",;|") {
		return asCSV
	}
	kind := asCSV
	for i, line := range lines[2:] {
		cells := strings.Fields(line)
		is := asCSV
		switch len(cells) {
		case len(names):
			is = listed
		case len(names) + 1:
			is = unnamed
		}
		if is == asCSV || i > 0 && is != kind {
			return asCSV
		}
		kind = is
		for _, c := range cells[1:] {
			if _, err := strconv.Atoi(c); err != nil {
				return asCSV
			}
		}
	}
	for _, name := range names {
		if fitting(name) != 0 {
			return asCSV
		}
	}
	return kind
}

// strayQuotes reports whether lines have as many cells as each other between tabs, and quotes among them that
// are not around whole cells.
func strayQuotes(lines []string) bool {
	stray := false
	tabs := strings.Count(lines[0], "\t")
	if tabs == 0 {
		return false
	}
	for _, s := range lines {
		if s == "" {
			continue
		}
		if strings.Count(s, "\t") != tabs {
			return false
		}
		for cell := range strings.SplitSeq(s, "\t") {
			stray = stray || strayIn(cell)
		}
	}
	return stray && !wholeRecords(lines, tabs+1)
}

// wholeRecords reports whether lines, which have so many cells each, are records of more cells, as many as each other,
// with line breaks in quoted cells.
func wholeRecords(lines []string, short int) bool {
	width := 0
	for len(lines) > 0 {
		n, inside := 0, false
		for ; n < len(lines) && (n == 0 || inside); n++ {
			var ok bool
			if inside, ok = quoteAfter(lines[n], '\t', inside); !ok {
				return false
			}
		}
		if inside {
			break // the end is not in sight
		}
		cells := len(splitLine(strings.Join(lines[:n], "\n"), '\t'))
		if width == 0 {
			width = cells
		}
		if cells != width || cells <= short {
			return false
		}
		lines = lines[n:]
	}
	return width > 0
}

// strayIn reports whether a cell has quotes that CSV does not allow there.
func strayIn(cell string) bool {
	if !strings.HasPrefix(cell, `"`) {
		return strings.Contains(cell, `"`)
	}
	return len(cell) < 2 || !strings.HasSuffix(cell, `"`) || strings.Contains(strings.ReplaceAll(cell[1:len(cell)-1], `""`, ""), `"`)
}

// respelled reads a table of another notation as CSV with tabs.
type respelled struct {
	r    *bufio.Reader
	kind notation
	text []byte // written and not yet read
	buf  []byte
	line int  // lines before this one
	cell bool // a cell has begun
	cr   bool // a carriage return that may be part of a line's end
	gap  bool // spaces that may part cells
	row  bool // the line has a cell
	done bool
}

func (s *respelled) Read(p []byte) (int, error) {
	for len(s.text) == 0 {
		if s.done {
			return 0, io.EOF
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.text)
	s.text = s.text[n:]
	return n, nil
}

// fill writes what r has at hand.
func (s *respelled) fill() error {
	s.buf = s.buf[:0]
	_, err := s.r.Peek(1)
	if err != nil && err != io.EOF {
		return err
	}
	b, _ := s.r.Peek(s.r.Buffered())
	for _, c := range b {
		if s.cr && c != '\n' {
			s.put('\r')
		}
		if s.cr = c == '\r'; !s.cr {
			s.put(c)
		}
	}
	if s.done = err == io.EOF; s.done {
		s.close()
	}
	s.text = s.buf
	_, err = s.r.Discard(len(b))
	return err
}

// put writes a character.
func (s *respelled) put(c byte) {
	space := c == '\t' || s.kind != verbatim && s.line > 0 && (c == ' ' || c == '\r')
	switch {
	case c == '\n':
		s.close()
		s.buf = append(s.buf, c)
		s.row, s.gap = false, false
		s.line++
	case space && s.kind == verbatim:
		s.close()
		s.buf = append(s.buf, c)
	case space:
		s.close()
		s.gap = s.row
	case s.kind != verbatim && s.line == 0: // the number
		s.buf = append(s.buf, c)
	default:
		s.open()
		if c == '"' {
			s.buf = append(s.buf, c)
		}
		s.buf = append(s.buf, c)
	}
}

// open begins a cell, unless one has begun.
func (s *respelled) open() {
	if s.cell {
		return
	}
	switch {
	case s.kind == unnamed && s.line == 1 && !s.row:
		s.buf = append(s.buf, "filename\t"...)
	case s.gap:
		s.buf = append(s.buf, '\t')
	}
	s.buf = append(s.buf, '"')
	s.cell, s.row, s.gap = true, true, false
}

// close ends the cell that has begun.
func (s *respelled) close() {
	if s.cell {
		s.buf = append(s.buf, '"')
	}
	s.cell = false
}
