package nn

import (
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
	with   []Bounded // nil for layers without parameters

	bounds compute.Buffer // [layers×2]
	reach  compute.Buffer // [layers×2]; 0 where there are no parameters
	after  compute.Buffer // [layers×4], of the present weights
	inputs compute.Buffer // norms: [layers×capacity], or of the model's alone
}

// NewBounds prepares bounds for m: with tight, the sharper ones that use the
// norms of every layer's input; otherwise the paper's. It refuses what
// [Spec.CheckLipschitz] refuses.
func NewBounds(m *Model, tight bool) (*Bounds, error) {
	if err := m.CheckLipschitz(); err != nil {
		return nil, err
	}
	n := len(m.layers)
	b := &Bounds{m: m, tight: tight, with: make([]Bounded, n), bounds: m.be.New(2 * n), reach: m.be.New(2 * n), after: m.be.New(4 * n)}
	reach := make([]float32, 0, 2*n)
	for i, l := range m.layers {
		b.layers = append(b.layers, l.(Lipschitz))
		input, one := 0.0, 0.0
		if len(l.Sites()) > 0 {
			b.with[i] = l.(Bounded)
			input, one = b.with[i].Reach()
		}
		if !tight { // of (x, 1), which the paper carries through all layers before
			input = max(input, one)
			one = input
		}
		reach = append(reach, kernel.Above(input), kernel.Above(one))
	}
	m.be.Write(b.reach, reach)
	b.inputs = m.be.New(b.stride()*(n-1) + m.Capacity)
	return b, nil
}

// stride returns the distance between the norms of layers' inputs: the paper's bound uses
// those of the model's for all.
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
	lipschitz.Chain(b.m.be, len(b.layers), !b.tight, b.bounds, b.reach, b.after)
}

// tops maps each loss to the bound of its gradient.
var tops = map[Loss]lipschitz.Top{SoftmaxCE: lipschitz.CrossEntropy, SigmoidBCE: lipschitz.Binary, Squared: lipschitz.Squares}

// Norms writes an upper bound on each example's gradient norm to dst [n], for
// the model's last Forward and Losses, of which losses [n] are the result. A loss
// that is NaN gives +Inf.
//
// Guarantee: dst[i] ≥ ‖g_i‖ and depends on example i and the weights alone. With
// tight, which is ours, its square is Σ_j (r_j²·‖h_{j−1}‖² + o_j²)·Π_{l>j}‖W_l‖² times
// the squared norm of the gradient by the outputs, with r and o the layer's
// [Bounded.Reach], 1 and 1 for dense ones; without, as in VC, Appendix D,
// (‖x‖² + 1)·Σ_j max(r_j, o_j)²·Π_{l≠j}‖W̃_l‖² times it.
func (b *Bounds) Norms(n int, losses, dst compute.Buffer) {
	for i, l := range b.with {
		if l != nil && b.tight {
			x, in := l.Input()
			kernel.RowNorms(b.m.be, n, in, x, b.inputs.Slice(i*b.stride(), n))
		}
	}
	if !b.tight {
		kernel.RowNorms(b.m.be, n, b.m.Input.Len(), b.m.x, b.inputs)
	}
	top := tops[b.m.Loss]
	if !b.tight && top == lipschitz.CrossEntropy {
		top = lipschitz.PaperCrossEntropy
	}
	lipschitz.Gain(b.m.be, top, n, b.m.Outputs(), len(b.layers), b.stride(), b.after, b.inputs, losses, b.m.z, dst)
}
