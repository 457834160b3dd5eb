package run

// AuditReport is what an audit found.
type AuditReport struct {
	Claimed    Number  `json:"claimed_epsilon"` // the accountant's upper bound
	Delta      float64 `json:"delta"`
	Accountant string  `json:"accountant"`
	// LowerBound refutes every smaller ε, if the privacy curve is that of a
	// Gaussian mechanism, which DP-SGD's tends to (Mahloujifar, Melis &
	// Chaudhuri 2024). With probability Confidence it is below the true ε.
	LowerBound float64 `json:"lower_bound"`
	// AnyMechanism is the same without that assumption (Steinke, Nasr &
	// Jagielski 2023): valid for everything, and weaker.
	AnyMechanism float64 `json:"lower_bound_any_mechanism"`
	Confidence   float64 `json:"confidence"`
	Refuted      bool    `json:"refuted"` // LowerBound is above Claimed

	Canaries int `json:"canaries,omitempty"`
	Included int `json:"included,omitempty"`
	Guesses  int `json:"guesses,omitempty"`
	Correct  int `json:"correct,omitempty"`
	// Runs, of each kind, and WorstCases are those of an audit on worst-case data.
	Runs       int         `json:"runs,omitempty"`
	WorstCases []WorstCase `json:"worst_cases,omitempty"`

	Steps           int     `json:"steps"`
	SampleRate      float64 `json:"sample_rate"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Backend         string  `json:"backend"`
}

// WorstCase is what a two-sample audit found on one pair of data sets.
type WorstCase struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	// Included and Excluded are how many of the runs with and without the extra
	// row looked to the auditor as if it were there.
	Included int `json:"included"`
	Excluded int `json:"excluded"`
	// LowerBound is that of the true ε, whatever the mechanism is.
	LowerBound float64 `json:"lower_bound"`
}
