package data

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MissingCategory is the category of cells without a value where missing cells
// are kept (csv.missing is "zero" or "indicator").
const MissingCategory = "(missing)"

// schema holds the meaning of a table's columns.
type schema struct {
	columns    []Column
	styles     []style // of the columns' numbers
	label      int
	task       Task
	classes    []string       // canonical names, in order of their index
	index      map[string]int // of a class, by canonical name
	numLabels  bool           // labels are numbers: 1 and 1.0 are one class
	categories []map[string]int
	buckets    []uint32  // into which the values of a column are hashed; 0: they are not
	fill       []float32 // what stands for a missing number
	features   int
}

// decide turns what was counted into what the columns mean. It fills the
// report's columns even where it returns an error, so that the page can show them.
func (l *loader) decide(sc *scan, file string) (*schema, error) {
	s := &schema{categories: make([]map[string]int, sc.width), buckets: make([]uint32, sc.width), fill: make([]float32, sc.width)}
	for i := range sc.columns {
		s.columns = append(s.columns, Column{Name: sc.name(i), First: -1, Missing: sc.columns[i].missing})
		s.styles = append(s.styles, styles[sc.columns[i].style])
	}
	l.report.Columns = s.columns
	l.report.Rows = sc.rows
	l.report.Encoding = sc.dialects[0].encoding
	l.report.Delimiter = string(sc.comma)
	l.report.Decimal = string(rune(sc.decimal))
	l.report.Header = sc.names != nil
	p := &l.report.Preview
	p.Rows, p.Numbers, p.Of = sc.preview, sc.numbers, sc.rows
	p.Last, p.LastNumbers = sc.newest()
	if err := l.checkColumnNames(s); err != nil {
		return nil, err
	}
	var err error
	if s.label, err = l.findLabel(sc, s); err != nil {
		return nil, err
	}
	l.report.Label = s.columns[s.label].Name
	var first error // after which the others are shown as they are, all the same
	for i := range sc.columns {
		if err := l.decideColumn(sc, s, i, file); first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	if s.features == 0 && textColumn(s.columns) < 0 {
		return nil, &Error{File: file, Expected: "at least one column of features", Got: "none besides the label and ignored columns",
			Fix: "Declare a column numeric or categorical, or one text that a backbone is to read."}
	}
	if err := l.decideLabel(sc, s, file); err != nil {
		return nil, err
	}
	for i, c := range s.columns {
		if _, ok := l.opt.Bounds[c.Name]; ok && !c.OfNumbers(s.task) {
			fix := "Leave its bounds out, or declare the column numeric."
			if c.Kind == Label {
				fix = "Leave its bounds out, or take regression as the task."
			}
			return nil, &Error{Column: i + 1, ColumnName: c.Name, Expected: "csv.bounds of numeric columns alone", Got: "a column that is " + string(c.Kind), Fix: fix}
		}
	}
	l.readPreview(s)
	return s, l.checkMissing(sc, s)
}

// readPreview says of each cell of the preview what it is read as.
func (l *loader) readPreview(s *schema) {
	p := &l.report.Preview
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
	case !col.read():
		return ""
	case missing(c):
		return MissingCategory
	case col.OfNumbers(s.task):
		v, ok := s.styles[i].parse(c)
		if !ok {
			return "?"
		}
		number := strconv.FormatFloat(float64(v), 'f', -1, 32)
		if s.styles[i].date != "" {
			return time.Unix(int64(math.Floor(float64(v)))*24*60*60, 0).UTC().Format(time.DateOnly) + " = day " + number
		}
		return number
	case col.Kind == Label:
		if name, ok := s.canonical(c); ok {
			return name
		}
		return "?"
	case s.buckets[i] > 0:
		return col.Categories[bucket(c, s.buckets[i])]
	}
	return c
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

func (l *loader) checkColumnNames(s *schema) error {
	known := make(map[string]bool, len(s.columns))
	for _, c := range s.columns {
		known[c.Name] = true
	}
	for field, names := range map[string]iter.Seq[string]{
		"columns": maps.Keys(l.opt.Columns), "bounds": maps.Keys(l.opt.Bounds), "fill": maps.Keys(l.opt.Fill),
	} {
		for name := range names {
			if !known[name] {
				return &Error{ColumnName: name, Expected: "csv." + field + " to name columns of the table", Got: quote(name),
					Fix: "Use the names of the header (or \"column 3\" where there is none)."}
			}
		}
	}
	return nil
}

// labelNames lists the usual names of label columns, the likeliest first.
func labelNames() []string {
	return []string{"label", "labels", "class", "target", "y", "income", "diagnosis", "outcome", "species", "class_label", "output"}
}

// findLabel finds the label column: the chosen one; else one with a usual
// name; else, where the last column holds real numbers and exactly one column
// holds a few texts, that one; else the last with values.
func (l *loader) findLabel(sc *scan, s *schema) (int, error) {
	if want := l.opt.Label; want != "" {
		for i, c := range s.columns {
			if c.Name == want {
				return i, nil
			}
		}
		if n, err := strconv.Atoi(want); err == nil && n >= 1 && n <= len(s.columns) {
			return n - 1, nil
		}
		return 0, &Error{Expected: fmt.Sprintf("csv.label to be a column's name or its number from 1 to %d", sc.width),
			Got: quote(want), Fix: "Choose one of: " + columnList(s.columns) + "."}
	}
	for _, name := range labelNames() {
		for i, c := range s.columns {
			if strings.EqualFold(c.Name, name) {
				return i, nil
			}
		}
	}
	last := sc.width - 1
	for last > 0 && sc.columns[last].cells == 0 { // of rows that end with a delimiter
		last--
	}
	if few := l.fewTexts(sc, s); len(few) == 1 && sc.columns[last].fraction.has(sc.columns[last].style) && sc.names == nil {
		l.warn("Column %d is taken as the label: it is the only one with text. Choose another if that is wrong.", few[0]+1)
		return few[0], nil
	}
	l.warn("The last column (%s) is taken as the label. Choose another if that is wrong.", shorten(s.columns[last].Name))
	return last, nil
}

func (l *loader) fewTexts(sc *scan, s *schema) []int {
	const few = 20
	var at []int
	for i := range sc.columns {
		if c := &sc.columns[i]; l.opt.Columns[s.columns[i].Name] == "" && !c.numeric() && c.texts() > 0 && c.distinct != nil && len(c.distinct) <= few {
			at = append(at, i)
		}
	}
	return at
}

func columnList(columns []Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return list(names)
}

// list names the first few, shortened, and counts the others.
func list(names []string) string {
	const most = 8
	var few []string
	for _, name := range names[:min(len(names), most)] {
		few = append(few, shorten(name))
	}
	if len(names) > most {
		few = append(few, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(few, ", ")
}

func (l *loader) decideColumn(sc *scan, s *schema, i int, file string) error {
	if i == s.label {
		s.columns[i].Kind = Label
		return nil // decideLabel does the rest
	}
	c, col := &sc.columns[i], &s.columns[i]
	col.Kind, col.Text = l.kind(sc, i, col.Name), l.opt.Columns[col.Name] == textual
	switch col.Kind {
	case Numeric:
		if err := l.checkNumeric(c, i, col.Name); err != nil {
			return err
		}
		l.tellStyle(c, col)
		col.First = s.features
		s.features++
		if c.missing > 0 && l.opt.Missing == "indicator" {
			col.Indicator = s.features
			s.features++
		}
		l.declare(s, i)
	case Categorical:
		if l.opt.Columns[col.Name] == bucketed {
			l.listBuckets(c, s, i)
			break
		}
		if c.distinct == nil {
			return &Error{File: file, Column: i + 1, ColumnName: col.Name,
				Expected: fmt.Sprintf("at most %d categories of at most %d bytes", l.limits.categories, l.limits.category), Got: "more, or longer ones", Fix: "Declare the column ignored."}
		}
		l.listCategories(c, s, i)
	}
	if col.Kind == Categorical {
		col.First = s.features
		s.features += len(col.Categories)
	}
	if s.features > l.limits.features {
		return &Error{File: file, Column: i + 1, ColumnName: col.Name,
			Expected: fmt.Sprintf("at most %d features, categories counted", l.limits.features), Got: "more",
			Fix: "Declare columns with many categories, or that do not matter, ignored."}
	}
	return nil
}

// kind decides what a column other than the label is, and warns where that is
// not plain.
func (l *loader) kind(sc *scan, i int, name string) ColumnKind {
	if k, ok := l.opt.Columns[name]; ok {
		switch k {
		case bucketed:
			return Categorical
		case textual:
			return Ignored
		}
		return ColumnKind(k)
	}
	name = shorten(name)
	c := &sc.columns[i]
	switch {
	case c.cells == 0:
		l.warn("%s has no values at all and is ignored.", name)
		return Ignored
	case sc.isID(i):
		l.warn("%s numbers the rows and is ignored; declare it numeric to use it.", name)
		return Ignored
	case c.numeric():
		if c.zeros != nil {
			l.warn("%s is read as numbers, in which the zero in front of %s says nothing; declare it categorical or bucketed if these are codes.", name, quote(c.zeros.text))
		}
		return Numeric
	case c.distinct == nil:
		l.warn("%s is ignored: it has over %d different texts or very long ones, and the list of categories counts as public. Declare it bucketed to use it, or text for a backbone to read.", name, l.limits.categories)
		return Ignored
	case len(c.distinct) == c.cells && sc.rows >= 20:
		l.warn("%s is ignored: all its texts differ, as names do. Declare it text for a backbone to read.", name)
		return Ignored
	case c.numbers() > c.texts():
		mixed := "numbers and text"
		if styles[c.style].date != "" {
			mixed = "dates and what is none in the same notation"
		}
		l.warn("%s mixes %s (such as %s) and is read as categorical.", name, mixed, quote(c.firstText().text))
	}
	if n := len(c.distinct); n > manyCategories {
		l.warn("The %d different texts of %s are its categories, which count as public: every model that is saved has their list. Declare it ignored or bucketed if they say whose a row is.", n, name)
	}
	return Categorical
}

// manyCategories are more than kinds of things usually have, and few enough that a column
// of days, places or names is more.
const manyCategories = 60

// isID reports whether column i only tells rows apart: integers that never
// repeat, under such a name or, without a header, in the first column.
func (sc *scan) isID(i int) bool {
	c := &sc.columns[i]
	return c.ids != nil && c.missing == 0 && c.numbers() >= 2 && (sc.names != nil || sc.rows >= plainIDs)
}

// mayBeID is the half of isID that needs no values.
func (sc *scan) mayBeID(i int) bool {
	if sc.names == nil {
		return i == 0
	}
	switch name := strings.ToLower(sc.names[i]); name {
	case "id", "idx", "index", "rowid", "row_id", "row", "unnamed: 0", "uid", "no", "no.", "#":
		return true
	default:
		numbers := func(end string) bool { return strings.HasSuffix(name, end) }
		return i == 0 && (name == columnName(0) || slices.ContainsFunc([]string{"_id", " id", "number", "nummer", "nr", "nr."}, numbers))
	}
}

// tellStyle notes how the numbers of a column are written, and warns where its
// cells would fit another style as well, in which they mean something else.
func (l *loader) tellStyle(c *tally, col *Column) {
	st := styles[c.style]
	if st.date != "" {
		col.Date = st.date
		if other := c.best(dateStyles&^(1<<c.style), 0); l.opt.Date == "" && c.fit[other] == c.fit[c.style] {
			l.warn("%s: dates are read in the order %s; they could also be %s. Choose the order if that is wrong.", shorten(col.Name), st.date, styles[other].date)
		}
		return
	}
	if st.decimal == '.' && st.thousands == 0 {
		return
	}
	col.Decimal = string(rune(st.decimal))
	if st.thousands != 0 {
		col.Thousands = string(rune(st.thousands))
	}
	others := pointStyles
	if st.decimal == '.' {
		others = commaStyles
	}
	if other := c.best(others, 0); l.opt.Decimal+l.opt.Thousands == "" && c.unclear != nil && c.fit[other] == c.fit[c.style] {
		v, _ := st.parse(c.unclear.text)
		l.warn("%s: %s is read as %s, as goes with the rest of the table. Choose the decimal mark if that is wrong.", shorten(col.Name), quote(c.unclear.text), strconv.FormatFloat(float64(v), 'f', -1, 32))
	}
}

// bound takes the bounds that the user has said of a column, nil for none.
func (l *loader) bound(col *Column) *Bound {
	if b, ok := l.opt.Bounds[col.Name]; ok {
		col.Bounds = (*Bound)(&b)
	}
	return col.Bounds
}

// declare takes what the user has said of numeric column i.
func (l *loader) declare(s *schema, i int) {
	col := &s.columns[i]
	if b := l.bound(col); b != nil {
		s.fill[i] = float32((b.Lo + b.Hi) / 2)
	}
	if v, ok := l.opt.Fill[col.Name]; ok {
		s.fill[i] = float32(v)
	}
	if l.opt.Missing != "indicator" {
		s.fill[i] = 0
	}
	if l.keepsMissing() {
		v := float64(s.fill[i])
		col.Fill = &v
	}
}

// checkNumeric refuses a column of numbers with other cells, unless their rows
// are to be left out.
func (l *loader) checkNumeric(c *tally, i int, name string) error {
	if l.opt.BadRows == "skip" {
		return nil
	}
	if t := c.firstText(); t != nil {
		return &Error{File: t.file.Name(), Row: t.line, Column: i + 1, ColumnName: name, Expected: styles[c.style].what() + ", as in the rest of the column",
			Got: quote(t.text), Fix: "Declare the column categorical, fix the cell, or skip rows that cannot be read."}
	}
	if t := c.infinite; t != nil {
		return notFinite(t.file.Name(), t.line, i, name, t.text)
	}
	return nil
}

func notFinite(file string, line, i int, name, got string) *Error {
	return &Error{File: file, Row: line, Column: i + 1, ColumnName: name, Expected: "a finite number (below 3.4e38)",
		Got: quote(got), Fix: "Fix the cell, or leave it empty and choose what to do with missing cells."}
}

func (l *loader) listCategories(c *tally, s *schema, i int) {
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
	col.Categories, s.categories[i] = l.withMissing(c, names, index), index
}

// withMissing adds the category of missing cells where there are any to keep.
func (l *loader) withMissing(c *tally, names []string, index map[string]int) []string {
	if c.missing == 0 || !l.keepsMissing() {
		return names
	}
	if _, ok := index[MissingCategory]; ok { // cells that say so in these words
		return names
	}
	index[MissingCategory] = len(names)
	return append(names, MissingCategory)
}

func (l *loader) keepsMissing() bool { return l.opt.Missing == "zero" || l.opt.Missing == "indicator" }

func (l *loader) listBuckets(c *tally, s *schema, i int) {
	n := cmp.Or(l.opt.Buckets, defaultBuckets)
	names, index := make([]string, n), map[string]int{}
	for k := range names {
		names[k] = fmt.Sprintf("bucket %d", k+1)
	}
	s.columns[i].Buckets = n
	s.columns[i].Categories, s.categories[i], s.buckets[i] = l.withMissing(c, names, index), index, uint32(n)
}

const defaultBuckets = 32

// decideLabel decides the task and the classes.
func (l *loader) decideLabel(sc *scan, s *schema, file string) error {
	c, col := &sc.columns[s.label], &s.columns[s.label]
	declared := l.opt.Columns[col.Name]
	numbers := c.numeric() && declared != string(Categorical)
	s.task = Task(l.opt.Task)
	if s.task == "" {
		s.task = guessTask(c, numbers)
	}
	if numbers || s.task == Regression {
		if err := l.checkNumeric(c, s.label, col.Name); err != nil {
			return err
		}
		l.tellStyle(c, col)
	}
	l.report.Task = s.task
	if s.task == Regression {
		l.bound(col)
		return nil
	}
	fix := "Choose another label column."
	if numbers {
		fix = "Choose another label column, or regression as the task."
	}
	if c.distinct == nil || len(c.distinct) > l.limits.classes || c.cells >= 20 && len(c.distinct) > c.cells/2 {
		return &Error{File: file, Column: s.label + 1, ColumnName: col.Name, Expected: fmt.Sprintf("a label column with at most %d classes, each in several rows", l.limits.classes),
			Got: "more classes than that", Fix: fix}
	}
	s.numLabels = numbers && styles[c.style].date == ""
	s.listClasses(c)
	if len(s.classes) < 2 {
		only := "no class"
		if sc.names == nil && sc.rows == 1 {
			return &Error{File: file, Expected: "rows of data", Got: "a single row", Fix: "If this is a header, there are no rows under it: choose a file that has some."}
		}
		if len(s.classes) == 1 {
			return oneClass(file, s.classes[0])
		}
		return &Error{File: file, Column: s.label + 1, ColumnName: col.Name, Expected: "labels", Got: only, Fix: "Choose another label column."}
	}
	col.Categories = s.classes
	return nil
}

// guessTask: text names classes; so do a few different integers.
func guessTask(c *tally, numbers bool) Task {
	const few = 20
	if !numbers || c.distinct != nil && !c.fraction.has(c.style) && len(c.distinct) <= few && (len(c.distinct) <= 2 || 2*len(c.distinct) <= c.numbers()) {
		return Classification
	}
	return Regression
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
	case math.Abs(float64(f)) >= mostExact:
		return v, ok && !math.IsInf(float64(f), 0)
	}
	return strconv.FormatFloat(float64(f), 'f', -1, 32), ok && !math.IsInf(float64(f), 0)
}

// checkMissing refuses missing cells unless the user has said what to do, and
// then says where they are.
func (l *loader) checkMissing(sc *scan, s *schema) error {
	total, column := 0, 0
	var first *cell
	var where, kept []string
	for i, c := range s.columns {
		if !c.read() || sc.columns[i].missing == 0 {
			continue
		}
		if total == 0 {
			first, column = sc.columns[i].firstEmpty, i
		}
		total += c.Missing
		where = append(where, fmt.Sprintf("%s (%d)", c.Name, c.Missing))
		if c.Kind == Categorical || c.Indicator > 0 {
			kept = append(kept, c.Name)
		}
	}
	l.report.Missing = total
	if l.keepsMissing() && len(kept) > 0 {
		l.warn("A feature says where a value is missing: of %s. Which columns have missing cells counts as public, like a list of categories.", list(kept))
	}
	if total == 0 || l.opt.Missing == "drop" || l.keepsMissing() {
		return nil
	}
	e := missingValue(*first, column, s.columns[column].Name)
	e.Got += fmt.Sprintf(" (%d missing cells in all: %s)", total, list(where))
	return e
}

func missingValue(at cell, i int, name string) *Error {
	return &Error{File: at.file.Name(), Row: at.line, Column: i + 1, ColumnName: name, Expected: "a value", Got: quote(at.text),
		Fix: `Under Missing cells (csv.missing) choose "drop" to leave such rows out, "zero" to keep them (0 for numbers, a category of its own for text), or "indicator" to have a feature say where a number is missing, too; or declare the column ignored.`}
}
