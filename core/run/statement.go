package run

import "encoding/json"

// Statement is what a run may say of its privacy when it is over, for machines;
// Text is the same in words, one paragraph a line.
type Statement struct {
	Guarantee       bool              `json:"guarantee"`
	NoGuarantee     []string          `json:"no_guarantee_because,omitempty"`
	Neighbours      string            `json:"neighbouring_relation"`
	Unit            string            `json:"unit_of_privacy"`
	Sampler         string            `json:"sampler"`
	SampleRate      float64           `json:"sample_rate"`
	NoiseMultiplier Number            `json:"noise_multiplier"`
	Steps           int               `json:"steps"`
	Planned         int               `json:"planned_steps"`
	Stopped         bool              `json:"stopped"`
	Blind           bool              `json:"blind"`
	Clipping        string            `json:"clipping"`
	Events          []json.RawMessage `json:"events"` // privacy.Event, charged for all planned steps
	Epsilon         Number            `json:"epsilon"`
	EpsilonAtStep   Number            `json:"epsilon_at_step"`
	Delta           float64           `json:"delta"`
	Accountant      string            `json:"accountant"`
	Epsilons        Epsilons          `json:"epsilons"`
	Groups          []GroupEpsilon    `json:"groups"`
	Order           float64           `json:"rdp_order"`
	Notice          string            `json:"notice,omitempty"`
	RNG             string            `json:"rng"`
	Noise           string            `json:"noise_mode"`
	Released        []string          `json:"released"`
	Backbone        *Backbone         `json:"backbone,omitempty"` // what made the features
	// Ledger is what the data set has spent in all, this run included; nil for
	// data that has no ledger.
	Ledger   *StatementLedger  `json:"ledger,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Checks are the run's tests of itself, as [Result.Checks].
	Checks []Check `json:"checks,omitempty"`
	Text   string  `json:"text"`
}

// GroupEpsilon is ε for data sets that differ by that many rows.
type GroupEpsilon struct {
	Rows    int    `json:"rows"`
	Epsilon Number `json:"epsilon"`
}

// StatementLedger is the ledger's part of a statement.
type StatementLedger struct {
	Runs        int     `json:"runs"`
	Open        int     `json:"open"`
	Unprotected int     `json:"unprotected"`
	Epsilon     Number  `json:"epsilon"`
	Delta       float64 `json:"delta"`
}

// StatementRequest asks for a run's statement with what only the page knows: its
// version, and the ledger, where the run stands in it.
type StatementRequest struct {
	Statement Statement `json:"statement"`
	Version   string    `json:"version"`
	Account   *Account  `json:"account,omitempty"`
}
