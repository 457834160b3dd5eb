package worker

import (
	"fmt"
	"math"

	"clipscope/core/privacy"
	"clipscope/core/run"
)

// The requests of the calculator: questions about a run that need no data.
//
//	delta   [DeltaRequest]  → reply: a number
//	report  [EpsilonRequest] → reply: [ReportReply]
//	curve   [CurveRequest]  → reply: [CurveReply]
//	tuning  [TuningRequest] → reply: [TuningReply]
//	group   [GroupRequest]  → reply: a number
const (
	Delta  = "delta"
	Report = "report"
	Curve  = "curve"
	Tuning = "tuning"
	Group  = "group"
)

// DeltaRequest asks for the least δ that is shown at an ε.
type DeltaRequest struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	SampleRate      float64 `json:"sample_rate"`
	Steps           int     `json:"steps"`
	Epsilon         float64 `json:"epsilon"`
	Accountant      string  `json:"accountant"` // empty: the preferred one
}

// ReportReply is what every accountant says.
type ReportReply struct {
	Delta float64    `json:"delta"`
	PLD   run.Number `json:"pld"`             // upper bound, the figure to quote
	Low   run.Number `json:"pld_lower_bound"` // the truth lies between it and PLD
	RDP   run.Number `json:"rdp"`             // upper bound
	Order float64    `json:"rdp_order"`
	// GDP is an approximation that can err either way: not a bound.
	GDP    run.Number `json:"gdp_approximation"`
	Notice string     `json:"notice,omitempty"`
}

// CurveRequest asks for ε after more and more steps (Over "steps", the default)
// or for δ at larger and larger ε (Over "epsilon").
type CurveRequest struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
	SampleRate      float64 `json:"sample_rate"`
	Steps           int     `json:"steps"`
	TargetDelta     float64 `json:"target_delta"`
	Accountant      string  `json:"accountant"` // empty: the preferred one
	Over            string  `json:"over"`
	// To is where the axis ends: steps, by default those of the run, or ε, by
	// default twice what the run costs.
	To     float64 `json:"to"`
	Points int     `json:"points"` // default 33, at most 200
}

// CurveReply is a curve as columns of equal length: steps and epsilon, or
// epsilon and delta.
type CurveReply struct {
	Steps   []int        `json:"steps,omitempty"`
	Epsilon []run.Number `json:"epsilon"`
	Delta   []run.Number `json:"delta,omitempty"`
}

// GroupRequest asks what a run costs someone who has Rows rows in the data.
type GroupRequest struct {
	EpsilonRequest
	Rows int `json:"rows"`
}

// TuningRequest asks what it costs to try Runs configurations like this one.
type TuningRequest struct {
	EpsilonRequest
	Runs int `json:"runs"`
}

// TuningReply is ε by each way of paying, as in [privacy.TuningCosts].
type TuningReply struct {
	Runs           int        `json:"runs"`
	Delta          float64    `json:"delta"`
	CompositionPLD run.Number `json:"composition_pld"`
	CompositionRDP run.Number `json:"composition_rdp"`
	LiuTalwar      run.Number `json:"liu_talwar"`
	Geometric      run.Number `json:"repeat_geometric"`
	Logarithmic    run.Number `json:"repeat_logarithmic"`
	Poisson        run.Number `json:"repeat_poisson"`
	Cheapest       string     `json:"cheapest"` // the key of the least, the first where several are equal
}

// checkRun refuses a question in which something was left out or is no number,
// which arrives as 0: the answer to that would be ε = 0.
func checkRun(sampleRate float64, steps int) error {
	if !(sampleRate > 0 && sampleRate <= 1) {
		return &run.ConfigError{Field: "sample_rate", Message: fmt.Sprintf("%v is not a rate: give the expected batch size over the number of rows, more than 0 and at most 1", sampleRate)}
	}
	if steps < 1 {
		return &run.ConfigError{Field: "steps", Message: fmt.Sprintf("a run of %d steps: give a whole number from 1", steps)}
	}
	return nil
}

// dpsgd is a run of DP-SGD as an event.
func dpsgd(sampleRate, noiseMultiplier float64, steps int) privacy.Event {
	return privacy.SelfComposed{
		Of:    privacy.PoissonSampled{SampleRate: sampleRate, Of: privacy.Gaussian{NoiseMultiplier: noiseMultiplier}},
		Count: steps,
	}
}

func delta(q DeltaRequest) (any, error) {
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	d, err := privacy.Delta(accountant(q.Accountant), q.Epsilon, dpsgd(q.SampleRate, q.NoiseMultiplier, q.Steps))
	return run.Number(d), err
}

func report(q EpsilonRequest) (any, error) {
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	r, err := privacy.NewReport(q.TargetDelta, dpsgd(q.SampleRate, q.NoiseMultiplier, q.Steps))
	if err != nil {
		return nil, err
	}
	return ReportReply{r.Delta, run.Number(r.PLD), run.Number(r.Low), run.Number(r.RDP), r.Order, run.Number(r.GDP), r.Notice}, nil
}

func group(q GroupRequest) (any, error) {
	if q.Rows < 1 || q.Rows > run.MaxGroup {
		return nil, &run.ConfigError{Field: "rows", Message: fmt.Sprintf("%d rows of one person are not in 1 … %d", q.Rows, run.MaxGroup)}
	}
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	e, err := privacy.GroupEpsilon(accountant(q.Accountant), q.Rows, q.TargetDelta, dpsgd(q.SampleRate, q.NoiseMultiplier, q.Steps))
	return run.Number(e), err
}

const (
	usualPoints = 33
	mostPoints  = 200
)

func curve(q CurveRequest) (any, error) {
	if q.Points == 0 {
		q.Points = usualPoints
	}
	if q.Points < 2 || q.Points > mostPoints {
		return nil, &run.ConfigError{Field: "points", Message: fmt.Sprintf("%d points are not in 2 … %d", q.Points, mostPoints)}
	}
	switch q.Over {
	case "", "steps":
		return overSteps(q)
	case "epsilon":
		return overEpsilon(q)
	default:
		return nil, &run.ConfigError{Field: "over", Message: fmt.Sprintf("a curve over %q is not known; choose steps or epsilon", q.Over)}
	}
}

// overSteps spaces its points evenly in √steps, as ε grows about so.
func overSteps(q CurveRequest) (any, error) {
	if q.To == 0 {
		q.To = float64(q.Steps)
	}
	if err := checkRun(q.SampleRate, 1); err != nil {
		return nil, err
	}
	if !(q.To >= 1 && q.To <= 1e9) {
		return nil, &run.ConfigError{Field: "steps", Message: fmt.Sprintf("a curve up to %v steps: give a number from 1", q.To)}
	}
	var steps []int
	for i := range q.Points {
		x := float64(i) / float64(q.Points-1)
		if n := int(math.Round(x * x * math.Floor(q.To))); i == 0 || n > steps[len(steps)-1] {
			steps = append(steps, n)
		}
	}
	one := privacy.PoissonSampled{SampleRate: q.SampleRate, Of: privacy.Gaussian{NoiseMultiplier: q.NoiseMultiplier}}
	e, err := privacy.Epsilons(accountant(q.Accountant), q.TargetDelta, one, steps)
	if err != nil {
		return nil, err
	}
	return CurveReply{Steps: steps, Epsilon: sayNumbers(e)}, nil
}

func overEpsilon(q CurveRequest) (any, error) {
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	event := dpsgd(q.SampleRate, q.NoiseMultiplier, q.Steps)
	if q.To == 0 {
		e, err := privacy.Epsilon(accountant(q.Accountant), q.TargetDelta, event)
		if err != nil {
			return nil, err
		}
		q.To = 2 * e
	}
	if !(q.To > 0) || math.IsInf(q.To, 1) {
		q.To = 1
	}
	epsilons := make([]float64, q.Points)
	for i := range epsilons {
		epsilons[i] = q.To * float64(i) / float64(q.Points-1)
	}
	d, err := privacy.Profile(accountant(q.Accountant), epsilons, event)
	if err != nil {
		return nil, err
	}
	return CurveReply{Epsilon: sayNumbers(epsilons), Delta: sayNumbers(d)}, nil
}

func sayNumbers(x []float64) []run.Number {
	out := make([]run.Number, len(x))
	for i, v := range x {
		out[i] = run.Number(v)
	}
	return out
}

func tuning(q TuningRequest) (any, error) {
	if q.Runs > maxRuns {
		return nil, &run.ConfigError{Field: "runs", Message: fmt.Sprintf("%d runs are more than %d", q.Runs, maxRuns)}
	}
	if err := checkRun(q.SampleRate, q.Steps); err != nil {
		return nil, err
	}
	c, err := privacy.NewTuningCosts(q.TargetDelta, dpsgd(q.SampleRate, q.NoiseMultiplier, q.Steps), q.Runs)
	if err != nil {
		return nil, err
	}
	r := TuningReply{
		Runs: c.Runs, Delta: q.TargetDelta,
		CompositionPLD: run.Number(c.CompositionPLD), CompositionRDP: run.Number(c.CompositionRDP), LiuTalwar: run.Number(c.LiuTalwar),
		Geometric: run.Number(c.Geometric), Logarithmic: run.Number(c.Logarithmic), Poisson: run.Number(c.Poisson),
	}
	r.Cheapest = r.cheapest()
	return r, nil
}

// maxRuns bounds the work of a question about tuning.
const maxRuns = 1_000_000

func (r *TuningReply) cheapest() string {
	name, least := "", math.Inf(1)
	for _, w := range []struct {
		name string
		e    run.Number
	}{
		{"composition_pld", r.CompositionPLD}, {"composition_rdp", r.CompositionRDP}, {"liu_talwar", r.LiuTalwar},
		{"repeat_geometric", r.Geometric}, {"repeat_logarithmic", r.Logarithmic}, {"repeat_poisson", r.Poisson},
	} {
		if e := float64(w.e); name == "" || e < least {
			name, least = w.name, e
		}
	}
	return name
}
