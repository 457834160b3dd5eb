package train

import (
	"math"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// unbounded is a mechanism whose clipping is off.
type unbounded struct{ mechanism }

func (m unbounded) limits() []kernel.Limit {
	l := m.mechanism.limits()
	for g := range l {
		l[g].C = math.MaxFloat32
	}
	return l
}

func (m unbounded) centreOn(at []float32, deviation float64) {
	m.mechanism.(*adaClip).centreOn(at, deviation)
}

// Sabotages are the ways in which an audited run can be broken without saying so.
var Sabotages = map[string]func(*Run){
	"":             func(*Run) {},
	"noise halved": func(r *Run) { r.work.terms.GradNoise /= 2 },
	"clipping off": func(r *Run) { r.clipping.mech = unbounded{r.clipping.mech} },
	"in order":     func(r *Run) { r.mix = func([]int, rand.Source) {} },
}

// LostNorms returns a backend whose norms underflow.
func LostNorms(be compute.Backend) compute.Backend { return lostNorms{be} }
