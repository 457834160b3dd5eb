// Package nn implements the layers and losses of models, with per-sample gradient norms.
// Differentially private training needs the norms without per-sample gradients (ghost
// norms), and the weighted gradient sum of a batch without a second backward pass
// (book-keeping).
//
// What a layer computes is apart from where its parameters sit. A [Layer] maps
// rows forwards and gradients backwards, one file each; its parameters sit in
// [Site]s, of which there are three kinds and which do everything that clipping
// needs. So a new layer brings no norms, no sums and no bounds of its own.
// A model is written as a list of layers, each a short text such as
// conv:16:8:s2:p3; [Read] makes a [Spec] of it.
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

// Layer is a stage of a model. It keeps what its backward pass needs: a call
// of Backward speaks of the batch last given to Forward. n may be 0.
type Layer interface {
	// Sites are where the layer's parameters sit; none for activations.
	Sites() []Site
	// Forward maps x [n×in] to [n×out], in a buffer the layer owns.
	Forward(x compute.Buffer, n int) compute.Buffer
	// Backward takes the gradient by the output [n×out] and, when want is
	// set, returns the one by the input [n×in] in a buffer the layer owns.
	Backward(dy compute.Buffer, want bool) compute.Buffer
	// Init draws the parameters afresh.
	Init(rng *rand.Rand)
}

// Lipschitz is a layer that can say how much longer it makes what passes through.
type Lipschitz interface {
	// Bound writes upper bounds on the layer's Lipschitz constant with its present
	// weights, and on that of (x, 1) ↦ (y, 1), roundings included, to dst [2].
	Bound(dst compute.Buffer)
}

// Bounded is a [Lipschitz] layer with parameters, of whose gradients a bound is
// known.
type Bounded interface {
	Lipschitz
	// Reach bounds an example's gradient, as computed, by its input x and the
	// gradient δ by its output: ‖g‖² ≤ ‖δ‖²·(input²·‖x‖² + one²).
	Reach() (input, one float64)
	// Input is the last pass's x [n×in].
	Input() (x compute.Buffer, in int)
}

// arena hands out a model's parameters from one buffer.
type arena struct{ left compute.Buffer }

func (a *arena) take(n int) compute.Buffer {
	p := a.left.Slice(0, n)
	a.left = a.left.Slice(n, a.left.Len()-n)
	return p
}
