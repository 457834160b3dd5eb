package check

import (
	"math"

	"clipscope/core/privacy"
)

// Bounds on the accounting work of one check, in units of about a millisecond of a desktop
// processor. The largest files that the page writes in practice take less: see
// TestHonestFilesAreWorkedOutWholly.
const (
	mostOfRun    = 1 << 13
	mostOfLedger = 1 << 14 // 64 data sets of 20 runs
)

// mostWork returns the bound for the kind of file.
func (c *claims) mostWork() float64 {
	if c.ledger != nil {
		return mostOfLedger
	}
	return mostOfRun
}

// tooMuch is the reason for a claim that the budget does not cover.
const tooMuch = "the file asks for more accounting than one check does"

// budget counts the accounting work that a check asks for, and refuses what exceeds left.
type budget struct {
	left      float64
	requested float64 // granted or not
}

// grant takes cost off the budget, or reports false.
func (b *budget) grant(cost float64) bool {
	b.requested += cost
	if !(cost <= b.left) {
		return false
	}
	b.left -= cost
	return true
}

// A kind is a release on Poisson samples, as accountants distinguish them.
type kind struct{ rate, sigma float64 }

// work sums up what drives the time of accounting over some events. Its methods return the
// cost of one call of an accountant, fitted to measurements from above.
type work struct {
	kinds   map[kind]bool
	steps   float64 // on samples
	events  float64 // nested ones counted too
	ends    float64 // events whose noise ends
	choices float64 // cost of the Rényi curves of choices among runs
	chosen  bool    // there is such a choice, for which RDP alone answers
}

func workOf(events ...privacy.Event) *work {
	w := &work{kinds: map[kind]bool{}}
	w.addEvents(events, 1)
	return w
}

// addEvents counts events, each of which runs as often as times says.
func (w *work) addEvents(events []privacy.Event, times float64) {
	for _, e := range events {
		w.events++
		switch e := e.(type) {
		case privacy.Joint:
			w.events += float64(len(e.Parts))
		case privacy.PoissonSampled:
			if e.SampleRate < 1 {
				w.kinds[kind{e.SampleRate, together(e.Of)}] = true // NaN is a kind of its own each time
				w.steps += times
			}
		case privacy.SelfComposed:
			w.addEvents([]privacy.Event{e.Of}, times*float64(e.Count))
		case privacy.Composed:
			w.addEvents(e.Parts, times)
		case privacy.FloatNoise:
			w.ends++
			w.addEvents([]privacy.Event{e.Of}, times)
		case privacy.Inexact:
			w.addEvents([]privacy.Event{e.Of}, times)
		case privacy.Selected:
			w.chosen = true
			w.choices++
			for _, p := range e.Parts {
				part := workOf(p)
				w.choices += 1.25 + part.flat() + part.sum(kind.curve)
			}
		}
	}
}

// sum adds up a cost over the kinds.
func (w *work) sum(cost func(kind) float64) (total float64) {
	for k := range w.kinds {
		total += cost(k)
	}
	return total
}

// inverse returns 1/σ, at most 1/least; also where σ is NaN.
func (k kind) inverse(least float64) float64 {
	if k.sigma > least {
		return 1 / k.sigma
	}
	return 1 / least
}

// curve returns the cost of a Rényi curve. Its quadrature has steps of σ.
func (k kind) curve() float64 { return 1.5 + 0.6*k.inverse(0.002) }

// grid returns the size of the accountants' smallest Fourier transform, in units of 2¹². It
// follows the number of steps.
func (w *work) grid() float64 {
	f := 1.0
	for f < 32 && f*(1<<12) < 100*math.Sqrt(w.steps) {
		f *= 2
	}
	return f
}

// flat returns the cost of reducing the events to sums, which every call does.
func (w *work) flat() float64 {
	return w.choices + w.events/500 + w.events*(w.ends+float64(len(w.kinds)))/1e5
}

// loss returns the cost of an ε from privacy loss distributions, or of the curve that
// replaces them.
func (w *work) loss() float64 {
	if w.chosen {
		return w.sum(kind.curve)
	}
	transforms := 1.5 * math.Pow(w.grid(), 1.25)
	return w.sum(func(k kind) float64 { return max(k.curve(), 2+k.inverse(0.02)+transforms) })
}

// epsilon returns the cost of privacy.Epsilon.
func (w *work) epsilon() float64 { return 5 + w.flat() + w.loss() }

// report returns the cost of privacy.NewReport, which has a lower bound too.
func (w *work) report() float64 {
	lower := 18 + 1.5*w.grid()
	return w.epsilon() + w.sum(func(k kind) float64 { return lower + k.inverse(0.02) })
}

// attack returns the cost of privacy.Attack, which takes a whole profile.
func (w *work) attack() float64 {
	cost := 10 + 2*w.flat() + w.sum(kind.curve)
	if len(w.kinds) == 0 {
		return cost
	}
	f := w.grid()
	return cost + 80 + 130*f + w.sum(func(k kind) float64 { return 20 + 25*f + 4*k.inverse(0.02) })
}

// group returns the cost of privacy.GroupEpsilon, which prices noise that ends twice.
func (w *work) group(rows int) float64 {
	mixed := min(float64(rows), 60) // of what more rows add, a sample holds little
	one := w.sum(kind.curve) + w.loss() + w.sum(func(k kind) float64 { return mixed * (1 + k.inverse(0.05)) })
	if w.ends > 0 {
		one *= 2
	}
	return 5 + w.flat() + one + w.ends*float64(rows)/2000
}
