package run

// AuditRequest asks for an audit of the trainer.
type AuditRequest struct {
	// Run decides the mechanism: method with its parameters and axes,
	// max_grad_norm, noise_mode, backend, accountant, noise_multiplier or
	// target_epsilon (default 4, on worst-case data 1), target_delta. The rest is
	// the audit's own.
	Run Config `json:"config"`
	// Data is "canaries" (default), drawn digits with canaries among them, or
	// "worst-case": pairs of data sets, made so that a sum that rounds or a norm
	// that is too small shows, on full batches; then Runs (default 100) runs of
	// each are told apart, and only Run and Significance matter besides.
	Data string `json:"data,omitempty"`
	Runs int    `json:"runs,omitempty"`
	// Canaries are examples of which a fair coin puts each into the training
	// rows or leaves it out (default 2000).
	Canaries int `json:"canaries,omitempty"`
	// Rows are the ordinary training rows beside them (default 1000).
	Rows int `json:"rows,omitempty"`
	// Steps (default 200) on Poisson samples at SampleRate (default 0.1).
	Steps      int     `json:"steps,omitempty"`
	SampleRate float64 `json:"sample_rate,omitempty"`
	// Guesses are how many canaries the auditor names the coin of (default a
	// fifth of them). It must not be chosen after seeing a result.
	Guesses int `json:"guesses,omitempty"`
	// Significance is the chance that a bound is wrong (default 0.05).
	Significance float64 `json:"significance,omitempty"`
}

// WithDefaults fills in what is left at zero: an audit that catches a mechanism
// whose noise is half of what it says.
func (c AuditRequest) WithDefaults() AuditRequest {
	def := func(f *int, v int) {
		if *f == 0 {
			*f = v
		}
	}
	if c.Data == "" {
		c.Data = "canaries"
	}
	def(&c.Runs, 100)
	def(&c.Canaries, 2000)
	def(&c.Rows, 1000)
	def(&c.Steps, 200)
	def(&c.Guesses, c.Canaries/5)
	if c.SampleRate == 0 {
		c.SampleRate = 0.1
	}
	if c.Significance == 0 {
		c.Significance = 0.05
	}
	if c.Run.NoiseMultiplier == nil && c.Run.TargetEpsilon == nil {
		eps := 4.0
		if c.Data == "worst-case" { // 100 runs cannot show more than 2.6
			eps = 1
		}
		c.Run.TargetEpsilon = &eps
	}
	return c
}

// AuditProgress says how far an audit is.
type AuditProgress struct {
	Step  int `json:"step"`
	Steps int `json:"steps"`
}

// AuditReport is the result of an audit.
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

// WorstCase is the result of a two-sample audit on one pair of data sets.
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
