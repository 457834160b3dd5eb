package run

// Tuning has several configurations tried, and the best alone released, all within one ε:
// repeat-and-select (Papernot & Steinke 2022). How many are tried is drawn at random and
// told to nobody, and so is which.
type Tuning struct {
	// Runs is how many there are on average; 0: no tuning.
	Runs float64 `json:"runs,omitempty"`
	// What is tried: each rate with each threshold. Where neither is given, a third, one
	// and three times the configuration's rate, with a quarter and one times its
	// threshold.
	LearningRate []float64 `json:"learning_rate,omitempty"`
	MaxGradNorm  []float64 `json:"max_grad_norm,omitempty"`
	// Rehearse has all candidates train on data of the same shape that is made up, which
	// costs nothing, and tries but the better half.
	Rehearse bool `json:"rehearse,omitempty"`
	// ScoredBy is what runs are compared by, [ByAccuracy] or [ByLogLoss]; where nothing is said,
	// the log loss if one class is known to have more than 80 % of the rows.
	ScoredBy string `json:"scored_by,omitempty"`
}

// MaxTunedRuns is the largest mean, and MaxCandidates the most that may be tried.
const (
	MaxTunedRuns  = 100
	MaxCandidates = 100
)

// Candidate holds the fields in which one configuration differs from others.
type Candidate struct {
	LearningRate float64 `json:"learning_rate"`
	MaxGradNorm  float64 `json:"max_grad_norm"`
}

// TuningPlan describes the tuning of a plan.
type TuningPlan struct {
	Runs       float64     `json:"runs"` // on average
	Candidates []Candidate `json:"candidates"`
	// Epsilon is what each run would cost alone, at the plan's δ.
	Epsilon Number `json:"epsilon"`
	// ScoredBy is what runs are compared by: [ByAccuracy], or where one class has most of the
	// rows [ByLogLoss].
	ScoredBy string `json:"scored_by"`
	// ScoreNoise is the standard deviation, in test rows, of the noise on the score by which a
	// run is compared.
	ScoreNoise float64 `json:"score_noise"`
}

// What runs are compared by. Either way a test row adds at most 1 to a run's score.
const (
	ByAccuracy = "accuracy" // how many test rows the run has right
	ByLogLoss  = "log_loss" // how sure it is of their classes: 1 for each, less its loss over ln 100
)

// Trial is a step of a run that is tried. Nothing of it is released.
type Trial struct {
	Number int `json:"number"` // of the run, from 1
	Step   int `json:"step"`
	Steps  int `json:"steps"` // of this run
	// Rehearsal says that it is on made-up rows.
	Rehearsal bool `json:"rehearsal,omitempty"`
}

// Tried is a run that was compared with others. A diagnostic: the guarantee is for
// the best one alone, and for those who do not know how many there were.
type Tried struct {
	Candidate
	TestAccuracy Number `json:"test_accuracy"`
	Score        Number `json:"score"` // by which it was compared, noise included; in test rows
	Selected     bool   `json:"selected,omitempty"`
}

// Candidates returns the configurations that c, with its defaults filled in, would try: those its Tuning
// lists, or by the rule, which looks at nothing but the configuration. Where a threshold
// moves by itself, the first one is not tried.
func (c Config) Candidates() []Candidate {
	rates, norms := c.Tuning.LearningRate, c.Tuning.MaxGradNorm
	if len(rates) == 0 && len(norms) == 0 {
		rates = []float64{twoDigits(c.LearningRate / 3), c.LearningRate, twoDigits(c.LearningRate * 3)}
		if c.Method == "constant" && c.Threshold == "" {
			norms = []float64{twoDigits(c.MaxGradNorm / 4), c.MaxGradNorm}
		}
	}
	if len(rates) == 0 {
		rates = []float64{c.LearningRate}
	}
	if len(norms) == 0 {
		norms = []float64{c.MaxGradNorm}
	}
	var all []Candidate
	for _, norm := range norms {
		for _, rate := range rates {
			all = append(all, Candidate{rate, norm})
		}
	}
	return all
}
