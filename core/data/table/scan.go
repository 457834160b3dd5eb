package table

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// MostShown limits the characters of a cell that are kept to be shown.
const MostShown = 100

// cell is the place of a first occurrence.
type cell struct {
	file source.File
	line int
	text string
}

// tally counts the cells of one column by kind.
type tally struct {
	missing    int
	firstEmpty *cell // the first cell without a value
	noNumbers  int   // cells that are missing in a column of numbers
	firstNone  *cell // the first of these
	noneFirst  bool  // it stands before firstEmpty
	styleCount
	style    int                   // in styles: how its numbers are written
	typed    bool                  // the file stores them as texts
	shownIn  []string              // the currencies in which a file shows numbers that have none in their texts
	distinct map[string]int32      // the values, and where in times each is; nil when they are too many or too long
	some     map[string]int32      // the first of a column's values, where most are numbers and distinct is nil; nil where that takes too much
	times    []int32               // how often each of distinct occurs
	listing  []string              // its texts by place; while rows are kept, also where distinct was dropped
	recent   []value               // values of distinct by slotOf, to be found without a look into it; nil before there are many cells
	sets     []styleSet            // the styles that each of distinct fits
	held     int64                 // bytes that distinct takes
	zeros    *cell                 // the first whole number with a zero in front, or a plus and many digits as of a telephone
	exponent *cell                 // the first number such as 40E1, with an exponent and neither a sign nor a mark
	units    [1 + len(units)]*cell // the first number without a unit, and with each of units
	notTimes timeSet               // kinds of times that some number is not
	clock    bool                  // some number is a time, and no whole day
	wordy    bool                  // where distinct is no more: the texts up to then have several words each
	ids      map[int64]struct{}    // nil when a cell is not an integer or comes twice, or nobody asks
}

// value is a listed value of a column: its place in times, and the styles that it fits.
type value struct {
	text  string
	place int32
	set   styleSet
}

const (
	mostRecent = 256
	manyCells  = 1000 // from which on a column has recent values
)

// slotOf returns the place of a text in tally.recent.
func slotOf(s string) uint32 {
	h := uint32(len(s))
	for i := max(0, len(s)-4); i < len(s); i++ {
		h = h*37 + uint32(s[i])
	}
	return h % mostRecent
}

// remember keeps a listed value for [scan.glance].
func (c *tally) remember(s string, place int32) {
	if c.recent == nil {
		if c.cells < manyCells {
			return
		}
		c.recent = make([]value, mostRecent)
	}
	c.recent[slotOf(s)] = value{c.listing[place], place, c.sets[place]}
}

// glance counts a cell that is a value met of late, or that is written as the numbers were that told all there is to learn of
// such a cell, and reports whether it is one. The place is as in add.
func (sc *scan) glance(c *tally, s string) (place int32, ok bool) {
	if c.recent != nil {
		if v := &c.recent[slotOf(s)]; v.text == s && s != "" {
			c.times[v.place]++
			sc.again(c, v.set)
			return v.place, true
		}
		return 0, false
	}
	if c.distinct != nil || c.ids != nil || c.notTimes != allTimes || c.units[0] == nil {
		return 0, false
	}
	set := glanceStyles(s)
	if set == 0 || !c.learned(set) {
		return 0, false
	}
	sc.again(c, set)
	return -1, true
}

// again counts a cell of which only the styles are left to count.
func (sc *scan) again(c *tally, set styleSet) {
	c.recount(set)
	sc.countMark(set)
	c.ids = nil
}

const (
	mostIDs      = 1 << 17 // enough to believe that a column numbers the rows
	mostIDLists  = 4       // columns whose integers are listed, the first that may number the rows
	plainIDs     = 50      // rows from which an unnamed first column may be one
	mostSamples  = 8 << 20 // bytes of the first values of columns that have more than are listed
	numericShare = 0.95    // of its cells a numeric column's are numbers at least
)

// numbers counts the cells that are numbers, finite or not, or dates.
func (c *tally) numbers() int { return c.fit[c.style] }

func (c *tally) texts() int { return c.cells - c.numbers() }

// sample returns the column's values, or the first of them.
func (c *tally) sample() map[string]int32 {
	if c.distinct == nil {
		return c.some
	}
	return c.distinct
}

// firstText returns the first cell that is no number.
func (c *tally) firstText() *cell { return c.misses[c.style] }

// add counts a cell of the column, and returns its place in times; −1 where it is not listed.
func (sc *scan) add(c *tally, s string, f source.File, line int, lim *source.Limits) (place int32) {
	if place, ok := sc.glance(c, s); ok {
		return place
	}
	var kept *cell
	at := func() *cell {
		if kept == nil {
			kept = &cell{f, line, strings.Clone(data.Clip(s, MostShown))}
		}
		return kept
	}
	k, listed := c.distinct[s]
	if listed {
		c.times[k]++
	}
	if listed && c.sets[k] != 0 { // a number, and so neither of the words below
		sc.again(c, c.sets[k])
		c.remember(s, k)
		return k
	}
	if missing(s) {
		c.missing++
		if c.firstEmpty == nil {
			c.firstEmpty = at()
		}
		return -1
	}
	if noNumber(s) {
		if c.noNumbers++; c.firstNone == nil {
			c.firstNone, c.noneFirst = at(), c.firstEmpty == nil
		}
		c.ids = nil
		if !listed {
			return sc.list(c, s, 0, lim)
		}
		return k
	}
	if listed { // what is to be found in it was found
		sc.again(c, c.sets[k])
		c.remember(s, k)
		return k
	}
	set := c.count(s, at)
	sc.countMark(set)
	if c.zeros == nil && (len(s) > 1 && s[0] == '0' || len(s) > len("+4930123") && s[0] == '+') && strings.Trim(s[1:], "0123456789") == "" {
		c.zeros = at()
	}
	if c.exponent == nil && c.infinite == nil && set != 0 && exponentCode(s) {
		c.exponent = at()
	}
	if set&numberStyles != 0 {
		if u := unitOf(s); c.units[u] == nil {
			c.units[u] = at()
		}
		c.countTime(s)
	}
	c.addID(s)
	return sc.list(c, s, set, lim)
}

// countMark counts a number by the decimal mark that it can only have.
func (sc *scan) countMark(set styleSet) {
	switch {
	case set&commaStyles == 0 && set&pointStyles != 0:
		sc.points++
	case set&pointStyles == 0 && set&commaStyles != 0:
		sc.commas++
	}
}

// settle chooses the style of each column: what most of its cells fit and, where
// that leaves a choice, what goes with the rest of the table.
func (sc *scan) settle(opt run.CSV) {
	sc.decimal = '.'
	if opt.Decimal != "" {
		sc.decimal = opt.Decimal[0]
	} else if sc.commas > sc.points || sc.commas == sc.points && sc.comma == ';' {
		sc.decimal = ','
	}
	allowed := allowedStyles(opt)
	for i := range sc.columns {
		c := &sc.columns[i]
		c.countRun()
		c.style = c.best(allowed, sc.decimal)
		declared, known := opt.Columns[sc.name(i)]
		c.settleMissing(declared == string(data.Numeric) || !known && c.numeric() || sc.name(i) == opt.Label && opt.Task == string(data.Regression))
	}
}

// settleMissing counts words such as "-" as missing cells of a column of numbers, and as texts of another.
func (c *tally) settleMissing(numbers bool) {
	if c.noNumbers == 0 {
		return
	}
	if numbers {
		c.missing += c.noNumbers
		if c.firstEmpty == nil || c.noneFirst {
			c.firstEmpty = c.firstNone
		}
		for s := range c.distinct {
			if noNumber(s) {
				delete(c.distinct, s)
			}
		}
		return
	}
	c.cells += c.noNumbers
	c.noNumbers = 0
	for k, first := range c.misses {
		if first == nil {
			c.misses[k] = c.firstNone
		}
	}
}

// list adds s, which is new and fits set, to the values of column c, unless that takes more than is allowed:
// then the column has no such list. All columns together may have so much. It returns the place of s; −1 where it has none.
func (sc *scan) list(c *tally, s string, set styleSet, lim *source.Limits) (place int32) {
	if c.distinct == nil {
		return -1
	}
	const entry = 80 // about what a map and the lists take beside the text
	bytes := entry + int64(len(s))
	if len(c.distinct) == lim.Categories || len(s) > lim.Category || sc.texts+bytes > lim.Texts {
		sc.texts -= c.held
		c.wordy = wordy(c.distinct, s)
		if set != 0 && len(c.distinct) > 0 && sc.samples+c.held <= mostSamples {
			c.some = c.distinct
			sc.samples += c.held
		}
		if sc.kept != nil {
			sc.kept.left -= c.held
		} else {
			c.listing = nil
		}
		c.distinct, c.times, c.sets, c.recent, c.held = nil, nil, nil, nil, 0
		return -1
	}
	s, place = strings.Clone(s), int32(len(c.times))
	c.distinct[s] = place
	c.times, c.sets, c.listing = append(c.times, 1), append(c.sets, set), append(c.listing, s)
	c.held += bytes
	sc.texts += bytes
	return place
}

// currencies returns the signs of currencies in the column's numbers, and those in which files show them.
func (c *tally) currencies() (signs []string) {
	for k, u := range units {
		if c.units[1+k] != nil && u != perCent {
			signs = append(signs, u)
		}
	}
	for _, sign := range c.shownIn {
		if !slices.Contains(signs, sign) {
			signs = append(signs, sign)
		}
	}
	return signs
}

// code returns a cell of the column's numbers that is written as codes are: with a zero in front, with an E and neither
// sign nor mark, in parentheses, or with a unit where others have another one or none. Texts that are one number may then
// be different codes. It is nil where there is none.
func (c *tally) code() *cell {
	different, unit := 0, (*cell)(nil)
	for k, at := range c.units {
		if at == nil {
			continue
		}
		if different++; k > 0 {
			unit = cmp.Or(unit, at)
		}
	}
	if different < 2 {
		unit = nil
	}
	return cmp.Or(c.zeros, c.exponent, c.negative, unit)
}

func (c *tally) addID(s string) {
	if c.ids == nil || len(c.ids) >= mostIDs {
		return
	}
	id, err := strconv.ParseInt(s, 10, 64)
	if _, twice := c.ids[id]; err != nil || twice {
		c.ids = nil
		return
	}
	c.ids[id] = struct{}{}
}

// written reports whether the column's cells are dates or numbers by what they look like alone: no code has a
// decimal comma, a currency or per cent.
func (c *tally) written() bool {
	units := c.units[0] == nil && c.numbers() > 0
	return styles[c.style].date != "" || styles[c.style].decimal == ',' && c.fraction.has(c.style) || units
}

// once returns how many of the column's listed values occur once.
func (c *tally) once() (n int) {
	for _, k := range c.distinct {
		if c.times[k] == 1 {
			n++
		}
	}
	return n
}

// likeNumber is the beginning of a number in any notation: a digit, behind no letters but a currency's.
var likeNumber = regexp.MustCompile(`^([^\pL\d]*\pL{1,3}[.\s]+)?[^\pL\d]*\d`)

// digits returns one of the column's listed values that begin as numbers do, and how many do.
func (c *tally) digits() (one string, n int) {
	for s := range c.distinct {
		if likeNumber.MatchString(s) {
			n++
			if one == "" || s < one {
				one = s
			}
		}
	}
	return one, n
}

// numeric reports whether the column holds numbers: all but a few of its cells
// are. One odd cell is always allowed to be odd, however short the table. Numbers that the file
// stores as texts are texts, such as codes are.
func (c *tally) numeric() bool {
	if c.typed && !c.written() {
		return false
	}
	if c.texts() == 0 {
		return c.numbers() > 0
	}
	odd := float64(c.texts())
	return c.numbers() >= 2 && (odd <= 1 || odd <= (1-numericShare)*float64(c.cells))
}

// scan is the first pass over all files.
type scan struct {
	names    []string // nil without a header
	width    int
	rows     int
	columns  []tally
	dialects []*dialect // of the training files
	comma    rune
	decimal  byte // the mark that most numbers with one have
	points   int  // numbers that can only have a decimal point
	commas   int  // and only a decimal comma
	preview  [][]string
	numbers  []int                   // of the preview's rows, in their files
	last     [data.LastRows][]string // the newest rows beyond the preview, in turn
	lastAt   [data.LastRows]int      // and their numbers
	texts    int64                   // bytes that the columns' lists of values take
	samples  int64                   // and those of which only the first values are listed
	kept     *keptRows               // nil where the second pass has to read the files
}

func scanTables(in *source.Reading, files []source.File, ch Choices) (*scan, error) {
	sc := &scan{kept: &keptRows{left: in.Limits.Kept}}
	for _, f := range files {
		if err := scanTable(in, sc, f, ch); err != nil {
			return nil, err
		}
	}
	if sc.rows == 0 {
		return nil, &data.Error{File: files[0].Name(), Expected: "rows of data", Got: "none", Fix: "Choose a file that has rows."}
	}
	sc.settle(in.Options)
	return sc, nil
}

func scanTable(in *source.Reading, sc *scan, f source.File, ch Choices) error {
	t, err := Open(in, f, source.PhaseScan, ch, nil)
	if err != nil {
		return err
	}
	defer t.Close()
	sc.dialects = append(sc.dialects, t.dialect)
	if len(sc.dialects) == 1 {
		sc.names, sc.comma = t.names, t.comma
	} else if err := sc.joins(t); err != nil {
		return err
	}
	rows := 0
	for {
		cells, line, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := sc.start(t, cells, line); err != nil {
			return err
		}
		if err := in.Room(t.name, int64(sc.rows+rows), 1, 4+source.RowOverhead); err != nil {
			return err
		}
		sc.kept.begin(line)
		for i, s := range cells {
			sc.kept.add(sc.add(&sc.columns[i], s, f, line, &in.Limits), s)
		}
		if !sc.kept.end() {
			sc.forget()
		}
		sc.show(sc.rows+rows, line, cells)
		rows++
	}
	if typed, ok := f.(source.Typed); ok {
		for i := range sc.columns {
			sc.columns[i].typed = sc.columns[i].typed || typed.Text(i)
		}
	}
	if priced, ok := f.(source.Priced); ok {
		for i := range sc.columns {
			sc.columns[i].shownIn = append(sc.columns[i].shownIn, priced.Currencies(i)...)
		}
	}
	if !sc.kept.endFile(rows) || t.bad != nil && t.bad.Count > 0 { // the second pass says what is wrong with bad rows
		sc.forget()
	}
	learnEncoding(in, t)
	if t.rows > 0 && t.rows != rows {
		in.Warn("%s: the first line promises %d rows, but there are %d.", data.Shorten(t.name), t.rows, rows)
	}
	sc.rows += rows
	return nil
}

// show keeps the nth row of all files, counted from 0, for the preview.
func (sc *scan) show(n, line int, cells []string) {
	if n < data.PreviewRows {
		row := make([]string, len(cells))
		for i, s := range cells {
			row[i] = strings.Clone(data.Clip(s, MostShown))
		}
		sc.preview, sc.numbers = append(sc.preview, row), append(sc.numbers, line)
		return
	}
	row := &sc.last[n%data.LastRows]
	sc.lastAt[n%data.LastRows] = line
	*row = append((*row)[:0], cells...)
}

// newest returns the last rows, and their numbers, without those that are among the first.
func (sc *scan) newest() (rows [][]string, numbers []int) {
	for n := max(data.PreviewRows, sc.rows-data.LastRows); n < sc.rows; n++ {
		var row []string
		for _, c := range sc.last[n%data.LastRows] {
			row = append(row, strings.Clone(data.Clip(c, MostShown)))
		}
		rows, numbers = append(rows, row), append(numbers, sc.lastAt[n%data.LastRows])
	}
	return rows, numbers
}

// learnEncoding takes from a table that has been read to its end how its text is
// encoded.
func learnEncoding(in *source.Reading, t *Table) {
	t.encoding = cmp.Or(t.text.Encoding, source.UTF8)
	switch {
	case t.encoding == source.Windows1252 && in.Options.Encoding == "":
		in.Warn("%s is not in UTF-8 and is read as Windows-1252, as older programs write text. Choose the encoding if letters are wrong.", data.Shorten(t.name))
	case t.text.Damaged > 0:
		in.Warn("%s: %d characters are not what %s has and are read as �. Choose another encoding if letters are wrong.", data.Shorten(t.name), t.text.Damaged, t.encoding)
	}
}

// tooNarrow returns the error of a table with a single column.
func tooNarrow(f source.File, line int) error {
	e := &data.Error{File: f.Name(), Row: line, Expected: "at least two columns, features and a label", Got: "one",
		Fix: advice(f, "Choose the delimiter of the file, or another file.", "Choose a table of more columns.")}
	if c, ok := f.(source.ColumnsFile); ok {
		if names := c.Skipped(); len(names) > 0 {
			e.Got, e.Fix = "one, beside columns of lists, records or bytes: "+data.List(names), "Save the table with a number or a text in each cell."
		}
	}
	return e
}

// start checks the width of a row against the table's, which the first row sets.
func (sc *scan) start(t *Table, cells []string, line int) error {
	if sc.width == 0 {
		if len(cells) < 2 {
			return tooNarrow(t.src.File, line)
		}
		sc.width = len(cells)
		sc.columns = make([]tally, sc.width)
		lists := 0
		for i := range sc.columns {
			c := &sc.columns[i]
			c.distinct = map[string]int32{}
			if lists < mostIDLists && sc.mayBeID(i) {
				c.ids = map[int64]struct{}{}
				lists++
			}
		}
	}
	if len(cells) != sc.width {
		return &data.Error{File: t.name, Row: line, Expected: fmt.Sprintf("%d columns, as in the files before", sc.width),
			Got: fmt.Sprint(len(cells)), Fix: "Choose files with the same columns."}
	}
	return nil
}

// joins checks that a further table has the columns of the first, and gives it their names. Only the first
// table may name classes.
func (sc *scan) joins(t *Table) error {
	if err := sameHeader(sc.names, t); err != nil {
		return err
	}
	t.names, t.classes = sc.names, nil
	return nil
}

// sameHeader compares the header of a further file with the first one's.
func sameHeader(names []string, t *Table) error {
	if names == nil && t.names == nil {
		return nil
	}
	wrong := func(expected, got string) error {
		return &data.Error{File: t.name, Row: t.before + 1, Expected: expected, Got: got,
			Fix: "Give all files the same columns in the same order; rows that a model is to answer are for the page Use."}
	}
	switch {
	case t.names == nil:
		return wrong("a header with the same columns as in the first file", "a row of data")
	case names == nil:
		return wrong("no header, as in the first file", "a header")
	case len(names) != len(t.names):
		return wrong(fmt.Sprintf("%d columns, as in the first file", len(names)), fmt.Sprint(len(t.names)))
	}
	for i, n := range names {
		if !strings.EqualFold(n, t.names[i]) {
			return &data.Error{File: t.name, Row: t.before + 1, Column: i + 1, Expected: "the name " + data.Quote(n) + ", as in the first file",
				Got: data.Quote(t.names[i]), Fix: "Give all files the same columns in the same order."}
		}
	}
	return nil
}

func (sc *scan) name(i int) string {
	if sc.names != nil && i < len(sc.names) {
		return sc.names[i]
	}
	return data.Nameless(i)
}
