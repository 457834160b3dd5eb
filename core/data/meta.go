package data

import (
	"slices"

	"clipscope/core/run"
)

// Meta holds the public properties of a data set: everything but its rows, of which only the
// number is known.
type Meta struct {
	Name     string
	Task     Task
	Features int
	Shape    []int // as [Dataset.Shape]
	Outputs  int
	Columns  []Column
	Bounds   []Bound
	// TargetBounds is as [Dataset.TargetBounds]. The JSON of a Meta leaves it out where there are
	// none, as it was written before the field existed: stored runs keep their hash.
	TargetBounds []Bound       `json:",omitempty"`
	Backbone     *run.Backbone // as [Dataset.Backbone]
	ByClass      bool          // as [Dataset.ByClass]
	// Lopsided says that one class has more than [MostOfOneClass] of the rows to train on. It is no
	// part of the JSON, so that runs stored before the field existed go on.
	Lopsided bool `json:"-"`
	// Classes is as [Dataset.Classes], and no part of the JSON either.
	Classes []string `json:"-"`
	HeldOut HeldOut  `json:"-"` // as [Dataset.HeldOut]; csv.hold_out has it already
	// TrainRows and TestRows count the rows of each split; FeatureBytes is the size of a stored feature.
	TrainRows, TestRows, FeatureBytes int
}

// Meta returns the public properties of the data set.
func (d *Dataset) Meta() Meta {
	m := Meta{
		Name: d.Name, Task: d.Task, Features: d.Features, Shape: d.Shape, Outputs: d.Outputs, Columns: d.Columns, Bounds: d.Bounds, TargetBounds: d.TargetBounds, Backbone: d.Backbone, ByClass: d.ByClass, HeldOut: d.HeldOut, Classes: d.Classes,
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

// MostOfOneClass is the largest share of the rows that one class may have. Above it all other classes
// together are rare, and an accuracy says next to nothing about them.
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

// Declared returns m with every value that depends on the number of rows replaced: it then follows from
// rows, the declared number of rows to train on. Where there are test rows, their number becomes a
// quarter of rows, as though a fifth of all rows had been held out.
//
// Guarantee: the result is the same for two data sets that differ in one row to train on and have the
// same classes, columns and categories.
func (m Meta) Declared(rows int) Meta {
	m.TrainRows = rows
	if m.TestRows > 0 {
		m.TestRows = max(1, rows/4)
	}
	m.Lopsided = false // one row can decide it
	m.Columns = slices.Clone(m.Columns)
	for i := range m.Columns {
		m.Columns[i].Missing = min(m.Columns[i].Missing, 1) // that cells are missing is public
	}
	return m
}

// rowless returns a data set without rows, for methods that need only public properties.
func (m Meta) rowless() *Dataset {
	return &Dataset{Name: m.Name, Task: m.Task, Features: m.Features, Outputs: m.Outputs, Columns: m.Columns, Bounds: m.Bounds}
}

// TextNames returns the names of the columns of texts that a backbone may read; nil where there are none or more than
// MostTexts.
func (m Meta) TextNames() (all []string) {
	if at := TextColumns(m.Columns); len(at) <= MostTexts {
		for _, i := range at {
			all = append(all, m.Columns[i].Name)
		}
	}
	return all
}

// Dense is like [Dataset.Dense].
func (m Meta) Dense() int { return Dense(m.Features, m.Columns) }

// TargetWidth returns the number of target values of a row, like [Dataset.TargetWidth].
func (m Meta) TargetWidth() int { return m.rowless().TargetWidth() }

// NumericFeatures returns the indices of numeric features, like [Dataset.NumericFeatures].
func (m Meta) NumericFeatures() []int { return m.rowless().NumericFeatures() }

// Sought is like [Dataset.Sought].
func (m Meta) Sought(features, targets bool) Sought { return m.rowless().Sought(features, targets) }

// CheckDeclared returns the error of [DeclaredScale], which does not depend on rows.
func (m Meta) CheckDeclared(lo, hi float64) error {
	_, err := DeclaredScale(m.rowless(), lo, hi)
	return err
}

// DeclaredBounds returns the bounds of [DeclaredScale]: one where all features have the same.
func (m Meta) DeclaredBounds(lo, hi float64) ([]Bound, error) {
	s, err := DeclaredScale(m.rowless(), lo, hi)
	if err != nil {
		return nil, err
	}
	return s.Bounds(), nil
}

// Facts returns the properties that decide how a run on the data is set up by default.
func (m Meta) Facts() run.Facts {
	f := facts(m.TrainRows, m.Features, m.Outputs, m.Task, m.Shape, m.Columns)
	f.Backbone, f.Declared, f.Tokens = m.Backbone != nil, m.TargetBounds != nil, m.Vocabulary()
	return f
}

// Vocabulary returns the number of different tokens that features are the numbers of; 0 where they are amounts.
func (m Meta) Vocabulary() int { return max(Vocabulary(m.Columns), m.Backbone.KnownTokens()) }

// Facts returns the properties that decide how a run on the data is set up by default, like [Meta.Facts].
func (r *Report) Facts() run.Facts {
	f := facts(r.Rows, r.Features, r.Outputs, r.Task, r.Shape, r.Columns)
	f.Backbone, f.Declared = r.Backbone != nil, r.TargetBounds != nil
	if r.Backbone != nil {
		f.Tokens = r.Backbone.KnownTokens()
	}
	return f
}

func facts(rows, features, outputs int, task Task, shape []int, columns []Column) run.Facts {
	f := run.Facts{Rows: rows, Features: features, Outputs: outputs, Numeric: task == Regression, Labels: task == MultiLabel, Picture: len(shape) >= 2, Table: columns != nil}
	for _, c := range columns {
		switch c.Kind {
		case Numeric:
			f.Numbers++
		case Categorical:
			f.Categories++
		case Text:
			f.Texts++
			f.Hashed += c.Buckets
		}
	}
	f.Tokens = Vocabulary(columns)
	if columns == nil {
		f.Numbers = features
	}
	return f
}
