package train

import (
	"math"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// weights is a clipper's weight function as the backend looks it up: 1/factor at
// the norms of [kernel.TableNorm], 0 where the threshold alone decides.
type weights struct {
	be             compute.Backend
	of             clip.Weight // nil: none, so that limits alone decide
	power          int         // of the threshold in what is looked up: see [clip.Powered]
	tableThreshold float64     // the threshold that the table is for; 0 before there is one
	host           []float32
	buffer         compute.Buffer
}

func newWeights(be compute.Backend, of clip.Weight) *weights {
	w := &weights{be: be, of: of, power: -1, host: make([]float32, kernel.TableSize), buffer: be.New(kernel.TableSize)}
	if p, ok := of.(clip.Powered); ok {
		w.power = p.Power()
	}
	return w
}

// at makes the table ready for threshold c and returns what its factors are to be
// multiplied with.
func (w *weights) at(c float64) (gain float64) {
	if w.of == nil {
		return 1
	}
	from := c
	switch w.power {
	case 0:
		from, gain = clip.MaxThreshold, 1 // beyond all norms that c leaves alone
	case 1:
		from, gain = 1, c
	default:
		gain = 1
	}
	if w.tableThreshold != from {
		tabulate(w.host, w.of, from)
		w.be.Write(w.buffer, w.host)
		w.tableThreshold = from
	}
	return gain
}

// tabulate writes 1/Factor(n, c) for the norms n of a table. Where c binds, the
// values before go on: the kernel keeps to c by itself, and a corner between two
// norms would be cut.
func tabulate(dst []float32, of clip.Weight, c float64) {
	for i := range dst {
		n := kernel.TableNorm(i)
		f := of.Factor(n, c)
		switch binds := f*n >= c*(1-1e-12); {
		case !binds:
			dst[i] = float32(1 / f)
		case i == 0 || math.IsInf(float64(dst[i-1]), 1):
			dst[i] = 0
		default:
			dst[i] = dst[i-1]
		}
	}
}
