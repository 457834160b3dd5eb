package train

import (
	"math"
	"slices"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/run"
)

// tally gathers a step's diagnostics. They are private: see [run.Diag].
type tally struct {
	n, hits, nonFinite int
	answered           int // rows whose outputs are finite, and loss so
	loss               float64
	norms              []float64
	batch              []float64 // of the physical batch last added, NaN where refused
	limits             []float64 // the thresholds that norms are compared with, of each group
	clipped            int       // rows a group of which is longer than its threshold
}

// addBatch counts a physical batch and feeds the statistic of a query, which may be nil.
func (t *tally) addBatch(v view, q *clip.Query, statistic []float64) {
	t.n += v.n
	keep := v.keepMask()
	for i, l := range v.losses() {
		if finite(float64(l)) { // or the model has no answer
			t.answered++
			t.loss += float64(l)
			t.hits += int(v.hits()[i])
		}
	}
	t.batch = t.batch[:0]
	if !v.weighed {
		return
	}
	for i := range v.n {
		norms := v.norms(i)
		if keep[i] == 0 {
			t.nonFinite++
			t.batch = append(t.batch, math.NaN())
			continue
		}
		t.norms, t.batch = append(t.norms, norms.Whole), append(t.batch, norms.Whole)
		if longer(norms.Groups, t.limits) {
			t.clipped++
		}
		if q != nil {
			q.Value(statistic, norms)
		}
	}
}

// join adds the tally of other rows.
func (t *tally) join(o *tally) {
	t.n, t.hits, t.nonFinite, t.answered, t.loss = t.n+o.n, t.hits+o.hits, t.nonFinite+o.nonFinite, t.answered+o.answered, t.loss+o.loss
	t.norms, t.batch, t.clipped = append(t.norms, o.norms...), o.batch, t.clipped+o.clipped
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// longer reports whether any norm is above its limit.
func longer(norms, limits []float64) bool {
	for g, limit := range limits {
		if norms[g] > limit*normSlack {
			return true
		}
	}
	return false
}

// normSlack bounds a computed norm over the true one: within it, a
// norm of just C does not count as clipped.
const normSlack = 1 + 2e-6

// normBins is the resolution of the norms' histogram on the page.
const normBins = 40

// diag summarises the tally for a step of clipper cl.
func (t *tally) diag(cl *clip.Clipper, task data.Task, seconds float64) *run.Diag {
	nan := run.Number(math.NaN())
	d := &run.Diag{BatchSize: t.n, NonFinite: t.nonFinite, StepSeconds: seconds, ClipFraction: nan, TrainLoss: nan, TrainAcc: nan}
	if t.n > 0 {
		d.TrainLoss = run.Number(t.loss / float64(t.answered))
		if task != data.Regression {
			d.TrainAcc = run.Number(float64(t.hits) / float64(t.n))
		}
	}
	if len(t.norms) > 0 {
		d.Norms = t.summary()
		d.Norms.Bounds = cl.Source == clip.Bounded
		if !cl.Coordinates { // a norm says nothing about single coordinates
			d.ClipFraction = run.Number(float64(t.clipped) / float64(len(t.norms)))
		}
	}
	return d
}

// summary sorts the norms in place.
func (t *tally) summary() *run.Norms {
	slices.Sort(t.norms)
	k := len(t.norms)
	at := func(q float64) run.Number { return run.Number(t.norms[min(k-1, int(q*float64(k)))]) }
	top := t.norms[k-1]
	s := &run.Norms{Counts: make([]int, normBins), Max: run.Number(top), P10: at(0.1), P50: at(0.5), P90: at(0.9)}
	for _, n := range t.norms {
		i := 0
		if top > 0 {
			i = min(normBins-1, int(normBins*(n/top)))
		}
		s.Counts[i]++
	}
	s.LogCounts, s.LogMin = logCounts(t.norms)
	return s
}

// maxDecades bounds the range of the norms' logarithmic histogram.
const maxDecades = 6

// logCounts returns the bins of [run.Norms] for norms in ascending order, and the edge at
// which they begin. At most maxDecades are covered, below the longest norm.
func logCounts(norms []float64) ([]int, run.Number) {
	bin := func(n float64) int { return int(math.Floor(run.LogBins * math.Log10(n))) }
	longest := norms[len(norms)-1]
	if longest == 0 {
		return nil, 0
	}
	last := bin(longest)
	first := last + 1 - run.LogBins*maxDecades
	if shortest := norms[0]; shortest > 0 {
		first = max(first, bin(shortest))
	}
	counts := make([]int, last+1-first)
	for _, n := range norms {
		i := 0
		if n > 0 {
			i = max(0, bin(n)-first)
		}
		counts[i]++
	}
	return counts, run.Number(math.Pow(10, float64(first)/run.LogBins))
}
