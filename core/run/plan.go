package run

import "encoding/json"

// PlanInfo describes what a run will do and cost, before it starts, computed
// from public configuration alone (and the number of rows, for q).
type PlanInfo struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	GradNoise       float64 `json:"gradient_noise_multiplier"` // σ_T, after a statistic's share
	SampleRate      float64 `json:"sample_rate"`
	Steps           int     `json:"steps"`
	Epsilon         Number  `json:"epsilon"`
	Delta           float64 `json:"delta"`
	Accountant      string  `json:"accountant"`
	// Epsilons is ε of the whole run by every accountant, upper bounds all.
	Epsilons map[string]Number `json:"epsilons"`
	// ScalingShare is the share of ε that private bounds get; 0 without such bounds.
	ScalingShare float64 `json:"scaling_share,omitempty"`
	// TargetScaling is [Scaling.Target] as it came to be, of targets that are numbers.
	TargetScaling string `json:"target_scaling,omitempty"`
	Parameters    int    `json:"parameters"`
	Trained       int    `json:"trained,omitempty"` // where not all of these are: see [Start.Trainable]
	MemoryBytes   int64  `json:"memory_bytes"`
	// PhysicalBatch is how many rows are in memory at once: max_physical_batch_size,
	// or fewer where a batch has fewer or memory holds no more.
	PhysicalBatch int     `json:"physical_batch_size"`
	Layers        []Layer `json:"layers"`
	Backend       string  `json:"backend"`
	Private       bool    `json:"private"` // false: "for teaching, no guarantee"
	Events        Events  `json:"events"`
	// Held says, of a teaching run, which numbers that others can be told anew while they go
	// on ([Change]) it cannot, and why.
	Held map[string]string `json:"held,omitempty"`
	// Tuning says what is tried; nil of a single run. NoiseMultiplier, SampleRate and
	// Steps are then those of each run, Epsilon that of all together.
	Tuning   *TuningPlan   `json:"tuning,omitempty"`
	Together *TogetherPlan `json:"together,omitempty"` // nil of a run alone
	// PublicRows are the rows that each step mixes in; nil: it mixes none in.
	PublicRows *PublicInfo `json:"public_rows,omitempty"`
	Guarantee  string      `json:"guarantee"`
	Warnings   []Warning   `json:"warnings,omitempty"`
}

// NoGuarantee begins the sentence that a run without a guarantee has in its guarantee's
// place, in plans, results and models.
const NoGuarantee = "For teaching, no guarantee: "

// Unbacked reports whether the run adds noise and still carries no guarantee, so that
// Epsilon says what the noise alone is good for and bounds nothing.
func (p *PlanInfo) Unbacked() bool { return !p.Private && p.NoiseMultiplier > 0 }

// Layer describes a layer of the model that is planned.
type Layer struct {
	Text       string `json:"layer"`
	Shape      []int  `json:"shape"` // of what it gives: height, width and channels, or one number
	Parameters int    `json:"parameters"`
	Frozen     bool   `json:"frozen,omitempty"` // they are not trained, but for Trained
	Trained    int    `json:"trained,omitempty"`
	Products   int64  `json:"products"` // multiplications that one row takes on its way forwards
	Bytes      int64  `json:"bytes"`    // of memory for each row of a physical batch
}

// Events are the charges of a run to its data, as events in JSON (privacy.Event).
// Both are left out for a run without noise, which no price covers.
type Events struct {
	Once    []json.RawMessage `json:"once,omitempty"`     // before the first step
	PerStep json.RawMessage   `json:"per_step,omitempty"` // in each of the steps
}

// Warning is something the user should know, at the field it comes from.
type Warning struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Note    bool   `json:"note,omitempty"` // it says how a setting is taken, and asks for nothing
}
