package series

import (
	"math"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/run"
	"clipscope/ui/words"
)

// Record holds the reports of a run so far, as they are drawn: all that its events
// add up to. It knows nothing of the page.
type Record struct {
	Config run.Config   // of the run, with its defaults
	Plan   run.PlanInfo // with the ε that changes have come to
	// Weight is the method's weight function of a whole gradient, nil when it has none to draw.
	Weight func(norm, c float64) float64
	Whole  float64 // ε of the plan; 0 when it is not known or infinite
	Newest

	unbounded bool // the method clips nothing, so that C means nothing
	layers    bool // each has a threshold of its own, so that C is what they keep together
	series    Series
	log       Log
	finite    [Columns]bool // columns that have had a finite value
	reach     int           // of a past record, the last step of the whole; 0: it is no such
}

// Newest is the newest that events had of everything: with its points, all that a
// record has gathered.
type Newest struct {
	Last     run.Event         `json:"last"`
	Test     *run.Eval         `json:"test,omitempty"`   // once the run has ended, its result's
	Tested   int               `json:"tested,omitempty"` // the step of that
	Curves   *run.ErrorCurves  `json:"error_curves,omitempty"`
	Norms    *run.Norms        `json:"norms,omitempty"`
	Noisy    []float64         `json:"histogram,omitempty"` // the noisy histogram over [0, Range]
	Range    float64           `json:"histogram_range,omitempty"`
	Gradient *run.GradientDiag `json:"gradient,omitempty"` // the comparison of clipped and true gradients
	Compared int               `json:"compared,omitempty"` // the step of that
	// Resumed is the step from which the run went on after it was interrupted; what it
	// reported before that is not here. 0: it was not.
	Resumed int           `json:"resumed,omitempty"`
	Changes []run.Changed `json:"changes,omitempty"` // what was changed while it went on
}

// NewRecord prepares for a run of cfg, which has its defaults, as it was planned.
func NewRecord(cfg run.Config, plan run.PlanInfo) *Record {
	r := &Record{Config: cfg, Plan: plan}
	r.charged(plan.Epsilon)
	c, err := clip.New(
		clip.Choice{Method: cfg.Method, Weight: cfg.Weight, Grouping: cfg.Grouping},
		clip.Env{MaxGradNorm: cfg.MaxGradNorm, NoiseMultiplier: max(plan.NoiseMultiplier, 1e-3), Steps: max(plan.Steps, 1),
			ExpectedBatchSize: max(cfg.ExpectedBatchSize, 1), Dim: 1, Params: clip.Params(cfg.Params)})
	if err != nil {
		return r
	}
	r.unbounded, r.layers = c.NonPrivate, c.Grouping == clip.PerLayer && !c.NonPrivate
	if c.Weight != nil && !c.Coordinates && !c.NonPrivate && !r.layers {
		r.Weight = c.Weight.Factor
	}
	return r
}

// Restore is the record of a run that has ended, from what was kept of it.
func Restore(cfg run.Config, plan run.PlanInfo, n Newest, points []Point) *Record {
	r := NewRecord(cfg, plan)
	for _, p := range points {
		r.addPoint(p)
	}
	r.Newest, r.log = n, Log{points: points}
	return r
}

// Add takes the events of one message.
func (r *Record) Add(events []run.Event) {
	for i := range events {
		e := &events[i]
		p := FromEvent(e)
		if r.unbounded {
			p[C] = math.NaN()
		}
		r.addPoint(p)
		r.keepNewest(e)
	}
}

func (r *Record) addPoint(p Point) {
	for c, v := range p {
		r.noteFinite(Column(c), v)
	}
	r.series.Add(p)
	r.log.Add(p)
}

func (r *Record) noteFinite(c Column, v float64) {
	r.finite[c] = r.finite[c] || !math.IsNaN(v) && !math.IsInf(v, 0)
}

// End takes what the run ended with: from now on the test rows have one figure,
// that of all of them, at the run's last point, and ε there is the result's, which is
// sharper than what was told on the way.
func (r *Record) End(res *run.Result) {
	if r.Changes != nil || res.Changes != nil { // what was changed for steps that never came is not there
		r.Changed(run.ChangeReply{Changes: res.Changes, Steps: res.PlannedSteps, Epsilon: res.Epsilon})
	}
	last := map[Column]float64{}
	if e := res.EpsilonAtStep; e > 0 && res.Steps == r.Last.Step {
		r.Last.Released.Epsilon, last[Epsilon] = e, float64(e)
	}
	if res.TestRows > 0 {
		r.Test, r.Tested = &run.Eval{Rows: res.TestRows, Loss: res.TestLoss, Accuracy: res.TestAccuracy}, res.Steps
		last[TestLoss], last[TestAcc] = float64(res.TestLoss), float64(res.TestAccuracy)
	}
	if n := r.Len(); n > 0 {
		points := r.log.points
		for c, v := range last {
			r.series.cols[c][n-1], points[len(points)-1][c] = v, v
			r.noteFinite(c, v)
		}
	}
}

// Changed takes what a run has become by a change.
func (r *Record) Changed(c run.ChangeReply) {
	r.Changes, r.Last.Steps = c.Changes, c.Steps
	r.charged(c.Epsilon)
}

// charged takes ε of the whole run.
func (r *Record) charged(epsilon run.Number) {
	r.Plan.Epsilon = epsilon
	if e := float64(epsilon); e > 0 && !math.IsInf(e, 1) {
		r.Whole = e
	}
}

// Now returns the present value of a field that can be changed while a run goes on.
func (r *Record) Now(field string) float64 {
	for _, c := range slices.Backward(r.Changes) {
		if c.Field == field {
			return c.To
		}
	}
	return map[string]float64{"max_grad_norm": r.Config.MaxGradNorm, "noise_multiplier": r.Plan.NoiseMultiplier, "learning_rate": r.Config.LearningRate}[field]
}

func (r *Record) keepNewest(e *run.Event) {
	r.Last = *e
	if e.Changes != nil {
		r.Changes = e.Changes
	}
	if e.Released.Curves != nil {
		r.Curves = e.Released.Curves
	}
	if e.Released.Histogram != nil {
		r.Noisy, r.Range = e.Released.Histogram, e.Released.HistogramRange
	}
	d := e.Diag
	if d == nil {
		return
	}
	if d.Eval != nil {
		r.Test, r.Tested = d.Eval, e.Step
	}
	if d.Norms != nil {
		r.Norms = d.Norms
	}
	if d.Gradient != nil {
		r.Gradient, r.Compared = d.Gradient, e.Step
	}
}

// Len is the number of points to draw; a nil record has none.
func (r *Record) Len() int {
	if r == nil {
		return 0
	}
	return r.series.Len()
}

// Column is the drawn values of one column. It is valid until the next Add.
func (r *Record) Column(c Column) []float64 { return r.series.Column(c) }

// Has reports whether a column has had a finite value.
func (r *Record) Has(c Column) bool { return r.finite[c] }

// Points are the points for the export, oldest first.
func (r *Record) Points() []Point { return r.log.Points() }

// lookBack is the number of steps over which the sentence on C compares, and window the number over
// which it averages: a threshold that follows noisy histograms jitters.
const (
	lookBack = 50
	window   = 10
)

// Moment returns the values that the sentences on the newest step are made from.
func (r *Record) Moment() words.Moment {
	m := words.Moment{Event: r.Last, Test: r.Test, Tested: r.Tested, PlannedEpsilon: r.Whole, Unbacked: r.Plan.Unbacked(), PerLayer: r.layers, Weight: r.Weight}
	m.Event.Released.Curves = r.Curves
	if r.unbounded {
		m.Event.Released.MaxGradNorm = math.NaN()
	}
	if m.Event.Diag != nil && m.Event.Diag.Norms == nil && r.Norms != nil {
		d := *m.Event.Diag
		d.Norms = r.Norms
		m.Event.Diag = &d
	}
	m.RecentC = r.series.Mean(C, 0, window)
	if m.EarlierC = r.series.Mean(C, lookBack, lookBack+window); !math.IsNaN(m.EarlierC) {
		m.EarlierSteps = lookBack
	}
	return m
}
