package format

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// A spreadsheet of Excel's is a zip archive of XML. Its sheet is read as the CSV text
// that it would be saved as: values as they are stored, dates as year-month-day, 0.12 in
// a format of per cent as 12%, and what formulas came to when the file was saved. Nothing is computed.

// xlsxFormat reads Excel's spreadsheets.
var xlsxFormat = Format{
	Name:  "xlsx",
	Holds: isBook,
	Load:  loadSheets,
	Table: func(in *source.Reading, f source.File) (source.File, error) {
		s, err := openSheet(in, f.(*source.Archive))
		if err != nil {
			return nil, err
		}
		return s, nil
	},
}

// sheet is a sheet of a spreadsheet, as a File of CSV text.
type sheet struct {
	*source.Archive
	in      *source.Reading
	entry   *source.Entry
	words   *words
	styles  []cellStyle
	from    time.Time
	width   int // of most of its first rows
	counted bool
	texts   []int      // by column: cells that are texts, less those that are anything else; nil before the first reading
	signs   [][]string // by column: the currencies in which its numbers are shown; as texts
}

// Size returns the size of the stored form, by which progress is reported.
func (s *sheet) Size() int64 { return s.entry.Size() }

func (s *sheet) WritesCSV() {}

// Text reports whether most cells of a column are texts, whatever they look like.
func (s *sheet) Text(column int) bool { return column < len(s.texts) && s.texts[column] > 0 }

// Currencies lists the currencies in which numbers of a column are shown.
func (s *sheet) Currencies(column int) []string {
	if column >= len(s.signs) {
		return nil
	}
	return s.signs[column]
}

func (s *sheet) Open() (io.ReadCloser, error) {
	rc, err := s.entry.Open()
	if err != nil {
		return nil, err
	}
	return &sheetReader{sheet: s, xml: newXML(s.in, s.entry, rc, source.PhaseSniff), rc: rc}, nil // its reader tells of progress
}

func loadSheets(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	train, err := sheetsOf(in, train)
	if err != nil {
		return nil, err
	}
	if test, err = sheetsOf(in, test); err != nil {
		return nil, err
	}
	return table.Load(in, train, test)
}

// sheetsOf opens the sheet of each of files.
func sheetsOf(in *source.Reading, files []source.File) ([]source.File, error) {
	var all []source.File
	for _, f := range files {
		s, err := openSheet(in, f.(*source.Archive))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func openSheet(in *source.Reading, a *source.Archive) (*sheet, error) {
	in.Advice = source.AdviceCSV
	s := &sheet{Archive: a, in: in}
	names, err := s.choose()
	if err != nil {
		return nil, err
	}
	if len(names) > 1 && in.Options.Sheet == "" {
		in.Warn("%s: of the sheets %s the first is read. Choose another if that is wrong.", data.Shorten(a.Name()), data.List(names))
	}
	in.Report.Sheets = names
	if err := s.readStyles(); err != nil {
		return nil, err
	}
	if s.words, err = readWords(in, a); err != nil {
		return nil, err
	}
	return s, s.measure()
}

// xmlReader reads the tokens of an entry. None may be longer than a row of a table, and
// in a sheet not much more may stand between two rows.
type xmlReader struct {
	*xml.Decoder
	in    *source.Reading
	e     *source.Entry
	guard *source.Guard
	row   int64 // where the last row of a sheet began
}

func newXML(in *source.Reading, e *source.Entry, r io.Reader, phase string) *xmlReader {
	guard := &source.Guard{R: in.Meter(io.NopCloser(r), e, phase), Limit: in.Limits.Record, File: e.Name(), Of: "tags, texts and comments", Fix: "Save the spreadsheet again, or save the sheet as CSV."}
	return &xmlReader{Decoder: xml.NewDecoder(guard), in: in, e: e, guard: guard}
}

// next returns the next token; io.EOF after the last.
func (x *xmlReader) next() (xml.Token, error) {
	x.guard.Start = x.InputOffset()
	t, err := x.RawToken()
	var own *data.Error
	if err == nil || err == io.EOF || errors.As(err, &own) || x.in.Ended() != nil {
		return t, err
	}
	return nil, &data.Error{File: x.e.Name(), Expected: "sound XML", Got: "damage", Err: err, Fix: "Save the spreadsheet again, or save the sheet as CSV."}
}

// eachElement calls do with every element that begins in an entry, until do has an error.
func eachElement(in *source.Reading, e *source.Entry, do func(xml.StartElement) error) error {
	rc, err := e.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	x := newXML(in, e, rc, source.PhaseScan)
	for {
		t, err := x.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := t.(xml.StartElement); ok {
			if err := do(start); err != nil {
				return err
			}
		}
	}
}

// mostNote is the length limit, in bytes, of an attribute that is kept: the name, the id or
// the place of a sheet, the id of a format. Excel's names have up to 31 characters, Google's 100.
const mostNote = 512

// noteOf reads an attribute that is to be kept, or that a format is found by, within [mostNote].
// Such attributes are few and short, so all of them together take at most 2 MB.
func noteOf(e *source.Entry, t xml.StartElement, name string) (string, error) {
	s := attr(t, name)
	if len(s) > mostNote {
		return "", &data.Error{File: e.Name(), Expected: fmt.Sprintf("names, ids and places of at most %d bytes", mostNote), Got: fmt.Sprintf("one of %d (%s)", len(s), data.Quote(s)),
			Fix: "Give the sheets short names and save the spreadsheet again, or save the sheet as CSV."}
	}
	return strings.Clone(s), nil
}

// attr returns an attribute by its name without a prefix; empty where there is none.
func attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// choose finds the sheet to read and lists the names of those that can be seen.
func (s *sheet) choose() (names []string, err error) {
	type named struct{ name, id string }
	var sheets []named
	book, rels := bookOf(s.Archive)
	if rels == nil {
		return nil, s.broken("the list of its sheets")
	}
	s.from = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	const most = 1000 // names of sheets that are kept
	err = eachElement(s.in, book, func(t xml.StartElement) error {
		switch {
		case t.Name.Local == "workbookPr" && (attr(t, "date1904") == "1" || attr(t, "date1904") == "true"):
			s.from = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		case t.Name.Local == "sheet" && attr(t, "state") != "hidden" && attr(t, "state") != "veryHidden" && len(sheets) < most:
			name, err := noteOf(book, t, "name")
			if err != nil {
				return err
			}
			id, err := noteOf(book, t, "id")
			if err != nil {
				return err
			}
			sheets = append(sheets, named{name, id})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	err = eachElement(s.in, rels, func(t xml.StartElement) error {
		if !strings.HasSuffix(attr(t, "Type"), "/worksheet") || len(places) == most {
			return nil
		}
		id, err := noteOf(rels, t, "Id")
		if err == nil {
			places[id], err = noteOf(rels, t, "Target")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, sh := range sheets {
		place := places[sh.id]
		if place == "" { // a sheet of a chart
			continue
		}
		names = append(names, sh.name)
		if s.entry != nil || s.in.Options.Sheet != "" && s.in.Options.Sheet != sh.name {
			continue
		}
		if rest, absolute := strings.CutPrefix(place, "/"); absolute {
			place = rest
		} else {
			place = path.Join("xl", place)
		}
		if s.entry = s.Archive.Find(place); s.entry == nil {
			return nil, s.broken("the sheet " + data.Quote(sh.name))
		}
	}
	switch {
	case s.entry != nil:
		return names, nil
	case len(names) == 0:
		return nil, &data.Error{File: s.Name(), Expected: "a sheet", Got: "none that can be seen", Fix: "Choose a spreadsheet that has rows."}
	}
	return nil, &data.Error{File: s.Name(), Expected: "csv.sheet to be one of " + data.List(names), Got: data.Quote(s.in.Options.Sheet), Fix: "Choose one of these, or none for the first."}
}

func (s *sheet) broken(what string) error {
	return &data.Error{File: s.Name(), Expected: "a spreadsheet with " + what, Got: "one without", Fix: "Save the spreadsheet again, or save the sheet as CSV."}
}

// numberStyle is the way in which a style of a sheet shows numbers.
type numberStyle uint8

const (
	plainNumber numberStyle = iota
	dateNumber              // as a day
	shareNumber             // 0.12 as 12%
	hundredth               // 12 as 12%: the format adds the sign as a text
)

// cellStyle shows numbers in a style, and in a currency or, where it is empty, in none.
type cellStyle struct {
	numberStyle
	currency string
}

// readStyles learns how the styles show numbers.
func (s *sheet) readStyles() error {
	e := s.Archive.Find("xl/styles.xml")
	if e == nil {
		return nil
	}
	const most = 65_536 // Excel's own limit
	formats, inCells := map[int]cellStyle{}, false
	return eachElement(s.in, e, func(t xml.StartElement) error {
		format := func() (int, error) {
			id, err := noteOf(e, t, "numFmtId")
			if err != nil {
				return 0, err
			}
			n, err := strconv.Atoi(id)
			if err != nil {
				n = -1 // no format has it
			}
			return n, nil
		}
		switch t.Name.Local {
		case "numFmt":
			id, err := format()
			if err != nil {
				return err
			}
			if len(formats) < most {
				code := attr(t, "formatCode")
				formats[id] = cellStyle{styleOfCode(code), currencyOfCode(code)}
			}
		case "cellStyleXfs", "cellStyles", "dxfs":
			inCells = false
		case "cellXfs":
			inCells = true
		case "xf":
			if inCells && len(s.styles) < most {
				id, err := format()
				if err != nil {
					return err
				}
				style, own := formats[id]
				if !own {
					style = styleOfID(id)
				}
				s.styles = append(s.styles, style)
			}
		}
		return nil
	})
}

// styleOfID returns the style of a format that needs no code (ECMA-376, part 1, 18.8.30).
func styleOfID(n int) cellStyle {
	switch {
	case n >= 5 && n <= 8 || n == 42 || n == 44:
		return cellStyle{plainNumber, "$"}
	case n == 9 || n == 10:
		return cellStyle{numberStyle: shareNumber}
	case n >= 14 && n <= 17 || n == 22 || n >= 27 && n <= 31 || n == 36 || n >= 50 && n <= 54 || n == 57 || n == 58:
		return cellStyle{numberStyle: dateNumber}
	}
	return cellStyle{}
}

// styleOfCode returns the style of a code such as dd.mm.yyyy, which shows a day, or 0.0%. A code of times alone shows
// no day.
func styleOfCode(code string) numberStyle {
	style, quoted, bracket := plainNumber, -1, false
	code, _, _ = strings.Cut(code, ";") // of numbers above 0
	for i := 0; i < len(code); i++ {
		switch c := code[i] | ' '; {
		case quoted >= 0 && code[i] != '"':
		case quoted >= 0:
			if style == plainNumber && strings.TrimSpace(code[quoted:i]) == data.PerCent {
				style = hundredth
			}
			quoted = -1
		case code[i] == '\\' || code[i] == '_' || code[i] == '*':
			if style == plainNumber && strings.HasPrefix(code[i:], `\%`) {
				style = hundredth
			}
			i++
		case code[i] == '"':
			quoted = i + 1
		case code[i] == '[':
			bracket = true
		case code[i] == ']':
			bracket = false
		case bracket:
		case c == 'y' || c == 'd':
			return dateNumber
		case code[i] == '%':
			style = shareNumber
		}
	}
	return style
}

// currencyOfCode returns the currency in which a code such as #,##0.00\ "€" or [$CHF-807] 0.00 shows numbers above 0;
// empty for none. One that stands in brackets need not be known.
func currencyOfCode(code string) string {
	const most = 8 // bytes of a sign or a name
	code, _, _ = strings.Cut(code, ";")
	literal := ""
	for code != "" {
		before, rest, _ := strings.Cut(code, "[")
		literal += before
		inside, after, _ := strings.Cut(rest, "]")
		if sign, ok := strings.CutPrefix(inside, "$"); ok {
			sign, _, _ = strings.Cut(sign, "-") // the language behind
			if sign = strings.TrimSpace(sign); sign != "" && len(sign) <= most {
				return cmp.Or(table.Currency(sign), sign)
			}
		}
		code = after
	}
	return table.Currency(strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`"\#0?,_*-+() `+"\u00a0\u202f", r) {
			return -1
		}
		return r
	}, literal), "."))
}

// words holds the texts that cells share, one after the other.
type words struct {
	text []byte
	ends []uint32
}

// size returns the memory of the texts, in bytes.
func (w *words) size() int64 { return int64(len(w.text) + 4*len(w.ends)) }

func (w *words) at(i int) (string, bool) {
	if i < 0 || i >= len(w.ends) {
		return "", false
	}
	from := uint32(0)
	if i > 0 {
		from = w.ends[i-1]
	}
	return string(w.text[from:w.ends[i]]), true
}

func readWords(in *source.Reading, a *source.Archive) (*words, error) {
	w := &words{}
	e := a.Find("xl/sharedStrings.xml")
	if e == nil {
		return w, nil
	}
	rc, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	x := newXML(in, e, rc, source.PhaseScan)
	var one []byte
	text, sound := false, false // in a text, and in how it is pronounced
	for {
		t, err := x.next()
		if err == io.EOF {
			in.Taken.Texts += w.size()
			return w, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			text = t.Name.Local == "t"
			sound = sound || t.Name.Local == "rPh"
		case xml.EndElement:
			text = false
			switch t.Name.Local {
			case "rPh":
				sound = false
			case "si":
				w.text = append(w.text, unescaped(string(one))...)
				w.ends, one = append(w.ends, uint32(len(w.text))), one[:0]
			}
		case xml.CharData:
			if text && !sound {
				one = append(one, t...)
			}
		}
		if in.Taken.Texts+w.size()+int64(len(one)) > in.Limits.Texts {
			return nil, &data.Error{File: e.Name(), Expected: fmt.Sprintf("at most %d MB of text in all spreadsheets together", in.Limits.Texts>>20), Got: "more", Fix: "Save the sheet as CSV."}
		}
	}
}

// measure finds the width of the table from its first rows: a row of a sheet ends where
// its last cell is.
func (s *sheet) measure() error {
	const rows = 200
	rc, err := s.entry.Open()
	if err != nil {
		return err
	}
	defer rc.Close()
	r := &sheetReader{sheet: s, xml: newXML(s.in, s.entry, rc, source.PhaseScan), rc: rc}
	for range rows {
		err := r.row()
		for err == errLater {
			err = r.row()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		s.width = max(s.width, len(r.cells))
	}
	if s.width == 0 {
		return &data.Error{File: s.Name(), Expected: "rows of data", Got: "an empty sheet", Fix: "Choose a sheet that has rows."}
	}
	return nil
}

// sheetReader writes the rows of a sheet as CSV text.
type sheetReader struct {
	*sheet
	xml    *xmlReader
	rc     io.ReadCloser
	cells  []string   // of the present row, without empty ones at its end
	size   int64      // bytes of these
	line   int        // of the present row, from 1
	lines  int        // that were written
	began  bool       // a row with several cells has been
	ended  bool       // no more rows follow
	merged int        // ranges of merged cells
	empty  int        // formulas without a value
	texts  []int      // as of the sheet
	signs  [][]string // as of the sheet
	buf    []byte
	rest   []byte
}

// Done returns the number of bytes of the stored form that have been read.
func (r *sheetReader) Done() int64 { return r.xml.InputOffset() }

func (r *sheetReader) Close() error { return r.rc.Close() }

func (r *sheetReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.row(); err != nil {
			if err == errLater {
				return 0, nil
			}
			if err == io.EOF {
				r.tell()
				r.sheet.texts, r.sheet.signs = r.texts, r.signs
			}
			return 0, err
		}
		r.write()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// tell warns once of features of the sheet that its rows do not show.
func (r *sheetReader) tell() {
	if r.counted {
		return
	}
	r.counted = true
	if r.merged > 0 {
		r.in.Warn("%s has %d ranges of merged cells: the first cell of each has the value, and the others count as missing.", data.Shorten(r.Name()), r.merged)
	}
	if r.empty > 0 {
		r.in.Warn("%s: %d formulas have no value, which is stored when Excel saves the file; these cells count as missing.", data.Shorten(r.Name()), r.empty)
	}
}

// write writes the present row. Empty rows are empty lines, so that a row has the
// number that it has in the sheet; what stands alone above the table stays alone.
func (r *sheetReader) write() {
	r.buf = r.buf[:0]
	for ; r.lines < r.line-1; r.lines++ {
		r.buf = append(r.buf, '\n')
	}
	r.lines = max(r.lines, r.line)
	r.began = r.began || len(r.cells) > 1
	for i := range max(len(r.cells), r.width) {
		if i >= len(r.cells) && (!r.began || len(r.cells) == 0) {
			break
		}
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		if i < len(r.cells) {
			r.buf = appendCell(r.buf, r.cells[i])
		}
	}
	r.buf = append(r.buf, '\n')
	r.rest = r.buf
}

// appendCell writes a cell of CSV, on one line.
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := range len(s) {
		switch s[i] {
		case '"':
			b = append(b, '"', '"')
		case '\r', '\n':
			b = append(b, ' ')
		default:
			b = append(b, s[i])
		}
	}
	return append(b, '"')
}

// errLater is the error of row where much of a sheet is none of its rows. Its reader then gives nothing for once, so
// that progress is told.
var errLater = errors.New("no row yet")

// row reads the next row into cells. The error is io.EOF after the last.
func (r *sheetReader) row() error {
	for from := r.xml.InputOffset(); ; {
		if r.xml.InputOffset()-from > source.HeadSize {
			return errLater
		}
		t, err := r.token()
		if err != nil {
			return err
		}
		if end, ok := t.(xml.EndElement); ok && end.Name.Local == "sheetData" {
			r.ended = true
		}
		start, ok := t.(xml.StartElement)
		switch {
		case !ok || r.ended && start.Name.Local != "mergeCell":
		case start.Name.Local == "mergeCell":
			r.merged++
		case start.Name.Local == "row":
			r.xml.row = r.xml.InputOffset()
			r.line++
			const last = 1 << 20 // Excel's own limit
			if n, err := strconv.Atoi(attr(start, "r")); err == nil && n >= r.line && n <= last {
				r.line = n
			}
			if r.line > last {
				return &data.Error{File: r.Name(), Expected: fmt.Sprintf("a sheet of at most %d rows", last), Got: "more", Fix: "Save the sheet as CSV."}
			}
			return r.readRow()
		}
	}
}

// token returns the sheet's next token.
func (r *sheetReader) token() (xml.Token, error) {
	most := 4 * r.in.Limits.Record // with what XML takes beside the values
	if r.xml.InputOffset()-r.xml.row > most {
		if r.ended {
			return nil, io.EOF
		}
		return nil, &data.Error{File: r.entry.Name(), Byte: r.xml.row, Expected: fmt.Sprintf("a row in at most %d MB of XML", most>>20), Got: "more before the next one", Fix: "Save the spreadsheet again, or save the sheet as CSV."}
	}
	return r.xml.next()
}

func (r *sheetReader) readRow() error {
	r.cells, r.size = r.cells[:0], 0
	next := 0
	for {
		t, err := r.token()
		if err == io.EOF {
			return r.cut()
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			if at, ok := columnOf(attr(t, "r")); ok && at >= next {
				next = at
			}
			if most := min(r.in.Limits.Columns, 1<<14); next >= most { // Excel's own limit
				return table.TooWide(r.sheet, r.line, next+1, most)
			}
			kind, style := attr(t, "t"), attr(t, "s")
			raw, formula, err := r.cell()
			if err != nil {
				return err
			}
			if formula && raw == "" && kind != "str" {
				r.empty++
			}
			shown := r.styleOf(style)
			value, err := r.value(raw, kind, shown.numberStyle, next)
			if err != nil {
				return err
			}
			if r.size += int64(len(value)); r.size > r.in.Limits.Record { // its cells may share one text
				return &data.Error{File: r.Name(), Row: r.line, Expected: fmt.Sprintf("rows of at most %d MB of text", r.in.Limits.Record>>20), Got: "one of more", Err: source.ErrTooMuch,
					Fix: "Shorten the texts of the row, or leave it out."}
			}
			if value != "" {
				for len(r.cells) < next {
					r.cells = append(r.cells, "")
				}
				r.cells = append(r.cells, value)
				r.count(next, kind)
				if shown.currency != "" && (kind == "" || kind == "n") {
					r.countCurrency(next, shown.currency)
				}
			}
			next++
		}
	}
}

// count counts a cell of a column by its type. The error values that kind e has are missing cells.
func (r *sheetReader) count(column int, kind string) {
	for len(r.texts) <= column {
		r.texts = append(r.texts, 0)
	}
	switch kind {
	case "s", "str", "inlineStr":
		r.texts[column]++
	case "e":
	default:
		r.texts[column]--
	}
}

// countCurrency notes a currency of a column's numbers, unless there are many.
func (r *sheetReader) countCurrency(column int, sign string) {
	const most = 20
	for len(r.signs) <= column {
		r.signs = append(r.signs, nil)
	}
	if signs := r.signs[column]; len(signs) < most && !slices.Contains(signs, sign) {
		r.signs[column] = append(signs, sign)
	}
}

func (r *sheetReader) cut() error {
	return &data.Error{File: r.entry.Name(), Row: r.line, Expected: "the end of the row", Got: "the end of the sheet", Fix: "Save the spreadsheet again: it is cut short."}
}

// columnOf returns the column, from 0, of a place such as AB12.
func columnOf(place string) (int, bool) {
	n := 0
	for i := range len(place) {
		c := place[i] | ' '
		if c < 'a' || c > 'z' {
			return n - 1, i > 0
		}
		if n = 26*n + int(c-'a') + 1; n > 1<<20 {
			return n, true
		}
	}
	return 0, false
}

// cell reads a cell's content to its end, and says whether it has a formula.
func (r *sheetReader) cell() (content string, formula bool, err error) {
	var text []byte
	in, sound := "", false
	for {
		t, err := r.token()
		if err == io.EOF {
			return "", false, r.cut()
		}
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local
			formula = formula || in == "f"
			sound = sound || in == "rPh"
		case xml.EndElement:
			in = ""
			switch t.Name.Local {
			case "rPh":
				sound = false
			case "c":
				return string(text), formula, nil
			}
		case xml.CharData:
			if in == "v" || in == "t" && !sound {
				text = append(text, t...)
			}
			if int64(len(text)) > r.in.Limits.Record {
				return "", false, &data.Error{File: r.entry.Name(), Row: r.line, Expected: fmt.Sprintf("cells of at most %d MB", r.in.Limits.Record>>20), Got: "a longer one", Fix: "Save the sheet as CSV."}
			}
		}
	}
}

// value returns a cell's text in a table.
func (r *sheetReader) value(raw, kind string, style numberStyle, column int) (string, error) {
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(raw))
		w, ok := r.words.at(i)
		if err != nil || !ok {
			return "", &data.Error{File: r.Name(), Row: r.line, Column: column + 1, Expected: fmt.Sprintf("one of the %d texts of the spreadsheet", len(r.words.ends)), Got: data.Quote(raw),
				Fix: "Save the spreadsheet again: it is damaged."}
		}
		return w, nil
	case "b":
		if strings.TrimSpace(raw) == "1" {
			return "TRUE", nil
		}
		return "FALSE", nil
	case "e": // #DIV/0! and the like
		return "#N/A", nil
	case "", "n":
		return r.number(raw, style), nil
	case "str", "inlineStr":
		return unescaped(raw), nil
	}
	return raw, nil
}

// styleOf returns a style by its place, as cells have it.
func (r *sheetReader) styleOf(place string) cellStyle {
	i, err := strconv.Atoi(place)
	if err != nil || i < 0 || i >= len(r.styles) {
		return cellStyle{}
	}
	return r.styles[i]
}

// number returns a number's text in a table, with the sign of per cent where its style shows it.
func (r *sheetReader) number(raw string, shown numberStyle) string {
	switch {
	case shown == dateNumber:
		return r.date(raw)
	case shown == shareNumber:
		return table.InPerCent(raw)
	case shown == hundredth && raw != "":
		return table.Pointed(raw) + data.PerCent
	}
	return table.Pointed(raw)
}

// unescaped replaces _x000D_ and the like (ECMA-376, part 1, 22.9.2.19) by the character meant: Excel
// writes so those that XML cannot hold, and others.
func unescaped(s string) string {
	const form = "_x000D_"
	from := strings.Index(s, "_x")
	if from < 0 {
		return s
	}
	var b strings.Builder
	for ; from >= 0; from = strings.Index(s, "_x") {
		code := uint64(0)
		err := strconv.ErrSyntax
		if rest := s[from:]; len(rest) >= len(form) && rest[len(form)-1] == '_' {
			code, err = strconv.ParseUint(rest[2:len(form)-1], 16, 16)
		}
		if err != nil {
			b.WriteString(s[:from+1])
			s = s[from+1:]
			continue
		}
		b.WriteString(s[:from])
		b.WriteRune(rune(code))
		s = s[from+len(form):]
	}
	return b.String() + s
}

// date writes a number of days as year-month-day, with a time where it has one.
func (r *sheetReader) date(raw string) string {
	const lastDay = 2_958_465 // of the year 9999
	days, err := strconv.ParseFloat(raw, 64)
	if err != nil || !(days >= 0 && days <= lastDay) {
		return raw
	}
	if days < 60 && r.from.Year() == 1899 {
		days++ // Excel has a 29th of February 1900
	}
	seconds := math.Round(days * 24 * 60 * 60)
	at := r.from.Add(time.Duration(int64(seconds)%86400)*time.Second).AddDate(0, 0, int(int64(seconds)/86400))
	if int64(seconds)%86400 == 0 {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04:05")
}
