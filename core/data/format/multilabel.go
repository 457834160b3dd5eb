package format

import (
	"fmt"
	"slices"
	"strings"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
)

// multiLabel reports whether the targets are several labels a row: they are where the options say so, and where
// a row of zeros and ones has other than one 1.
func (t *npyTargets) multiLabel(in *source.Reading, y *npyArray) (bool, error) {
	asked := table.MultiLabel(in.Options)
	switch {
	case asked && t.width == 1:
		return false, &data.Error{File: y.file.Name(), Expected: "at least two labels a row for multi-label data", Got: y.head.String(),
			Fix: "Leave the task out: one label is classification with two classes."}
	case t.width > 1 && t.words != nil:
		return false, &data.Error{File: y.file.Name(), Expected: "several labels a row as numbers, 0 for no and 1 for yes", Got: "text (" + y.head.String() + ")",
			Fix: "Save them as 0 and 1, with a column for each label."}
	case asked:
		if len(y.head.shape) != 2 {
			return false, &data.Error{File: y.file.Name(), Expected: "labels of the shape [rows × labels]", Got: y.head.String(), Fix: "Reshape the array."}
		}
		return true, t.checkFlags(y)
	case in.Options.Task != "" || t.width == 1 || t.onehot || len(y.head.shape) != 2 || t.checkFlags(y) != nil:
		return false, nil
	}
	in.Doubt("%s is taken as %d labels a row, each 0 for no or 1 for yes. Choose regression as the task if they are quantities.", data.Shorten(y.name), t.width)
	return true, nil
}

// checkFlags refuses targets that are neither 0 nor 1.
func (t *npyTargets) checkFlags(y *npyArray) error {
	if i := slices.IndexFunc(t.values, func(v float32) bool { return v != 0 && v != 1 }); i >= 0 {
		e := table.BadFlag(y.file.Name(), i/t.width+1, i%t.width+1, "", t.number(i), false)
		e.Fix = "Save 0 for no and 1 for yes."
		return e
	}
	return nil
}

// number returns target i as text.
func (t *npyTargets) number(i int) string { return fmt.Sprint(t.values[i]) }

// labelNames returns the names of labels: those of an array of names, or else label 1, label 2 and so on.
func labelNames(in *source.Reading, p npyPair, n int) ([]string, error) {
	names := make([]string, n)
	for k := range names {
		names[k] = fmt.Sprintf("label %d", k+1)
	}
	if p.names == nil {
		return names, nil
	}
	if have := p.names.head.shape[0]; have != n {
		return nil, &data.Error{File: p.names.file.Name(), Expected: fmt.Sprintf("%d names, one for each label", n), Got: fmt.Sprint(have), Fix: "Correct the names, or leave their array out."}
	}
	seen := map[string]bool{}
	for i := range min(p.x.head.row(), in.Limits.Columns) {
		seen[data.Nameless(i)] = true // a feature's
	}
	return names, readArray(in, p.names, rowMajor(p.names.head.shape), func(at int, b []byte) error {
		name := p.names.head.word(b)
		if name == "" || seen[name] || len(name) > in.Limits.Category {
			return &data.Error{File: p.names.file.Name(), Row: at + 1, Expected: fmt.Sprintf("another name for each label, of at most %d bytes", in.Limits.Category), Got: data.Quote(name), Fix: "Correct the name."}
		}
		seen[name], names[at] = true, name
		return nil
	})
}

// flagTable holds what tables beside pictures say of several labels a picture. The label of a picture is then
// a byte for each: [flagNo], [flagYes] or [flagMinus].
type flagTable struct {
	names  []string
	from   string // the table that named them
	zero   *flagCell
	minus  *flagCell
	reason error // why the first of the tables that are not used is none
}

// flagCell is the place of a cell.
type flagCell struct {
	file        string
	row, column int
	name, text  string
}

func (c *flagCell) bad(signed bool) error {
	return table.BadFlag(c.file, c.row, c.column, c.name, c.text, signed)
}

const (
	flagNo    = '0'
	flagYes   = '1'
	flagMinus = '-'
)

// writeFlags writes the targets that a picture's label stands for. A minus is no.
func writeFlags(y []float32, label string) {
	for k := range y {
		y[k] = 0
		if label[k] == flagYes {
			y[k] = 1
		}
	}
}

// columns returns the label columns of a table whose first rows are given: those that are declared, or all but that
// of the names. There are none where the table is about something else, for a reason.
func (t *flagTable) columns(in *source.Reading, of *table.Table, rows [][]string, nameAt int) (at []int, reason error) {
	declared := len(table.LabelColumns(in.Options, of.Names())) > 0
	for _, kind := range in.Options.Columns {
		declared = declared || kind == string(data.Label)
	}
	if declared {
		at = slices.DeleteFunc(table.LabelColumns(in.Options, of.Names()), func(i int) bool { return i == nameAt })
		for name, kind := range in.Options.Columns {
			if kind == string(data.Label) && !slices.Contains(of.Names(), name) {
				return nil, &data.Error{File: of.Name(), ColumnName: name, Expected: "a label column of this name, as csv.columns declares it", Got: "the columns " + data.List(of.Names()), Fix: "Correct csv.columns."}
			}
		}
	} else {
		for i := range of.Width() {
			if i != nameAt {
				at = append(at, i)
			}
		}
	}
	if len(at) == 1 {
		return nil, table.OneLabel(of.Name(), nameOf(of, at[0]))
	}
	if len(at) > in.Limits.Classes {
		return nil, table.TooManyLabels(of.Name(), in.Limits.Classes, len(at))
	}
	if !declared { // a table of anything else has other cells there
		for _, row := range rows {
			for _, i := range at {
				_, signed := table.Flag(row[i], true)
				if _, ok := table.Flag(row[i], false); !ok && !signed && row[i] != "" {
					return nil, &data.Error{File: of.Name(), Column: i + 1, ColumnName: nameOf(of, i), Expected: "labels of 0 or 1 in all columns but that of the pictures' names", Got: data.Quote(row[i]),
						Fix: `Declare the label columns "label" in csv.columns.`}
				}
			}
		}
	}
	return at, nil
}

// nameOf returns the name of column i of a table.
func nameOf(t *table.Table, i int) string {
	if names := t.Names(); names != nil {
		return names[i]
	}
	return data.Nameless(i)
}

// taker returns what gives pictures the labels in a row of a table; nil where the table is about something else,
// which is said.
func (t *flagTable) taker(l *labelling, f source.File, of *table.Table, rows [][]string, nameAt int) (func(cells []string, line int) error, error) {
	in := l.in
	if nameAt < 0 {
		in.Warn("%s names none of the pictures, and is not used.", data.Shorten(f.Name()))
		return nil, nil
	}
	at, reason := t.columns(in, of, rows, nameAt)
	if reason != nil {
		if t.reason == nil {
			t.reason = reason
		}
		in.Warn("%s is not used. %s", data.Shorten(f.Name()), strings.TrimPrefix(reason.Error(), "data: "))
		return nil, nil
	}
	var names []string
	for _, i := range at {
		names = append(names, strings.Clone(nameOf(of, i)))
	}
	if t.names == nil {
		t.names, t.from = names, f.Name()
	}
	if !slices.Equal(names, t.names) {
		return nil, &data.Error{File: f.Name(), Expected: "the label columns of " + data.Shorten(t.from) + ": " + data.List(t.names), Got: data.List(names), Fix: "Give tables with the same columns, in the same order."}
	}
	return func(cells []string, line int) error {
		i, how, ok, err := l.find(cells[nameAt], line)
		if !ok || err != nil {
			return err
		}
		label, err := t.label(f.Name(), cells, at, line)
		if err != nil && in.Options.BadRows != "skip" { // or the picture has no label
			return err
		}
		return l.put(i, how, label, line)
	}, nil
}

// label returns the label of the picture in a row; without the mark of a table where a cell says neither yes nor no.
func (t *flagTable) label(file string, cells []string, at []int, line int) (string, error) {
	flags := make([]byte, len(at))
	for k, i := range at {
		here := &flagCell{file, line, i + 1, t.names[k], strings.Clone(data.Clip(cells[i], table.MostShown))}
		y, ok := table.Flag(cells[i], false)
		_, minus := table.Flag(cells[i], true)
		switch {
		case ok && y == 1:
			flags[k] = flagYes
		case ok:
			flags[k] = flagNo
			if t.zero == nil {
				t.zero = here
			}
		case minus:
			flags[k] = flagMinus
			if t.minus == nil {
				t.minus = here
			}
		default:
			return "", here.bad(false)
		}
	}
	return fromTable + string(flags), nil
}

// settle decides whether -1 says no, after all tables have been read.
func (t *flagTable) settle(in *source.Reading, f source.File, used bool) error {
	switch {
	case !used && t.reason != nil:
		return t.reason
	case !used:
		return &data.Error{File: f.Name(), Expected: "a table beside the pictures with a column of their names and columns of labels, each 0 or 1", Got: "none",
			Fix: "Add such a table (CSV), or leave the task out where folders say what pictures show."}
	case t.minus != nil && t.zero != nil:
		return t.minus.bad(false)
	case t.minus != nil:
		table.TellSigned(in)
	}
	return nil
}
