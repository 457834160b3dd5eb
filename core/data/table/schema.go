package table

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// schema holds the meaning of a table's columns.
type schema struct {
	columns    []data.Column
	styles     []style // of the columns' numbers
	label      int
	labels     []int // of multi-label data, ascending, the first of them label; nil of other
	signed     bool  // label columns of multi-label data have -1 for no
	task       data.Task
	classes    []string       // canonical names, in order of their index
	index      map[string]int // of a class, by canonical name
	numLabels  bool           // labels are numbers: 1 and 1.0 are one class
	categories []map[string]int
	buckets    []uint32  // into which the values of a column are hashed; 0: they are not
	fill       []float64 // what stands for a missing number
	noNumbers  []bool    // by column: of numbers, in which words such as "-" are missing cells
	features   int
	dense      int   // of them, those that are not of texts: the first
	texts      []int // columns of texts
	hasher     hasher
}

// decide turns what was counted into what the columns mean. It fills the
// report's columns even where it returns an error, so that the page can show them.
func decide(in *source.Reading, sc *scan, file string) (*schema, error) {
	s := &schema{categories: make([]map[string]int, sc.width), buckets: make([]uint32, sc.width), fill: make([]float64, sc.width), noNumbers: make([]bool, sc.width)}
	for i := range sc.columns {
		s.columns = append(s.columns, data.Column{Name: sc.name(i), First: -1, Missing: sc.columns[i].missing})
		s.styles = append(s.styles, styles[sc.columns[i].style])
	}
	in.Report.Columns = s.columns
	in.Report.Rows = sc.rows
	in.Report.Encoding = sc.dialects[0].encoding
	in.Report.Delimiter = string(sc.comma)
	in.Report.Decimal = string(rune(sc.decimal))
	in.Report.Header = sc.names != nil
	p := &in.Report.Preview
	p.Rows, p.Numbers, p.Of = sc.preview, sc.numbers, sc.rows
	p.Last, p.LastNumbers = sc.newest()
	if err := checkColumnNames(in, s); err != nil {
		return nil, err
	}
	var err error
	if MultiLabel(in.Options) {
		err = findLabels(in, s, file)
	} else if s.label, err = findLabel(in, sc, s); err == nil {
		in.Report.Label = s.columns[s.label].Name
	}
	if err != nil {
		return nil, err
	}
	var first error // after which the others are shown as they are, all the same
	for i := range sc.columns {
		if err := decideColumn(in, sc, s, i, file); first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	if err := checkMixture(s.columns, file); err != nil {
		return nil, err
	}
	if s.placeTexts(); s.features == 0 {
		return nil, &data.Error{File: file, Expected: "at least one column of features", Got: "none besides the label and ignored columns",
			Fix: "Declare a column numeric, categorical, text, words or letters."}
	}
	if err := s.tooMany(in, file, slices.Max(append(s.texts, 0))); err != nil {
		return nil, err
	}
	if err := decideLabel(in, sc, s, file); err != nil {
		return nil, err
	}
	for i, c := range s.columns {
		if _, ok := in.Options.Bounds[c.Name]; ok && !c.OfNumbers(s.task) {
			fix := "Leave its bounds out, or declare the column numeric."
			if c.Kind == data.Label {
				fix = "Leave its bounds out, or take regression as the task."
			}
			return nil, &data.Error{Column: i + 1, ColumnName: c.Name, Expected: "csv.bounds of numeric columns alone", Got: "a column that is " + string(c.Kind), Fix: fix}
		}
	}
	tellRowsThatAreNone(in, sc, s)
	readPreview(in, s)
	return s, checkMissing(in, sc, s)
}

// sumName matches what stands in front of a row of sums or means.
var sumName = regexp.MustCompile(`(?i)^((grand |sub-?)?totals?|(gesamt|zwischen|end)?summe|(ins)?gesamt|sum|somme|totale|suma|average|mean|durchschnitt|mittelwert|moyenne)( \([^)]*\))?:?$`)

// tellRowsThatAreNone warns of a row of sums, and of one that has the header again, where all of its cells can be read.
func tellRowsThatAreNone(in *source.Reading, sc *scan, s *schema) {
	again := sc.names != nil
	for i := range s.columns {
		col, c := &s.columns[i], &sc.columns[i]
		switch {
		case col.Kind == data.Ignored:
			continue
		case col.OfNumbers(s.task):
			again = false
			continue
		}
		_, named := c.distinct[col.Name]
		again = again && named
		if col.Kind != data.Categorical {
			continue
		}
		for text, at := range c.distinct {
			if sumName.MatchString(text) && c.times[at] == 1 && len(c.distinct) > 2 {
				in.Doubt("%s: one row has %s. If it sums up the others, remove it: it counts as a row like them.", data.Shorten(col.Name), data.Quote(text))
				break
			}
		}
	}
	if again {
		in.Doubt("A row has the names of the columns again, and counts as a row like the others. Remove it.")
	}
}

// readPreview says of each cell of the preview what it is read as.
func readPreview(in *source.Reading, s *schema) {
	p := &in.Report.Preview
	p.Values, p.LastValues = s.meanings(p.Rows), s.meanings(p.Last)
}

func (s *schema) meanings(rows [][]string) (all [][]string) {
	for _, row := range rows {
		values := make([]string, len(row))
		for i, c := range row {
			values[i] = s.meaning(i, c)
		}
		all = append(all, values)
	}
	return all
}

// meaning returns the value that cell c of column i is read as, in words; empty where it is
// not read, "?" where it cannot be.
func (s *schema) meaning(i int, c string) string {
	col := &s.columns[i]
	switch {
	case !col.Used():
		return ""
	case s.gone(i, c):
		return data.MissingCategory
	case col.OfNumbers(s.task):
		v, ok := s.value(i, c)
		if !ok {
			return "?"
		}
		number := strconv.FormatFloat(v, 'f', -1, 32)
		switch {
		case col.Instants() && v == math.Trunc(v):
			return data.Instant(v) + " = day " + number
		case col.Instants():
			return data.Instant(v)
		}
		return number
	case col.Kind == data.Text:
		return s.hashedInWords(i, c)
	case col.Kind.IsSequence():
		return s.sequenceInWords(i, c)
	case col.Kind == data.Label && s.labels != nil:
		if y, ok := Flag(c, s.signed); ok {
			return zeroOne[int(y)]
		}
		return "?"
	case col.Kind == data.Label:
		if name, ok := s.canonical(c); ok {
			return name
		}
		return "?"
	case s.buckets[i] > 0:
		return col.Categories[bucket(c, s.buckets[i])]
	}
	return c
}

// hashedInWords says how many words a text has and how many features they come to. A cell that was clipped for the preview
// has more.
func (s *schema) hashedInWords(i int, c string) string {
	n := 0
	eachWord(c, &s.hasher.lower, func([]rune) bool { n++; return true })
	if utf8.RuneCountInString(c) > MostShown {
		return fmt.Sprintf("%d words and more, hashed", n)
	}
	switch features := len(s.hash(nil, i, c)); {
	case n == 0 || missing(c):
		return "no words: zeros"
	case n == 1:
		return fmt.Sprintf("1 word → %d features", features)
	default:
		return fmt.Sprintf("%d words → %d features", n, features)
	}
}

// gone reports whether cell c of column i says that there is no value. A text is always one, if without words.
func (s *schema) gone(i int, c string) bool {
	if s.columns[i].Kind == data.Text || s.columns[i].Kind.IsSequence() {
		return false
	}
	return missing(c) || s.noNumbers[i] && noNumber(c)
}

// bucket hashes a category. The hash (FNV-1a) is public and looks at nothing
// else, so which categories share a bucket depends on no row.
func bucket(s string, n uint32) int {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return int(h % n)
}

func checkColumnNames(in *source.Reading, s *schema) error {
	known := make(map[string]bool, len(s.columns))
	for _, c := range s.columns {
		known[c.Name] = true
	}
	for field, names := range map[string]iter.Seq[string]{
		"columns": maps.Keys(in.Options.Columns), "bounds": maps.Keys(in.Options.Bounds), "fill": maps.Keys(in.Options.Fill),
	} {
		for name := range names {
			if !known[name] {
				return &data.Error{ColumnName: name, Expected: "csv." + field + " to name columns of the table", Got: data.Quote(name),
					Fix: "Use the names of the header (or \"column 3\" where there is none)."}
			}
		}
	}
	return nil
}

// LabelNames lists the usual names of label columns, the likeliest first.
func LabelNames() []string {
	return []string{"label", "labels", "class", "target", "y", "income", "diagnosis", "outcome", "species", "class_label", "output"}
}

// findLabel finds the label column: the chosen one, or the one that is named so; else the last with
// values. Where that cannot name classes, one of a usual name that can comes before it, and then the
// only one with a few texts. Every guess is a doubt.
func findLabel(in *source.Reading, sc *scan, s *schema) (int, error) {
	if want := in.Options.Label; want != "" {
		for i, c := range s.columns {
			if c.Name == want {
				return i, nil
			}
		}
		if n, err := strconv.Atoi(want); err == nil && n >= 1 && n <= len(s.columns) {
			return n - 1, nil
		}
		return 0, &data.Error{Expected: fmt.Sprintf("csv.label to be a column's name or its number from 1 to %d", sc.width),
			Got: data.Quote(want), Fix: "Choose one of: " + columnList(s.columns) + "."}
	}
	for i, c := range s.columns {
		if strings.EqualFold(c.Name, "label") || strings.EqualFold(c.Name, "labels") {
			return i, nil // which is no guess
		}
	}
	last := sc.width - 1
	for last > 0 && (sc.columns[last].cells == 0 || isIndex(s.columns[last].Name)) { // of rows that end with a delimiter, or of pandas
		last--
	}
	why, end := "it is the last column", last
	for last > 0 && sc.columns[last].isText(sc.rows) { // which no class is named by
		last, why = last-1, "it is the last column but for texts"
	}
	if sc.columns[last].isText(sc.rows) {
		last = end
	}
	at, tell := last, in.Doubt
	named := func(i int) bool { return sc.columns[i].namesClasses() }
	usual := s.usualLabel(named)
	switch few := fewTexts(in, sc, s); {
	case usual < 0 || usual == last:
		if len(few) == 1 && !named(last) && sc.names == nil {
			at, why = few[0], "it is the only column of texts"
		} else if named(last) {
			tell = in.Warn // who else?
		}
	case !named(last):
		at, why = usual, "labels are often named so"
	}
	tell("%s is taken as the label: %s. Choose another if that is wrong.", data.Shorten(s.columns[at].Name), why)
	return at, nil
}

// usualLabel returns the first column of a usual name for which ok holds, or -1.
func (s *schema) usualLabel(ok func(i int) bool) int {
	for _, name := range LabelNames() {
		for i, c := range s.columns {
			if strings.EqualFold(c.Name, name) && ok(i) {
				return i
			}
		}
	}
	return -1
}

// namesClasses reports whether the column's cells may name classes: they are texts or whole numbers of
// which a few come again and again.
func (c *tally) namesClasses() bool {
	return len(c.distinct) >= 2 && len(c.distinct) <= fewClasses && 2*len(c.distinct) <= c.cells && guessTask(c, c.numeric()) == data.Classification
}

// fewClasses is the number of different values up to which a column may name classes by itself.
const fewClasses = 20

func fewTexts(in *source.Reading, sc *scan, s *schema) []int {
	var at []int
	for i := range sc.columns {
		if c := &sc.columns[i]; in.Options.Columns[s.columns[i].Name] == "" && !c.numeric() && c.texts() > 0 && c.distinct != nil && len(c.distinct) <= fewClasses {
			at = append(at, i)
		}
	}
	return at
}

func decideColumn(in *source.Reading, sc *scan, s *schema, i int, file string) error {
	if s.isLabel(i) {
		s.columns[i].Kind = data.Label
		return nil // decideLabel does the rest
	}
	c, col := &sc.columns[i], &s.columns[i]
	switch col.Kind = kindOf(in, sc, s, i); col.Kind {
	case data.Numeric:
		tellStyle(in, sc, c, col)
		s.noNumbers[i] = true
		learnUnits(c, col)
		if err := checkNumeric(in, c, i, col.Name); err != nil {
			return err
		}
		s.learnTime(in, c, i)
		col.First = s.features
		s.features++
		if err := declare(in, s, i); err != nil {
			return err
		}
		s.place(in, c, i)
		if c.missing > 0 && in.Options.Missing == "indicator" {
			col.Indicator = s.features
			s.features++
		}
	case data.Letters, data.Words:
		s.placeSequence(i, in.Options.MaxLength)
	case data.Categorical:
		if in.Options.Columns[col.Name] == bucketed {
			listBuckets(in, c, s, i)
			break
		}
		if c.distinct == nil {
			return &data.Error{File: file, Column: i + 1, ColumnName: col.Name,
				Expected: fmt.Sprintf("at most %d categories of at most %d bytes", in.Limits.Categories, in.Limits.Category), Got: "more, or longer ones", Fix: "Declare the column ignored."}
		}
		listCategories(in, c, s, i)
	}
	if col.Kind == data.Categorical {
		col.First = s.features
		s.features += len(col.Categories)
	}
	return s.tooMany(in, file, i)
}

// tooMany returns the error of more features than are read, of which column i has the last; nil where there are not.
func (s *schema) tooMany(in *source.Reading, file string, i int) error {
	if s.features <= in.Limits.Features {
		return nil
	}
	return &data.Error{File: file, Column: i + 1, ColumnName: s.columns[i].Name,
		Expected: fmt.Sprintf("at most %d features, categories and hashed words counted", in.Limits.Features), Got: "more",
		Fix: "Declare columns with many categories, or that do not matter, ignored."}
}

// checkMixture refuses other features beside sequences: a model takes every feature of such a row for a token.
func checkMixture(columns []data.Column, file string) error {
	sequence, other := -1, -1
	for i := range columns {
		switch col := &columns[i]; {
		case col.Kind.IsSequence():
			sequence = i
		case col.Makes():
			other = i
		}
	}
	if sequence < 0 || other < 0 {
		return nil
	}
	return &data.Error{File: file, Column: other + 1, ColumnName: columns[other].Name,
		Expected: fmt.Sprintf("no features beside %s, whose %s are read in their order", data.Quote(columns[sequence].Name), columns[sequence].Kind),
		Got:      "a column that is " + string(columns[other].Kind), Fix: "Declare it ignored, or the other one text."}
}

// placeTexts gives the columns of texts their features, behind all others.
func (s *schema) placeTexts() {
	s.dense, s.texts = s.features, data.TextColumns(s.columns)
	n := bucketsOf(len(s.texts))
	for _, i := range s.texts {
		s.columns[i].First, s.columns[i].Buckets = s.features, n
		s.features += n
	}
}

// hash appends the features of a cell of column i, which holds texts; none of a missing cell.
func (s *schema) hash(row []data.Word, i int, c string) []data.Word {
	if missing(c) {
		return row
	}
	return s.hasher.add(row, c, s.columns[i].First, s.columns[i].Buckets)
}

// kindOf decides what a column other than the label is, and warns where that is
// not plain.
func kindOf(in *source.Reading, sc *scan, s *schema, i int) data.ColumnKind {
	name := s.columns[i].Name
	if k, ok := in.Options.Columns[name]; ok {
		if k == bucketed {
			return data.Categorical
		}
		return data.ColumnKind(k)
	}
	if s.hasSequences(in) {
		in.Warn("%s is ignored, as letters or words in their order are learned from alone.", data.Shorten(name))
		return data.Ignored
	}
	if isIndex(name) {
		in.Warn("%s numbers or names the rows, as its name says, and is ignored; declare its kind to use it.", data.Shorten(name))
		return data.Ignored
	}
	name = data.Shorten(name)
	c := &sc.columns[i]
	if c.typed && c.texts() == 0 && !c.numeric() {
		in.Doubt("%s is text in the file, though its cells look like numbers. Declare it numeric if they are.", name)
	}
	switch {
	case c.cells == 0:
		in.Warn("%s has no values at all and is ignored.", name)
		return data.Ignored
	case sc.isID(i):
		in.Warn("%s numbers the rows and is ignored; declare it numeric to use it.", name)
		return data.Ignored
	case c.numeric() && c.noNumbers == 0 && c.exponent != nil && !c.fraction.has(c.style) && c.distinct != nil && 2*len(c.distinct) <= c.cells:
		in.Doubt("%s is read as categorical, as %s looks like a code; declare it numeric if it is a number.", name, data.Quote(c.exponent.text))
	case c.numeric() && c.hashes():
		if c.private(sc.rows) {
			in.Doubt("%s is ignored: %s is too large for a number and looks like a code, and a list of its %d different codes would count as public. Declare it bucketed to use it.", name, data.Quote(c.infinite.text), len(c.distinct))
			return data.Ignored
		}
		in.Doubt("%s is read as categorical, as %s is too large for a number and looks like a code.", name, data.Quote(c.infinite.text))
	case c.numeric():
		tellCodes(in, c, name)
		return data.Numeric
	case c.firstText() != nil && monthNamed(c.firstText().text):
		in.Doubt("%s is ignored: dates with names of months (such as %s) are not read. Write 2019-12-31, or declare it categorical.", name, data.Quote(c.firstText().text))
		return data.Ignored
	case c.firstText() != nil && timeName.MatchString(c.firstText().text):
		in.Doubt("%s is ignored: times such as %s are not read. Write 2019-12-31 23:59:59, with Z or +01:00 behind where it has a zone, or declare it categorical.", name, data.Quote(c.firstText().text))
		return data.Ignored
	case c.distinct != nil && c.private(sc.rows) && !c.typed && c.measures():
		in.Doubt("%s is ignored: its texts, such as %s, look like numbers in a notation that is not read, and a list of its %d different texts counts as public. Write them as numbers, or declare it bucketed, or categorical if anybody may know its texts.", name, data.Quote(c.firstText().text), len(c.distinct))
		return data.Ignored
	case c.isText(sc.rows):
		in.Doubt("%s is read as text: its words and parts of them are hashed, and no list of words is made of the rows. Declare it ignored if it says whose a row is.", name)
		return data.Text
	case c.distinct == nil:
		in.Doubt("%s is ignored: it has over %d different texts or very long ones, and the list of categories counts as public. To use it, declare it letters (names, codes), text (sentences) or bucketed.", name, in.Limits.Categories)
		return data.Ignored
	case c.private(sc.rows):
		in.Doubt("%s is ignored: %d of its %d different texts stand in one row alone, and a list of categories counts as public. To use it, declare it letters (names, codes), text (sentences) or bucketed, or categorical if anybody may know its texts.", name, c.once(), len(c.distinct))
		return data.Ignored
	case c.numbers() > c.texts() && !c.typed && len(c.distinct) > fewClasses:
		in.Doubt("%s is ignored: it mixes %s (such as %s), and the list of its %d different texts would count as public. Write all of them one way, or declare it bucketed or categorical.", name, c.mixture(), data.Quote(c.firstText().text), len(c.distinct))
		return data.Ignored
	default:
		if one, n := c.coded(); n > 0 {
			in.Doubt("%s is ignored: %d of its %d different texts look like numbers in a notation that is not read, such as %s; a list of categories counts as public. Write them as numbers, or declare it bucketed or categorical.", name, n, len(c.distinct), data.Quote(one))
			return data.Ignored
		}
		if len(c.sets) == len(c.distinct) && !slices.Contains(c.sets, 0) && !c.typed {
			in.Doubt("%s is read as categorical: its numbers or dates are in several notations, and %s is not as most are. Write all of them one way, or leave it so if these are codes.", name, data.Quote(c.firstText().text))
		} else if c.numbers() > c.texts() && !c.typed {
			in.Warn("%s mixes %s (such as %s) and is read as categorical.", name, c.mixture(), data.Quote(c.firstText().text))
		}
	}
	if n := len(c.distinct); n > manyCategories || n > fewClasses && c.cells < rowsOfKind*n {
		in.Doubt("The %d different texts of %s are its categories, which count as public: every model that is saved has their list. Declare it ignored or bucketed if they say whose a row is.", n, name)
	}
	return data.Categorical
}

// hasSequences reports whether a column other than the label is declared to be a sequence.
func (s *schema) hasSequences(in *source.Reading) bool {
	for i := range s.columns {
		if data.ColumnKind(in.Options.Columns[s.columns[i].Name]).IsSequence() && !s.isLabel(i) {
			return true
		}
	}
	return false
}

// isText reports whether the column's cells, in so many rows, are texts of several words that hardly repeat.
func (c *tally) isText(rows int) bool {
	return c.cells > 0 && !c.numeric() && (c.distinct == nil || c.private(rows)) && c.ofWords()
}

// ofWords reports whether the column's texts have several words each.
func (c *tally) ofWords() bool {
	if c.distinct == nil {
		return c.wordy
	}
	return wordy(c.distinct, "")
}

// private reports whether most of the column's texts stand in one row alone, of some at least: notes
// and names do, and kinds of things do not.
func (c *tally) private(rows int) bool {
	n := len(c.distinct)
	return n == c.cells && rows >= 20 || n >= leastPrivate && 2*c.once() > n
}

// hashes reports whether a column of whole numbers has one that is too large, and most are written with an E as codes
// and digests are.
func (c *tally) hashes() bool {
	if c.infinite == nil || !exponentCode(c.infinite.text) || c.fraction.has(c.style) {
		return false
	}
	n := 0
	for s := range c.distinct {
		if exponentCode(s) {
			n++
		}
	}
	return 2*n > len(c.distinct)
}

// mixture names what a column has of which most cells are numbers.
func (c *tally) mixture() string {
	if styles[c.style].date != "" {
		return "dates and what is none in the same notation"
	}
	return "numbers and text"
}

// measure is a number with other signs, and at most a short word before and behind it: 12:30, 50kg, R$ 1.010,50.
var measure = regexp.MustCompile(`^([^\pL\d]*\pL{1,3}[.\s$]+)?[^\pL\d]*\d\P{L}*\pL{0,4}\P{L}*$`)

// measures reports whether most of the column's texts are such numbers.
func (c *tally) measures() bool {
	n := 0
	for s := range c.distinct {
		if measure.MatchString(s) {
			n++
		}
	}
	return 2*n > len(c.distinct)
}

// coded returns the first of the column's texts that begin as numbers do, in a notation that is not read, and their number, where the texts are
// many and these are most of them; else 0. What the file stores as texts is no such number.
func (c *tally) coded() (one string, n int) {
	if len(c.distinct) <= fewClasses || c.typed {
		return "", 0
	}
	if one, n = c.digits(); 2*n <= len(c.distinct) {
		return "", 0
	}
	return one, n
}

// leastPrivate is the number of different texts below which a table is a toy.
const leastPrivate = 10

// rowNamesColumn is the name of the column of R's row names, which has none.
const rowNamesColumn = "row names"

var (
	// keyName matches the names of columns that tell things apart.
	keyName   = regexp.MustCompile(`(?i)(^|[_ .-])(id|uid|uuid|key|no|nr|number|nummer|code|phone|tel)\.?$|[a-z](ID|Id)$`)
	indexName = regexp.MustCompile(`^(row names|Unnamed: 0(\.\d+)*|__index_level_\d+__)$`)
	timeName  = regexp.MustCompile(`^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[T ]+\d{1,2}[:.h]\d`)
	monthName = regexp.MustCompile(`(?i)^(\d{1,4}[-/. ]{1,2})?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?[-/, ]{1,2}\d{1,4}([, ]|$)`)
)

// isIndex reports whether a column is the index of pandas or R's row names, by its name alone.
func isIndex(name string) bool { return indexName.MatchString(name) }

// monthNamed reports whether a text is a date with the name of a month, such as 31-Dec-2019.
func monthNamed(s string) bool { return monthName.MatchString(s) }

// tellCodes warns of a column of numbers whose cells say more than the numbers do.
func tellCodes(in *source.Reading, c *tally, name string) {
	name = data.Shorten(name)
	if c.zeros != nil {
		sign := "zero"
		if c.zeros.text[0] == '+' {
			sign = "plus"
		}
		in.Warn("%s is read as numbers, in which the %s in front of %s says nothing; declare it categorical or bucketed if these are codes.", name, sign, data.Quote(c.zeros.text))
	}
	if long := c.version(); long != "" {
		in.Warn("%s is read as numbers, in which the zero at the end of %s says nothing; declare it categorical or bucketed if these are codes.", name, data.Quote(long))
	}
	if c.negative != nil {
		v, _ := styles[c.style].parse(c.negative.text)
		in.Warn("%s: %s is read as %s; declare the column categorical or bucketed if it is a code.", name, data.Quote(c.negative.text), strconv.FormatFloat(float64(v), 'f', -1, 32))
	}
	if c.exponent != nil && !c.fraction.has(c.style) {
		v, _ := styles[c.style].parse(c.exponent.text)
		in.Warn("%s: %s is read as the number %s; declare the column categorical or bucketed if these are codes.", name, data.Quote(c.exponent.text), strconv.FormatFloat(float64(v), 'f', -1, 32))
	}
	if signs := c.currencies(); len(signs) > 1 {
		other := ", or declare the column categorical"
		if len(c.shownIn) > 0 { // by formats, which categories would lack
			other = ""
		}
		in.Doubt("%s mixes currencies (%s), and is read as numbers without them. Bring them to one currency%s.", name, strings.Join(signs, " "), other)
	}
	if text, n := c.sentinel(); n > 0 {
		in.Doubt("%s: %s stands in %d rows, far from all other numbers. If it means that there is no value, leave these cells empty.", name, data.Quote(text), n)
	}
	if plain, per := c.units[0], c.units[len(units)]; plain != nil && per != nil {
		v, _ := styles[c.style].read(per.text)
		in.Doubt("%s mixes per cent and plain numbers: %s is read as %s, beside %s. Write all of them one way.", name, data.Quote(per.text), strconv.FormatFloat(v/100, 'f', -1, 32), data.Quote(plain.text))
	}
}

// sentinel returns a listed number of nines such as -99 or 999, which is below 0 and no other is, or more than twice as large as all
// others, and the number of its cells, of which there are several; else 0.
func (c *tally) sentinel() (text string, cells int) {
	const few = 3
	if len(c.distinct) <= few || styles[c.style].date != "" {
		return "", 0
	}
	for s, at := range c.distinct {
		digits := strings.TrimPrefix(s, "-")
		if c.times[at] < few || strings.Trim(digits, "9") != "" || digits == s && len(digits) < few || len(digits) > few+1 {
			continue
		}
		v, _ := styles[c.style].read(s)
		apart := true
		for other := range c.distinct {
			if w, ok := styles[c.style].read(other); ok && other != s && (v < 0 && w < 0 || v > 0 && 2*math.Abs(w) >= v) {
				apart = false
				break
			}
		}
		if apart {
			return s, int(c.times[at])
		}
	}
	return "", 0
}

// version returns one of the column's listed values that ends in a zero behind more decimals than another has, as versions
// and codes of diseases do. Programs that write numbers write as many decimals for all, or no such zeros. It is empty
// where there is none.
func (c *tally) version() (long string) {
	mark := string(rune(styles[c.style].decimal))
	fewest := math.MaxInt
	for s := range c.sample() {
		_, decimals, found := strings.Cut(s, mark)
		if !found || strings.Trim(decimals, "0123456789") != "" {
			continue
		}
		fewest = min(fewest, len(decimals))
		if len(decimals) > 1 && strings.HasSuffix(decimals, "0") && (long == "" || s < long) {
			long = s
		}
	}
	if _, decimals, _ := strings.Cut(long, mark); len(decimals) <= fewest {
		return ""
	}
	return long
}

// manyCategories is the number of categories above which the owner is warned that they are public. Kinds
// of things are usually fewer; days, places or names in a column are more.
const manyCategories = 60

// rowsOfKind is the number of rows per category below which the owner is warned that categories are public: people
// come a few times, kinds of things more often.
const rowsOfKind = 5

// isID reports whether column i only tells rows apart: integers that never
// repeat, under such a name or, without a header, in the first column, where they are no times.
func (sc *scan) isID(i int) bool {
	c := &sc.columns[i]
	if sc.names == nil && c.time() != "" {
		return false
	}
	return c.ids != nil && c.missing == 0 && c.numbers() >= 2 && (sc.names != nil || sc.rows >= plainIDs)
}

// mayBeID reports whether column i may only tell rows apart, by its name and its place alone.
func (sc *scan) mayBeID(i int) bool {
	if sc.names == nil {
		return i == 0
	}
	switch name := strings.ToLower(sc.names[i]); name {
	case "id", "idx", "index", "rowid", "row_id", "row", "unnamed: 0", "level_0", "uid", "no", "no.", "#":
		return true
	default:
		numbers := func(end string) bool { return strings.HasSuffix(name, end) }
		return i == 0 && (name == data.Nameless(0) || slices.ContainsFunc([]string{"_id", " id", "number", "nummer", "nr", "nr."}, numbers))
	}
}

// tellStyle notes how the numbers of a column are written, and warns where its
// cells would fit another style as well, in which they mean something else.
func tellStyle(in *source.Reading, sc *scan, c *tally, col *data.Column) {
	st := styles[c.style]
	if st.date != "" {
		col.Date = st.date
		if c.short != nil {
			v, _ := st.parse(c.short.text)
			in.Warn("%s: years of two digits are read as 1969 to 2068: %s is %s.", data.Shorten(col.Name), data.Quote(c.short.text), styles[plainDate].exact(v))
		}
		if other := c.best(dateStyles&^(1<<c.style), 0); in.Options.Date == "" && c.fit[other] == c.fit[c.style] {
			in.Warn("%s: dates are read in the order %s; they could also be %s. Choose the order if that is wrong.", data.Shorten(col.Name), st.date, styles[other].date)
		}
		return
	}
	if st.decimal != '.' || st.thousands != 0 {
		col.Decimal = string(rune(st.decimal))
		if st.thousands != 0 {
			col.Thousands = string(rune(st.thousands))
		}
	}
	others := pointStyles
	if st.decimal == '.' {
		others = commaStyles
	}
	other := c.best(others, 0)
	if in.Options.Decimal+in.Options.Thousands != "" || c.unclear == nil || c.fit[other] != c.fit[c.style] {
		return
	}
	read := func(k int) string {
		v, _ := styles[k].parse(c.unclear.text)
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	}
	own, beside := sc.points, sc.commas
	if st.decimal == ',' {
		own, beside = beside, own
	}
	name, text := data.Shorten(col.Name), data.Quote(c.unclear.text)
	if own > 0 && beside == 0 {
		in.Warn("%s: %s is read as %s, as goes with the rest of the table. Choose the decimal mark if that is wrong.", name, text, read(c.style))
	} else {
		in.Ask("csv.decimal", "%s: %s is read as %s; it could also be %s. Choose the decimal mark.", name, text, read(c.style), read(other))
	}
}

// declareBounds takes the bounds that the user has said of a column, if any.
func declareBounds(in *source.Reading, col *data.Column) error {
	b, ok := in.Options.Bounds[col.Name]
	if !ok {
		return nil
	}
	col.Bounds = &data.Bound{Lo: b.Lo, Hi: b.Hi}
	return declaredDays(col, "bounds", &col.Bounds.Lo, &col.Bounds.Hi)
}

// declare takes what the user has said of numeric column i.
func declare(in *source.Reading, s *schema, i int) error {
	col := &s.columns[i]
	if err := declareBounds(in, col); err != nil {
		return err
	}
	if b := col.Bounds; b != nil {
		s.fill[i] = (b.Lo + b.Hi) / 2
	}
	if v, ok := in.Options.Fill[col.Name]; ok {
		if err := declaredDays(col, "fill", &v); err != nil {
			return err
		}
		s.fill[i] = v
	}
	if in.Options.Missing != "indicator" {
		s.fill[i] = 0
	}
	if keepsMissing(in) {
		v := s.fill[i]
		col.Fill = &v
	}
	return nil
}

// checkNumeric refuses a column of numbers with other cells, unless their rows
// are to be left out.
func checkNumeric(in *source.Reading, c *tally, i int, name string) error {
	if in.Options.BadRows == "skip" {
		return nil
	}
	if t := c.firstText(); t != nil {
		fix := "Declare the column categorical, fix the cell, or " + data.SkipRows + "."
		if sumName.MatchString(t.text) {
			fix = "If the row sums up the others, remove it, or " + data.SkipRows + "."
		}
		return &data.Error{File: t.file.Name(), Row: t.line, Column: i + 1, ColumnName: name, Expected: styles[c.style].what() + ", as in the rest of the column",
			Got: data.Quote(t.text), Fix: fix}
	}
	if t := c.infinite; t != nil {
		return notFinite(t.file.Name(), t.line, i, name, t.text)
	}
	return nil
}

func notFinite(file string, line, i int, name, got string) *data.Error {
	return &data.Error{File: file, Row: line, Column: i + 1, ColumnName: name, Expected: "a finite number (below 3.4e38)",
		Got: data.Quote(got), Fix: "Fix the cell, or leave it empty and choose what to do with missing cells."}
}

func listCategories(in *source.Reading, c *tally, s *schema, i int) {
	col := &s.columns[i]
	names := make([]string, 0, len(c.distinct)+1)
	for v := range c.distinct {
		names = append(names, v)
	}
	slices.Sort(names)
	index := make(map[string]int, len(names)+1)
	for k, v := range names {
		index[v] = k
	}
	col.Categories, s.categories[i] = withMissing(in, c, names, index), index
	tellAlike(in, col.Name, names)
}

// withMissing adds the category of missing cells where there are any to keep.
func withMissing(in *source.Reading, c *tally, names []string, index map[string]int) []string {
	if c.missing == 0 || !keepsMissing(in) {
		return names
	}
	if _, ok := index[data.MissingCategory]; ok { // cells that say so in these words
		return names
	}
	index[data.MissingCategory] = len(names)
	return append(names, data.MissingCategory)
}

func keepsMissing(in *source.Reading) bool {
	return in.Options.Missing == "zero" || in.Options.Missing == "indicator"
}

func listBuckets(in *source.Reading, c *tally, s *schema, i int) {
	n := cmp.Or(in.Options.Buckets, defaultBuckets)
	names, index := make([]string, n), map[string]int{}
	for k := range names {
		names[k] = fmt.Sprintf("bucket %d", k+1)
	}
	s.columns[i].Buckets = n
	s.columns[i].Categories, s.categories[i], s.buckets[i] = withMissing(in, c, names, index), index, uint32(n)
}

const defaultBuckets = 32

// decideLabel decides the task and the classes.
func decideLabel(in *source.Reading, sc *scan, s *schema, file string) error {
	if s.labels != nil {
		return decideLabels(in, sc, s, file)
	}
	c, col := &sc.columns[s.label], &s.columns[s.label]
	declared := in.Options.Columns[col.Name]
	s.task = data.Task(in.Options.Task)
	numbers := c.numeric() && declared != string(data.Categorical)
	if s.task == "" && declared == "" && c.typed && !numbers && c.texts() == 0 && !c.repeats(in.Limits.Classes) {
		numbers = true
		in.Ask("csv.task", "%s is text in the file, though its cells look like numbers: it is read as an amount to be learned, as it has %s. Choose another label if that is wrong.", data.Shorten(col.Name), c.values())
	}
	code := c.code()
	if code == nil && c.hashes() {
		code = c.infinite
	}
	if numbers && s.task != data.Regression && code != nil && c.distinct != nil && len(c.distinct) <= in.Limits.Classes && 2*len(c.distinct) <= c.cells {
		numbers = false // 01 and 1 are two classes
		if declared == "" {
			in.Warn("%s: the classes are told apart as they are written, such as %s. Choose regression if they are numbers.", data.Shorten(col.Name), data.Quote(code.text))
		}
	}
	if s.task == "" {
		s.task = guessTask(c, numbers)
		tellTask(in, c, s.task, numbers, col.Name)
	}
	if numbers || s.task == data.Regression {
		tellStyle(in, sc, c, col)
		if err := checkNumeric(in, c, s.label, col.Name); err != nil {
			return err
		}
		tellCodes(in, c, col.Name)
	}
	in.Report.Task = s.task
	s.noNumbers[s.label] = c.noNumbers > 0 || s.task == data.Regression
	if s.task == data.Regression {
		learnUnits(c, col)
		if err := declareBounds(in, col); err != nil {
			return err
		}
		s.tellCollapse(in, c, s.label)
		return nil
	}
	fix := "Choose another label column."
	if numbers {
		fix = "Choose another label column, or regression as the task."
	}
	if !c.repeats(in.Limits.Classes) {
		return &data.Error{File: file, Column: s.label + 1, ColumnName: col.Name, Expected: fmt.Sprintf("a label column with at most %d classes, each in several rows", in.Limits.Classes),
			Got: c.values(), Fix: fix}
	}
	s.numLabels = numbers && styles[c.style].date == ""
	s.listClasses(c)
	if len(s.classes) < 2 {
		only := "no class"
		if sc.names == nil && sc.rows == 1 {
			return &data.Error{File: file, Expected: "rows of data", Got: "a single row", Fix: "If this is a header, there are no rows under it: choose a file that has some."}
		}
		if len(s.classes) == 1 {
			return data.OneClass(file, s.classes[0])
		}
		return &data.Error{File: file, Column: s.label + 1, ColumnName: col.Name, Expected: "labels", Got: only, Fix: "Choose another label column."}
	}
	col.Categories = s.classes
	if n := len(s.classes); !numbers && n > fewClasses && c.cells < rowsOfKind*n {
		in.Doubt("The %d different texts of %s are the classes, which count as public, and come in fewer than %d rows each. Choose another label if they say whose a row is.", n, data.Shorten(col.Name), rowsOfKind)
	}
	tellAlike(in, col.Name, s.classes)
	return nil
}

// repeats reports whether the column's values come again as classes do, and are no more than most.
func (c *tally) repeats(most int) bool {
	return c.distinct != nil && len(c.distinct) <= most && (c.cells < 20 || len(c.distinct) <= c.cells/2)
}

// values says how many different values the column has.
func (c *tally) values() string {
	if c.distinct == nil {
		return fmt.Sprintf("too many different values in %d rows", c.cells)
	}
	return fmt.Sprintf("%d different values in %d rows", len(c.distinct), c.cells)
}

// guessTask: text names classes; so do a few different integers.
func guessTask(c *tally, numbers bool) data.Task {
	if !numbers || c.distinct != nil && !c.fraction.has(c.style) && len(c.distinct) <= fewClasses && (len(c.distinct) <= 2 || 2*len(c.distinct) <= c.numbers()) {
		return data.Classification
	}
	return data.Regression
}

// tellTask says of a label of whole numbers, of which there are neither few nor endless, what was guessed.
func tellTask(in *source.Reading, c *tally, task data.Task, numbers bool, name string) {
	const plain = 10 // digits, grades, stars
	if !numbers || c.distinct == nil || c.fraction.has(c.style) || styles[c.style].date != "" || len(c.distinct) <= plain || len(c.distinct) > in.Limits.Classes {
		return
	}
	if task == data.Classification {
		in.Doubt("The %d different whole numbers of %s are read as classes. Choose regression if they are amounts.", len(c.distinct), data.Shorten(name))
		return
	}
	in.Doubt("%s has %d different whole numbers and is read as an amount to be learned. Choose classification if they name classes.", data.Shorten(name), len(c.distinct))
}

// listClasses sorts the classes, numbers by value.
func (s *schema) listClasses(c *tally) {
	set := map[string]float64{}
	for v := range c.distinct {
		if name, ok := s.canonical(v); ok {
			set[name], _ = strconv.ParseFloat(name, 64)
		}
	}
	for v := range set {
		// adult.test ends its labels with a point; train and test given
		// together must not make twice the classes.
		if short := strings.TrimSuffix(v, "."); short != v {
			if _, ok := set[short]; ok {
				continue
			}
		}
		s.classes = append(s.classes, v)
	}
	slices.SortFunc(s.classes, func(a, b string) int {
		if s.numLabels {
			return cmp.Compare(set[a], set[b])
		}
		return strings.Compare(a, b)
	})
	s.index = make(map[string]int, len(s.classes))
	for i, v := range s.classes {
		s.index[v] = i
	}
}

// canonical makes 1, 1.0 and +1 one class. ok is false for what is no finite
// number among numbers.
func (s *schema) canonical(v string) (name string, ok bool) {
	if !s.numLabels {
		return v, true
	}
	f, ok := s.styles[s.label].parse(v)
	switch {
	case f == 0:
		f = 0 // not −0
	case math.Abs(float64(f)) >= MostExact:
		return v, ok && !math.IsInf(float64(f), 0)
	}
	return strconv.FormatFloat(float64(f), 'f', -1, 32), ok && !math.IsInf(float64(f), 0)
}

// checkMissing refuses missing cells unless the user has said what to do, and
// then says where they are.
func checkMissing(in *source.Reading, sc *scan, s *schema) error {
	total, column := 0, 0
	var first *cell
	var where []string
	for i, c := range s.columns {
		if !c.Used() || c.Kind == data.Text || c.Kind.IsSequence() || sc.columns[i].missing == 0 {
			continue
		}
		if total == 0 {
			first, column = sc.columns[i].firstEmpty, i
		}
		total += c.Missing
		where = append(where, fmt.Sprintf("%s (%d)", c.Name, c.Missing))
	}
	in.Report.Missing = total
	if total == 0 || in.Options.Missing == "drop" || keepsMissing(in) {
		return nil
	}
	e := missingValue(*first, column, s.columns[column].Name)
	e.Got += fmt.Sprintf(" (%d missing cells in all: %s)", total, data.List(where))
	return e
}

// tellMissing says which columns have a feature of missing cells.
func tellMissing(in *source.Reading, s *schema) {
	var kept []string
	for _, c := range s.columns {
		if c.Indicator > 0 || c.Kind == data.Categorical && c.Missing > 0 && slices.Contains(c.Categories, data.MissingCategory) {
			kept = append(kept, c.Name)
		}
	}
	if keepsMissing(in) && len(kept) > 0 {
		in.Warn("A feature says where a value is missing: of %s. Which columns have missing cells counts as public, like a list of categories.", data.List(kept))
	}
}

func missingValue(at cell, i int, name string) *data.Error {
	return &data.Error{File: at.file.Name(), Row: at.line, Column: i + 1, ColumnName: name, Expected: "a value", Got: data.Quote(at.text),
		Fix: `Under Missing cells (csv.missing) choose "drop" to leave such rows out, "zero" to keep them (0 for numbers, a category of its own for text), or "indicator" to have a feature say where a number is missing, too; or declare the column ignored.`}
}

// MostExact is the least whole number that may share its float32 with the next.
const MostExact = 1 << 24

func columnList(columns []data.Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return data.List(names)
}
