package train

import (
	"fmt"
	"math"

	"clipscope/core/run"
)

// watch says when a released value has come to rest: the mean over so many steps is within a share
// of the mean over as many before.
//
// Guarantee: it sees released values alone, so the step at which it ends a run is post-processing
// of what the whole plan is charged for.
type watch struct {
	run.EarlyStopping
	seen
}

// seen sums up the steps that a watch has been shown, and what it made of them.
type seen struct {
	sum, before float64 // of the open block, and the mean of the one before it
	steps       int     // in sum
	blocks      int     // before it
	why         string  // what ended the run; "": nothing yet
}

// newWatch returns nil where nothing is watched.
func newWatch(s run.EarlyStopping) *watch {
	if s.Monitor == "" {
		return nil
	}
	return &watch{EarlyStopping: s}
}

// see takes in an event, in order. A value that is no number never ends a run.
func (w *watch) see(e *run.Event) {
	if w == nil {
		return
	}
	v, ok := e.Released.Monitored(w.Monitor)
	if !ok {
		v = math.NaN()
	}
	w.sum += v
	if w.steps++; w.steps < w.Patience {
		return
	}
	mean := w.sum / float64(w.steps)
	if w.blocks > 0 && math.Abs(mean-w.before) <= w.MinDelta*math.Abs(w.before) {
		w.why = fmt.Sprintf("Early stopping ended the run after step %d: over the last %d steps the mean of %s, which is released, was %.4g, after %.4g over as many before. All planned steps are charged.",
			e.Step, w.Patience, w.Monitor, mean, w.before)
	}
	w.before, w.sum, w.steps, w.blocks = mean, 0, 0, w.blocks+1
}

// over reports whether the run is to take no more steps.
func (w *watch) over() bool { return w != nil && w.why != "" }
