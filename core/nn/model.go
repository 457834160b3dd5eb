package nn

import (
	"context"
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
)

// Loss is a loss over a batch of outputs z [n×k] and targets.
type Loss string

const (
	SoftmaxCE  Loss = "softmax-ce"  // targets [n] are class indices
	SigmoidBCE Loss = "sigmoid-bce" // targets [n×k] in [0, 1]
	Squared    Loss = "squared"     // targets [n×k]; ½‖z−t‖²
)

// Spec is an architecture: a chain of dense layers with an activation between
// each two.
type Spec struct {
	Widths     []int  // features, hidden widths …, outputs: at least two
	Activation string // relu or tanh; unused without hidden layers
	Loss       Loss
}

// Params is the number of parameters d.
func (s Spec) Params() int {
	d := 0
	for i := 1; i < len(s.Widths); i++ {
		d += (s.Widths[i-1] + 1) * s.Widths[i]
	}
	return d
}

// Model is a chain of layers with a loss, made for batches of up to Capacity rows.
type Model struct {
	Spec
	Capacity int

	be      compute.Backend
	layers  []Layer
	outputs int

	n         int
	z, losses compute.Buffer
	dz, part  compute.Buffer
}

// New builds the model; its parameters are zero until Init.
func New(be compute.Backend, spec Spec, capacity int) (*Model, error) {
	if len(spec.Widths) < 2 {
		return nil, fmt.Errorf("nn: a model needs at least an input and an output width, got %v", spec.Widths)
	}
	m := &Model{Spec: spec, Capacity: capacity, be: be, outputs: spec.Widths[len(spec.Widths)-1]}
	last := len(spec.Widths) - 1
	for i := 1; i <= last; i++ {
		m.layers = append(m.layers, NewDense(be, spec.Widths[i-1], spec.Widths[i], capacity, i > 1, last == 1))
		if i == last {
			break
		}
		act, err := NewActivation(be, spec.Activation, spec.Widths[i], capacity)
		if err != nil {
			return nil, err
		}
		m.layers = append(m.layers, act)
	}
	m.losses, m.dz, m.part = be.New(capacity), be.New(capacity*m.outputs), be.New(capacity)
	return m, nil
}

// Init draws all parameters.
func (m *Model) Init(rng *rand.Rand) {
	for _, l := range m.layers {
		l.Init(rng)
	}
}

// Params are all parameters, layer by layer: the order of every flattened gradient.
func (m *Model) Params() []compute.Buffer {
	var all []compute.Buffer
	for _, l := range m.layers {
		all = append(all, l.Params()...)
	}
	return all
}

// Groups is the number of layers that have parameters.
func (m *Model) Groups() int { return len(m.groups()) }

func (m *Model) groups() []Layer {
	var with []Layer
	for _, l := range m.layers {
		if len(l.Params()) > 0 {
			with = append(with, l)
		}
	}
	return with
}

// Forward runs the first n rows of x [n×features] and returns the outputs [n×k].
func (m *Model) Forward(x compute.Buffer, n int) compute.Buffer {
	m.n = n
	for _, l := range m.layers {
		x = l.Forward(x, n)
	}
	m.z = x
	return x
}

// Losses computes each example's loss [n] for the last Forward, and prepares
// the gradient that Backward starts from.
func (m *Model) Losses(targets compute.Buffer) compute.Buffer {
	switch m.Loss {
	case SoftmaxCE:
		m.be.SoftmaxCE(m.n, m.outputs, m.z, targets, m.losses, m.dz)
	case SigmoidBCE:
		m.be.SigmoidBCE(m.n, m.outputs, m.z, targets, m.losses, m.dz)
	default:
		m.be.Squared(m.n, m.outputs, m.z, targets, m.losses, m.dz)
	}
	return m.losses
}

// WeighLosses scales every example's loss by its factor [n] before Backward, as
// value clipping does.
func (m *Model) WeighLosses(factors compute.Buffer) {
	m.be.ScaleRows(m.n, m.outputs, factors, m.dz, m.dz)
}

// Backward carries the losses' gradients back through all layers.
func (m *Model) Backward() {
	dy := m.dz
	for i := len(m.layers) - 1; i >= 0; i-- {
		dy = m.layers[i].Backward(dy, i > 0)
	}
}

// Norms joins an upper bound on each example's gradient norm [n] to dst: to the
// one buffer of dst over all parameters, or to one for each of Groups.
func (m *Model) Norms(dst []compute.Buffer) {
	for i, l := range m.groups() {
		l.Norms(dst[min(i, len(dst)-1)])
	}
}

// Grads adds the weighted gradient sum to dst, sums for each of Params. factors
// holds one buffer [n] for all, or one for each of Groups; nil means ones.
func (m *Model) Grads(dst []compute.Sums, factors []compute.Buffer) {
	for i, l := range m.groups() {
		var f compute.Buffer
		if len(factors) > 0 {
			f = factors[min(i, len(factors)-1)]
		}
		k := len(l.Params())
		l.Grads(dst[:k], f)
		dst = dst[k:]
	}
}

// Drop forgets the examples whose keep [n] is 0, in every layer.
func (m *Model) Drop(keep compute.Buffer) {
	for _, l := range m.layers {
		l.Drop(keep)
	}
}

// ReadOutputs copies the last Forward's outputs into dst [n×k].
func (m *Model) ReadOutputs(ctx context.Context, dst []float32) error {
	return m.be.Read(ctx, dst[:m.n*m.outputs], m.z)
}

// Outputs is the width k of the last layer.
func (m *Model) Outputs() int { return m.outputs }

// ScaledSqNorms adds to dst [n] an upper bound on each example's squared gradient
// norm in the coordinates c, over all parameters.
func (m *Model) ScaledSqNorms(dst compute.Buffer, c Coordinates) error {
	layers := m.groups()
	for i, l := range layers {
		s, ok := l.(Scaled)
		if !ok {
			return fmt.Errorf("nn: layer %d cannot measure gradients in other coordinates", i+1)
		}
		k := len(l.Params())
		// Each layer's slack is for its own terms: it may not be lost in those
		// of the layers before.
		m.be.Fill(m.n, 0, m.part)
		s.ScaledSqNorms(m.part, c)
		m.be.Axpy(m.n, 1, m.part, dst)
		c.Inv, c.Lin, c.Offsets = c.Inv[k:], c.Lin[k:], c.Offsets[1:]
	}
	m.be.Scale(m.n, 1+float32(len(layers)+2)*0x1p-23, dst)
	return nil
}

// Dots adds every example's ⟨g_i, v⟩ to dst [n], v with one buffer for each of Params.
func (m *Model) Dots(dst compute.Buffer, v []compute.Buffer) error {
	for i, l := range m.groups() {
		d, ok := l.(Projected)
		if !ok {
			return fmt.Errorf("nn: layer %d cannot project its gradients", i+1)
		}
		k := len(l.Params())
		d.Dots(dst, v[:k])
		v = v[k:]
	}
	return nil
}

// ClampedGrads adds Σ_i clamp(g_i, −c, c), coordinate by coordinate, to dst, sums
// for each of Params. Examples that are not finite must be dropped before.
func (m *Model) ClampedGrads(dst []compute.Sums, c float32) error {
	for i, l := range m.groups() {
		cl, ok := l.(Clamped)
		if !ok {
			return fmt.Errorf("nn: layer %d cannot clamp its gradients coordinate by coordinate", i+1)
		}
		k := len(l.Params())
		cl.ClampedGrads(dst[:k], c)
		dst = dst[k:]
	}
	return nil
}

// RoundedGrads adds the weighted gradients, every coordinate of every example
// rounded to a whole number, to dst, sums for each of Params; factors is as in
// Grads and not nil.
func (m *Model) RoundedGrads(dst []compute.Sums, factors []compute.Buffer) error {
	for i, l := range m.groups() {
		r, ok := l.(Rounded)
		if !ok {
			return fmt.Errorf("nn: layer %d cannot round its gradients one by one", i+1)
		}
		k := len(l.Params())
		r.RoundedGrads(dst[:k], factors[min(i, len(factors)-1)])
		dst = dst[k:]
	}
	return nil
}
