package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"clipscope/core/data"
	"clipscope/core/data/source"
)

// Load reads tables of text into a data set, and says in the report what their columns were taken for.
// Test may have no files. The error is a [*data.Error], or that of the reading's context.
func Load(in *source.Reading, train, test []source.File) (*data.Dataset, error) {
	ch, err := Choose(in.Options, in.Limits)
	if err != nil {
		return nil, err
	}
	sc, err := scanTables(in, train, ch)
	if err != nil {
		return nil, err
	}
	s, err := decide(in, sc, train[0].Name())
	if err != nil {
		return nil, err
	}
	if err := claimTable(in, train[0].Name(), sc.rows, s); err != nil {
		return nil, err
	}
	s.nameClasses(sc.dialects[0])
	split, err := fillTables(in, train, sc.dialects, s, sc, sc.rows)
	if err != nil {
		return nil, err
	}
	// Where csv.missing drops rows, their categories stay, so that data sets are what they were.
	if r := in.Report; r.BadRows > 0 || r.Dropped > 0 && in.Options.Missing != "drop" {
		s.omitUnused(&split)
	}
	tellMissing(in, s)
	ds := s.dataset()
	ds.Train = split
	if ds.Task == data.Classification && data.AllEqual(ds.Train.Y) {
		return nil, data.OneClass(train[0].Name(), ds.Classes[int(ds.Train.Y[0])])
	}
	if err := tellCopies(in, ds, in.Report.Label); err != nil {
		return nil, err
	}
	if len(test) == 0 {
		return ds, nil
	}
	dialects, rows, err := scanTest(in, test, ch, sc, s)
	if err != nil {
		return nil, err
	}
	ds.Test, err = fillTables(in, test, dialects, s, nil, rows)
	return ds, err
}

func claimTable(in *source.Reading, file string, rows int, s *schema) error {
	return in.Claim(file, int64(rows), int64(s.features), s.rowBytes())
}

// nameClasses takes the names scikit-learn's files give the labels 0, 1, ….
func (s *schema) nameClasses(d *dialect) {
	names := d.classes
	if s.task != data.Classification || !s.numLabels || len(names) != len(s.classes) {
		return
	}
	for i, c := range s.classes {
		if c != fmt.Sprint(i) {
			return
		}
	}
	copy(s.classes, names) // shared with the label's column
}

func (s *schema) dataset() *data.Dataset {
	ds := &data.Dataset{Task: s.task, Features: s.features, Outputs: 1, Columns: s.columns}
	if s.task != data.Regression {
		ds.Classes, ds.Outputs = s.classes, len(s.classes)
	}
	if b := s.columns[s.label].Bounds; b != nil {
		ds.TargetBounds = []data.Bound{*b}
	}
	if s.dense > 0 && len(ds.NumericFeatures()) == 0 && data.Vocabulary(ds.Columns) == 0 {
		ds.Bounds = ds.KnownBounds()
	}
	return ds
}

// scanTest counts the rows of the test files, learns their dialects and their
// missing cells.
func scanTest(in *source.Reading, files []source.File, ch Choices, sc *scan, s *schema) (dialects []*dialect, rows int, err error) {
	missingCells := 0
	for _, f := range files {
		t, err := Open(in, f, source.PhaseScan, ch, nil)
		if err != nil {
			return nil, 0, err
		}
		n, m, err := countTable(in, t, f, sc, s)
		learnEncoding(in, t)
		t.Close()
		if err != nil {
			return nil, 0, err
		}
		dialects = append(dialects, t.dialect)
		rows += n
		missingCells += m
	}
	if rows == 0 {
		return nil, 0, &data.Error{File: files[0].Name(), Expected: "rows of data", Got: "none", Fix: "Choose a test file that has rows, or none."}
	}
	if err := claimTable(in, files[0].Name(), rows, s); err != nil {
		return nil, 0, err
	}
	in.Report.Missing += missingCells
	return dialects, rows, nil
}

func countTable(in *source.Reading, t *Table, f source.File, sc *scan, s *schema) (rows, missingCells int, err error) {
	if err := sc.joins(t); err != nil {
		return 0, 0, err
	}
	for {
		cells, line, err := t.Next()
		if err == io.EOF {
			return rows, missingCells, nil
		}
		if err == nil {
			err = sc.start(t, cells, line)
		}
		if err != nil {
			return 0, 0, err
		}
		rows++
		if err := in.Room(t.name, int64(rows), int64(s.features), s.rowBytes()); err != nil {
			return 0, 0, err
		}
		for i, c := range cells {
			if !s.columns[i].Used() || !s.gone(i, c) {
				continue
			}
			if missingCells++; in.Options.Missing != "drop" && !keepsMissing(in) {
				return 0, 0, missingValue(cell{f, line, c}, i, s.columns[i].Name)
			}
		}
	}
}

// filler writes rows of a table into a Split.
type filler struct {
	*source.Reading
	*schema
	split   data.Split
	test    bool
	dropped int
	bad     BadRows
	unseen  []unseen    // by column
	points  bool        // a label of this file ended with a point
	plain   []bool      // columns of which a plain number is a feature as it is
	done    []bool      // columns that are written at a glance in this row
	places  []int32     // of the row's cells among the listed values of their columns, −1 for none; nil where they are not known
	marks   [][]mark    // by column and place
	words   []data.Word // features of a row's texts
}

// quickly writes the feature of a cell of a plain column that is a number of digits and a mark, without a unit, and reports
// whether it is one. The feature is that of [schema.feature].
func (f *filler) quickly(x []float32, i int, c string) bool {
	if !f.plain[i] || c == "" {
		return false
	}
	v, ok := quick(c, f.styles[i].decimal)
	if ok {
		x[f.columns[i].First] = float32(v - f.columns[i].Offset)
	}
	return ok
}

// readsPlainly reports whether a plain number in column i is a feature less an offset: numbers without a unit are such as
// the column has, and none is a date or a time.
func (s *schema) readsPlainly(i int) bool {
	col := &s.columns[i]
	return col.Kind == data.Numeric && col.Date == "" && col.Time == "" && col.Clock == 0 && (col.Units == nil || slices.Contains(col.Units, ""))
}

// unseen counts the cells of a column whose category no training row has.
type unseen struct {
	cells int
	first string
}

// fillTables reads rows as features. sc is the scan of files to train on, whose rows are taken if it has kept them; it is
// nil for those to test on.
func fillTables(in *source.Reading, files []source.File, dialects []*dialect, s *schema, sc *scan, rows int) (data.Split, error) {
	test := sc == nil
	f := &filler{Reading: in, schema: s, test: test, unseen: make([]unseen, len(s.columns))}
	f.plain, f.done = make([]bool, len(s.columns)), make([]bool, len(s.columns))
	for i := range f.plain {
		f.plain[i] = s.readsPlainly(i)
	}
	f.split.F32 = make([]float32, rows*s.dense)
	f.split.Y = make([]float32, rows*s.targets())
	if len(s.texts) > 0 {
		f.split.Words = make([][]data.Word, rows)
	}
	if n := len(s.texts); n > 0 && n <= data.MostTexts {
		f.split.Text = make([]string, rows*n)
	}
	var err error
	if sc != nil && sc.kept != nil {
		err = f.keptTables(files, sc)
	} else {
		err = f.tables(files, dialects, rows)
	}
	if err != nil {
		return data.Split{}, err
	}
	if f.bad.Count > rows/2 {
		return data.Split{}, &data.Error{File: files[0].Name(), Expected: "most rows to be readable", Got: fmt.Sprintf("%d rows that are not (the first: %s)", f.bad.Count, f.bad.First.Fault()),
			Fix: advice(files[0], "Choose the delimiter, the header or the kinds of the columns.", "Choose the kinds of the columns.")}
	}
	n := f.split.N
	if n == 0 {
		return data.Split{}, &data.Error{File: files[0].Name(), Expected: "rows without missing cells", Got: "none: every row was dropped",
			Fix: `Choose "zero" for missing cells, or ignore the columns that have them.`}
	}
	f.split.F32, f.split.Y = f.split.F32[:n*s.dense:n*s.dense], f.split.Y[:n*s.targets():n*s.targets()]
	if f.split.Words != nil {
		f.split.Words = f.split.Words[:n:n]
	}
	if f.split.Text != nil {
		f.split.Text = f.split.Text[: n*len(s.texts) : n*len(s.texts)]
	}
	what := "training"
	if test {
		what = "test"
	}
	if f.bad.Count > 0 {
		in.Report.BadRows += f.bad.Count
		why := "they cannot be read. The first"
		if f.bad.Count == 1 {
			why = "it cannot be read"
		}
		in.Warn("%s left out because %s: %s.", rowsAre(f.bad.Count, what), why, f.bad.First.Fault())
	}
	if f.dropped > 0 {
		in.Report.Dropped += f.dropped
		in.Warn("%s left out because of missing cells.", rowsAre(f.dropped, what))
	}
	for i, u := range f.unseen {
		if u.cells > 0 {
			in.Warn("Test rows: category %s of %s is not among the training rows; it counts as none (zeros), as do %d cells of the column in all.",
				data.Quote(u.first), data.Shorten(s.columns[i].Name), u.cells)
		}
	}
	return f.split, nil
}

// tables fills rows from files, which have so many.
func (f *filler) tables(files []source.File, dialects []*dialect, rows int) error {
	seen := 0
	for i, file := range files {
		t, err := Open(f.Reading, file, source.PhaseRead, Choices{}, dialects[i])
		if err != nil {
			return err
		}
		t.bad = f.badRows()
		n, err := f.table(t, rows-seen)
		t.Close()
		if err != nil {
			return err
		}
		seen += n
	}
	if seen != rows {
		return source.Changed(files[0].Name())
	}
	return nil
}

// table fills rows from one file, which has at most most of them, and returns their number.
func (f *filler) table(t *Table, most int) (int, error) {
	f.points = false
	for rows := 0; ; rows++ {
		cells, line, err := t.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
		if rows == most || len(cells) != len(f.columns) {
			return 0, source.Changed(t.name)
		}
		if err := f.row(t.name, cells, line); err != nil && !t.bad.take(err) {
			return 0, err
		}
	}
}

// row writes one row, unless a missing cell drops it.
func (f *filler) row(file string, cells []string, line int) error {
	n := f.split.N
	x := f.split.F32[n*f.dense : (n+1)*f.dense]
	clear(x) // of what a bad row has left
	keeps := keepsMissing(f.Reading)
	for i, c := range cells {
		if f.done[i] = f.quickly(x, i, c) || f.marked(x, i); f.done[i] {
			continue
		}
		if f.columns[i].Used() && (f.columns[i].Kind == data.Label || !keeps) && f.gone(i, c) {
			f.dropped++
			return nil
		}
	}
	y := f.split.Y[n*f.targets() : n*f.targets()]
	for i, c := range cells {
		if f.done[i] {
			if f.columns[i].Kind == data.Label {
				y = append(y, f.marks[i][f.places[i]].value)
			}
			continue
		}
		var err *data.Error
		switch known := true; f.columns[i].Kind {
		case data.Numeric, data.Categorical:
			if known, err = f.feature(x, i, c); !known {
				f.unknown(i, c)
			} else if err == nil {
				f.learn(x, i)
			}
		case data.Letters, data.Words:
			f.tokens(x, i, c)
		case data.Label:
			var v float32
			v, err = f.labelled(file, i, c)
			y = append(y, v)
			if err == nil {
				f.learnTarget(i, c, v)
			}
		}
		if err != nil {
			err.File, err.Row = file, line
			return err
		}
	}
	f.addTexts(n, cells)
	if f.Taken.Bytes > f.Limits.Bytes { // of no row by itself: none may be skipped for what others have
		return &data.Error{File: file, Expected: fmt.Sprintf("at most %d MB of data", f.Limits.Bytes>>20), Got: "texts that are longer together", Fix: "Use fewer rows, or shorter texts."}
	}
	f.split.N++
	return nil
}

// addTexts writes the features of row n's texts, and these where a backbone may read it. It counts their bytes among
// those that data may take.
func (f *filler) addTexts(n int, cells []string) {
	if len(f.texts) == 0 {
		return
	}
	f.words = f.words[:0]
	for _, i := range f.texts {
		f.words = f.hash(f.words, i, cells[i])
	}
	f.split.Words[n] = slices.Clone(f.words)
	f.Taken.Bytes += int64(len(f.words)) * int64(unsafe.Sizeof(data.Word{}))
	if f.split.Text == nil {
		return
	}
	for k, i := range f.texts {
		s := Text(cells[i])
		f.split.Text[n*len(f.texts)+k] = strings.Clone(s)
		f.Taken.Bytes += int64(len(s))
	}
}

// unknown counts a cell whose category no training row has.
func (f *filler) unknown(i int, s string) {
	u := &f.unseen[i]
	if u.cells++; u.cells == 1 {
		u.first = strings.Clone(data.Clip(s, MostShown))
	}
}

// labelled returns the target that a cell of label column i names.
func (f *filler) labelled(file string, i int, s string) (float32, *data.Error) {
	if f.labels != nil {
		return f.flag(i, s)
	}
	y, point, err := f.target(s)
	if point && !f.points {
		f.Warn("%s: labels end with a point, which is left out.", data.Shorten(file))
		f.points = true
	}
	return y, err
}

// rowsAre returns the beginning of a sentence about n rows.
func rowsAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " row is"
	}
	return fmt.Sprintf("%d %s rows are", n, what)
}
