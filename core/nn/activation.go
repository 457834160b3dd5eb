package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// functions are the activations by name. All are 1-Lipschitz.
var functions = map[string]kernel.Function{"relu": kernel.ReLU, "tanh": kernel.Tanh}

// activation is a layer without parameters that works element by element.
type activation struct {
	be    compute.Backend
	name  string
	width int
	n     int
	y, dx compute.Buffer
}

// newActivation makes the activation called name (relu or tanh) for rows of
// width values and batches of up to capacity rows.
func newActivation(be compute.Backend, name string, width, capacity int) (*activation, error) {
	if _, ok := functions[name]; !ok {
		return nil, fmt.Errorf("nn: there is no activation %q; choose relu or tanh", name)
	}
	return &activation{be: be, name: name, width: width, y: be.New(capacity * width), dx: be.New(capacity * width)}, nil
}

func (a *activation) Name() string  { return a.name }
func (a *activation) Sites() []Site { return nil }

func (a *activation) Forward(x compute.Buffer, n int) compute.Buffer {
	a.n = n
	kernel.Unary(a.be, functions[a.name], n*a.width, x, a.y)
	return a.y
}

func (a *activation) Backward(dy compute.Buffer, want bool) compute.Buffer {
	if want {
		kernel.UnaryGrad(a.be, functions[a.name], a.n*a.width, a.y, dy, a.dx)
	}
	return a.dx
}

func (a *activation) Init(*rand.Rand) {}

func (a *activation) Bound(dst compute.Buffer) { kernel.Fill(a.be, 2, 1, dst) }
