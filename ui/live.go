package ui

import (
	"math"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/run"
	"clipscope/ui/form"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// live is a run as it is drawn: what events add up to. It knows nothing of the
// page, so that it can be tested without one.
type live struct {
	cfg    run.Config
	weight func(norm, c float64) float64
	// unbounded says that the method clips nothing, so that C means nothing.
	unbounded bool
	whole     float64 // ε of the plan; 0 when it is not known or infinite

	series series.Series
	log    series.Log
	seen   [series.Columns]bool // columns that have had a finite value
	last   run.Event
	test   *run.Eval
	curves *run.ErrorCurves // the newest that an event had
	noisy  []float64
	within float64 // the noisy histogram's range
	norms  *run.Norms
	// gradient is the newest comparison of clipped and true gradients.
	gradient   *run.GradientDiag
	gradientAt int

	normsEnd, weightEnd float64
	xs, ws              [points]float64
	counts              []float64
}

// points is how finely the weight function is drawn.
const points = 121

// newLive prepares for a run of cfg, which has its defaults, as it was planned.
func newLive(cfg run.Config, plan run.PlanInfo) *live {
	l := &live{cfg: cfg, unbounded: form.Unbounded(&cfg), weight: weightOf(cfg, plan.NoiseMultiplier, plan.Steps)}
	if e := float64(plan.Epsilon); e > 0 && !math.IsInf(e, 1) {
		l.whole = e
	}
	return l
}

// weightOf is the method's weight function, nil when it has none to draw.
func weightOf(cfg run.Config, sigma float64, steps int) func(norm, c float64) float64 {
	c, err := clip.New(
		clip.Choice{Method: cfg.Method, Weight: cfg.Weight, Grouping: cfg.Grouping},
		clip.Env{MaxGradNorm: cfg.MaxGradNorm, NoiseMultiplier: max(sigma, 1e-3), Steps: max(steps, 1),
			ExpectedBatchSize: max(cfg.ExpectedBatchSize, 1), Dim: 1, Params: clip.Params(cfg.Params)})
	if err != nil || c.Weight == nil || c.Coordinates || c.NonPrivate {
		return nil
	}
	return c.Weight.Factor
}

// add takes the events of one message.
func (l *live) add(events []run.Event) {
	for i := range events {
		e := &events[i]
		p := series.FromEvent(e)
		if l.unbounded {
			p[series.C] = math.NaN()
		}
		for c, v := range p {
			l.seen[c] = l.seen[c] || !math.IsNaN(v) && !math.IsInf(v, 0)
		}
		l.series.Add(p)
		l.log.Add(p)
		l.keep(e)
	}
}

func (l *live) keep(e *run.Event) {
	l.last = *e
	if e.Released.Curves != nil {
		l.curves = e.Released.Curves
	}
	if e.Released.Histogram != nil {
		l.noisy, l.within = e.Released.Histogram, e.Released.HistogramRange
	}
	if e.Diag != nil && e.Diag.Eval != nil {
		l.test = e.Diag.Eval
	}
	if e.Diag != nil && e.Diag.Norms != nil {
		l.norms = e.Diag.Norms
	}
	if e.Diag != nil && e.Diag.Gradient != nil {
		l.gradient, l.gradientAt = e.Diag.Gradient, e.Step
	}
}

// lookBack is how many steps the sentence on C compares over, and window over
// how many it averages: a threshold that follows noisy histograms jitters.
const (
	lookBack = 50
	window   = 10
)

func (l *live) moment() words.Moment {
	m := words.Moment{Event: l.last, Test: l.test, PlannedEpsilon: l.whole, Weight: l.weight}
	m.Event.Released.Curves = l.curves
	if l.unbounded {
		m.Event.Released.MaxGradNorm = math.NaN()
	}
	if m.Event.Diag != nil && m.Event.Diag.Norms == nil && l.norms != nil {
		d := *m.Event.Diag
		d.Norms = l.norms
		m.Event.Diag = &d
	}
	m.RecentC = l.series.Mean(series.C, 0, window)
	if m.EarlierC = l.series.Mean(series.C, lookBack, lookBack+window); !math.IsNaN(m.EarlierC) {
		m.EarlierSteps = lookBack
	}
	return m
}

// feeds are the charts of the page.
type feeds struct {
	clipping, threshold, norms, accuracy, loss, epsilon, curves Feed
}

func (f *feeds) clear() {
	for _, x := range []*Feed{&f.clipping, &f.threshold, &f.norms, &f.accuracy, &f.loss, &f.epsilon, &f.curves} {
		x.Clear()
	}
}

// draw sends what there is to the charts.
func (l *live) draw(f *feeds) {
	if l.series.Len() == 0 {
		return
	}
	col := l.series.Column
	x, end, none := col(series.Step), growing(float64(l.last.Step), float64(l.last.Steps)), math.NaN()
	f.clipping.Lines(end, none, x, col(series.Clipped))
	f.threshold.Lines(end, none, x, col(series.C))
	f.accuracy.Lines(end, none, x, col(series.TrainAcc), col(series.TestAcc))
	f.loss.Lines(end, none, x, col(series.TrainLoss), col(series.TestLoss))
	whole := none
	if l.whole > 0 {
		whole = l.whole
	}
	f.epsilon.Lines(end, whole, x, col(series.Epsilon))
	l.drawNorms(&f.norms)
	l.drawCurves(&f.curves)
}

func (l *live) drawNorms(f *Feed) {
	if l.norms == nil {
		return
	}
	c := l.last.Released.MaxGradNorm
	h := Histogram{Mark: math.NaN(), Max: float64(l.norms.Max), Noisy: l.noisy, Range: l.within, HighestOfWeights: 1}
	if c > 0 && l.weight != nil {
		h.Mark = c
	}
	l.counts = l.counts[:0]
	for _, n := range l.norms.Counts {
		l.counts = append(l.counts, float64(n))
	}
	h.Counts = l.counts
	l.normsEnd = stretch(l.normsEnd, axisFor(l.norms))
	h.End = l.normsEnd
	l.drawWeights(&h, c)
	f.Histogram(h)
}

func (l *live) drawWeights(h *Histogram, c float64) {
	for i := range l.xs {
		l.xs[i], l.ws[i] = h.End*float64(i)/(points-1), math.NaN()
		if l.weight != nil {
			l.ws[i] = l.weight(l.xs[i], c)
		}
	}
	need := 1.0
	if l.weight != nil {
		need = highest(l.ws[:])
	}
	l.weightEnd = stretch(l.weightEnd, need)
	h.Norms, h.Weights, h.HighestOfWeights = l.xs[:], l.ws[:], l.weightEnd
}

// axisFor is how far the axis of norms must reach: to the largest, unless that
// one lies far beyond nearly all others.
func axisFor(n *run.Norms) float64 {
	if p90 := float64(n.P90); p90 > 0 {
		return min(float64(n.Max), 2*p90)
	}
	return float64(n.Max)
}

// steep is the weight above which the first tenth of the axis does not decide
// the height of the rest: there a weight grows without bound towards 0.
const steep = 5

func highest(weights []float64) float64 {
	if all := slices.Max(weights); all <= steep {
		return all
	}
	return slices.Max(weights[len(weights)/10:])
}

func (l *live) drawCurves(f *Feed) {
	e := l.curves
	if e == nil || len(e.C) == 0 {
		return
	}
	sum, best := make([]float64, len(e.C)), 0
	for i := range e.C {
		sum[i] = e.Variance[i] + e.Bias[i]
		if sum[i] < sum[best] {
			best = i
		}
	}
	f.Lines(e.C[len(e.C)-1], e.C[best], e.C, e.Variance, e.Bias, sum)
}
