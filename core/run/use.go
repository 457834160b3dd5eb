package run

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// MaxTyped limits the rows of a request; a file may have any number.
const MaxTyped = 10_000

// ModelInfo describes a saved model.
//
// Guarantee: as [Released].
type ModelInfo struct {
	Program  string          `json:"program,omitempty"` // what wrote the file
	Task     string          `json:"task"`
	Outputs  int             `json:"outputs"`
	Classes  []string        `json:"classes,omitempty"`
	Features int             `json:"features"`
	Shape    []int           `json:"shape,omitempty"`
	Columns  []AppliedColumn `json:"columns,omitempty"`
	// Transform is as [Application.Transform].
	Transform string `json:"transform,omitempty"`
	// Label is the name of the column that is answered, where there are columns.
	Label      string         `json:"label,omitempty"`
	Scaling    AppliedScaling `json:"scaling"`
	Layers     []AppliedLayer `json:"layers"`
	Parameters int            `json:"parameters"`

	Method     string  `json:"method"`
	Guarantee  string  `json:"guarantee"`
	Statement  string  `json:"statement,omitempty"`
	Epsilon    Number  `json:"epsilon"`
	Delta      float64 `json:"delta"`
	Accountant string  `json:"accountant"`
	Steps      int     `json:"steps"`

	// FeaturesOf is as [Application.FeaturesOf]; Columns are then those of the table whose texts it reads.
	FeaturesOf *Backbone `json:"features_of,omitempty"`
	// Lacks says which files are missing that make features of texts; empty where none are.
	Lacks string `json:"lacks,omitempty"`
}

// PredictRequest asks a model for the answers to rows; where there are none, to those
// of the file beside the message. The answer is a list of [Answer], or a
// [PredictReply] beside a file of answers.
type PredictRequest struct {
	Rows []Row      `json:"rows,omitempty"`
	Line *ClassLine `json:"line,omitempty"`
}

// ClassLine has one of two classes answered from a probability on, in the place of one half.
type ClassLine struct {
	Class string  `json:"class"`
	From  float64 `json:"from"`
}

// Check refuses more rows than a message should hold.
func (q PredictRequest) Check() error {
	if len(q.Rows) > MaxTyped {
		return &ConfigError{"rows", fmt.Sprintf("%d rows are more than the %d of a request: give a file", len(q.Rows), MaxTyped)}
	}
	return nil
}

// Row is a row whose answer is sought: a list of its cells, or cells by the names of
// their columns.
type Row struct {
	Cells []Cell
	Named map[string]Cell // nil where Cells are given
}

// Cell is a text or a number; the zero Cell is a missing one.
type Cell struct {
	Text   string
	Number *float64
}

// UnmarshalJSON reads a list or an object.
func (r *Row) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		r.Named = nil
		return json.Unmarshal(b, &r.Cells)
	}
	if b[0] != '{' {
		return &ConfigError{"rows", "a row is a list of cells, or an object with a cell for each column"}
	}
	r.Cells, r.Named = nil, map[string]Cell{}
	return json.Unmarshal(b, &r.Named)
}

// UnmarshalJSON reads a text, a number, true, false, or null for a missing cell. So is a
// number that is not finite.
func (c *Cell) UnmarshalJSON(b []byte) error {
	*c = Cell{}
	switch b[0] {
	case '"':
		return json.Unmarshal(b, &c.Text)
	case 'n':
		return nil
	case 't', 'f':
		c.Text = string(b)
		return nil
	}
	var n Number
	if err := json.Unmarshal(b, &n); err != nil {
		return &ConfigError{"rows", "a cell is a text, a number, true, false or null"}
	}
	f := float64(n)
	if f-f == 0 { // finite
		c.Number = &f
	}
	return nil
}

// String is the cell as a text, numbers as Go writes them.
func (c Cell) String() string {
	if c.Number != nil {
		return strconv.FormatFloat(*c.Number, 'f', -1, 64)
	}
	return c.Text
}

// Answer is a model's answer for a row.
type Answer struct {
	// Answer is the name of a class, a list of the labels that are on, a number, or a
	// list of numbers; nil where there is a problem.
	Answer any `json:"answer"`
	// Outputs are the probabilities of the classes or labels, or the numbers.
	Outputs []Number `json:"outputs,omitempty"`
	// Unknown are the columns with a category that no training row had: it counts as
	// none.
	Unknown []string `json:"unknown,omitempty"`
	// Missing are the columns without a number, for which the model has one of its own,
	// whether any training row lacked it or not.
	Missing []string `json:"missing,omitempty"`
	Problem string   `json:"problem,omitempty"` // why there is no answer
}

// PredictReply says what came of a file's rows.
type PredictReply struct {
	Rows     int `json:"rows"`
	Problems int `json:"problems"` // rows without an answer
	Unknown  int `json:"unknown"`  // cells whose category no training row had
	Missing  int `json:"missing"`  // cells without a number, for which the model's own stands
	// Problem is the first row's.
	Problem string `json:"problem,omitempty"`
	// Head and First are the beginning of the answers' file, in which the columns from
	// Own on, counted from 0, are those that were added.
	Head  []string   `json:"head"`
	First [][]string `json:"first"`
	Own   int        `json:"own"`
	// Warnings say what was left out of a folder or archive of pictures.
	Warnings []string `json:"warnings,omitempty"`
}

// PictureRequest asks for the file beside the message, a picture, as the model sees it.
type PictureRequest struct {
	// Inverted says whether dark and light are exchanged; nil: the model's kind and the picture decide.
	Inverted *bool `json:"inverted,omitempty"`
}

// Seen is a picture as a model sees it: a byte for each feature.
type Seen struct {
	Pixels   []byte `json:"pixels"`
	Inverted bool   `json:"inverted"`
}

// Evaluation scores a model on rows whose answers are known. Its fields are those
// of a [Result]: diagnostics of the rows, for their owner's eyes.
type Evaluation struct {
	Rows     int          `json:"test_rows"`
	Accuracy Number       `json:"test_accuracy"` // NaN of a regression
	Classes  []ClassScore `json:"test_classes,omitempty"`
	Scores   *Scores      `json:"test_scores"`
	Answers  []Answered   `json:"answers,omitempty"` // as [Result] has them
	Problems int          `json:"problems"`          // rows that were left out
	Problem  string       `json:"problem,omitempty"`
	Unknown  int          `json:"unknown"`
	Missing  int          `json:"missing"`
	// TrainedOn are runs of this browser that trained, or were tuned, on rows of the files.
	// The page adds it.
	TrainedOn []Recognised `json:"trained_on,omitempty"`
}
