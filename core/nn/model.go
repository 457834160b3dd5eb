package nn

import (
	"fmt"
	"math/rand/v2"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
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
	params  compute.Buffer // of all layers
	outputs int

	n        int
	z        compute.Buffer
	dz, part compute.Buffer
}

// New builds the model; its parameters are zero until Init.
func New(be compute.Backend, spec Spec, capacity int) (*Model, error) {
	if len(spec.Widths) < 2 {
		return nil, fmt.Errorf("nn: a model needs at least an input and an output width, got %v", spec.Widths)
	}
	last := len(spec.Widths) - 1
	m := &Model{Spec: spec, Capacity: capacity, be: be, params: be.New(spec.Params()), outputs: spec.Widths[last]}
	from := &arena{m.params}
	for i := 1; i <= last; i++ {
		m.layers = append(m.layers, newDense(be, from, spec.Widths[i-1], spec.Widths[i], capacity, i > 1, last == 1))
		if i == last {
			break
		}
		act, err := newActivation(be, spec.Activation, spec.Widths[i], capacity)
		if err != nil {
			return nil, err
		}
		m.layers = append(m.layers, act)
	}
	m.dz, m.part = be.New(capacity*m.outputs), be.New(capacity)
	return m, nil
}

// Init draws all parameters.
func (m *Model) Init(rng *rand.Rand) {
	for _, l := range m.layers {
		l.Init(rng)
	}
}

// All is every parameter, one after the other: what Params are parts of.
func (m *Model) All() compute.Buffer { return m.params }

// Params are all parameters, site by site: the order of every flattened gradient.
func (m *Model) Params() []compute.Buffer {
	var all []compute.Buffer
	for _, s := range m.Sites() {
		all = append(all, s.Params()...)
	}
	return all
}

// Sites are all layers'.
func (m *Model) Sites() []Site {
	var all []Site
	for _, l := range m.layers {
		all = append(all, l.Sites()...)
	}
	return all
}

// Groups is the number of layers that have parameters.
func (m *Model) Groups() int {
	n := 0
	for _, l := range m.layers {
		if len(l.Sites()) > 0 {
			n++
		}
	}
	return n
}

// eachSite calls f with every site, the number of its layer among Groups, and the
// place of its first tensor among Params.
func (m *Model) eachSite(f func(s Site, group, first int)) {
	group, first := 0, 0
	for _, l := range m.layers {
		for _, s := range l.Sites() {
			f(s, group, first)
			first += len(s.Params())
		}
		if len(l.Sites()) > 0 {
			group++
		}
	}
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

var kinds = map[Loss]kernel.LossKind{SoftmaxCE: kernel.SoftmaxCE, SigmoidBCE: kernel.SigmoidBCE, Squared: kernel.Squared}

// Losses writes each example's loss to dst [n] for the last Forward, and prepares
// the gradient that Backward starts from.
func (m *Model) Losses(targets, dst compute.Buffer) {
	kernel.Loss(m.be, kinds[m.Loss], m.n, m.outputs, m.z, targets, dst, m.dz)
}

// WeighLosses scales every example's loss by its factor [n] before Backward, as
// value clipping does.
func (m *Model) WeighLosses(factors compute.Buffer) {
	kernel.ScaleRows(m.be, m.n, m.outputs, factors, m.dz, m.dz)
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
	m.eachSite(func(s Site, group, _ int) { s.Norms(dst[min(group, len(dst)-1)]) })
}

// Add adds Σ_i each(factors_i·g_i) to dst, sums for each of Params, as
// [Site.Add]. factors holds one buffer [n] for all, or one for each of Groups; with
// none they are ones.
func (m *Model) Add(dst []compute.Sums, factors []compute.Buffer, each kernel.Each) {
	m.eachSite(func(s Site, group, first int) {
		var f compute.Buffer
		if len(factors) > 0 {
			f = factors[min(group, len(factors)-1)]
		}
		s.Add(dst[first:], f, each)
	})
}

// Predictions are the last Forward's outputs [n×k].
func (m *Model) Predictions() compute.Buffer { return m.z }

// Outputs is the width k of the last layer.
func (m *Model) Outputs() int { return m.outputs }

// ScaledSqNorms adds to dst [n] an upper bound on each example's squared gradient
// norm in the coordinates c, over all parameters.
func (m *Model) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	sites := 0
	m.eachSite(func(s Site, _, first int) {
		k := first + len(s.Params())
		// Each site's slack is for its own terms: it may not be lost in those
		// of the sites before.
		kernel.Fill(m.be, m.n, 0, m.part)
		s.ScaledSqNorms(m.part, Coordinates{Inv: c.Inv[first:k], Lin: c.Lin[first:k], Offsets: c.Offsets.Slice(sites, 1), Largest: c.Largest})
		kernel.Axpy(m.be, m.n, 1, m.part, dst)
		sites++
	})
	kernel.Scale(m.be, m.n, 1+float32(sites+2)*0x1p-23, dst)
}

// Dots adds every example's ⟨g_i, v⟩ to dst [n], v with one buffer for each of Params.
func (m *Model) Dots(dst compute.Buffer, v []compute.Buffer) {
	m.eachSite(func(s Site, _, first int) { s.Dots(dst, v[first:first+len(s.Params())]) })
}
