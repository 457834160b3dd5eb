package train

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/privacy"
)

// iterate keeps the parameters that a run ends with, where they are not simply
// the last. All of them are functions of released parameters, so keeping them
// costs nothing.
type iterate struct {
	be     compute.Backend
	params compute.Buffer
	decay  float64             // of ema
	pick   func(step int) bool // of random: whether to keep this step's
}

func newIterate(w *workspace) *iterate {
	it := &iterate{be: w.be}
	switch c := &w.terms.Config; c.Iterate {
	case "ema":
		it.decay = c.EMADecay
	case "random":
		// A stream for each step, so that nothing but the key has to be known to go on.
		it.pick = func(step int) bool { return rand.New(w.stream(privacy.Init, step)).IntN(step) == 0 }
	default:
		return nil
	}
	it.params = w.be.New(w.terms.Spec.Params())
	return it
}

// update takes the parameters after a step into account. step counts from 1 the steps that the
// parameters have seen.
func (it *iterate) update(params compute.Buffer, step int) {
	n := params.Len()
	switch {
	case it.pick == nil:
		kernel.Blend(it.be, n, float32(1-it.decay), float32(it.decay), params, it.params)
	case it.pick(step): // uniform over the steps done, wherever the run stops
		kernel.Copy(it.be, n, it.params, params)
	}
}

// restore puts the kept parameters in place of the last ones.
func (it *iterate) restore(params compute.Buffer, steps int) {
	if steps == 0 {
		return
	}
	kernel.Copy(it.be, params.Len(), params, it.params)
	if it.pick == nil { // the average started from zero
		kernel.Scale(it.be, params.Len(), float32(1/(1-math.Pow(it.decay, float64(steps)))), params)
	}
}
