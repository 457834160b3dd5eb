// Package data holds data sets: rows of features with their targets, and what is public of them.
// Rows are kept in the smallest form they came in, and scaled to float32 one batch at a time.
// Package load makes a [Dataset] of local files, package builtin of seeds.
//
// Everything a Dataset says of itself besides its rows (the list of columns and
// classes, the task, what a column is taken for and how it is written, whether
// cells of it are missing) counts as public; the statement of a run says so.
// What is declared in run.CSV is not looked for in the rows. Nothing
// in this package and those below it looks at the values of training rows to scale them, except
// where a type's comment says that it does and what that costs.
package data

import "clipscope/core/run"

// Task is the kind of the targets, which decides the loss.
type Task string

const (
	Classification Task = "classification" // one class index a row; softmax cross-entropy
	MultiLabel     Task = "multi-label"    // Outputs values of 0 or 1 a row; binary cross-entropy
	Regression     Task = "regression"     // Outputs real values a row; squared loss
)

// Dataset holds the rows that a run trains and is tested on. It is not changed once made.
type Dataset struct {
	Name     string
	Task     Task
	Features int   // columns of a row after one-hot coding, with those of texts, which come last
	Shape    []int // the features' shape where they have one: 28, 28, or 3, 32, 32 for planes of colour; else nil
	// Transform says how pictures were brought to the shape; empty where the files have arrays.
	Transform string
	Outputs   int      // classes, labels or regression targets
	Classes   []string // names of the classes or labels; nil for regression
	Columns   []Column // where the features come from; nil where they have no names
	Bounds    []Bound  // declared, public bounds of each dense feature; nil where none are declared
	// TargetBounds are those of each target of a regression; nil where none are declared.
	TargetBounds []Bound
	// Backbone is what made the features of the rows; nil where they are the rows' own.
	Backbone *run.Backbone
	Train    Split
	Test     Split // N may be 0: then nothing is tested
	// ByClass says that each class gave its share of the rows of Test, which were held out.
	ByClass bool
	// HeldOut says how the rows of Test were chosen from those of the same files.
	HeldOut HeldOut
	// Table has the columns of the table whose texts a backbone made the features of, in the file's order; those that are neither texts nor
	// labels are ignored. It is nil elsewhere.
	Table []Column
}

// The limits on the size of a data set.
const (
	MostFeatures = 1 << 16 // of a row
	MostBytes    = 1 << 30 // of all rows
)

// Bound is the public range a feature is declared to lie in.
type Bound struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Split holds the rows of a data set that are for training, or those for testing: N of them. Exactly one of U8 and F32 is set
// when N > 0; each holds [N×Dense] row-major.
type Split struct {
	N   int
	U8  []uint8   // images as bytes, worth their value 0 … 255
	F32 []float32 // everything else
	// Words holds the features of each row's texts that are not 0, [N], ascending by their index; nil where there
	// are no columns of texts.
	Words [][]Word
	// Text holds the texts of each row, [N×columns of texts], for a backbone to read; nil where there are none or more
	// than MostTexts.
	Text []string
	// Y holds the targets: [N] class indices for Classification, otherwise
	// [N×Outputs].
	Y []float32
}

// Word is a feature that is not 0 in a row: several words, or parts of one, may share it.
type Word struct {
	Feature uint32 // index in the row, from Dense on
	Value   float32
}

// Dense returns the number of features that every row stores: all but those of texts, which come after them.
func (d *Dataset) Dense() int { return Dense(d.Features, d.Columns) }

// Dense returns the number of a row's features that are not of texts, of so many in all.
func Dense(features int, columns []Column) int {
	for i := range columns {
		if columns[i].Kind == Text {
			features -= columns[i].Buckets
		}
	}
	return features
}

// TargetWidth returns the number of target values of a row: 1 class index, or Outputs.
func (d *Dataset) TargetWidth() int {
	if d.Task == Classification {
		return 1
	}
	return d.Outputs
}

// Column describes a column of a table as the parser understood it.
type Column struct {
	Name       string     `json:"name"`
	Kind       ColumnKind `json:"kind"`
	Categories []string   `json:"categories,omitempty"` // of a categorical column: the one-hot order
	Missing    int        `json:"missing,omitempty"`    // cells that were empty or said so (NA, ?, NaN)
	First      int        `json:"first"`                // index of the column's first feature; -1 for labels and ignored columns

	// Indicator is the feature that says where a value is missing; 0 for none.
	Indicator int    `json:"indicator,omitempty"`
	Bounds    *Bound `json:"bounds,omitempty"` // declared for this column

	// Fill stands in the place of a missing number; nil where rows without the number
	// are refused or left out. Buckets is how many the categories, or the words of texts, are hashed into; 0
	// where they are not. Of a sequence it is the number of different tokens.
	Fill    *float64 `json:"fill,omitempty"`
	Buckets int      `json:"buckets,omitempty"`
	// Tokens is the number of places of a sequence, one feature each; 0 of other columns.
	Tokens int `json:"tokens,omitempty"`

	// How the numbers of the column are written, where it is not 1234.5: the
	// decimal mark, that between thousands, and for dates, which are read as days
	// since 1970 began, the order of year, month and day (ymd, dmy, mdy).
	Decimal   string `json:"decimal,omitempty"`
	Thousands string `json:"thousands,omitempty"`
	Date      string `json:"date,omitempty"`

	// Units lists the signs ("%", "€", "CHF"; "" for none) that numbers of the training rows have, under one name each.
	// A number with "%" is a hundredth. It is nil in models from before signs counted, which pass over them.
	Units []string `json:"units,omitempty"`
	// Time says which integers are times: [YearMonthDay], or seconds or parts of one since 1970 began. The value
	// is then in days since 1970 began, as that of a date.
	Time string `json:"time,omitempty"`
	// Offset is subtracted from a value, in float64, before it is rounded to float32. It follows from declared bounds
	// or from the kind of the column alone, and no row has a part in it.
	Offset float64 `json:"offset,omitempty"`
	// Clock is the feature that holds the time of day, as a share of a day; 0 for none.
	Clock int `json:"clock,omitempty"`
}

// Instants reports whether the column's values are dates or times, in days since 1970 began.
func (c *Column) Instants() bool { return c.Date != "" || c.Time != "" }

// MissingCategory is the category of cells without a value where missing cells
// are kept (csv.missing is "zero" or "indicator").
const MissingCategory = "(missing)"

// ColumnKind says what a table's column holds.
type ColumnKind string

const (
	Numeric     ColumnKind = "numeric"
	Categorical ColumnKind = "categorical"
	Text        ColumnKind = "text"    // whose words are hashed, whatever their order
	Letters     ColumnKind = "letters" // a sequence of the text's characters
	Words       ColumnKind = "words"   // a sequence of its words
	Label       ColumnKind = "label"
	Ignored     ColumnKind = "ignored"
)

// OfNumbers reports whether the cells are numbers, be it to learn from or, for such a task, to
// be learned.
func (c *Column) OfNumbers(task Task) bool {
	return c.Kind == Numeric || c.Kind == Label && task == Regression
}

// Used reports whether a column's cells matter to anything.
func (c *Column) Used() bool { return c.Kind != Ignored }

// IsSequence reports whether the cells of a column of the kind are read as tokens in their order:
// features that are numbers of tokens, and -1 where there is none.
func (k ColumnKind) IsSequence() bool { return k == Letters || k == Words }

// Makes reports whether features are made of the column's cells.
func (c *Column) Makes() bool {
	return c.Kind == Numeric || c.Kind == Categorical || c.Kind == Text || c.Kind.IsSequence()
}

// Vocabulary returns the number of different tokens of the columns that are sequences; 0 where there are none.
func Vocabulary(columns []Column) (n int) {
	for i := range columns {
		if columns[i].Kind.IsSequence() {
			n = max(n, columns[i].Buckets)
		}
	}
	return n
}

// MostTexts is the number of columns whose texts are kept.
const MostTexts = 4

// TextColumns returns the indices of the columns of texts.
func TextColumns(columns []Column) (at []int) {
	for i := range columns {
		if columns[i].Kind == Text {
			at = append(at, i)
		}
	}
	return at
}

// LabelRows returns how many training rows have each label of multi-label data.
func (d *Dataset) LabelRows() []int {
	rows := make([]int, d.Outputs)
	for i, y := range d.Train.Y {
		if y > 0.5 {
			rows[i%d.Outputs]++
		}
	}
	return rows
}

// AllEqual reports whether all targets are the same; there must be one.
func AllEqual(y []float32) bool {
	for _, v := range y {
		if v != y[0] {
			return false
		}
	}
	return true
}

// ByteBounds returns the bounds of so many features that are bytes.
func ByteBounds(features int) []Bound {
	b := make([]Bound, features)
	for i := range b {
		b[i] = Bound{0, 255}
	}
	return b
}
