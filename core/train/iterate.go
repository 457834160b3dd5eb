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
	be    compute.Backend
	kept  []compute.Buffer
	decay float64    // of ema
	rng   *rand.Rand // of random
}

func (p *Plan) newIterate(s *state) *iterate {
	it := &iterate{be: p.be}
	switch p.cfg.Iterate {
	case "ema":
		it.decay = p.cfg.EMADecay
	case "random":
		it.rng = rand.New(p.stream(privacy.Init, 1))
	default:
		return nil
	}
	for _, w := range s.params {
		it.kept = append(it.kept, p.be.New(w.Len()))
	}
	return it
}

// add takes note of the parameters after a step, step counting from 1.
func (it *iterate) add(params []compute.Buffer, step int) {
	switch {
	case it.rng == nil:
		for i, w := range params {
			kernel.Scale(it.be, w.Len(), float32(it.decay), it.kept[i])
			kernel.Axpy(it.be, w.Len(), float32(1-it.decay), w, it.kept[i])
		}
	case it.rng.IntN(step) == 0: // uniform over the steps done, wherever the run stops
		for i, w := range params {
			kernel.Copy(it.be, w.Len(), it.kept[i], w)
		}
	}
}

// restore puts the kept parameters in place of the last ones.
func (it *iterate) restore(params []compute.Buffer, steps int) {
	if steps == 0 {
		return
	}
	for i, w := range params {
		kernel.Copy(it.be, w.Len(), w, it.kept[i])
		if it.rng == nil { // the average started from zero
			kernel.Scale(it.be, w.Len(), float32(1/(1-math.Pow(it.decay, float64(steps)))), w)
		}
	}
}
