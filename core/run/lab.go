package run

import "fmt"

// LabRequest opens a laboratory: a model as its configuration begins with it, which
// stands still until it is trained on. A configuration without a seed gets one, or going
// back would lead elsewhere. The answer is a [Look].
type LabRequest struct {
	Config Config `json:"config"`
}

// LookRequest changes what a laboratory looks at, and the answer is a [Look]: with Back,
// the first parameters; with Steps, those of so many steps more, of which progress tells;
// with Again, another batch.
type LookRequest struct {
	Back  bool `json:"back,omitempty"`
	Steps int  `json:"steps,omitempty"`
	Again bool `json:"again,omitempty"`
}

// Check refuses steps that lead backwards.
func (q LookRequest) Check() error {
	if q.Steps < 0 {
		return &ConfigError{"steps", fmt.Sprintf("%d steps cannot be taken", q.Steps)}
	}
	return nil
}

// Look is a batch of a model that stands still, by its gradients. It is diagnostic, all of
// it, and computed without noise.
type Look struct {
	Step            int     `json:"step"`  // of the run that the model is from
	Steps           int     `json:"steps"` // as planned
	Rows            int     `json:"rows"`  // of the batch: the expected batch size, or as many as go through the model at once
	Parameters      int     `json:"parameters"`
	NoiseMultiplier Number  `json:"noise_multiplier"` // on the gradient, after what a statistic takes
	BatchSize       float64 `json:"expected_batch_size"`
	SensitivityOf   string  `json:"sensitivity_of"` // the method that the run trains with, and whose noise this is
	Seed            uint64  `json:"seed"`           // drawn, where the configuration has none
	MaxGradNorm     float64 `json:"max_grad_norm"`  // of the coming step
	TrueNorm        Number  `json:"true_norm"`      // of the batch's mean gradient
	// Norms are the lengths of the examples' gradients, Along and Across (≥ 0) their parts
	// along the mean and at right angles to it; an example whose gradient is not finite has
	// none, and counts in NonFinite.
	Norms     []float64 `json:"norms"`
	Along     []float64 `json:"along"`
	Across    []float64 `json:"across"`
	Labels    []int     `json:"labels,omitempty"` // numbers of Classes
	Classes   []string  `json:"classes,omitempty"`
	Losses    []Number  `json:"losses"`
	Largest   []Example `json:"largest,omitempty"` // pictures and sentences alone: those with the longest gradients
	Smallest  []Example `json:"smallest,omitempty"`
	NonFinite int       `json:"non_finite,omitempty"`
	Modules   []string  `json:"modules,omitempty"` // of a network that reads sentences: its layers with parameters
}

// LabProgress says how far training on is.
type LabProgress struct {
	Step  int `json:"step"` // of the run
	Steps int `json:"steps"`
}

// Example is a picture of a batch, or a sentence.
type Example struct {
	Label  int    `json:"label"` // a number of [Look.Classes]
	Norm   Number `json:"norm"`  // of its gradient
	Height int    `json:"height"`
	Width  int    `json:"width"`
	Pixels []byte `json:"pixels"` // [planes×height×width]; in JSON as base64
	// Text is the sentence, and Parts the lengths of its gradient by the parameters of each of [Look.Modules].
	Text  string   `json:"text,omitempty"`
	Parts []Number `json:"parts,omitempty"`
}

// ClipRequest asks what a method does to the batch at each of some thresholds. With
// Factors, of one threshold, every example's factor is told.
type ClipRequest struct {
	Method      string             `json:"method"`
	Params      map[string]float64 `json:"params,omitempty"`
	MaxGradNorm []float64          `json:"max_grad_norm"`
	Factors     bool               `json:"factors,omitempty"`
}

// MostThresholds limits the points of a curve.
const MostThresholds = 1000

// Check refuses what no threshold can be.
func (q ClipRequest) Check() error { return checkThresholds(q.MaxGradNorm, q.Factors) }

func checkThresholds(cs []float64, one bool) error {
	if len(cs) == 0 || len(cs) > MostThresholds || one && len(cs) != 1 {
		return &ConfigError{"max_grad_norm", fmt.Sprintf("%d thresholds; give 1 to %d, and 1 alone for factors", len(cs), MostThresholds)}
	}
	for _, c := range cs {
		if !(c > 0 && c <= 1e12) {
			return &ConfigError{"max_grad_norm", fmt.Sprintf("%v is no threshold: give a number above 0, up to 1e12", c)}
		}
	}
	return nil
}

// ClipReply holds the clipped mean gradient at each threshold; see
// [Point] of package lab.
type ClipReply struct {
	MaxGradNorm []float64 `json:"max_grad_norm"`
	Bias2       []Number  `json:"bias2"`
	Along       []Number  `json:"along"`
	Across      []Number  `json:"across"`
	Cosine      []Number  `json:"cosine"`
	Clipped     []Number  `json:"clipped"` // the share of the examples
	Factors     []float64 `json:"factors,omitempty"`
}

// EstimateRequest asks for DC-SGD's estimate of the bias at some thresholds.
type EstimateRequest struct {
	MaxGradNorm []float64 `json:"max_grad_norm"`
}

// Check refuses what no threshold can be.
func (q EstimateRequest) Check() error { return checkThresholds(q.MaxGradNorm, false) }

// EstimateReply holds that estimate, of this batch and without noise.
type EstimateReply struct {
	MaxGradNorm []float64 `json:"max_grad_norm"`
	Bias2       []Number  `json:"bias2"`
}

// DrawsRequest draws the noise of a step at a threshold so many times, to be seen.
type DrawsRequest struct {
	MaxGradNorm float64 `json:"max_grad_norm"`
	Draws       int     `json:"draws"`
}

// MostDraws limits the draws of a request.
const MostDraws = 1000

// Check refuses what cannot be drawn.
func (q DrawsRequest) Check() error {
	if q.Draws < 2 || q.Draws > MostDraws {
		return &ConfigError{"draws", fmt.Sprintf("%d draws; give 2 to %d", q.Draws, MostDraws)}
	}
	return checkThresholds([]float64{q.MaxGradNorm}, true)
}

// Draws are draws of the noise on the mean gradient.
type Draws struct {
	Draws int `json:"draws"`
	// MeanSquare is the mean of its squared length, StandardError that of this mean, and
	// Formula what it is expected to be, σ²C²d/B².
	MeanSquare    Number    `json:"mean_square"`
	StandardError Number    `json:"standard_error"`
	Formula       Number    `json:"formula"`
	Along         []float64 `json:"along"`  // each draw's part along the true mean gradient
	Across        []float64 `json:"across"` // and the length of the rest
}

// BoundaryRequest asks what a model of two features answers all over the plane.
type BoundaryRequest struct {
	Size int `json:"size"` // points on each side
}

// MostSide bounds the points of a boundary.
const MostSide = 256

// Check refuses sizes that are none, or too many.
func (q BoundaryRequest) Check() error {
	if q.Size < 2 || q.Size > MostSide {
		return &ConfigError{"size", fmt.Sprintf("%d points on a side; give 2 to %d", q.Size, MostSide)}
	}
	return nil
}

// Boundary is the plane of the data, row by row from the lowest y.
type Boundary struct {
	Size    int        `json:"size"`
	X       [2]float64 `json:"x"` // from, to
	Y       [2]float64 `json:"y"`
	Classes []int      `json:"classes"` // what the model answers [size²]
	Share   []Number   `json:"share"`   // and its probability [size²]
	Rows    []PlaneRow `json:"rows"`
}

// PlaneRow is a row of the batch in the plane of the data, with its gradient's norm.
type PlaneRow struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Label int     `json:"label"`
	Norm  Number  `json:"norm"`
}
