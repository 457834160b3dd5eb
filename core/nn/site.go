package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// Site holds parameters and answers all questions about their per-sample
// gradients g_i after a backward pass of n rows. There are three: [outerSite], whose
// gradients are products that are never formed, [lookupSite], whose gradients are 0 but in
// the rows of an example's tokens, and [formedSite], whose gradients are simply there.
type Site interface {
	// Params are the parameters.
	Params() []compute.Buffer
	// Norms joins to dst [n] an upper bound on ‖g_i‖ over this site, tight to a few
	// millionths. What overflows float32 becomes +Inf, which callers reject as they
	// do NaN.
	Norms(dst compute.Buffer)
	// Add adds Σ_i each(factors_i·g_i) to dst, sums for each of Params. A factor of
	// exactly 0 leaves no trace of its example, whatever it holds: the rows that
	// the product would read are cleared. With none, all are 1.
	Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each)
	// ScaledSqNorms adds to dst [n] an upper bound on ‖(g_i − a)/b‖² that is tight
	// up to rounding; c is cut to this site.
	ScaledSqNorms(dst compute.Buffer, c Coordinates)
	// Dots adds ⟨g_i, v⟩ to dst [n], v with one buffer for each of Params.
	Dots(dst compute.Buffer, v []compute.Buffer)
	// Gram adds ⟨g_i, g_j⟩ to dst [n×n].
	Gram(dst compute.Buffer)
}

// Coordinates holds the coordinates in which gradients are measured, u = (g − a)/b: for each
// of Params the buffers Inv = 1/b² and Lin = a/b², Σ a²/b² by site, and a bound on
// the 1/b² of all.
type Coordinates struct {
	Inv, Lin []compute.Buffer
	Offsets  compute.Buffer
	Largest  float64
}

// scratch is memory for one more row or column a row, made when first needed.
type scratch struct {
	be  compute.Backend
	buf compute.Buffer
}

func (s *scratch) of(n int) compute.Buffer {
	if s.buf.Len() < n {
		if s.buf.Memory != nil {
			s.be.Free(s.buf)
		}
		s.buf = s.be.New(n)
	}
	return s.buf
}

// ones is a vector of n ones.
func ones(be compute.Backend, n int) compute.Buffer {
	b := be.New(n)
	kernel.Fill(be, n, 1, b)
	return b
}

// underflows bounds the sum of so many terms' underflow, in units of
// 2⁻¹²⁶.
func underflows(terms, in, out int, largest float64) float64 {
	return float64(terms) * 0x1p-126 * float64(in+1) * float64(out+1) * (largest + 2) * (1 + 1e-5)
}
