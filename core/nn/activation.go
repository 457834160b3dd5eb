package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
)

// activation is a layer without parameters that works element by element.
type activation struct {
	width    int
	n        int
	y, dx    compute.Buffer
	forward  func(n int, x, y compute.Buffer)
	backward func(n int, y, dy, dx compute.Buffer)
}

// NewActivation makes the activation called name (relu or tanh) for rows of
// width values and batches of up to capacity rows.
func NewActivation(be compute.Backend, name string, width, capacity int) (Layer, error) {
	a := &activation{width: width}
	switch name {
	case "relu":
		a.forward, a.backward = be.ReLU, be.ReLUGrad
	case "tanh":
		a.forward, a.backward = be.Tanh, be.TanhGrad
	default:
		return nil, fmt.Errorf("nn: there is no activation %q; choose relu or tanh", name)
	}
	a.y, a.dx = be.New(capacity*width), be.New(capacity*width)
	return a, nil
}

func (a *activation) Params() []compute.Buffer { return nil }

func (a *activation) Forward(x compute.Buffer, n int) compute.Buffer {
	a.n = n
	a.forward(n*a.width, x, a.y)
	return a.y
}

func (a *activation) Backward(dy compute.Buffer, want bool) compute.Buffer {
	if !want {
		return nil
	}
	a.backward(a.n*a.width, a.y, dy, a.dx)
	return a.dx
}

func (a *activation) Norms(compute.Buffer)                 {}
func (a *activation) Grads([]compute.Sums, compute.Buffer) {}
func (a *activation) Drop(compute.Buffer)                  {}
func (a *activation) Init(*rand.Rand)                      {}
