package run

import (
	"encoding/json"
	"strings"
)

// Relation says which data sets a guarantee holds between.
type Relation string

const (
	// ZeroOut replaces one row by an empty one that adds nothing. The number of rows stays,
	// and is public.
	ZeroOut Relation = "zero out one row"
	// AddOrRemove adds or removes one row. The number of rows is covered.
	AddOrRemove Relation = "add or remove one row"
)

// RelationOf is the relation that a run protects by: [AddOrRemove] where the number of rows is
// declared, and otherwise [ZeroOut], as the sample rate then tells the number.
func RelationOf(declared bool) Relation {
	if declared {
		return AddOrRemove
	}
	return ZeroOut
}

// Phrase is the relation in a few words, after "for one row".
func (r Relation) Phrase() string {
	if r == AddOrRemove {
		return "under adding or removing it (add-or-remove)"
	}
	return "under replacing it by an empty one (zero-out; the number of rows is public)"
}

// Section is a part of a statement: a heading, and paragraphs of plain words.
type Section struct {
	ID    string   `json:"id"` // promise, data, covered, not_covered, attacker, method, …
	Title string   `json:"title"`
	Lines []string `json:"paragraphs"`
}

// TextOf writes sections out: a heading and its paragraphs a line each, an empty line between
// sections.
func TextOf(sections []Section) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, line := range append([]string{s.Title}, s.Lines...) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Statement is a run's privacy statement, written when the run is over, for machines. Sections
// are the same in words, and Text is those written out. Short is a paragraph for a report.
type Statement struct {
	Guarantee   bool     `json:"guarantee"`
	NoGuarantee []string `json:"no_guarantee_because,omitempty"`
	Data        string   `json:"data,omitempty"` // names of files, or of built-in data
	Date        string   `json:"date,omitempty"` // on which the run ended, as 2026-11-26
	Model       string   `json:"model,omitempty"`
	// NumExamples is how many rows there are to train on: counted, and so public, or declared.
	NumExamples     int               `json:"num_examples,omitempty"`
	Declared        bool              `json:"num_examples_declared,omitempty"`
	Neighbours      Relation          `json:"neighbouring_relation"`
	Unit            string            `json:"unit_of_privacy"`
	Sampler         string            `json:"sampler"`
	SampleRate      float64           `json:"sample_rate"`
	NoiseMultiplier Number            `json:"noise_multiplier"`
	Steps           int               `json:"steps"`
	Planned         int               `json:"planned_steps"`
	Stopped         bool              `json:"stopped"`
	Blind           bool              `json:"blind"`
	Rested          bool              `json:"rested,omitempty"` // early stopping ended it
	Clipping        string            `json:"clipping"`
	Events          []json.RawMessage `json:"events"` // privacy.Event, charged for all planned steps
	Epsilon         Number            `json:"epsilon"`
	EpsilonAtStep   Number            `json:"epsilon_at_step"`
	Delta           float64           `json:"delta"`
	Accountant      string            `json:"accountant"`
	Epsilons        Epsilons          `json:"epsilons"`
	Groups          []GroupEpsilon    `json:"groups"`
	Attacker        *Attack           `json:"attacker,omitempty"` // nil without a guarantee
	Order           float64           `json:"rdp_order"`
	Notice          string            `json:"notice,omitempty"`
	RNG             string            `json:"rng"`
	Noise           string            `json:"noise_mode"`
	Released        []string          `json:"released"`
	Backbone        *Backbone         `json:"backbone,omitempty"` // what made the features
	Start           *StartInfo        `json:"start,omitempty"`    // the weights that it started from
	// PublicRows are the rows that were mixed into each step; nil where there were none.
	PublicRows *PublicInfo `json:"public_rows,omitempty"`
	// Together is of a run that several parties trained; nil of one alone.
	Together *StatementTogether `json:"together,omitempty"`
	// Ledger is what the data set has spent in all, this run included; nil for
	// data that has no ledger.
	Ledger   *StatementLedger  `json:"ledger,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Checks are the run's tests of itself, as [Result.Checks].
	Checks   []Check   `json:"checks,omitempty"`
	Short    string    `json:"short"`
	Sections []Section `json:"sections"`
	Text     string    `json:"text"`
}

// GroupEpsilon is ε for data sets that differ by that many rows.
type GroupEpsilon struct {
	Rows    int    `json:"rows"`
	Epsilon Number `json:"epsilon"`
}

// StatementLedger is the ledger's part of a statement.
type StatementLedger struct {
	Runs        int `json:"runs"`
	Open        int `json:"open"`
	Unprotected int `json:"unprotected"`
	// Epsilon is +Inf where a run is Unprotected; GuaranteedEpsilon is ε of the others. A
	// statement of version 0.2 or earlier has no GuaranteedEpsilon, and in Epsilon what
	// it would be.
	Epsilon           Number  `json:"epsilon"`
	GuaranteedEpsilon *Number `json:"guaranteed_epsilon,omitempty"`
	Delta             float64 `json:"delta"`
}

// StatementRequest asks for a run's statement with what only the page knows: its version, the
// names of all files, the date, and the ledger, where the run stands in it.
type StatementRequest struct {
	Statement Statement `json:"statement"`
	Version   string    `json:"version"`
	Data      string    `json:"data,omitempty"`
	Date      string    `json:"date,omitempty"`
	Account   *Account  `json:"account,omitempty"`
}
