package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// functions are the activations by name.
var functions = map[string]kernel.Function{"relu": kernel.ReLU, "tanh": kernel.Tanh, "gelu": kernel.GELU}

func activationForm(name string) form {
	return form{usage: name, read: func(arguments) layerSpec { return activationSpec(name) }}
}

// activationSpec is an activation as it is written in a list of layers.
type activationSpec string

// lipschitz is true of those that make nothing longer, which gelu does, by a seventh.
func (f activationSpec) lipschitz() bool { return f != "gelu" }

func (activationSpec) outline(in Shape) (Outline, error) {
	return Outline{Out: in, Floats: 2 * int64(in.Len()), Back: int64(in.Len())}, nil
}

func (f activationSpec) layer(b *builder, in Shape, _ bool) Layer {
	a := &activation{be: b.be, f: functions[string(f)], width: in.Len(), y: b.rows(in.Len()), dx: b.back(in.Len()), dropping: b.dropping}
	if b.dropping.p > 0 {
		a.drop, a.kept = b.dropping.next(in.Len()), b.rows(in.Len())
	}
	return a
}

// activation is a layer without parameters that works element by element, and drops units in training.
type activation struct {
	be    compute.Backend
	f     kernel.Function
	width int
	n     int
	by    compute.Buffer // what tells the slope: the input of gelu, else the output
	y, dx compute.Buffer

	dropping *dropping
	drop     kernel.Drop
	kept     compute.Buffer // y after the drop; none without dropout
}

func (a *activation) Sites() []Site { return nil }

func (a *activation) Forward(x compute.Buffer, n int) compute.Buffer {
	a.n, a.by = n, a.y
	if a.f == kernel.GELU {
		a.by = x
	}
	kernel.Unary(a.be, a.f, n*a.width, x, a.y)
	if !a.dropping.on {
		return a.y
	}
	kernel.DropUnits(a.be, n, a.width, a.drop, a.dropping.keys, a.y, a.kept)
	return a.kept
}

func (a *activation) Backward(dy compute.Buffer, want bool) compute.Buffer {
	if want {
		if a.dropping.on {
			kernel.DropUnits(a.be, a.n, a.width, a.drop, a.dropping.keys, dy, a.dx)
			dy = a.dx
		}
		kernel.UnaryGrad(a.be, a.f, a.n*a.width, a.by, dy, a.dx)
	}
	return a.dx
}

func (a *activation) Init(*rand.Rand) {}

func (a *activation) Bound(dst compute.Buffer) { kernel.Fill(a.be, 2, 1, dst) }
