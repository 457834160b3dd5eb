package nn

import (
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/lipschitz"
)

// Bounds bounds every example's gradient norm from its loss and the forward
// pass alone (value clipping; VC §5 and Appendix D).
type Bounds struct {
	m      *Model
	tight  bool
	layers []Lipschitz
	sites  []*outer // nil for layers without parameters

	bounds compute.Buffer // [layers×2]
	has    compute.Buffer // [layers]: 1 where there are parameters
	after  compute.Buffer // [layers×2], of the present weights
	inputs compute.Buffer // norms: [layers×capacity], or of the first alone
}

// NewBounds prepares bounds for m: with tight, the sharper ones that use the
// norms of every layer's input; otherwise the paper's. It refuses, by name, layers
// that have no Lipschitz bound, or parameters whose gradient is not the product of
// what a bound is known of.
func NewBounds(m *Model, tight bool) (*Bounds, error) {
	n := len(m.layers)
	b := &Bounds{m: m, tight: tight, sites: make([]*outer, n), bounds: m.be.New(2 * n), has: m.be.New(n), after: m.be.New(2 * n)}
	for i, l := range m.layers {
		bounded, ok := l.(Lipschitz)
		if !ok {
			return nil, fmt.Errorf("nn: layer %d, %s, has no Lipschitz bound", i+1, l.Name())
		}
		b.layers = append(b.layers, bounded)
		if sites := l.Sites(); len(sites) > 0 || i == 0 {
			if len(sites) == 1 {
				b.sites[i], _ = sites[0].(*outer)
			}
			if b.sites[i] == nil {
				return nil, fmt.Errorf("nn: no bound is known for the gradients of layer %d, %s", i+1, l.Name())
			}
			kernel.Fill(m.be, 1, 1, b.has.Slice(i, 1))
		}
	}
	b.inputs = m.be.New(b.stride()*(n-1) + m.Capacity)
	return b, nil
}

// stride is what the norms of layers' inputs are apart: the paper's bound uses
// those of the first for all.
func (b *Bounds) stride() int {
	if b.tight {
		return b.m.Capacity
	}
	return 0
}

// Refresh queues the measuring of the present weights. It is called once after
// they have moved, before Norms.
func (b *Bounds) Refresh() {
	for i, l := range b.layers {
		if i > 0 || !b.tight { // the first layer's weights are no factor of the tighter bound
			l.Bound(b.bounds.Slice(2*i, 2))
		}
	}
	lipschitz.Chain(b.m.be, len(b.layers), !b.tight, b.bounds, b.has, b.after)
}

// tops are what is known of the losses' gradients.
var tops = map[Loss]lipschitz.Top{SoftmaxCE: lipschitz.CrossEntropy, SigmoidBCE: lipschitz.Binary, Squared: lipschitz.Squares}

// Norms writes an upper bound on each example's gradient norm to dst [n], for
// the model's last Forward and Losses, of which losses [n] are the result. A loss
// that is NaN gives +Inf.
//
// Guarantee: dst[i] ≥ ‖g_i‖ and depends on example i and the weights alone. With
// tight, which is ours, its square is Σ_j (‖h_{j−1}‖² + 1)·Π_{l>j}‖W_l‖² times the
// squared norm of the gradient by the outputs; without, as in VC, Appendix D,
// (‖x‖² + 1)·Σ_j Π_{l≠j}‖W̃_l‖² times it.
func (b *Bounds) Norms(n int, losses, dst compute.Buffer) {
	for i, s := range b.sites {
		if s != nil && (b.tight || i == 0) {
			kernel.RowNorms(b.m.be, n, s.in, s.x, b.inputs.Slice(i*b.stride(), n))
		}
	}
	top := tops[b.m.Loss]
	if !b.tight && top == lipschitz.CrossEntropy {
		top = lipschitz.PaperCrossEntropy
	}
	lipschitz.Gain(b.m.be, top, n, b.m.outputs, len(b.layers), b.stride(), b.after, b.inputs, losses, b.m.z, dst)
}
