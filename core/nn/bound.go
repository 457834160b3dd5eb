package nn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Bounds bounds every example's gradient norm from its loss and the forward
// pass alone (value clipping; VC §5 and Appendix D).
type Bounds struct {
	m      *Model
	tight  bool
	layers []Lipschitz
	sites  []*outer // nil for layers without parameters

	measured []compute.Pending // by layer, of the present weights; nil where nothing is asked
	sizes    []int
	plain    []float64 // ‖W_l‖
	folded   []float64 // ‖W̃_l‖

	norm   []compute.Buffer // of the inputs of each site; nothing without one
	inputs [][]float32
	host   []float32
}

// NewBounds prepares bounds for m: with tight, the sharper ones that use the
// norms of every layer's input; otherwise the paper's. It refuses, by name, layers
// that have no Lipschitz bound, or parameters whose gradient is not the product of
// what a bound is known of.
func NewBounds(m *Model, tight bool) (*Bounds, error) {
	b := &Bounds{m: m, tight: tight, host: make([]float32, m.Capacity*(1+m.outputs))}
	for i, l := range m.layers {
		bounded, ok := l.(Lipschitz)
		if !ok {
			return nil, fmt.Errorf("nn: layer %d, %s, has no Lipschitz bound", i+1, l.Name())
		}
		var site *outer
		if sites := l.Sites(); len(sites) > 0 || i == 0 {
			if len(sites) == 1 {
				site, ok = sites[0].(*outer)
			}
			if site == nil || !ok {
				return nil, fmt.Errorf("nn: no bound is known for the gradients of layer %d, %s", i+1, l.Name())
			}
		}
		b.layers, b.sites = append(b.layers, bounded), append(b.sites, site)
	}
	b.plain, b.folded = make([]float64, len(b.sites)), make([]float64, len(b.sites))
	b.norm, b.inputs = make([]compute.Buffer, len(b.sites)), make([][]float32, len(b.sites))
	b.measured, b.sizes = make([]compute.Pending, len(b.sites)), make([]int, len(b.sites))
	for i, s := range b.sites {
		if s != nil && (tight || i == 0) {
			b.norm[i], b.inputs[i] = m.be.New(m.Capacity), make([]float32, m.Capacity)
		}
	}
	return b, nil
}

// Refresh queues the measuring of the present weights. It is called once after
// they have moved, before Norms.
func (b *Bounds) Refresh() {
	for i, l := range b.layers {
		b.measured[i] = nil
		if b.tight && i == 0 {
			continue // the first layer's weights are no factor of the tighter bound
		}
		if at := l.Measure(); at.Memory != nil {
			b.measured[i], b.sizes[i] = b.m.be.Fetch(at), at.Len()
		} else {
			b.plain[i], b.folded[i] = l.Bound(nil)
		}
	}
}

// Norms writes an upper bound on each example's gradient norm to dst [n], for
// the model's last Forward and Losses, of which losses [n] are the result. It
// waits once. A loss that is not finite gives +Inf.
//
// Guarantee: dst[i] ≥ ‖g_i‖ and depends on example i and the weights alone.
func (b *Bounds) Norms(ctx context.Context, dst []float64, losses compute.Buffer) error {
	n, k := len(dst), b.m.outputs
	inputs := make([]compute.Pending, len(b.sites))
	for i, s := range b.sites {
		if b.norm[i].Memory != nil {
			kernel.RowNorms(b.m.be, n, s.in, s.x, b.norm[i])
			inputs[i] = b.m.be.Fetch(b.norm[i].Slice(0, n))
		}
	}
	lossesNow, outputsNow := b.m.be.Fetch(losses.Slice(0, n)), b.m.be.Fetch(b.m.z.Slice(0, n*k))
	if err := b.collect(ctx); err != nil {
		return err
	}
	for i, p := range inputs {
		if p == nil {
			continue
		}
		if err := p.Wait(ctx, b.inputs[i][:n]); err != nil {
			return fmt.Errorf("nn: reading input norms: %w", err)
		}
	}
	f, z := b.host[:n], b.host[n:n+n*k]
	if err := errors.Join(lossesNow.Wait(ctx, f), outputsNow.Wait(ctx, z)); err != nil {
		return fmt.Errorf("nn: reading losses: %w", err)
	}
	for i := range dst {
		dst[i] = 0
	}
	if b.tight {
		b.tightNorms(dst, f, z)
	} else {
		b.paperNorms(dst, f, z)
	}
	return nil
}

// collect takes in what Refresh asked for, once.
func (b *Bounds) collect(ctx context.Context) error {
	for i, p := range b.measured {
		if p == nil {
			continue
		}
		measured := make([]float32, b.sizes[i])
		if err := p.Wait(ctx, measured); err != nil {
			return fmt.Errorf("nn: reading the norms of weights: %w", err)
		}
		b.plain[i], b.folded[i] = b.layers[i].Bound(measured)
		b.measured[i] = nil
	}
	return nil
}

// tightNorms is ours: Σ_j (‖h_{j−1}‖² + 1)·Π_{l>j}‖W_l‖² times the squared norm
// of the gradient by the outputs.
func (b *Bounds) tightNorms(dst []float64, losses, outputs []float32) {
	after := 1.0
	for j := len(b.sites) - 1; j >= 0; j-- {
		if b.sites[j] != nil {
			for i := range dst {
				dst[i] += (sq64(b.inputs[j][i]) + 1) * after
			}
		}
		after *= b.plain[j] * b.plain[j]
	}
	b.finish(dst, losses, outputs, topSq(b.m.Loss))
}

// paperNorms is VC, Appendix D: ‖x̃‖²·Σ_j Π_{l≠j}‖W̃_l‖² times 8f for
// cross-entropy (β₁·f with β₂ = 0).
func (b *Bounds) paperNorms(dst []float64, losses, outputs []float32) {
	sum := 0.0
	for j, site := range b.sites {
		if site == nil {
			continue
		}
		product := 1.0
		for l := range b.sites {
			if l != j {
				product *= b.folded[l] * b.folded[l]
			}
		}
		sum += product
	}
	for i := range dst {
		dst[i] = (sq64(b.inputs[0][i]) + 1) * sum
	}
	top := topSq(b.m.Loss)
	if b.m.Loss == SoftmaxCE {
		top = func(f float64) float64 { return 8 * f }
	}
	b.finish(dst, losses, outputs, top)
}

// greatest is how much longer a gradient may be than that of the loss by the
// outputs: beyond, its example is refused, so that what underflow leaves of the
// latter stays nothing beside the least threshold.
const greatest = 0x1p80

// finish multiplies by the top gradient's squared norm and takes the root. The
// factor of 1 + 2·10⁻⁵ covers the roundings of tanh's gradient and of the factors
// on at most 64 layers; those of the products are in the spectral norms.
func (b *Bounds) finish(dst []float64, losses, outputs []float32, top func(float64) float64) {
	k := b.m.outputs
	for i := range dst {
		// A loss computed in float32 is off by a few units in the last place
		// of the largest output it was taken from.
		largest := 0.0
		for _, z := range outputs[i*k : (i+1)*k] {
			largest = math.Max(largest, math.Abs(float64(z)))
		}
		f := float64(losses[i])*(1+1e-5) + 1e-6*(1+largest)
		gain := dst[i]
		dst[i] = math.Sqrt(gain*top(f)) * (1 + 2e-5)
		if math.IsNaN(dst[i]) || gain > greatest*greatest {
			dst[i] = math.Inf(1)
		}
	}
}

// topSq bounds the squared norm of the gradient of a loss f ≥ 0 by the outputs.
func topSq(l Loss) func(f float64) float64 {
	switch l {
	case SoftmaxCE:
		// p_y = e^(−f), so ‖p − e_y‖² = (1 − p_y)² + Σ_{j≠y} p_j² ≤ 2(1 − e^(−f))².
		return func(f float64) float64 { e := -math.Expm1(-f); return 2 * e * e }
	case SigmoidBCE:
		// Each label's part f_j has a gradient of at most 1 − e^(−f_j) ≤
		// min(1, f_j), and Σ min(1, f_j)² ≤ Σ f_j and ≤ (Σ f_j)².
		return func(f float64) float64 { return math.Min(f, f*f) }
	default:
		return func(f float64) float64 { return 2 * f } // ‖z − t‖² = 2f exactly
	}
}
