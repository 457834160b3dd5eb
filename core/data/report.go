package data

import (
	"strconv"

	"clipscope/core/run"
)

// Report describes the data as Load understood them, in the form the page shows.
type Report struct {
	Name     string   `json:"name"`
	Format   string   `json:"format"` // idx, mat, cifar-10, cifar-100, numpy, pictures, csv, xlsx, parquet or built-in
	Task     Task     `json:"task"`
	Rows     int      `json:"rows"`
	TestRows int      `json:"test_rows"`
	Features int      `json:"features"`
	Shape    []int    `json:"shape,omitempty"`
	Outputs  int      `json:"outputs"`
	Classes  []string `json:"classes,omitempty"`
	Columns  []Column `json:"columns,omitempty"`

	TargetBounds []Bound  `json:"target_bounds,omitempty"` // declared
	Warnings     []string `json:"warnings"`
	Doubts       []string `json:"doubts,omitempty"` // those of Warnings that only the owner can settle
	Asks         []string `json:"asks,omitempty"`   // options that settle some of them, such as csv.header
	Preview      Preview  `json:"preview"`

	Files []FileRole `json:"files,omitempty"` // what each is for, those to train on first

	Backbone *Backboned `json:"backbone,omitempty"` // what made the features of the rows

	// Of tables.
	Encoding  string `json:"encoding,omitempty"` // utf-8, utf-16 or windows-1252
	Delimiter string `json:"delimiter,omitempty"`
	Decimal   string `json:"decimal,omitempty"` // the mark that most numbers have, . or ,
	Header    bool   `json:"header,omitempty"`

	Sheets []string `json:"sheets,omitempty"` // of a spreadsheet: the names of those that can be seen

	Label   string `json:"label,omitempty"`    // name of the label column
	Missing int    `json:"missing,omitempty"`  // cells
	Dropped int    `json:"dropped,omitempty"`  // rows left out because of missing cells
	BadRows int    `json:"bad_rows,omitempty"` // rows left out because they cannot be read
}

// IsTable reports whether the data comes from a table, whatever file it is in.
func (r *Report) IsTable() bool {
	switch r.Format {
	case "csv", "xlsx", "parquet":
		return len(r.Shape) == 0
	}
	return false
}

// FileRole is the use of a file.
type FileRole struct {
	Name string `json:"name"`
	Role string `json:"role"` // train or test
}

// Backboned describes the backbone that made features of rows, and its cost.
type Backboned struct {
	run.Backbone
	File  string `json:"file"`
	Bytes int64  `json:"bytes"` // of the file
	// Input is the shape in which a row was given to the model.
	Input   []int   `json:"input"`
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"memory_bytes,omitempty"` // that what ran it held
	Cached  bool    `json:"cached,omitempty"`       // they were there already
}

// Preview shows some rows, mostly the first ones. It is for the owner's eyes only, never for export.
type Preview struct {
	// ClassRows is how many training rows each class has, or how many have each label.
	ClassRows []int `json:"class_rows,omitempty"`
	// Images are up to ten training rows of raw 8-bit pixels in the order
	// Shape says (28, 28 row-major; 3, 32, 32 one colour plane after the other).
	Images [][]byte `json:"images,omitempty"`
	// Rows are up to ten rows of a table: its cells as the file has them, cut
	// after a hundred characters.
	Rows [][]string `json:"rows,omitempty"`
	// Numbers are those of Rows in their files, as [Error.Row] counts them.
	Numbers []int `json:"numbers,omitempty"`
	// Values are what the cells of Rows are read as: a number, a category, a
	// class; empty in ignored columns, "?" where a cell cannot be read.
	Values [][]string `json:"values,omitempty"`
	// Last are up to three rows at the end, of those that Rows has not, and
	// LastValues what they are read as. Of is how many rows there are in all files to
	// train on, but for those that cannot be cut into cells.
	Last        [][]string `json:"last,omitempty"`
	LastValues  [][]string `json:"last_values,omitempty"`
	LastNumbers []int      `json:"last_numbers,omitempty"`
	Of          int        `json:"of,omitempty"`
	// Labels belong to Images: the class of each.
	Labels []string `json:"labels,omitempty"`
}

// Rows of a preview, from the first and from the last.
const (
	PreviewRows = 10
	LastRows    = 3
)

// Summarize describes ds as Load's report would.
func Summarize(ds *Dataset, format string) *Report {
	r := &Report{Warnings: []string{}}
	r.Describe(ds, format)
	return r
}

// Describe fills r in from ds and keeps what a parser has put there.
func (r *Report) Describe(ds *Dataset, format string) {
	r.Name, r.Format, r.Task = ds.Name, format, ds.Task
	r.Rows, r.TestRows = ds.Train.N, ds.Test.N
	r.Features, r.Shape = ds.Features, ds.Shape
	r.Outputs, r.Classes, r.Columns, r.TargetBounds = ds.Outputs, ds.Classes, ds.Columns, ds.TargetBounds
	if ds.Task == MultiLabel {
		r.Preview.ClassRows = ds.LabelRows()
	}
	if ds.Task == Classification {
		r.Preview.ClassRows = make([]int, len(ds.Classes))
		for _, y := range ds.Train.Y {
			r.Preview.ClassRows[int(y)]++
		}
	}
	if r.Preview.Rows != nil {
		return
	}
	n := min(PreviewRows, ds.Train.N)
	if len(ds.Shape) > 0 && ds.Train.U8 != nil {
		for i := range n {
			r.Preview.Images = append(r.Preview.Images, ds.Train.U8[i*ds.Features:(i+1)*ds.Features])
			if ds.Task == Classification {
				r.Preview.Labels = append(r.Preview.Labels, ds.Classes[int(ds.Train.Y[i])])
			}
		}
		return
	}
	for i := range n {
		r.Preview.Rows = append(r.Preview.Rows, previewRow(ds, i))
	}
}

// previewRow writes out at most a few features of row i and its targets.
func previewRow(ds *Dataset, i int) []string {
	const most = 12
	var row []string
	dense := ds.Dense()
	for j := range min(most, dense) {
		row = append(row, formatFloat(ds.Train.value(i*dense+j)))
	}
	if ds.Task == Classification {
		return append(row, ds.Classes[int(ds.Train.Y[i])])
	}
	for j := range min(most, ds.Outputs) {
		row = append(row, formatFloat(ds.Train.Y[i*ds.Outputs+j]))
	}
	return row
}

func formatFloat(f float32) string { return strconv.FormatFloat(float64(f), 'g', 5, 32) }

func (s *Split) value(i int) float32 {
	if s.U8 != nil {
		return float32(s.U8[i])
	}
	return s.F32[i]
}
