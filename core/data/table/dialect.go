package table

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// dialect is the notation of one table file.
type dialect struct {
	encoding string
	comma    rune
	notation notation // of the file, which is read as CSV
	skip     int      // lines before the table: comments and the like
	unseen   int      // of these, those that a spreadsheet does not show
	width    int      // cells of most rows in sight
	header   bool     // the first line after those names the columns
	rowNames bool     // the header has no name for the first column, as R's write.table has it
	names    []string // from the header; nil without
	// classes name the integer labels 0, 1, …: scikit-learn's files begin
	// with rows, features and the names of the classes.
	classes []string
	rows    int // as such a file states them; 0 where it does not
}

// detect finds the dialect from the first bytes of a file. complete says that
// head is the whole file. Only the header may be wrong for a reader's needs, so
// that is the only error.
func detect(name string, head []byte, complete bool, opt Choices, in *source.Reading) (dialect, error) {
	lines, complete, err := headLines(name, head, complete)
	if err != nil {
		return dialect{}, err
	}
	d := dialect{comma: opt.comma}
	if comma, ok := separatorLine(lines[0]); ok {
		d.skip, d.unseen = 1, 1
		d.comma = cmp.Or(d.comma, comma)
	}
	if d.comma == 0 {
		d.comma = detectDelimiter(lines, complete)
	}
	lines, spans := joinLines(lines, d.comma, complete)
	rows, width := splitLines(lines, d.comma)
	d.width = width
	first := d.skip // of rows
	at := first
	for at < len(rows)-1 && at < 20 && (oddLine(rows[at], width) || titleRow(rows[at:], width) || preamble(rows[at:], width) || mergedNames(rows[at:], width)) {
		d.skip, d.unseen = d.skip+spans[at], d.unseen+spans[at]-1
		at++
	}
	if above := slices.Concat(rows[first:at]...); at > first {
		above = slices.DeleteFunc(above, func(c string) bool { return c == "" })
		in.Warn("%s: what stands above row %d is not of the table and is skipped (%s).", data.Shorten(name), d.skip-d.unseen+1, data.List(above))
	}
	if rows = rows[at:]; len(rows) == 0 {
		return d, nil
	}
	if opt.header == "" && d.sklearn(rows, width) {
		in.Warn("%s: the first line gives the number of rows and columns and the names of the classes.", data.Shorten(name))
		return d, nil
	}
	if d.rowNames = opt.header != "no" && namesRows(rows, width); d.rowNames {
		d.header = true
		return d, nil
	}
	if d.header = opt.header == "yes"; opt.header != "" {
		return d, nil
	}
	if d.header = opt.names(rows[0]); d.header {
		return d, nil
	}
	var doubt bool
	d.header, doubt = looksHeader(rows)
	row := d.skip - d.unseen + 1
	switch asked := slices.Contains(in.Report.Asks, "csv.header"); { // of the first file
	case asked:
	case d.header && hasNumber(rows[0]):
		in.Ask("csv.header", "%s: row %d is read as the header, though it has numbers (%s). If it is data, choose so under First row.", data.Shorten(name), row, data.List(rows[0]))
	case doubt:
		in.Ask("csv.header", "%s: row %d (%s) is read as data. If it names the columns, choose so under First row.", data.Shorten(name), row, data.List(rows[0]))
	}
	return d, nil
}

// separatorLine reads the line with which a spreadsheet is told the delimiter.
func separatorLine(line string) (comma rune, ok bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.Trim(line, `"`)), "sep=")
	comma, n := utf8.DecodeRuneInString(rest)
	return comma, ok && n == len(rest) && delimits(comma)
}

// headLines returns the whole lines of head, at most 200 and without empty ones at
// the end, and whether they are all of the file.
func headLines(name string, head []byte, complete bool) ([]string, bool, error) {
	if !complete {
		if i := bytes.LastIndexByte(head, '\n'); i > 0 {
			head = head[:i]
		}
	}
	if !bytes.Contains(head, []byte("\n")) && bytes.Count(bytes.TrimRight(head, "\r"), []byte("\r")) > 0 {
		return nil, false, &data.Error{File: name, Expected: "lines that end in LF or CR LF", Got: "lines that end in CR alone",
			Fix: "Save the table again with today's line ends."}
	}
	const most = 200
	lines := strings.SplitN(string(head), "\n", most+1)
	complete = complete && len(lines) <= most
	lines = lines[:min(most, len(lines))]
	for i, s := range lines {
		lines[i] = strings.TrimSuffix(s, "\r")
	}
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, complete, nil
}

// mostSpan limits the lines of a file that one row may take at the top, where cells have line
// breaks.
const mostSpan = 20

// joinLines puts lines together that are one row, with line breaks within quotes, and says
// how many each was. Of lines that are not all of the file, a last row that goes on is left out.
func joinLines(lines []string, comma rune, complete bool) (joined []string, spans []int) {
	for len(lines) > 0 {
		n, open := linesOfRow(lines, comma)
		if open && !complete && len(joined) > 0 {
			break
		}
		joined, spans = append(joined, strings.Join(lines[:n], "\n")), append(spans, n)
		lines = lines[n:]
	}
	return joined, spans
}

// linesOfRow returns the number of lines that the first row takes: one, unless a quoted cell goes on, and
// ends as a cell does. open says that it goes on behind the last of fewer lines than a row may take.
func linesOfRow(lines []string, comma rune) (n int, open bool) {
	inside := false
	for n, s := range lines[:min(len(lines), mostSpan)] {
		var ok bool
		if inside, ok = quoteAfter(s, comma, inside); !ok {
			return 1, false
		}
		if !inside {
			return n + 1, false
		}
	}
	return 1, len(lines) < mostSpan
}

// quoteAfter reports whether a line ends within a quoted cell, and false for one whose quotes
// are not around whole cells. inside says that it begins there.
func quoteAfter(s string, comma rune, inside bool) (open, ok bool) {
	for {
		if !inside {
			cell := strings.TrimLeft(s, " ")
			if !strings.HasPrefix(cell, `"`) {
				at := strings.IndexRune(cell, comma)
				if at < 0 {
					return false, true
				}
				s = cell[at+utf8.RuneLen(comma):]
				continue
			}
			s = cell[1:]
		}
		at := strings.IndexByte(s, '"')
		if at < 0 {
			return true, true
		}
		rest := s[at+1:]
		next, size := utf8.DecodeRuneInString(rest)
		switch {
		case rest == "":
			return false, true
		case next == '"':
			s, inside = rest[1:], true
		case next == comma:
			s, inside = rest[size:], false
		default:
			return false, false
		}
	}
}

// detectDelimiter takes the candidate that cuts the most records into the same
// number of cells; among equals the one that cuts the first row too, as texts with commas are under names without,
// and then the one that makes more cells. A record is a line, or
// several with line breaks in quoted cells. Where none cuts, spaces are taken if they
// cut as R's write.table does. A table of one column has none, and a comma does no harm.
func detectDelimiter(lines []string, complete bool) rune {
	best, bestShare, bestWidth, bestFirst := ',', 0.0, 1, false
	for _, c := range ",;\t|" {
		records, _ := joinLines(lines, c, complete)
		rows, width := splitLines(records, c)
		if width < 2 {
			continue
		}
		same := 0
		for _, r := range rows {
			if len(r) == width {
				same++
			}
		}
		share := float64(same) / float64(len(rows))
		first := len(rows[0]) == width
		if alike := share > bestShare-0.01; share > bestShare+0.01 || alike && first && !bestFirst || alike && first == bestFirst && width > bestWidth {
			best, bestShare, bestWidth, bestFirst = c, share, width, first
		}
	}
	if bestWidth == 1 {
		if rows, width := splitLines(lines, ' '); width > 1 && namesRows(rows, width) {
			return ' '
		}
	}
	return best
}

// namesRows reports whether a header is one cell shorter than all rows, whose first cells then are the
// names of rows, no two of which are the same.
func namesRows(rows [][]string, width int) bool {
	const few = 3
	if len(rows) <= few || len(rows[0]) != width-1 || hasNumber(rows[0]) || slices.Contains(rows[0], "") || !distinct(rows[0]) {
		return false
	}
	seen := map[string]bool{}
	for _, r := range rows[1:] {
		if len(r) != width || r[0] == "" || seen[r[0]] {
			return false
		}
		seen[r[0]] = true
	}
	return true
}

// titleRow reports whether the first of rows is a title above a header: a lone text, which a spreadsheet
// pads with empty cells, or a row of these, and the next row names columns.
func titleRow(rows [][]string, width int) bool {
	first, next := rows[0], rows[1]
	alone := width > 2 && len(first) == width && strings.Trim(strings.Join(first[1:], ""), " ") == "" || width == 2 && len(first) == 1
	if !alone || fitting(first[0]) != 0 || len(next) != width {
		return false
	}
	if len(rows) > 2 && titleRow(rows[1:], width) {
		return true
	}
	header, _ := looksHeader(rows[1:])
	return header && !slices.Contains(next, "")
}

// preamble reports whether the first of rows is part of a block above the header, as banks write it: it has fewer cells
// than the table, and the first row that has as many names columns of numbers. A row with one cell less may lack the name of R's row names.
func preamble(rows [][]string, width int) bool {
	at := slices.IndexFunc(rows, func(r []string) bool { return len(r) >= width-1 })
	return at > 0 && len(rows[at]) == width && aboveNumbers(rows[at:])
}

// mergedNames reports whether the first of rows names groups of columns above the header, as merged cells are saved: the group's name
// and then empty cells. The next row names all columns, some of numbers.
func mergedNames(rows [][]string, width int) bool {
	const merged = 2 // empty cells: a header may lack the name of a column
	first, next, empty := rows[0], rows[1], 0
	for _, c := range first {
		if c == "" {
			empty++
		}
	}
	return len(first) == width && len(next) == width && empty >= merged && empty < width && first[0]+first[1] != "" &&
		!hasNumber(first) && !slices.Contains(next, "") && !hasNumber(next) && distinct(next) && aboveNumbers(rows[1:])
}

// aboveNumbers reports whether some text of the first row stands above a column of numbers.
func aboveNumbers(rows [][]string) bool {
	for j, c := range rows[0] {
		if fitting(c) != 0 || missing(c) || noNumber(c) {
			continue
		}
		if below := lookBelow(rows, j); below.numbers > 0 && below.numbers >= below.texts {
			return true
		}
	}
	return false
}

// splitLines cuts lines into cells and says how many most of them have.
func splitLines(lines []string, comma rune) (rows [][]string, width int) {
	count := map[int]int{}
	for _, s := range lines {
		r := splitLine(s, comma)
		rows = append(rows, r)
		if strings.TrimSpace(s) != "" {
			count[len(r)]++
		}
	}
	for w, n := range count {
		if n > count[width] || n == count[width] && w > width {
			width = w
		}
	}
	return rows, width
}

// splitLine cuts a line into cells roughly, and respects quotes. The rows themselves are read by
// encoding/csv.
func splitLine(s string, comma rune) []string {
	var cells []string
	quoted, start := false, 0
	for i, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case r == comma && !quoted:
			cells = append(cells, unquote(s[start:i]))
			start = i + 1
		}
	}
	return append(cells, unquote(s[start:]))
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = strings.TrimSpace(strings.ReplaceAll(s[1:len(s)-1], `""`, `"`))
	}
	return s
}

// oddLine reports whether a line at the top is a remark, not a row: it begins
// as comments do, or is a lone text where rows have many cells.
func oddLine(row []string, width int) bool {
	if len(row) == width && width > 1 && !strings.HasPrefix(row[0], "#") {
		return false
	}
	first := strings.TrimSpace(row[0])
	switch {
	case first == "" && len(row) == 1:
		return true
	case strings.HasPrefix(first, "#") || strings.HasPrefix(first, "|") || strings.HasPrefix(first, "%") || strings.HasPrefix(first, "//"):
		return len(row) != width || width == 1 || strings.HasPrefix(first, "# ")
	default:
		return len(row) == 1 && width >= 3
	}
}

// sklearn recognises the first line of scikit-learn's data files.
func (d *dialect) sklearn(rows [][]string, width int) bool {
	if len(rows) < 2 || len(rows[0]) < 4 {
		return false
	}
	first := rows[0]
	n, err1 := strconv.Atoi(first[0])
	features, err2 := strconv.Atoi(first[1])
	if err1 != nil || err2 != nil || n < 1 || features != width-1 || len(rows[1]) != width {
		return false
	}
	for _, c := range first[2:] {
		if fitting(c) != 0 || c == "" {
			return false
		}
	}
	d.skip++
	d.rows, d.classes = n, slices.Clone(first[2:])
	return true
}

// looksHeader reports whether the first row names columns. Where all of its cells are texts, it
// does when some column has numbers below it, or no cell of it comes again below. Where some are
// numbers, dates or words for a missing value, the columns decide: see [columnsNamed]. doubt is
// true for a row with numbers that is read as data and may be one of names.
func looksHeader(rows [][]string) (header, doubt bool) {
	if len(rows) < 2 {
		return false, false
	}
	if hasNumber(rows[0]) {
		if !slices.ContainsFunc(rows[1:], func(r []string) bool { return len(r) == len(rows[0]) }) {
			return false, false
		}
		header = columnsNamed(rows)
		return header, !header && mayName(rows)
	}
	if aboveNumbers(rows) {
		return true, false
	}
	// A header that comes again as a whole, as where files were joined, repeats no value.
	others := slices.Concat(rows[:1], slices.DeleteFunc(slices.Clone(rows[1:]), func(r []string) bool { return slices.Equal(r, rows[0]) }))
	repeats, filled := len(others) == 1, 0
	for j, c := range rows[0] {
		if c != "" {
			filled++
		}
		repeats = repeats || lookBelow(others, j).again
	}
	return filled > 0 && !repeats, false
}

// hasNumber reports whether a cell of a row is a number, a date or a word for a missing value.
func hasNumber(row []string) bool {
	return slices.ContainsFunc(row, func(c string) bool { return fitting(c) != 0 || c != "" && missing(c) })
}

// columnsNamed reports whether a first row that has numbers names columns. It does where a cell
// stands above a column of another kind, or is a text that never comes again in a column whose other texts all do.
// A text that comes again is a value, and so is the row.
func columnsNamed(rows [][]string) bool {
	names, once := false, false
	for j, c := range rows[0] {
		if c == "" || missing(c) || noNumber(c) {
			continue
		}
		below := lookBelow(rows, j)
		filled, number := below.numbers+below.texts, fitting(c) != 0
		mostly := func(n int) bool { return filled > 1 && 10*n >= 9*filled }
		switch {
		case number:
			dates := fitting(c)&dateStyles != 0
			names = names || filled >= fewRows && below.values > 1 && (mostly(below.texts) || mostly(below.numbers) && dates != below.dates)
		case below.again:
			return false
		case mostly(below.numbers):
			names = true
		default:
			once = once || filled >= fewRows && below.values > 1 && below.single == 0
		}
	}
	return names || once && distinct(rows[0])
}

// fewRows is the number of rows from which on it says something that a text does not come again.
const fewRows = 5

// mayName reports whether a first row that has numbers may name columns, though nothing below tells. It does not where a
// text of it comes again, two cells are the same, or a date stands above dates. Two numbers with decimals or
// below 0 are values too, unless the row ascends as wavelengths and years do.
func mayName(rows [][]string) bool {
	row, values := rows[0], 0
	if len(rows) <= fewRows || !distinct(row) {
		return false
	}
	for j, c := range row {
		below := lookBelow(rows, j)
		set := fitting(c)
		if below.again && set == 0 || below.dates && set&dateStyles != 0 {
			return false
		}
		if v := anyNumber(c); v < 0 || v != math.Trunc(v) && v == v {
			values++
		}
	}
	return values < 2 || ascends(row)
}

// ascends reports whether the cells of a row are numbers of which each is larger than the one before.
func ascends(row []string) bool {
	before := math.Inf(-1)
	for _, c := range row {
		v := anyNumber(c)
		if !(v > before) {
			return false
		}
		before = v
	}
	return true
}

// anyNumber returns the number that a cell is in the first style that it fits; NaN for none.
func anyNumber(c string) float64 {
	set := fitting(c)
	if set == 0 {
		return math.NaN()
	}
	v, _ := styles[set.first()].read(c)
	return v
}

// below counts the cells below the first of a column.
type below struct {
	numbers, texts int
	values, single int  // different ones, and those that one cell alone has
	dates          bool // the numbers are days
	again          bool // the first cell's text comes again
}

func lookBelow(rows [][]string, j int) below {
	var b below
	seen := map[string]int{}
	days := 0
	for _, r := range rows[1:] {
		if j >= len(r) || missing(r[j]) {
			continue
		}
		b.again = b.again || j < len(rows[0]) && r[j] == rows[0][j]
		if noNumber(r[j]) {
			continue
		}
		seen[r[j]]++
		switch set := fitting(r[j]); {
		case set == 0:
			b.texts++
		case set&dateStyles != 0:
			days++
			fallthrough
		default:
			b.numbers++
		}
	}
	b.values = len(seen)
	for _, n := range seen {
		if n == 1 {
			b.single++
		}
	}
	b.dates = b.numbers > 0 && days == b.numbers
	return b
}

// distinct reports whether no two filled cells of a row are the same, as names have to be.
func distinct(row []string) bool {
	seen := map[string]bool{}
	for _, c := range row {
		if c != "" && seen[c] {
			return false
		}
		seen[c] = true
	}
	return true
}
