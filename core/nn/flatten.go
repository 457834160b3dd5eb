package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

var flattenForm = form{usage: "flatten", read: func(arguments) part { return flatten{} }}

// flatten makes a picture a row of numbers. It costs nothing: they stand in a row
// already, position by position.
type flatten struct{}

func (flatten) outline(in Shape) (Outline, error) {
	return Outline{Out: Shape{Channels: in.Len()}}, nil
}
func (flatten) lipschitz() bool { return true }

func (flatten) layer(b *builder, _ Shape, _ bool) Layer { return asRow{b.be} }

// asRow is flatten at work.
type asRow struct{ be compute.Backend }

func (asRow) Sites() []Site                                     { return nil }
func (asRow) Forward(x compute.Buffer, _ int) compute.Buffer    { return x }
func (asRow) Backward(dy compute.Buffer, _ bool) compute.Buffer { return dy }
func (asRow) Init(*rand.Rand)                                   {}
func (f asRow) Bound(dst compute.Buffer)                        { kernel.Fill(f.be, 2, 1, dst) }
