package data

import (
	"slices"

	"clipscope/core/run"
)

// Meta is the public part of a data set: all of it but its rows, of which only the
// number is known.
type Meta struct {
	Name     string
	Task     Task
	Features int
	Shape    []int // as [Dataset.Shape]
	Outputs  int
	Columns  []Column
	Bounds   []Bound
	// TargetBounds are as those of [Dataset]; left out where there are none, as they were not
	// there when the first runs were stored.
	TargetBounds []Bound       `json:",omitempty"`
	Backbone     *run.Backbone // as [Dataset.Backbone]
	ByClass      bool          // as [Dataset.ByClass]
	// Lopsided says that one class has more than [MostOfOneClass] of the rows to train on. It
	// names no data: runs of before it was known go on.
	Lopsided bool    `json:"-"`
	HeldOut  HeldOut `json:"-"` // as [Dataset.HeldOut]; csv.hold_out has it already
	// Rows of either split, and the bytes that a feature of one takes.
	TrainRows, TestRows, FeatureBytes int
}

// Meta describes the data set.
func (d *Dataset) Meta() Meta {
	m := Meta{
		Name: d.Name, Task: d.Task, Features: d.Features, Shape: d.Shape, Outputs: d.Outputs, Columns: d.Columns, Bounds: d.Bounds, TargetBounds: d.TargetBounds, Backbone: d.Backbone, ByClass: d.ByClass, HeldOut: d.HeldOut,
		TrainRows: d.Train.N, TestRows: d.Test.N, FeatureBytes: 4,
	}
	if d.Train.U8 != nil {
		m.FeatureBytes = 1
	}
	if d.Task == Classification {
		m.Lopsided = d.lopsided()
	}
	return m
}

// MostOfOneClass is the share of the rows above which all other classes together are rare:
// an accuracy then tells next to nothing of them.
const MostOfOneClass = 0.8

func (d *Dataset) lopsided() bool {
	rows := make([]int, d.Outputs)
	for _, y := range d.Train.Y {
		if class := int(y); class >= 0 && class < len(rows) {
			rows[class]++
		}
	}
	return float64(slices.Max(append(rows, 0))) > MostOfOneClass*float64(d.Train.N)
}

// Declared is m with everything that depends on how many rows there are replaced by what
// follows from a declared number of rows to train on. Where there are test rows it has a quarter as
// many, as though a fifth of all rows had been held out.
//
// Guarantee: of two data sets that differ in one row to train on, with the same classes,
// columns and categories, it is the same.
func (m Meta) Declared(rows int) Meta {
	m.TrainRows = rows
	if m.TestRows > 0 {
		m.TestRows = max(1, rows/4)
	}
	m.Lopsided = false // which one row can decide
	m.Columns = slices.Clone(m.Columns)
	for i := range m.Columns {
		m.Columns[i].Missing = min(m.Columns[i].Missing, 1) // that cells are missing is public
	}
	return m
}

// rowless is a data set without rows, for what asks only what is public.
func (m Meta) rowless() *Dataset {
	return &Dataset{Name: m.Name, Task: m.Task, Features: m.Features, Outputs: m.Outputs, Columns: m.Columns, Bounds: m.Bounds}
}

// TextColumn is the name of the column that is declared text; empty where there is none.
func (m Meta) TextColumn() string {
	if i := TextColumn(m.Columns); i >= 0 {
		return m.Columns[i].Name
	}
	return ""
}

// TargetWidth is that of [Dataset.TargetWidth].
func (m Meta) TargetWidth() int { return m.rowless().TargetWidth() }

// NumericFeatures is that of [Dataset.NumericFeatures].
func (m Meta) NumericFeatures() []int { return m.rowless().NumericFeatures() }

// CheckDeclared is the error of [DeclaredScale], which no row decides.
func (m Meta) CheckDeclared(lo, hi float64) error {
	_, err := DeclaredScale(m.rowless(), lo, hi)
	return err
}

// Facts returns the properties that decide how a run on the data is set up by default.
func (m Meta) Facts() run.Facts {
	f := facts(m.TrainRows, m.Features, m.Outputs, m.Task, m.Shape, m.Columns)
	f.Backbone, f.Declared = m.Backbone != nil, m.TargetBounds != nil
	return f
}

// Facts are those of [Meta.Facts].
func (r *Report) Facts() run.Facts {
	f := facts(r.Rows, r.Features, r.Outputs, r.Task, r.Shape, r.Columns)
	f.Backbone, f.Declared = r.Backbone != nil, r.TargetBounds != nil
	return f
}

func facts(rows, features, outputs int, task Task, shape []int, columns []Column) run.Facts {
	f := run.Facts{Rows: rows, Features: features, Outputs: outputs, Numeric: task == Regression, Picture: len(shape) >= 2, Table: columns != nil}
	for _, c := range columns {
		switch c.Kind {
		case Numeric:
			f.Numbers++
		case Categorical:
			f.Categories++
		}
	}
	if columns == nil {
		f.Numbers = features
	}
	return f
}
