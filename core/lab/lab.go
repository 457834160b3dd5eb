// Package lab computes the effect of clipping on one batch of a model that stands still.
// It has the bias, the turn and the length of the clipped mean gradient at any threshold,
// from the inner products of the examples' gradients alone. No gradient is needed again.
//
// All of it is computed from the rows, without noise: it is diagnostic, for teaching, and
// no release.
package lab

import (
	"fmt"
	"math"

	"clipscope/core/clip"
)

// Most is the greatest batch that is looked at: its inner products are a million numbers.
const Most = 1024

// Batch is a batch of n examples by the inner products of their gradients g_i. Means are
// over the n examples, for the batch is looked at by itself. An example whose gradient is
// not finite has length 0 and no part in anything, as it has none in a step.
type Batch struct {
	Norms []float64 // ‖g_i‖ [n]
	// Along is each example's ⟨g_i, ḡ⟩/‖ḡ‖ [n], and Across what of its length is left, at
	// right angles to ḡ: with the sign that one likes, the two are exact.
	Along, Across []float64
	TrueNorm      float64 // ‖ḡ‖
	NonFinite     int     // examples that are left out

	n    int
	gram []float64 // ⟨g_i, g_j⟩ [n×n]
	sums []float64 // Σ_j ⟨g_i, g_j⟩ [n]
}

// New reads a batch from its Gram matrix [n×n], which may hold anything. n may be 0.
func New(gram []float32, n int) (*Batch, error) {
	if n < 0 || n > Most || len(gram) != n*n {
		return nil, fmt.Errorf("lab: %d inner products of %d examples; at most %d examples are looked at", len(gram), n, Most)
	}
	b := &Batch{n: n, gram: make([]float64, n*n), sums: make([]float64, n), Norms: make([]float64, n), Along: make([]float64, n), Across: make([]float64, n)}
	bad := make([]bool, n)
	for i := range n {
		v := float64(gram[i*n+i])
		if bad[i] = !(v >= 0 && v <= math.MaxFloat32); bad[i] {
			b.NonFinite++
			continue
		}
		b.Norms[i] = math.Sqrt(v)
	}
	total := 0.0
	for i := range n {
		for j := range n {
			// Two finite gradients have a finite product, unless it overflows; no more than
			// the product of their lengths is possible.
			v, most := float64(gram[i*n+j]), b.Norms[i]*b.Norms[j]
			if bad[i] || bad[j] || math.IsNaN(v) {
				v = 0
			}
			b.gram[i*n+j] = min(max(v, -most), most)
			b.sums[i] += b.gram[i*n+j]
		}
		total += b.sums[i]
	}
	if n == 0 {
		return b, nil
	}
	b.TrueNorm = math.Sqrt(max(total, 0)) / float64(n)
	for i, s := range b.sums {
		if b.TrueNorm > 0 {
			b.Along[i] = s / (float64(n) * b.TrueNorm)
		}
		b.Along[i] = min(max(b.Along[i], -b.Norms[i]), b.Norms[i])
		b.Across[i] = math.Sqrt(max(0, b.Norms[i]*b.Norms[i]-b.Along[i]*b.Along[i]))
	}
	return b, nil
}

// Len is the number of examples.
func (b *Batch) Len() int { return b.n }

// Point describes the mean gradient, clipped at C.
type Point struct {
	C     float64
	Bias2 float64 // ‖ḡ − mean ĝ‖²
	// Along is ⟨mean ĝ, ḡ⟩/‖ḡ‖ and Across the rest of its length; Cosine is between the
	// two, NaN where one of them is 0.
	Along, Across, Cosine float64
	Clipped               float64 // the share of the examples that are longer than C; NaN without any
}

// At is the point of a weight function at threshold c > 0, with the factor of every
// example in factors [n].
func (b *Batch) At(w clip.Weight, c float64, factors []float64) Point {
	over := 0
	for i, norm := range b.Norms {
		factors[i] = w.Factor(norm, c)
		if norm > c*(1+1e-6) { // what lies on the threshold by rounding is not clipped
			over++
		}
	}
	n := float64(b.n)
	var left, lost, along float64 // ‖Σ ĝ‖², ‖Σ (g − ĝ)‖², ⟨Σ ĝ, Σ g⟩
	for i, f := range factors {
		row, kept := b.gram[i*b.n:(i+1)*b.n], 0.0
		for j, g := range row {
			kept += g * factors[j]
		}
		left += f * kept
		lost += (1 - f) * (b.sums[i] - kept)
		along += f * b.sums[i]
	}
	p := Point{C: c, Bias2: max(0, lost) / (n * n), Clipped: float64(over) / n, Cosine: math.NaN()}
	length := math.Sqrt(max(0, left)) / n
	if b.TrueNorm > 0 {
		p.Along = along / (n * n * b.TrueNorm)
		if length > 0 {
			p.Cosine = min(max(p.Along/length, -1), 1)
		}
	}
	p.Across = math.Sqrt(max(0, length*length-p.Along*p.Along))
	return p
}

// Estimate is DC-SGD's estimate of the bias at c, mean max(‖g‖ − c, 0)², of this batch and
// without its histogram's noise: the bias of a single gradient (DC-SGD, § III-D), which that of
// their mean never exceeds.
func (b *Batch) Estimate(c float64) float64 {
	sum := 0.0
	for _, norm := range b.Norms {
		d := max(norm-c, 0)
		sum += d * d
	}
	return sum / float64(b.n)
}

// Clipper is a method's at threshold 1, whose weight function serves every other: nothing
// else that a clipper is made for matters to it, nor does what moves the threshold. The
// error is a [*clip.ParamError] for parameters that are not the method's, or says why a
// method does not scale whole gradients: what it does cannot be told from inner products.
func Clipper(method string, params clip.Params) (*clip.Clipper, error) {
	c, err := clip.New(clip.Choice{Method: method}, clip.Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1, ExpectedBatchSize: 1, Dim: 1, Params: params})
	if err != nil {
		return nil, err
	}
	const refused = "lab: %s; the laboratory's plane has methods that scale whole gradients alone"
	switch {
	case c.Geometry != nil:
		return nil, fmt.Errorf(refused, "this method clips in coordinates of its own")
	case c.Coordinates:
		return nil, fmt.Errorf(refused, "this method clamps each coordinate")
	case c.Source == clip.Bounded || c.FeatureBound > 0:
		return nil, fmt.Errorf(refused, "this method bounds gradients before it knows them")
	case c.Grouping == clip.PerLayer:
		return nil, fmt.Errorf(refused, "this method clips each layer by itself")
	}
	return c, nil
}
