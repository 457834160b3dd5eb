package nn

import (
	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// outerSite is the site of an affine map: example i's gradient is the outer product
// of its input x_i, with the bias's input 1, and the gradient δ_i by its output
// (Goodfellow 2015; Bu et al. 2022 and 2023).
type outerSite struct {
	be      compute.Backend
	in, out int
	w, b    compute.Buffer

	n     int
	x, dy compute.Buffer // of the last pass; not owned

	scaled       compute.Buffer // [capacity×out]
	normX, normD compute.Buffer // [capacity]
	one          compute.Buffer // what the bias sees: ones [capacity×1]
	xx, dd, t    scratch        // of ScaledSqNorms, Dots and Gram
	column       compute.Buffer // ones [out]
}

func newOuterSite(b *builder, in, out int) *outerSite {
	be := b.be
	s := &outerSite{be: be, in: in, out: out, w: b.from.take(in * out), b: b.from.take(out)}
	s.scaled, s.normX, s.normD, s.one = b.examples(out), b.examples(1), b.examples(1), ones(be, b.capacity)
	s.xx, s.dd, s.t, s.column = scratch{be: be}, scratch{be: be}, scratch{be: be}, ones(be, out)
	return s
}

func (s *outerSite) Params() []compute.Buffer { return []compute.Buffer{s.w, s.b} }

func (s *outerSite) Norms(dst compute.Buffer) {
	s.lengths()
	kernel.JoinNorms(s.be, s.n, s.normX, s.normD, dst)
}

func (s *outerSite) lengths() {
	kernel.RowNorms(s.be, s.n, s.in, s.x, s.normX)
	kernel.RowNorms(s.be, s.n, s.out, s.dy, s.normD)
}

func (s *outerSite) Add(dst []compute.Sums, factors compute.Buffer, each kernel.Each) {
	delta := s.dy
	if factors.Memory != nil {
		kernel.ScaleRows(s.be, s.n, s.out, factors, s.dy, s.scaled)
		kernel.DropRows(s.be, s.n, s.in, factors, s.x)
		delta = s.scaled
	}
	kernel.AddOuter(s.be, s.n, s.in, s.out, each, s.x, delta, dst[0])
	kernel.AddOuter(s.be, s.n, 1, s.out, each, s.one, delta, dst[1])
}

// ScaledSqNorms uses, with V = 1/b² as a matrix and m the centre,
//
//	Σ_jk (h_j·δ_k − m_jk)²·V_jk = (h∘h)ᵀV(δ∘δ) − 2·hᵀ(m∘V)δ + Σ m²V
//
// two matrix products over the batch.
//
// Guarantee: the three terms nearly cancel where gradients lie close to the
// centre, so their rounding is covered: with A, B, C the three terms,
// |2B| ≤ A + C, and every one is computed to within gamma(in + out + 32) of its
// size, so adding 2·gamma·(A + C) keeps the result above the true value. Of the
// 32, four are for the rounding of V and m∘V, some for C, a sum of squares of
// what was rounded four times that is good to a millionth (17·2⁻²⁴) above, the rest
// for adding up. Underflow is covered apart: every square and product loses at most
// 2⁻¹²⁶, which the others enlarge to at most 2⁻¹²⁶·(in+1)·(out+1)·(largest V + 2)·(‖h‖² + ‖δ‖² + 2) each.
func (s *outerSite) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	be, n := s.be, s.n
	xx, dd, t := s.xx.of(n*s.in), s.dd.of(n*s.out), s.t.of(n*s.out)
	slack := float32(2 * gamma(s.in+s.out+32))
	kernel.Mul(be, n*s.in, xx, s.x, s.x)
	kernel.Mul(be, n*s.out, dd, s.dy, s.dy)
	// A: squares against V, weights and biases.
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, s.out, s.in, xx, c.Inv[0], 0, t)
	kernel.AddRow(be, n, s.out, c.Inv[1], t)
	kernel.Mul(be, n*s.out, t, t, dd)
	kernel.Scale(be, n*s.out, 1+slack, t)
	kernel.Gemm(be, kernel.NoTrans, kernel.NoTrans, n, 1, s.out, t, s.column, 1, dst)
	// −2B: the centre's part.
	s.project(c.Lin, t)
	kernel.Scale(be, n*s.out, -2, t)
	s.addRowDots(t, dst)
	// What underflow took, and C, the same for every example.
	const terms = 4 // A's squares, its products, m∘V, B's products
	lost := underflows(terms, s.in, s.out, c.Largest)
	s.lengths()
	kernel.Mul(be, n, s.normX, s.normX, s.normX)
	kernel.Mul(be, n, s.normD, s.normD, s.normD)
	kernel.Axpy(be, n, float32(lost), s.normX, dst)
	kernel.Axpy(be, n, float32(lost), s.normD, dst)
	kernel.Fill(be, n, float32(2*lost), s.normX)
	kernel.AddRow(be, n, 1, c.Offsets, s.normX)
	kernel.Axpy(be, n, 1+slack, s.normX, dst)
}

// Dots uses ⟨h⊗δ, V⟩ = hᵀVδ: one matrix product over the batch.
func (s *outerSite) Dots(dst compute.Buffer, v []compute.Buffer) {
	t := s.t.of(s.n * s.out)
	s.project(v, t)
	s.addRowDots(t, dst)
}

// project is t = x·V, with the bias's row.
func (s *outerSite) project(v []compute.Buffer, t compute.Buffer) {
	kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, s.n, s.out, s.in, s.x, v[0], 0, t)
	kernel.AddRow(s.be, s.n, s.out, v[1], t)
}

// addRowDots adds Σ_k t_ik·δ_ik to dst [n].
func (s *outerSite) addRowDots(t, dst compute.Buffer) {
	kernel.Mul(s.be, s.n*s.out, t, t, s.dy)
	kernel.Gemm(s.be, kernel.NoTrans, kernel.NoTrans, s.n, 1, s.out, t, s.column, 1, dst)
}

// Gram uses ⟨h_i⊗δ_i, h_j⊗δ_j⟩ = ⟨h_i, h_j⟩·⟨δ_i, δ_j⟩: two products over the batch.
func (s *outerSite) Gram(dst compute.Buffer) {
	n := s.n
	xx, dd := s.xx.of(n*n), s.dd.of(n*n)
	kernel.Fill(s.be, n*n, 1, xx) // the bias's input
	kernel.Gemm(s.be, kernel.NoTrans, kernel.Transpose, n, n, s.in, s.x, s.x, 1, xx)
	kernel.Gemm(s.be, kernel.NoTrans, kernel.Transpose, n, n, s.out, s.dy, s.dy, 0, dd)
	kernel.Mul(s.be, n*n, xx, xx, dd)
	kernel.Axpy(s.be, n*n, 1, xx, dst)
}
