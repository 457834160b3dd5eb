package run

import (
	"encoding/json"
	"math"
)

// Event is a step of a run. What may leave the device and what only its owner
// may look at are different types, so that an exporter cannot mix them up.
type Event struct {
	Step     int      `json:"step"` // steps done so far, this one included
	Steps    int      `json:"steps"`
	Released Released `json:"released"`
	Diag     *Diag    `json:"diagnostic,omitempty"` // nil in a blind run
	// Trial says that this is a step of a run that is tried, of which nothing else is told.
	Trial *Trial `json:"trial,omitempty"`
	// Changes are all that were made of the run so far, where some hold from this step on.
	Changes []Changed `json:"changes,omitempty"`
}

// Released holds the mechanism's output of this step: noised, paid for in ε.
//
// Guarantee: every field is computed from public configuration and noised
// sums alone; it may be published under the run's (ε, δ).
type Released struct {
	MaxGradNorm float64 `json:"max_grad_norm"` // the threshold C of this step
	// MaxGradNorms are the thresholds of the model's layers in this step, where the rule moves each on its
	// own: MaxGradNorm is then the most that all layers together keep of an example.
	MaxGradNorms []float64 `json:"max_grad_norms,omitempty"`
	// Epsilon is that of a run planned to end with this step, at the target δ. A
	// run that is stopped here is charged its whole plan all the same.
	Epsilon  Number `json:"epsilon"`
	GradNorm Number `json:"noisy_grad_norm"`
	// LearningRate is the rate of this step, which follows from its number and what the
	// configuration and its changes say; 0 in runs of earlier versions.
	LearningRate float64 `json:"learning_rate,omitempty"`
	// ClipFraction is a noisy estimate of the share of gradients longer than
	// C, where the threshold rule's statistic gives one; with MaxGradNorms, the
	// mean over the layers.
	ClipFraction *Number `json:"noisy_clip_fraction,omitempty"`
	// Histogram is the noisy histogram of per-sample norms where the
	// threshold rule paid for one, over [0, HistogramRange].
	Histogram      []float64 `json:"histogram,omitempty"`
	HistogramRange float64   `json:"histogram_range,omitempty"`
	// Curves are what the rule weighed to choose the next threshold (dc-e).
	Curves *ErrorCurves `json:"error_curves,omitempty"`
	// Parties counts those whose words the step's sum has, of a run of several.
	Parties int `json:"parties,omitempty"`
	// Void says of a run of several parties that one of them did not answer: the step is charged, and
	// moved nothing.
	Void bool `json:"void,omitempty"`
}

// ErrorCurves are DC-SGD-E's estimate of the expected squared error by
// candidate threshold: its variance and bias parts.
type ErrorCurves struct {
	C        []float64 `json:"max_grad_norm"`
	Variance []float64 `json:"variance"`
	Bias     []float64 `json:"bias"`
}

// Diag is computed from the private data without noise. Its owner may look; it
// never leaves the device unless the owner explicitly asks for it.
type Diag struct {
	BatchSize    int     `json:"batch_size"`
	ClipFraction Number  `json:"clip_fraction"` // share of this batch with norm (or bound) > C, or per layer with that of a layer above its threshold; NaN for an empty batch, and where coordinates are clamped
	TrainLoss    Number  `json:"train_loss"`    // mean over this batch, of the rows that have a finite one; NaN without any
	NonFinite    int     `json:"non_finite,omitempty"`
	Norms        *Norms  `json:"norms,omitempty"`
	TrainAcc     Number  `json:"train_accuracy"` // of this batch, 0 … 1; NaN for regression
	Eval         *Eval   `json:"eval,omitempty"`
	StepSeconds  float64 `json:"step_seconds"`
	// MovedBytes counts the bytes that this step sent to a GPU and fetched from it: rows, the
	// arguments of kernels, reports, and where it is due the state from which the run could go on.
	MovedBytes int64 `json:"moved_bytes,omitempty"`
	// Gradient compares this batch's clipped and true gradients, when asked for.
	Gradient *GradientDiag `json:"gradient,omitempty"`
}

// GradientDiag shows what clipping and noise did to a batch's gradient.
type GradientDiag struct {
	Cosine   Number `json:"cosine"`    // between the mean clipped and the mean true gradient
	Bias     Number `json:"bias"`      // ‖mean g − mean ĝ‖, both divided by the expected batch size
	TrueNorm Number `json:"true_norm"` // ‖mean g‖
	// NoiseVariance is σ_T²C²d/B², the expected squared norm of the noise.
	NoiseVariance Number `json:"noise_variance"`
	// BySize sorts the batch by gradient norm into equal parts: the mean norm
	// of each, and the mean cosine between its examples' gradients and the
	// batch's true gradient (PS, Figure 1).
	BySize []SizeCosine `json:"by_size,omitempty"`
}

// SizeCosine is a part of a batch sorted by gradient norm.
type SizeCosine struct {
	Norm   Number `json:"norm"`
	Cosine Number `json:"cosine"`
}

// LogBins is the number of bins in a decade of [Norms].LogCounts: their edges lie at
// 10^(k/LogBins) for whole k.
const LogBins = 20

// Norms summarises the batch's per-sample gradient norms before clipping.
type Norms struct {
	Counts []int `json:"counts"` // equal bins over [0, Max]
	// LogCounts has bins of a logarithmic axis, [LogBins] a decade, of which the
	// first begins at LogMin, a bin's edge, and counts shorter norms as well. Norms
	// that are all 0, and runs of earlier versions, have none.
	LogCounts []int  `json:"log_counts,omitempty"`
	LogMin    Number `json:"log_min,omitempty"`

	Max Number `json:"max"`
	P10 Number `json:"p10"`
	P50 Number `json:"p50"`
	P90 Number `json:"p90"`
	// Bounds says that these are upper bounds known before the backward pass
	// (value clipping), not the norms themselves.
	Bounds bool `json:"bounds,omitempty"`
}

// Eval is a measurement on the test rows.
type Eval struct {
	Rows     int    `json:"rows"` // how many test rows were used
	Loss     Number `json:"test_loss"`
	Accuracy Number `json:"test_accuracy"` // 0 … 1; NaN for regression
}

// Unfinished reports whether somebody has stopped the run, so that it is no measurement of its configuration.
func (r *Result) Unfinished() bool { return r.Stopped && !r.Rested }

// Result is the outcome of a run.
type Result struct {
	Steps        int `json:"steps"` // steps done; fewer than planned when stopped
	PlannedSteps int `json:"planned_steps"`
	// LostSteps is how many of Steps were lost to the model where a run was
	// interrupted: they count, as they may have been seen.
	LostSteps int  `json:"lost_steps,omitempty"`
	Stopped   bool `json:"stopped,omitempty"`
	// Rested says that early stopping has stopped it, as it was planned to.
	Rested bool `json:"rested,omitempty"`
	Blind  bool `json:"blind,omitempty"` // diagnostics were hidden until the end
	// Charged says that all of the plan is charged though nothing was released: of a
	// tuning, nothing may be one of its outcomes.
	Charged bool `json:"charged,omitempty"`
	// Epsilon is that of the plan, stopped or not: where a run is stopped may
	// depend on what it released. 0 where nothing was released.
	Epsilon Number `json:"epsilon"`
	// EpsilonAtStep is what Epsilon would be had Steps been fixed beforehand.
	// Of a run that was stopped it is no guarantee.
	EpsilonAtStep Number  `json:"epsilon_at_step"`
	Delta         float64 `json:"delta"`
	Accountant    string  `json:"accountant"`
	TestRows      int     `json:"test_rows"` // all that there are; 0 where none were tested
	TestAccuracy  Number  `json:"test_accuracy"`
	TestLoss      Number  `json:"test_loss"`
	// TestClasses are the classes among the test rows, each with its share of them and
	// of how many it was found; nil where there are no classes. A diagnostic, as
	// TestAccuracy is.
	TestClasses []ClassScore `json:"test_classes,omitempty"`
	// TestScores say more of how the model fared there; nil where none were tested. A
	// diagnostic, too.
	TestScores *Scores `json:"test_scores,omitempty"`
	// Mistakes are pictures among the test rows that the model was surest of, and wrong.
	// They are rows of the data: no file has them, and no run that is kept.
	Mistakes []Mistake `json:"mistakes,omitempty"`
	// Answers are some of the test rows with what the model answered, of one target: at most
	// 500. They are rows of the data: no file has them, and no run that is kept.
	Answers []Answered `json:"answers,omitempty"`
	// Unusable is why the page cannot answer new rows with the model; "" where it can.
	Unusable string `json:"unusable,omitempty"`
	// Selected is what was chosen of what was tried; nil without tuning. It is released.
	Selected *Candidate `json:"selected,omitempty"`
	// ScoredBy is what it was chosen by, as [TuningPlan] has it.
	ScoredBy string `json:"scored_by,omitempty"`
	// Tried are the runs that were compared, a diagnostic.
	Tried        []Tried `json:"tried,omitempty"`
	TrainSeconds float64 `json:"train_seconds"` // time inside steps and waiting for a device, without loading and testing
	Backend      string  `json:"backend"`
	Device       string  `json:"device,omitempty"`  // a GPU's name
	Chosen       string  `json:"chosen,omitempty"`  // why that backend, where there was a choice
	Threads      int     `json:"threads,omitempty"` // that shared the work; 0 where nothing ran
	// Changes are what was changed of a teaching run while it went on.
	Changes   []Changed `json:"changes,omitempty"`
	Notes     []string  `json:"notes,omitempty"` // fallbacks and warnings the owner must see
	Guarantee string    `json:"guarantee"`       // the promise in one sentence
	// Checks are the run's tests of itself. Where one failed there is no guarantee, and
	// Epsilon is +Inf.
	//
	// Guarantee: each passes on any data with a probability of at least 1 − 10⁻¹⁸, so that
	// to publish that all passed adds at most (1+e^ε)·10⁻¹⁸ to δ for each.
	Checks []Check `json:"checks,omitempty"`
	// Statement is the whole statement of the run's privacy, a
	// privacy.Statement as JSON; its "text" is the same in words.
	Statement json.RawMessage `json:"statement,omitempty"`
	Released  Summary         `json:"released"`
}

// ClassScore scores a class on the test rows.
type ClassScore struct {
	Class  string `json:"class"`
	Rows   int    `json:"rows"`
	Recall Number `json:"recall"` // the share of them that was told; NaN without rows
	// Precision is the share of the rows that were taken for the class which is of it;
	// NaN where none was.
	Precision Number `json:"precision"`
}

// LargestShare is the share of the test rows that the largest class has, which is the
// accuracy of answering with it always; NaN where there are no classes.
func (r *Result) LargestShare() float64 {
	most := 0
	for _, c := range r.TestClasses {
		most = max(most, c.Rows)
	}
	if most == 0 {
		return math.NaN()
	}
	return float64(most) / float64(r.TestRows)
}

// Summary is the released side of a whole run.
//
// Guarantee: as [Released].
type Summary struct {
	NoiseMultiplier float64   `json:"noise_multiplier"`
	SampleRate      float64   `json:"sample_rate"`
	MaxGradNorm     []float64 `json:"max_grad_norm"` // C of every step, or of an even selection of a million
	Parameters      []float32 `json:"parameters,omitempty"`
	// Bounds are the private bounds that the run has paid for, of columns by name and as [CSV.Bounds] has
	// them: a run that declares them buys none.
	Bounds map[string]Bounds `json:"bounds,omitempty"`
	// Apply is how new rows become what the parameters are for; nil without them.
	Apply *Application `json:"apply,omitempty"`
}
