package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

var flattenForm = form{usage: "flatten", read: func(arguments) layerSpec { return flattenSpec{} }}

// flattenSpec makes a picture a row of numbers. It costs nothing: they stand in a row
// already, position by position.
type flattenSpec struct{}

func (flattenSpec) outline(in Shape) (Outline, error) {
	return Outline{Out: Shape{Channels: in.Len()}}, nil
}
func (flattenSpec) lipschitz() bool { return true }

func (flattenSpec) layer(b *builder, _ Shape, _ bool) Layer { return flatten{b.be} }

// flatten is the layer of a [flattenSpec]: it passes its input on.
type flatten struct{ be compute.Backend }

func (flatten) Sites() []Site                                     { return nil }
func (flatten) Forward(x compute.Buffer, _ int) compute.Buffer    { return x }
func (flatten) Backward(dy compute.Buffer, _ bool) compute.Buffer { return dy }
func (flatten) Init(*rand.Rand)                                   {}
func (f flatten) Bound(dst compute.Buffer)                        { kernel.Fill(f.be, 2, 1, dst) }
