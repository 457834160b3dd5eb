package table

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"clipscope/core/data"
)

// feature writes what a cell of column i, which has features, comes to in a row of
// zeros. known is false for a category that is not among those of the column, which
// leaves zeros. The error names no file and no row.
func (s *schema) feature(x []float32, i int, c string) (known bool, err *data.Error) {
	col := &s.columns[i]
	if col.Kind == data.Categorical {
		return s.category(x[col.First:], i, c), nil
	}
	if s.gone(i, c) {
		x[col.First] = float32(s.fill[i] - col.Offset)
		if col.Indicator > 0 {
			x[col.Indicator] = 1
		}
		return true, nil
	}
	v, err := s.number(i, c)
	if err != nil {
		return true, err
	}
	var clock float32
	if x[col.First], clock = s.near(i, v); col.Clock > 0 {
		x[col.Clock] = clock
	}
	return true, nil
}

// number returns the value of a cell, which float32 can hold.
func (s *schema) number(i int, c string) (float64, *data.Error) {
	v, ok := s.value(i, c)
	if !ok {
		return 0, &data.Error{Column: i + 1, ColumnName: s.columns[i].Name, Expected: s.what(i) + ", as in the training rows",
			Got: data.Quote(c), Fix: "Declare the column categorical, fix the cell, or " + data.SkipRows + "."}
	}
	if math.IsInf(float64(float32(v)), 0) {
		return 0, notFinite("", 0, i, s.columns[i].Name, c)
	}
	return v, s.foreign(i, c)
}

func (s *schema) category(x []float32, i int, c string) (known bool) {
	_, own := s.categories[i][c] // as in a model from before c was a word for a missing cell
	switch n := s.buckets[i]; {
	case missing(c) && !own:
		c = data.MissingCategory
	case n > 0 && !missing(c):
		x[bucket(c, n)] = 1
		return true
	}
	k, known := s.categories[i][c]
	if known {
		x[k] = 1
	}
	return known
}

// target returns the target of a cell in the label's column; point reports that it was taken
// for a class without the point at its end.
func (s *schema) target(c string) (y float32, point bool, err *data.Error) {
	if s.task == data.Regression {
		v, err := s.number(s.label, c)
		return float32(v), false, err
	}
	name, ok := s.canonical(c)
	if k, known := s.index[name]; ok && known {
		return float32(k), false, nil
	}
	if short := strings.TrimSuffix(name, "."); short != name {
		if k, known := s.index[short]; known {
			return float32(k), true, nil
		}
	}
	return 0, false, &data.Error{Column: s.label + 1, ColumnName: s.columns[s.label].Name,
		Expected: "one of the classes " + data.List(s.classes), Got: fmt.Sprintf("%s, which is out of range", data.Quote(c)), Fix: "Correct the label, or remove the row."}
}

// Encoder makes features of a table's cells, as they were made of the rows that a
// model was trained on, of which it knows what is public alone.
//
// Guarantee: each cell is read by itself. It is used by one goroutine at a time.
type Encoder struct{ s schema }

// NewEncoder returns an encoder for the columns of a table, their features, and the classes of its
// label. Its error names the first column that no table could have: features that are
// not all there, or there twice, categories that come twice, numbers in no style that
// is known.
func NewEncoder(task data.Task, columns []data.Column, classes []string, features int) (*Encoder, error) {
	n := len(columns)
	e := &Encoder{schema{columns: columns, label: -1, task: task, classes: classes, features: features,
		styles: make([]style, n), categories: make([]map[string]int, n), buckets: make([]uint32, n), fill: make([]float64, n), noNumbers: make([]bool, n)}}
	e.s.dense = data.Dense(features, columns)
	taken := make([]bool, features)
	names := map[string]bool{}
	for i := range columns {
		if names[columns[i].Name] {
			return nil, fmt.Errorf("data: column %d: the name %s comes twice", i+1, data.Quote(columns[i].Name))
		}
		names[columns[i].Name] = true
		if err := e.add(i, taken); err != nil {
			return nil, fmt.Errorf("data: column %d (%s): %w", i+1, data.Quote(columns[i].Name), err)
		}
	}
	if i := slices.Index(taken, false); i >= 0 {
		return nil, fmt.Errorf("data: feature %d is of no column", i+1)
	}
	if err := e.s.learnLabels(); err != nil {
		return nil, err
	}
	return e, e.s.learnClasses()
}

// add checks column i, and adds it to the encoder.
func (e *Encoder) add(i int, taken []bool) error {
	s, col := &e.s, &e.s.columns[i]
	width := 0
	switch col.Kind {
	case data.Numeric:
		width = 1
		s.noNumbers[i] = true
	case data.Categorical:
		width = len(col.Categories)
	case data.Label:
		if s.label >= 0 && s.task != data.MultiLabel {
			return fmt.Errorf("a second label beside %s", data.Quote(s.columns[s.label].Name))
		}
		if s.task == data.MultiLabel {
			s.labels = append(s.labels, i)
		}
		if s.label < 0 {
			s.label = i
		}
		s.noNumbers[i] = s.task == data.Regression
	case data.Ignored:
	case data.Letters, data.Words:
		width = col.Tokens
		if err := checkSequence(col); err != nil {
			return err
		}
	case data.Text:
		if width = col.Buckets; width < 1 || bits.OnesCount(uint(width)) != 1 || len(col.Categories) > 0 || col.Fill != nil {
			return fmt.Errorf("%d are no power of two of features of texts, or texts have categories", width)
		}
		if col.First < s.dense {
			return fmt.Errorf("features of texts come behind all others, and these begin at %d of %d", col.First+1, s.dense)
		}
		s.texts = append(s.texts, i)
	default:
		return fmt.Errorf("there is no kind of column %s", data.Quote(string(col.Kind)))
	}
	if err := take(taken, col.First, width); err != nil {
		return err
	}
	if col.Indicator != 0 {
		if col.Kind != data.Numeric || col.Fill == nil {
			return fmt.Errorf("only of a number in whose place another stands a feature says that it is missing")
		}
		if err := take(taken, col.Indicator, 1); err != nil {
			return err
		}
	}
	if col.Fill != nil {
		if !(math.Abs(*col.Fill) <= math.MaxFloat32) {
			return fmt.Errorf("%v cannot stand for a missing number", *col.Fill)
		}
		s.fill[i] = *col.Fill
	}
	if err := s.checkUnits(i, taken); err != nil {
		return err
	}
	k := slices.IndexFunc(styles[:], func(st style) bool { return st.named(col) })
	if k < 0 {
		return fmt.Errorf("no numbers are written with %s and %s, or in the order %s", data.Quote(col.Decimal), data.Quote(col.Thousands), data.Quote(col.Date))
	}
	s.styles[i] = styles[k]
	if col.Kind != data.Categorical {
		return nil
	}
	return s.learnCategories(i)
}

// take marks so many features from first on.
func take(taken []bool, first, width int) error {
	if width == 0 {
		return nil
	}
	if first < 0 || width > len(taken) || first > len(taken)-width {
		return fmt.Errorf("features %d to %d are not among the %d", first+1, first+width, len(taken))
	}
	for i := first; i < first+width; i++ {
		if taken[i] {
			return fmt.Errorf("feature %d is of another column as well", i+1)
		}
		taken[i] = true
	}
	return nil
}

// named reports whether a column says of itself that its numbers are in the style.
func (st style) named(col *data.Column) bool {
	if st.date != "" || col.Date != "" {
		return st.date == col.Date && st.date != ""
	}
	mark := func(c byte) string {
		if c == 0 {
			return ""
		}
		return string(rune(c))
	}
	decimal := col.Decimal
	if decimal == "" {
		decimal = "."
	}
	return mark(st.decimal) == decimal && mark(st.thousands) == col.Thousands
}

func (s *schema) learnCategories(i int) error {
	col := &s.columns[i]
	list, from := col.Categories, 0
	if n := col.Buckets; n != 0 {
		// Beside the buckets there may be the category of missing cells.
		if n < 0 || len(list) < n || len(list) > n+1 || len(list) == n+1 && list[n] != data.MissingCategory {
			return fmt.Errorf("%d buckets, and %d names", n, len(list))
		}
		s.buckets[i], from = uint32(n), n
	}
	s.categories[i] = make(map[string]int, len(list)-from)
	for k := from; k < len(list); k++ {
		if _, twice := s.categories[i][list[k]]; twice {
			return fmt.Errorf("the category %s comes twice", data.Quote(list[k]))
		}
		s.categories[i][list[k]] = k
	}
	return nil
}

// learnClasses takes the classes. They count as numbers where all of them are written in the form that this
// package gives numbers.
func (s *schema) learnClasses() error {
	if s.label < 0 || s.task != data.Classification {
		return nil
	}
	s.index = make(map[string]int, len(s.classes))
	s.numLabels = s.columns[s.label].Date == ""
	for i, c := range s.classes {
		name, ok := s.canonical(c)
		s.numLabels = s.numLabels && ok && name == c
		if _, twice := s.index[c]; twice {
			return fmt.Errorf("data: the class %s comes twice", data.Quote(c))
		}
		s.index[c] = i
	}
	return nil
}

// Columns returns the columns that the encoder was made for.
func (e *Encoder) Columns() []data.Column { return e.s.columns }

// Label returns the index of the label's column; -1 where there is none.
func (e *Encoder) Label() int { return e.s.label }

// Features writes a row's dense features to x, of which it has so many, from its cells, one
// for each column, and returns those of its texts; cells of label and ignored columns do not count. unknown are the
// columns with a category that no training row has, which leaves zeros, and gaps those
// without a number, for which [Column.Fill] stands. The error, a
// [*data.Error] without file and row, says which cell cannot be read, or is missing where
// there were no such rows in training.
func (e *Encoder) Features(x []float32, cells []string) (words []data.Word, unknown, gaps []int, err error) {
	clear(x)
	for _, i := range e.s.texts {
		words = e.s.hash(words, i, strings.TrimSpace(cells[i]))
	}
	for i := range e.s.columns {
		col := &e.s.columns[i]
		if col.Kind.IsSequence() {
			e.s.tokens(x, i, strings.TrimSpace(cells[i]))
		}
		if col.Kind != data.Numeric && col.Kind != data.Categorical {
			continue
		}
		c := strings.TrimSpace(cells[i])
		gap := col.Kind == data.Numeric && e.s.gone(i, c)
		if gap && col.Fill == nil {
			return nil, nil, nil, &data.Error{Column: i + 1, ColumnName: col.Name, Expected: e.s.what(i), Got: "a missing cell, and no training row had one",
				Fix: "Fill in the cell, or train on rows with such cells: missing cells as zero or indicator, not drop."}
		}
		known, err := e.s.feature(x, i, c)
		if err != nil {
			err.Fix = e.mend(i, c)
			return nil, nil, nil, err
		}
		if !known {
			unknown = append(unknown, i)
		}
		if gap {
			gaps = append(gaps, i)
		}
	}
	return words, unknown, gaps, nil
}

// Dense returns the number of features that are not of texts.
func (e *Encoder) Dense() int { return e.s.dense }

// mend says what to do about a cell of column i that is no number, or no date, in the
// column's style: where it is one in another, how the column would have it.
func (e *Encoder) mend(i int, c string) string {
	own, kind := e.s.styles[i], "numbers"
	switch {
	case own.date != "":
		kind = "dates"
	case e.s.columns[i].Time != "":
		kind = "times"
	}
	if err := e.s.foreign(i, c); err != nil {
		if _, ok := e.s.value(i, c); ok {
			return err.Fix
		}
	}
	var ways []string
	if t := e.Stored(i, c); e.s.columns[i].Time != "" && t != c {
		ways = append(ways, t)
	}
	for _, st := range styles {
		v, ok := st.parse(c)
		if !ok || v-v != 0 || e.s.columns[i].Time != "" || (st.date != "") != (own.date != "") {
			continue
		}
		if way := data.WithUnit(signOf(c), own.exact(v)); !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return "Correct the cell."
	}
	return fmt.Sprintf("Write %s, as the training rows have their %s.", strings.Join(ways, " or "), kind)
}

// exact returns v with no more digits than it takes to read it again. A whole day is its date alone.
func (st style) exact(v float32) string {
	if st.date != "" {
		return strings.TrimSuffix(st.write(float64(v)), " 00:00:00")
	}
	return strings.Replace(strconv.FormatFloat(float64(v), 'f', -1, 32), ".", string(rune(st.decimal)), 1)
}

// Target returns the target of a cell in the label's column: the number of a class, matched by
// its name, or a number. The error is a [*data.Error], as that of Features.
func (e *Encoder) Target(cell string) (float32, error) {
	cell = strings.TrimSpace(cell)
	if e.s.label < 0 {
		return 0, &data.Error{Expected: "a model with a column of labels", Got: "one without", Fix: "Train on a table."}
	}
	if e.s.gone(e.s.label, cell) {
		return 0, &data.Error{Column: e.s.label + 1, ColumnName: e.s.columns[e.s.label].Name, Expected: "a label", Got: "none", Fix: "Fill in the label, or leave the row out."}
	}
	y, _, err := e.s.target(cell)
	if err != nil {
		return 0, err
	}
	return y, nil
}

// Write returns the text of the number v in column i, which [Encoder.Features] reads as v.
// Of a column of dates v is days since 1970 began, to the second; of one of integers that are times it is such an integer;
// of per cent it is the share.
func (e *Encoder) Write(i int, v float64) string {
	if e.s.columns[i].Kind != data.Numeric {
		return styles[plainPoint].write(v)
	}
	if e.s.columns[i].Time != "" { // as the cells have it
		return e.s.styles[i].write(v)
	}
	return e.s.write(i, v)
}

// write returns the number v in this style, without marks between thousands.
func (st style) write(v float64) string {
	if layout := map[string]string{"ymd": "2006-01-02 15:04:05", "dmy": "02.01.2006 15:04:05", "mdy": "01/02/2006 15:04:05"}[st.date]; layout != "" {
		const day = 24 * 60 * 60
		return time.Unix(int64(math.Round(v*day)), 0).UTC().Format(layout)
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', -1, 64), ".", string(rune(st.decimal)), 1)
}

// Stored converts a cell of column i, of a table that stores numbers and dates as such, to the form
// that the model's table would have. It returns the cell as it is where the column's own style reads
// it, or no style does.
func (e *Encoder) Stored(i int, cell string) string {
	s, kind := &e.s, e.s.columns[i].Kind
	if kind != data.Numeric && !(kind == data.Label && (s.task == data.Regression || s.numLabels)) || s.gone(i, cell) {
		return cell
	}
	plain := styles[plainPoint]
	if s.columns[i].Instants() {
		plain = styles[plainDate]
	}
	v, ok := plain.read(cell)
	sign := signOf(cell)
	if sign == perCent && ok && s.columns[i].Units == nil && s.columns[i].OfNumbers(s.task) { // an older model passes over the sign
		return s.styles[i].write(v / 100)
	}
	_, own := s.styles[i].read(cell)
	switch {
	case own || !ok || v-v != 0:
		return cell
	case s.columns[i].Time != "":
		return s.write(i, v)
	}
	return data.WithUnit(sign, s.styles[i].write(v))
}

// Text returns the text that a backbone reads in a cell: without space around it, and empty where it is missing.
func Text(cell string) string {
	cell = strings.TrimSpace(cell)
	if missing(cell) {
		return ""
	}
	return cell
}

// Missing reports whether a cell says that there is no value.
func Missing(cell string) bool { return missing(strings.TrimSpace(cell)) }
