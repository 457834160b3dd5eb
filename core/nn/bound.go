package nn

import (
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/lipschitz"
)

// Growth chooses a bound of gradients by losses. The zero value is the one at the end of
// VC's Appendix D.
type Growth struct {
	// Tight takes the sharper bound that uses the norms of every layer's input, with
	// nothing of the other fields.
	Tight bool
	// Linear takes β₁·f for cross-entropy, as VC's Algorithm 3, without the cap of Appendix D
	// on gradients of losses above ½.
	Linear bool
	// Least is f_lb ≤ 0, the least that losses are assumed to reach, and Offset is β₂ ≥ 0,
	// which is added to the squared bound (VC, Algorithm 3). Either only raises the bound.
	Least, Offset float64
}

// Bounds bounds every example's gradient norm from its loss and the forward
// pass alone (value clipping; VC §5 and Appendix D).
type Bounds struct {
	m *Model
	Growth
	layers []Lipschitz
	with   []Bounded // nil for layers without parameters

	bounds compute.Buffer // [layers×2]
	reach  compute.Buffer // [layers×2]; 0 where there are no parameters
	after  compute.Buffer // [layers×4], of the present weights
	inputs compute.Buffer // norms: [layers×capacity], or of the model's alone
}

// NewBounds prepares bounds for m. It refuses what [Spec.CheckLipschitz] refuses, and a
// growth whose Least is above 0 or Offset below, with which a bound would be none.
func NewBounds(m *Model, g Growth) (*Bounds, error) {
	if !(g.Least <= 0 && g.Offset >= 0) {
		return nil, fmt.Errorf("nn: losses are at least 0 and may be 0, so f_lb must be at most 0, got %v, and β₂ at least 0, got %v", g.Least, g.Offset)
	}
	if err := m.CheckLipschitz(); err != nil {
		return nil, err
	}
	n := len(m.layers)
	b := &Bounds{m: m, Growth: g, with: make([]Bounded, n), bounds: m.be.New(2 * n), reach: m.be.New(2 * n), after: m.be.New(4 * n)}
	reach := make([]float32, 0, 2*n)
	for i, l := range m.layers {
		b.layers = append(b.layers, l.(Lipschitz))
		input, one := 0.0, 0.0
		if len(l.Sites()) > 0 {
			b.with[i] = l.(Bounded)
			input, one = b.with[i].Reach()
		}
		if !g.Tight { // of (x, 1), which is carried through all layers before
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
	if b.Tight {
		return b.m.Capacity
	}
	return 0
}

// Refresh queues the measuring of the present weights. It is called once after
// they have moved, before Norms.
func (b *Bounds) Refresh() {
	for i, l := range b.layers {
		if i > 0 || !b.Tight { // the first layer's weights are no factor of the tighter bound
			l.Bound(b.bounds.Slice(2*i, 2))
		}
	}
	lipschitz.Chain(b.m.be, len(b.layers), !b.Tight, b.bounds, b.reach, b.after)
}

// tops maps each loss to the bound of its gradient.
var tops = map[Loss]lipschitz.Top{SoftmaxCE: lipschitz.CrossEntropy, SigmoidBCE: lipschitz.Binary, Squared: lipschitz.Squares}

// Norms writes an upper bound on each example's gradient norm to dst [n], for
// the model's last Forward and Losses, of which losses [n] are the result. A loss
// that is NaN gives +Inf.
//
// Guarantee: dst[i] ≥ ‖g_i‖ and depends on example i and the weights alone. With
// Tight, which is ours, its square is Σ_j (r_j²·‖h_{j−1}‖² + o_j²)·Π_{l>j}‖W_l‖² times
// the squared norm of the gradient by the outputs, with r and o the layer's
// [Bounded.Reach], 1 and 1 for dense ones; without, as in VC, Appendix D,
// (‖x‖² + 1)·Σ_j max(r_j, o_j)²·Π_{l≠j}‖W̃_l‖² times it.
func (b *Bounds) Norms(n int, losses, dst compute.Buffer) {
	for i, l := range b.with {
		if l != nil && b.Tight {
			x, in := l.Input()
			kernel.RowNorms(b.m.be, n, in, x, b.inputs.Slice(i*b.stride(), n))
		}
	}
	if !b.Tight {
		kernel.RowNorms(b.m.be, n, b.m.Input.Len(), b.m.x, b.inputs)
	}
	top := tops[b.m.Loss]
	above, more := -b.Least, b.Offset
	switch {
	case b.Tight:
		above, more = 0, 0
	case top == lipschitz.CrossEntropy && b.Linear:
		top = lipschitz.LinearCrossEntropy
	case top == lipschitz.CrossEntropy:
		top = lipschitz.CappedCrossEntropy
	}
	lipschitz.Gain(b.m.be, top, n, b.m.Outputs(), len(b.layers), b.stride(), above, more, b.after, b.inputs, losses, b.m.z, dst)
}
