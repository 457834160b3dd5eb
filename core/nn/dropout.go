package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// dropping is what the activations of a model share that drops units (Srivastava et al. 2014): what stays
// is scaled, so that the model as it is applied needs no dropout.
//
// Guarantee: which units of a row are dropped follows from the row's own keys and the units' numbers. So
// what layers compute for a row depends on no other row, whatever is dropped, and the bounds on
// gradients hold for all keys.
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
