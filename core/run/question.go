package run

import (
	"fmt"
	"math"
	"slices"
)

// MaxGroup is the largest number of rows of one person that is priced.
const MaxGroup = 1000

// MaxRuns bounds the work of a question about tuning.
const MaxRuns = 1_000_000

// Points of a curve: those of a question that names no number, and the most.
const (
	usualPoints = 33
	mostPoints  = 200
)

// Mechanism is a run of DP-SGD as the calculator knows it: what its questions
// have in common.
type Mechanism struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	SampleRate      float64 `json:"sample_rate"`
	Steps           int     `json:"steps"`
	Accountant      string  `json:"accountant,omitempty"` // empty: the preferred one
}

// Check refuses a question in which something was left out or is no number,
// which arrives as 0: the answer to that would be ε = 0.
func (m Mechanism) Check() error {
	if !(m.SampleRate > 0 && m.SampleRate <= 1) {
		return &ConfigError{"sample_rate", fmt.Sprintf("%v is not a rate: give the expected batch size over the number of rows, more than 0 and at most 1", m.SampleRate)}
	}
	if m.Steps < 1 {
		return &ConfigError{"steps", fmt.Sprintf("a run of %d steps: give a whole number from 1", m.Steps)}
	}
	return nil
}

// EpsilonRequest asks what a run costs; the answer is a [Number], or a
// [ReportReply] where every accountant is asked.
type EpsilonRequest struct {
	Mechanism
	TargetDelta float64 `json:"target_delta"`
}

// DeltaRequest asks for the least δ that is shown at an ε. The answer is a
// [Number].
type DeltaRequest struct {
	Mechanism
	Epsilon float64 `json:"epsilon"`
}

// Epsilons are ε at one δ by each accountant.
type Epsilons struct {
	PLD Number `json:"pld"`             // upper bound, the figure to quote
	Low Number `json:"pld_lower_bound"` // the truth lies between it and PLD
	RDP Number `json:"rdp"`             // upper bound
	// GDP is an approximation by the central limit theorem (Bu et al. 2020),
	// which can err either way by any amount. It is not a bound: never quote it.
	GDP Number `json:"gdp_approximation"`
}

// ReportReply is all that is known about what some events cost together at one δ.
type ReportReply struct {
	Delta float64 `json:"delta"`
	Epsilons
	Order  float64 `json:"rdp_order"`        // the Rényi order that gave RDP
	Notice string  `json:"notice,omitempty"` // where PLD fell back to RDP
}

// CalibrateRequest asks for the smallest noise multiplier that meets a target,
// or, with NoiseMultiplier given and Steps left out, for the most steps, or, with
// both given, for the largest sample rate.
type CalibrateRequest struct {
	TargetEpsilon   float64  `json:"target_epsilon"`
	TargetDelta     float64  `json:"target_delta"`
	SampleRate      float64  `json:"sample_rate,omitempty"`
	Steps           *int     `json:"steps,omitempty"`
	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	Accountant      string   `json:"accountant,omitempty"` // empty: the preferred one
}

// CalibrateReply answers with the number that was asked for and the ε it spends.
type CalibrateReply struct {
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty"`
	Steps           int     `json:"steps,omitempty"`
	SampleRate      float64 `json:"sample_rate,omitempty"`
	Epsilon         Number  `json:"epsilon"`
}

// CurveRequest asks for ε after more and more steps (Over "steps", the default)
// or for δ at larger and larger ε (Over "epsilon").
type CurveRequest struct {
	EpsilonRequest
	Over string `json:"over,omitempty"`
	// To is where the axis ends: steps, by default those of the run, or ε, by
	// default twice what the run costs.
	To     float64 `json:"to,omitempty"`
	Points int     `json:"points,omitempty"` // default 33, at most 200
}

// WithDefaults fills in the axis, its end where that is known without asking an
// accountant, and the number of points.
func (q CurveRequest) WithDefaults() CurveRequest {
	def(&q.Over, "steps")
	def(&q.Points, usualPoints)
	if q.Over == "steps" {
		def(&q.To, float64(q.Steps))
	}
	return q
}

// Check refuses what no curve can be drawn of. One over steps needs none of its
// own where it says how far it goes.
func (q CurveRequest) Check() error {
	q = q.WithDefaults()
	switch {
	case q.Points < 2 || q.Points > mostPoints:
		return &ConfigError{"points", fmt.Sprintf("%d points are not in 2 … %d", q.Points, mostPoints)}
	case q.Over == "epsilon":
		return q.Mechanism.Check()
	case q.Over != "steps":
		return &ConfigError{"over", fmt.Sprintf("a curve over %q is not known; choose steps or epsilon", q.Over)}
	case !(q.To >= 1 && q.To <= 1e9):
		return &ConfigError{"steps", fmt.Sprintf("a curve up to %v steps: give a number from 1", q.To)}
	}
	q.Steps = 1
	return q.Mechanism.Check()
}

// CurveReply is a curve as columns of equal length: steps and epsilon, or
// epsilon and delta.
type CurveReply struct {
	Steps   []int    `json:"steps,omitempty"`
	Epsilon []Number `json:"epsilon"`
	Delta   []Number `json:"delta,omitempty"`
}

// GroupRequest asks what a run costs someone who has Rows rows in the data. The
// answer is a [Number].
type GroupRequest struct {
	EpsilonRequest
	Rows int `json:"rows"`
}

// Check refuses more rows than are priced, and less than one.
func (q GroupRequest) Check() error {
	if q.Rows < 1 || q.Rows > MaxGroup {
		return &ConfigError{"rows", fmt.Sprintf("%d rows of one person are not in 1 … %d", q.Rows, MaxGroup)}
	}
	return q.Mechanism.Check()
}

// TuningRequest asks what it costs to try Runs configurations like this one.
type TuningRequest struct {
	EpsilonRequest
	Runs int `json:"runs"`
}

// Check refuses more runs than are priced.
func (q TuningRequest) Check() error {
	if q.Runs > MaxRuns {
		return &ConfigError{"runs", fmt.Sprintf("%d runs are more than %d", q.Runs, MaxRuns)}
	}
	return q.Mechanism.Check()
}

// TuningReply is ε at one δ for trying several configurations on the same data
// and keeping the best, by each way of paying for it. The three last ways draw
// the number of runs at random and pick configurations at random, with the mean
// number of runs equal to the size of the grid; their ε does not hold for a grid
// that is walked once.
type TuningReply struct {
	Runs  int     `json:"runs"`
	Delta float64 `json:"delta"`
	// CompositionPLD and CompositionRDP release every run.
	CompositionPLD Number `json:"composition_pld"`
	CompositionRDP Number `json:"composition_rdp"`
	// LiuTalwar is random stopping with a hard limit (Liu & Talwar 2019, as
	// DC-SGD's Theorem 1 states it).
	LiuTalwar Number `json:"liu_talwar"`
	// Geometric, Logarithmic and Poisson are repeat-and-select with that
	// distribution of the number of runs (Papernot & Steinke 2022).
	Geometric   Number `json:"repeat_geometric"`
	Logarithmic Number `json:"repeat_logarithmic"`
	Poisson     Number `json:"repeat_poisson"`
	Cheapest    string `json:"cheapest"` // the key of the least, the first where several are equal
}

// TuningWays are the keys of the ways of paying, in the order of [TuningReply].
var TuningWays = []string{"composition_pld", "composition_rdp", "liu_talwar", "repeat_geometric", "repeat_logarithmic", "repeat_poisson"}

// Of is ε by one of [TuningWays]; NaN for what is none.
func (r *TuningReply) Of(way string) Number {
	ways := []Number{r.CompositionPLD, r.CompositionRDP, r.LiuTalwar, r.Geometric, r.Logarithmic, r.Poisson}
	if i := slices.Index(TuningWays, way); i >= 0 {
		return ways[i]
	}
	return Number(math.NaN())
}

// Least is the cheapest of [TuningWays].
func (r *TuningReply) Least() string {
	least := TuningWays[0]
	for _, way := range TuningWays {
		if r.Of(way) < r.Of(least) {
			least = way
		}
	}
	return least
}
