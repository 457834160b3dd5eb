package nn

import (
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Bounds bounds every example's gradient norm from its loss and the forward
// pass alone (value clipping; VC §5 and Appendix D).
type Bounds struct {
	m     *Model
	tight bool

	layers []Lipschitz
	sites  []*outer  // nil for layers without parameters
	plain  []float64 // ‖W_l‖
	folded []float64 // ‖W̃_l‖

	norm compute.Buffer
	host []float32
}

// NewBounds prepares bounds for m: with tight, the sharper ones that use the
// norms of every layer's input; otherwise the paper's. It refuses, by name, layers
// that have no Lipschitz bound, or parameters whose gradient is not the product of
// what a bound is known of.
func NewBounds(m *Model, tight bool) (*Bounds, error) {
	b := &Bounds{m: m, tight: tight, norm: m.be.New(m.Capacity), host: make([]float32, m.Capacity)}
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
	return b, nil
}

// Refresh bounds the present weights' spectral norms. It is called once after
// the weights have moved, before Norms.
func (b *Bounds) Refresh(ctx context.Context) (err error) {
	for i, l := range b.layers {
		if b.tight && i == 0 {
			continue // the first layer's weights are no factor of the tighter bound
		}
		if b.plain[i], b.folded[i], err = l.Lipschitz(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Norms writes an upper bound on each example's gradient norm to dst [n], for
// the model's last Forward and Losses; losses [n] and outputs [n×k] are those
// passes' results on this side. A loss that is not finite gives +Inf.
//
// Guarantee: dst[i] ≥ ‖g_i‖ and depends on example i and the weights alone.
func (b *Bounds) Norms(ctx context.Context, dst []float64, losses, outputs []float32) error {
	for i := range dst {
		dst[i] = 0
	}
	if b.tight {
		return b.tightNorms(ctx, dst, losses, outputs)
	}
	return b.paperNorms(ctx, dst, losses, outputs)
}

// tightNorms is ours: Σ_j (‖h_{j−1}‖² + 1)·Π_{l>j}‖W_l‖² times the squared norm
// of the gradient by the outputs.
func (b *Bounds) tightNorms(ctx context.Context, dst []float64, losses, outputs []float32) error {
	after := 1.0
	for j := len(b.sites) - 1; j >= 0; j-- {
		if b.sites[j] != nil {
			if err := b.inputNorms(ctx, b.sites[j], len(dst)); err != nil {
				return err
			}
			for i := range dst {
				dst[i] += (sq(b.host[i]) + 1) * after
			}
		}
		after *= b.plain[j] * b.plain[j]
	}
	b.finish(dst, losses, outputs, topSq(b.m.Loss))
	return nil
}

// paperNorms is VC, Appendix D: ‖x̃‖²·Σ_j Π_{l≠j}‖W̃_l‖² times 8f for
// cross-entropy (β₁·f with β₂ = 0).
func (b *Bounds) paperNorms(ctx context.Context, dst []float64, losses, outputs []float32) error {
	if err := b.inputNorms(ctx, b.sites[0], len(dst)); err != nil {
		return err
	}
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
		dst[i] = (sq(b.host[i]) + 1) * sum
	}
	top := topSq(b.m.Loss)
	if b.m.Loss == SoftmaxCE {
		top = func(f float64) float64 { return 8 * f }
	}
	b.finish(dst, losses, outputs, top)
	return nil
}

func sq(x float32) float64 { return float64(x) * float64(x) }

// inputNorms reads the norms of a layer's inputs.
func (b *Bounds) inputNorms(ctx context.Context, d *outer, n int) error {
	kernel.RowNorms(b.m.be, n, d.in, d.x, b.norm)
	if err := compute.Read(ctx, b.m.be, b.host[:n], b.norm); err != nil {
		return fmt.Errorf("nn: reading input norms: %w", err)
	}
	return nil
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
