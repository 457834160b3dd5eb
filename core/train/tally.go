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
	n, correct, nonFinite int
	loss                  float64
	norms                 []float64
}

func (t *tally) reset() { *t = tally{norms: t.norms[:0]} }

// add counts the losses and hits of the physical batch last read.
func (t *tally) add(p *Plan, n int) {
	s := p.st
	t.n += n
	for _, l := range s.host.losses[:n] {
		if finite(float64(l)) {
			t.loss += float64(l)
		}
	}
	t.correct += hits(p.ds.Task, s.host.outputs, s.host.targets, n, s.model.Outputs())
}

// addNorms keeps the norms of the physical batch last read.
func (t *tally) addNorms(p *Plan, n int) {
	for i, norm := range p.st.host.norms[:n] {
		if p.st.host.keep[i] == 0 {
			t.nonFinite++
			continue
		}
		t.norms = append(t.norms, norm)
	}
}

// normSlack is how far a computed norm may lie above the true one: within it, a
// norm of just C does not count as clipped.
const normSlack = 1 + 2e-6

// normBins is the resolution of the norms' histogram on the page.
const normBins = 40

// diag summarises the tally for a step of clipper cl with threshold c.
func (t *tally) diag(cl *clip.Clipper, c, seconds float64) *run.Diag {
	nan := run.Number(math.NaN())
	d := &run.Diag{BatchSize: t.n, NonFinite: t.nonFinite, StepSeconds: seconds, ClipFraction: nan, TrainLoss: nan, TrainAcc: nan}
	if t.n > 0 {
		d.TrainLoss = run.Number(t.loss / float64(t.n))
		if t.correct >= 0 {
			d.TrainAcc = run.Number(float64(t.correct) / float64(t.n))
		}
	}
	if len(t.norms) > 0 {
		d.ClipFraction, d.Norms = t.summary(c)
		d.Norms.Bounds = cl.Source == clip.Bounded
		if cl.Coordinates { // a norm says nothing about single coordinates
			d.ClipFraction = nan
		}
	}
	return d
}

// summary sorts the norms in place.
func (t *tally) summary(c float64) (run.Number, *run.Norms) {
	slices.Sort(t.norms)
	k := len(t.norms)
	above, _ := slices.BinarySearchFunc(t.norms, c*normSlack, func(n, c float64) int {
		if n <= c {
			return -1
		}
		return 1
	})
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
	return run.Number(float64(k-above) / float64(k)), s
}

// hits counts right answers among n rows of outputs [n×k], or is negative where
// the task has none: the largest output is the class; a label is on where its
// logit is positive, and a row is right when all its labels are.
func hits(task data.Task, outputs, targets []float32, n, k int) int {
	right := 0
	switch task {
	case data.Classification:
		for i := range n {
			if argmax(outputs[i*k:(i+1)*k]) == int(targets[i]) {
				right++
			}
		}
	case data.MultiLabel:
		for i := range n {
			ok := true
			for j := i * k; j < (i+1)*k; j++ {
				ok = ok && (outputs[j] > 0) == (targets[j] > 0.5)
			}
			if ok {
				right++
			}
		}
	default:
		return math.MinInt32
	}
	return right
}

func argmax(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}
