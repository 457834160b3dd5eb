// Package nn holds the layers and losses of the models, with what
// differentially private training needs of them: per-sample gradient norms
// without per-sample gradients (ghost norms), and the weighted gradient
// sum of a batch without a second backward pass (book-keeping).
//
// Per-sample gradients are never formed: a dense layer's is the outer product
// of its input h and the gradient δ by its output, so its squared norm is
// ‖δ‖²·(‖h‖²+1) and the weighted sum of a batch is Hᵀ·diag(w)·Δ
// (Goodfellow 2015; Bu et al. 2022 and 2023).
//
// Every layer treats every example on its own: no layer may look across a
// batch, or one example would change another's gradient. That holds to the bit:
// what a layer computes for a row depends neither on the other rows nor on their
// number nor on where it stands among them, for the bound on what one example
// adds to a rounded sum rests on it.
package nn

import (
	"math/rand/v2"

	"clipscope/core/compute"
)

// Layer is one stage of a model. It keeps what its backward pass needs: a call
// of Backward, Norms or Grads speaks of the batch last given to Forward, and
// Norms and Grads of the gradient last given to Backward. n may be 0.
type Layer interface {
	// Params are the layer's parameters; empty for activations.
	Params() []compute.Buffer
	// Forward maps x [n×in] to [n×out], in a buffer the layer owns.
	Forward(x compute.Buffer, n int) compute.Buffer
	// Backward takes the gradient by the output [n×out] and, when want is
	// set, returns the one by the input [n×in] in a buffer the layer owns.
	Backward(dy compute.Buffer, want bool) compute.Buffer
	// Norms joins to dst [n] an upper bound on ‖g_i‖ over this layer's
	// parameters, tight to a few millionths, without g_i. What overflows float32
	// becomes +Inf, which callers reject as they do NaN.
	Norms(dst compute.Buffer)
	// Grads adds Σ_i factors_i·g_i to dst, sums for each of Params; nil factors
	// are ones.
	Grads(dst []compute.Sums, factors compute.Buffer)
	// Drop forgets the examples whose keep [n] is 0: their rows of all that
	// Grads reads become zero, NaN and ±Inf included.
	Drop(keep compute.Buffer)
	// Init draws the parameters afresh.
	Init(rng *rand.Rand)
}
