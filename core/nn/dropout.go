package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// dropping is the dropout that all activations of a model share (Srivastava et al. 2014). Units that stay
// are scaled, so that the trained model needs no dropout.
//
// Guarantee: the units that a row drops follow from its own keys and the units' numbers. So what a layer
// computes for a row depends on no other row, and the bounds on gradients hold for all keys.
type dropping struct {
	p     float64
	units int            // behind the activations made so far
	keys  compute.Buffer // [views×n×2] of the last pass; not owned
	on    bool           // the last pass drops units
}

// next numbers the next units of a row, so many.
func (d *dropping) next(units int) kernel.Drop {
	drop := kernel.NewDrop(d.p, d.units)
	d.units += units
	return drop
}

// ForwardDropping is Forward with units dropped, as the spec's Dropout says, by two keys for each view of
// each example [views×n×2] ([kernel.DropUnits]). Without dropout there need be none.
func (m *Model) ForwardDropping(x, keys compute.Buffer, n, views int) compute.Buffer {
	m.dropping.keys, m.dropping.on = keys, m.dropping.p > 0
	return m.pass(x, n, views)
}
