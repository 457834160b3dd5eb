// Package export writes a run to files that may leave the device.
//
// Guarantee: unless Diagnostics is set, everything written is public
// configuration or a released value, so the file may be published under the
// run's (ε, δ).
package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"clipscope/core/run"
	"clipscope/ui/series"
)

// Run holds all that can be exported of a run.
type Run struct {
	Config run.Config
	// Result is nil while the run goes on.
	Result *run.Result
	Steps  int // that were taken
	Points []series.Point
	// Changes are what was changed of it while it went on.
	Changes []run.Changed
	// Diagnostics adds the columns that were computed from the private data
	// without noise. Then the file carries no guarantee, and says so.
	Diagnostics bool
}

type column struct {
	name string
	of   series.Column
}

var released = []column{
	{"step", series.Step}, {"max_grad_norm", series.C}, {"epsilon", series.Epsilon}, {"noisy_grad_norm", series.NoisyNorm}, {"learning_rate", series.Rate},
	{"parties", series.Parties},
}

// The prefix keeps a pasted column recognisable.
var diagnostic = []column{
	{"diagnostic_clip_fraction", series.Clipped}, {"diagnostic_train_loss", series.TrainLoss},
	{"diagnostic_train_accuracy", series.TrainAcc}, {"diagnostic_test_loss", series.TestLoss},
	{"diagnostic_test_accuracy", series.TestAcc},
}

// columns returns those of a file. A run alone has no parties.
func (r *Run) columns() []column {
	all := slices.Clone(released)
	if r.Config.Together.Parties == 0 {
		all = slices.DeleteFunc(all, func(c column) bool { return c.of == series.Parties })
	}
	if r.Diagnostics {
		all = append(all, diagnostic...)
	}
	return all
}

// thinned says how many of the steps are in the series, where not all are.
func (r *Run) thinned() string {
	if len(r.Points) >= r.Steps {
		return ""
	}
	return fmt.Sprintf("%d of %d steps: an even selection, with all that were tested and the last. Steps that come faster than a page can take them are not all reported, and of those that are, about %d are kept.",
		len(r.Points), r.Steps, series.LogLimit)
}

// remarks returns the notes on the series.
func (r *Run) remarks() []string {
	var all []string
	if s := r.thinned(); s != "" {
		all = append(all, s)
	}
	for _, c := range r.Changes {
		all = append(all, fmt.Sprintf("%s was changed from %g to %g while the run went on, from step %d on.", c.Field, c.From, c.To, c.Step))
	}
	return all
}

// CSV writes one row a step. Missing values are empty, infinite ones "Infinity".
// Where steps are missing, or the run was changed, first lines that begin with # say so.
func (r *Run) CSV(w io.Writer) error {
	for _, s := range r.remarks() {
		if _, err := fmt.Fprintf(w, "# %s\n", s); err != nil {
			return fmt.Errorf("export: csv: %w", err)
		}
	}
	out := csv.NewWriter(w)
	cols := r.columns()
	row := make([]string, len(cols))
	for i, c := range cols {
		row[i] = c.name
	}
	if err := out.Write(row); err != nil {
		return fmt.Errorf("export: csv: %w", err)
	}
	for _, p := range r.Points {
		for i, c := range cols {
			row[i] = cell(p[c.of])
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("export: csv: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("export: csv: %w", err)
	}
	return nil
}

func cell(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// file is the JSON form of a run.
type file struct {
	Config     run.Config               `json:"config"`
	Guarantee  string                   `json:"guarantee,omitempty"`
	Epsilon    *run.Number              `json:"epsilon,omitempty"`
	Delta      float64                  `json:"delta,omitempty"`
	Accountant string                   `json:"accountant,omitempty"`
	Steps      int                      `json:"steps,omitempty"`
	Planned    int                      `json:"planned_steps,omitempty"` // what epsilon is charged for
	AtStep     *run.Number              `json:"epsilon_at_step,omitempty"`
	Events     json.RawMessage          `json:"events,omitempty"` // what epsilon was worked out from
	Released   *run.Summary             `json:"released,omitempty"`
	Selected   *run.Candidate           `json:"selected,omitempty"`    // of what was tried
	Changes    []run.Changed            `json:"changes,omitempty"`     // while it went on
	Note       string                   `json:"series_note,omitempty"` // which steps, where not all
	Series     map[string][]*run.Number `json:"series"`                // null: missing
	Diagnostic *diagnostics             `json:"diagnostic,omitempty"`
}

// diagnostics are the parts of a result that come from the data without noise.
type diagnostics struct {
	Warning      string     `json:"warning"`
	TestRows     int        `json:"test_rows"`
	TestAccuracy run.Number `json:"test_accuracy"`
	TestLoss     run.Number `json:"test_loss"`
	// TestClasses are the classes of the test rows; nil where there are none.
	TestClasses []run.ClassScore `json:"test_classes,omitempty"`
	TestScores  *run.Scores      `json:"test_scores,omitempty"`
	Tried       []run.Tried      `json:"tried,omitempty"`
}

// Warning is the first text in a file with diagnostics.
const Warning = "The fields named diagnostic were computed from the private data without noise. The guarantee does not cover them: whoever sees them may learn about single rows."

// JSON writes configuration, guarantee and released values.
func (r *Run) JSON(w io.Writer) error {
	f := file{Config: r.Config, Changes: r.Changes, Note: r.thinned(), Series: map[string][]*run.Number{}}
	for _, c := range r.columns() {
		values := make([]*run.Number, len(r.Points))
		for i, p := range r.Points {
			if x := run.Number(p[c.of]); !math.IsNaN(float64(x)) {
				values[i] = &x
			}
		}
		f.Series[c.name] = values
	}
	if r.Result != nil {
		r.describe(&f)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := enc.Encode(f); err != nil {
		return fmt.Errorf("export: json: %w", err)
	}
	return nil
}

// describe copies field by field: a field added to a result is not exported
// until somebody decides that it is released.
func (r *Run) describe(f *file) {
	res := r.Result
	f.Guarantee, f.Epsilon, f.Delta = res.Guarantee, &res.Epsilon, res.Delta
	f.Accountant, f.Steps, f.Planned, f.AtStep = res.Accountant, res.Steps, res.PlannedSteps, &res.EpsilonAtStep
	var stated struct{ Events json.RawMessage }
	if json.Unmarshal(res.Statement, &stated) == nil {
		f.Events = stated.Events
	}
	summary := res.Released
	f.Released, f.Selected = &summary, res.Selected
	if r.Diagnostics {
		f.Diagnostic = &diagnostics{Warning, res.TestRows, res.TestAccuracy, res.TestLoss, res.TestClasses, res.TestScores, res.Tried}
	}
}
