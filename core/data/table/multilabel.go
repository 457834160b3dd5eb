package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// labelled is the declared kind of the columns that hold the labels of multi-label data.
const labelled = "label"

// Names of no and yes, as a label column's Categories have them.
var (
	zeroOne  = []string{"0", "1"}
	minusOne = []string{"-1", "1"}
)

// checkLabelKinds refuses label columns beside a task that has one label a row.
func checkLabelKinds(opt run.CSV) error {
	for _, kind := range opt.Columns {
		if kind == labelled && opt.Task != "" && opt.Task != string(data.MultiLabel) {
			return data.BadOption("columns", fmt.Sprintf("without %q, which is a column of multi-label data: %s names its one label in csv.label", labelled, opt.Task), labelled)
		}
	}
	return nil
}

// MultiLabel reports whether the options ask for several labels a row.
func MultiLabel(opt run.CSV) bool {
	if opt.Task == string(data.MultiLabel) {
		return true
	}
	for _, kind := range opt.Columns {
		if kind == labelled {
			return opt.Task == ""
		}
	}
	return false
}

// LabelColumns returns the places of the label columns of multi-label data among names, in the order of the
// table: those that csv.columns declares, and the one that csv.label names. It is empty where none is named.
func LabelColumns(opt run.CSV, names []string) []int {
	var at []int
	numbered := !slices.Contains(names, opt.Label)
	for i, name := range names {
		if opt.Columns[name] == labelled || opt.Label != "" && (opt.Label == name || numbered && opt.Label == strconv.Itoa(i+1)) {
			at = append(at, i)
		}
	}
	return at
}

// OneLabel returns the error of multi-label data with a single label.
func OneLabel(file, name string) error {
	return &data.Error{File: file, ColumnName: name, Expected: "at least two labels a row for multi-label data", Got: "one",
		Fix: `Declare the other label columns "label" too. One label alone is classification with two classes: leave the task out, and choose it as the label column.`}
}

// TooManyLabels returns the error of more labels a row than most.
func TooManyLabels(file string, most, got int) error {
	return &data.Error{File: file, Expected: fmt.Sprintf("at most %d labels a row", most), Got: fmt.Sprint(got), Fix: "Use fewer labels."}
}

// Flag reads a cell of a label column: 1 for yes, 0 for no. Signed columns have -1 for no, and no 0. ok is false for all else,
// such as an empty cell.
func Flag(cell string, signed bool) (y float32, ok bool) {
	switch {
	case strings.EqualFold(cell, "true"):
		return 1, true
	case strings.EqualFold(cell, "false"):
		return 0, true
	case cell == "" || strings.Trim(cell, "+-.,01") != "":
		return 0, false
	}
	if i := strings.IndexAny(cell, ".,"); i >= 0 && len(cell)-i-1 == 3 {
		return 0, false // 1,000 may be a thousand
	}
	v, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	switch {
	case err != nil:
		return 0, false
	case v == 1:
		return 1, true
	case v == 0 && !signed, v == -1 && signed:
		return 0, true
	}
	return 0, false
}

// SignedFlags reports whether all cells are -1 or 1, and some are -1: then -1 says no, as in CelebA's table.
// Beside a 0, -1 says something else.
func SignedFlags(cells func(yield func(string) bool)) bool {
	minus := false
	for c := range cells {
		if _, ok := Flag(c, true); !ok {
			return false
		}
		minus = minus || strings.HasPrefix(c, "-")
	}
	return minus
}

// TellSigned says that label columns have -1 for no.
func TellSigned(in *source.Reading) { in.Warn("In the label columns -1 is read as no, and 1 as yes.") }

// BadFlag returns the error of a cell that says neither yes nor no.
func BadFlag(file string, row, column int, name, cell string, signed bool) *data.Error {
	want := "a label of 0 or 1"
	if signed {
		want = "a label of -1 or 1, as the rest of the table has"
	}
	return &data.Error{File: file, Row: row, Column: column, ColumnName: name, Expected: want, Got: data.Quote(cell),
		Fix: "Write 0 for no and 1 for yes, or " + data.SkipRows + "."}
}

// findLabels finds the label columns of multi-label data.
func findLabels(in *source.Reading, s *schema, file string) error {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.Name
	}
	s.labels = LabelColumns(in.Options, names)
	switch n := len(s.labels); {
	case n == 0:
		return &data.Error{File: file, Expected: `the label columns of multi-label data, declared "label" in csv.columns`, Got: "none",
			Fix: `Declare each label column "label". The table has ` + columnList(s.columns) + "."}
	case n > in.Limits.Classes:
		return TooManyLabels(file, in.Limits.Classes, n)
	}
	s.label, s.task = s.labels[0], data.MultiLabel
	return nil
}

// decideLabels decides how the label columns say yes and no.
func decideLabels(in *source.Reading, sc *scan, s *schema, file string) error {
	in.Report.Task = s.task
	if len(s.labels) == 1 {
		return OneLabel(file, s.columns[s.label].Name)
	}
	s.signed = SignedFlags(func(yield func(string) bool) {
		for _, i := range s.labels {
			if sc.columns[i].distinct == nil && !yield("?") {
				return
			}
			for c := range sc.columns[i].distinct {
				if !yield(c) {
					return
				}
			}
		}
	})
	says := zeroOne
	if s.signed {
		says = minusOne
		TellSigned(in)
	}
	for _, i := range s.labels {
		s.columns[i].Categories = says
		s.classes = append(s.classes, s.columns[i].Name)
	}
	return nil
}

// isLabel reports whether column i holds a label.
func (s *schema) isLabel(i int) bool {
	if s.labels != nil {
		return slices.Contains(s.labels, i)
	}
	return i == s.label
}

// targets returns the number of targets of a row.
func (s *schema) targets() int { return max(1, len(s.labels)) }

// flag returns the target of cell c in label column i. The error names no file and no row.
func (s *schema) flag(i int, c string) (float32, *data.Error) {
	if y, ok := Flag(c, s.signed); ok {
		return y, nil
	}
	return 0, BadFlag("", 0, i+1, s.columns[i].Name, c, s.signed)
}

// learnLabels takes the label columns of a model of several labels a row, of which each is a class.
func (s *schema) learnLabels() error {
	if s.task != data.MultiLabel || s.label < 0 {
		return nil
	}
	if len(s.labels) != len(s.classes) {
		return fmt.Errorf("data: %d label columns for %d labels", len(s.labels), len(s.classes))
	}
	for k, i := range s.labels {
		col := &s.columns[i]
		if col.Name != s.classes[k] {
			return fmt.Errorf("data: column %d (%s) is label %d, which is called %s", i+1, data.Quote(col.Name), k+1, data.Quote(s.classes[k]))
		}
		signed := slices.Equal(col.Categories, minusOne)
		if !signed && !slices.Equal(col.Categories, zeroOne) || k > 0 && signed != s.signed {
			return fmt.Errorf("data: column %d (%s) says no and yes as %s", i+1, data.Quote(col.Name), data.List(col.Categories))
		}
		s.signed = signed
	}
	return nil
}

// Labels returns the indices of the label columns, in the order of the table; none where there are none.
func (e *Encoder) Labels() []int {
	if e.s.labels == nil && e.s.label >= 0 {
		return []int{e.s.label}
	}
	return e.s.labels
}

// Targets returns the targets of a row of a model of several labels: for each the cell that [Encoder.Labels]
// places. The error is like that of [Encoder.Target].
func (e *Encoder) Targets(cells []string) ([]float32, error) {
	y := make([]float32, len(e.s.labels))
	for k, i := range e.s.labels {
		c := strings.TrimSpace(cells[i])
		if e.s.gone(i, c) {
			return nil, &data.Error{Column: i + 1, ColumnName: e.s.columns[i].Name, Expected: "a label", Got: "none", Fix: "Fill in the label, or leave the row out."}
		}
		v, err := e.s.flag(i, c)
		if err != nil {
			return nil, err
		}
		y[k] = v
	}
	return y, nil
}

// rowBytes is the memory, in bytes, of a row's features and targets.
func (s *schema) rowBytes() int64 {
	n := 4*int64(s.dense) + 4*int64(s.targets()-1) + source.RowOverhead
	if len(s.texts) > 0 { // and by row what its texts take
		n += source.TextOverhead
	}
	return n
}

// FlagColumns returns label columns of these names, which have 0 for no and 1 for yes.
func FlagColumns(names []string) []data.Column {
	all := make([]data.Column, len(names))
	for k, name := range names {
		all[k] = data.Column{Name: name, Kind: data.Label, First: -1, Categories: zeroOne}
	}
	return all
}

// tellLabels warns of columns from which nearly the whole of a label follows, as tell does of one label.
func (c *comparison) tellLabels(ds *data.Dataset) error {
	one := &data.Dataset{Task: data.Classification, Features: ds.Features, Columns: ds.Columns, Classes: zeroOne, Train: ds.Train}
	one.Train.Y = make([]float32, ds.Train.N)
	for k, name := range ds.Classes {
		if ok, err := c.spend(ds.Train.N); !ok || err != nil {
			return err
		}
		for i := range one.Train.Y {
			one.Train.Y[i] = ds.Train.Y[i*ds.Outputs+k]
		}
		if err := c.tell(one, name); err != nil {
			return err
		}
	}
	return nil
}
