package chart

import (
	"math"
	"slices"

	"clipscope/core/run"
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// norms charts the lengths of the newest batch's gradients, and what they are
// scaled by.
func norms() *Chart {
	d := &normsDrawing{}
	return &Chart{
		Title: "Gradient norms", Ink: Diagnostic,
		Empty: "How long the gradients of the newest batch are, with C and the weight w(‖g‖) that each is scaled by.",
		None:  "No norms are measured in this run.",
		Spec: Spec{Kind: "histogram", X: Axis{Label: "‖g‖"}, Mark: "vertical", MarkLabel: "C",
			Series: []Line{{Label: "w", Ink: Released, Scale: "w", Width: 2}, {Ink: Diagnostic}}},
		has:  func(r *series.Record) bool { return r.Norms != nil },
		draw: func(f *Feed, runs []*series.Record) { d.draw(f, runs[len(runs)-1]) },
		sentence: func(r *series.Record) string {
			return join(words.Norms(r.Moment()), words.Gradient(r.Gradient, r.Compared))
		},
		rows: func(r *series.Record) []Row {
			return append(normRows(diagnostics(r.Moment()).Norms, r), gradientRows(r.Gradient)...)
		},
	}
}

// points is the number of points of the drawn weight function.
const points = 121

// normsDrawing keeps the ends of the axes of a run, so that they hold still, and
// memory.
type normsDrawing struct {
	of                         *series.Record
	start, normsEnd, weightEnd float64
	xs, ws                     [points]float64
	counts                     []float64
}

func (d *normsDrawing) draw(f *Feed, r *series.Record) {
	if r.Norms == nil {
		return
	}
	if d.of != r {
		d.of, d.start, d.normsEnd, d.weightEnd = r, 0, 0, 0
	}
	c := r.Last.Released.MaxGradNorm
	h := Histogram{Mark: math.NaN(), Noisy: r.Noisy, Range: r.Range}
	if c > 0 && r.Weight != nil {
		h.Mark = c
	}
	d.normsEnd = stretch(d.normsEnd, axisFor(r.Norms, h.Mark))
	d.start = startFor(d.start, d.normsEnd, h.Mark, float64(r.Norms.P10))
	h.Start, h.End = d.start, d.normsEnd
	d.bins(&h, r.Norms)
	d.weights(&h, r.Weight, c)
	f.Histogram(h)
}

// bins sets the batch's bins: evenly wide on the axis, where the run has such. On a
// logarithmic axis they begin at its start, the first counts all shorter norms, and beyond
// three decades each is two of the run's.
func (d *normsDrawing) bins(h *Histogram, n *run.Norms) {
	counts, skip, width := n.Counts, 0, 1
	h.Max = float64(n.Max)
	if h.Start > 0 && len(n.LogCounts) > 0 {
		if h.End > 1000*h.Start {
			width = 2
		}
		counts, h.Low = n.LogCounts, h.Start
		skip = int(math.Round(run.LogBins * math.Log10(h.Start/float64(n.LogMin))))
	}
	bin := func(i int) int { return max(0, i-skip) / width }
	d.counts = append(d.counts[:0], make([]float64, bin(len(counts)-1)+1)...)
	for i, count := range counts {
		d.counts[bin(i)] += float64(count)
	}
	if h.Low > 0 {
		h.Max = h.Low * math.Pow(10, float64(len(d.counts)*width)/run.LogBins)
	}
	h.Counts = d.counts
}

func (d *normsDrawing) weights(h *Histogram, weight func(norm, c float64) float64, c float64) {
	for i := range d.xs {
		share := float64(i) / (points - 1)
		d.xs[i], d.ws[i] = h.End*share, math.NaN()
		if h.Start > 0 {
			d.xs[i] = h.Start * math.Pow(h.End/h.Start, share)
		}
		if weight != nil {
			d.ws[i] = weight(d.xs[i], c)
		}
	}
	need := 1.0
	if weight != nil {
		need = highest(d.ws[:])
	}
	d.weightEnd = stretch(d.weightEnd, need)
	h.Norms, h.Weights, h.HighestOfWeights = d.xs[:], d.ws[:], d.weightEnd
}

// startFor returns the beginning of the axis of norms up to end: 0, linear; or, where a
// threshold c would be lost at its edge, at a power of ten below c and nine tenths of the
// norms, if these are not below c/1000, logarithmic. It stays at start as long as that will do.
func startFor(start, end, c, p10 float64) float64 {
	low := max(p10, c/1000)
	small := end / 30
	if start > 0 {
		small = end / 6
	}
	switch {
	case !(c < small):
		return 0
	case start > 0 && start <= min(c/2, 2*low) && min(c, 10*low) < 200*start:
		return start
	}
	return math.Pow(10, math.Floor(math.Log10(min(c/2, low))))
}

// axisFor returns the end of the axis of norms: the largest, unless that one lies far
// beyond nearly all others; and beyond a threshold c that some are longer than, or that is
// not far off. NaN is no threshold.
func axisFor(n *run.Norms, c float64) float64 {
	end := float64(n.Max)
	if p90 := float64(n.P90); p90 > 0 {
		end = min(end, 2*p90)
	}
	if c < float64(n.Max) || c < 2*end {
		end = max(end, 1.2*c)
	}
	return end
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

func normRows(n *run.Norms, r *series.Record) []Row {
	if n == nil {
		return []Row{{"norms", words.Missing, Diagnostic}}
	}
	return []Row{
		{"10th percentile", words.Number(float64(n.P10), 3), Diagnostic},
		{"median", words.Number(float64(n.P50), 3), Diagnostic},
		{"90th percentile", words.Number(float64(n.P90), 3), Diagnostic},
		{"largest", words.Number(float64(n.Max), 3), Diagnostic},
		thresholdRow(r),
	}
}

// gradientRows are the values of a comparison, if there was one.
func gradientRows(g *run.GradientDiag) []Row {
	if g == nil {
		return nil
	}
	return []Row{
		{"cosine of clipped and true mean", words.Number(float64(g.Cosine), 4), Diagnostic},
		{"norm of the true mean", words.Number(float64(g.TrueNorm), 3), Diagnostic},
		{"bias of clipping", words.Number(float64(g.Bias), 3), Diagnostic},
		{"variance of the noise", words.Number(float64(g.NoiseVariance), 3), Diagnostic},
	}
}
