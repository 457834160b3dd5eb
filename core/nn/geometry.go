package nn

import "clipscope/core/compute"

// Coordinates are those in which gradients are measured, u = (g − a)/b: for each
// of Params the buffers Inv = 1/b² and Lin = a/b², Σ a²/b² by group, and the
// largest 1/b² of all.
type Coordinates struct {
	Inv, Lin []compute.Buffer
	Offsets  []float64
	Largest  float64
}

// Scaled is a layer that can measure gradients in coordinates of their own
// without forming them.
type Scaled interface {
	// ScaledSqNorms adds to dst [n] an upper bound on ‖u_i‖² over this
	// layer's parameters that is tight up to rounding; c is cut to this layer.
	ScaledSqNorms(dst compute.Buffer, c Coordinates)
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
// 32, four are for the rounding of V and m∘V, some for C, a sum of squares that
// is good to a millionth (17·2⁻²⁴), the rest for adding up. Underflow is covered
// apart: every square and product loses at most 2⁻¹²⁶, which the others enlarge
// to at most 2⁻¹²⁶·(in+1)·(out+1)·(largest V + 2)·(‖h‖² + ‖δ‖² + 2) each.
func (d *Dense) ScaledSqNorms(dst compute.Buffer, c Coordinates) {
	if d.ones == nil {
		d.allocateScaled()
	}
	be, n := d.be, d.n
	slack := float32(2 * gamma(d.In+d.Out+32))
	be.Mul(n*d.In, d.xx, d.x, d.x)
	be.Mul(n*d.Out, d.dd, d.dy, d.dy)
	// A: squares against V, weights and biases.
	be.Gemm(compute.NoTrans, compute.NoTrans, n, d.Out, d.In, d.xx, c.Inv[0], 0, d.t)
	be.AddRow(n, d.Out, c.Inv[1], d.t)
	be.Mul(n*d.Out, d.t, d.t, d.dd)
	be.Scale(n*d.Out, 1+slack, d.t)
	be.Gemm(compute.NoTrans, compute.NoTrans, n, 1, d.Out, d.t, d.ones, 1, dst)
	// −2B: the centre's part.
	be.Gemm(compute.NoTrans, compute.NoTrans, n, d.Out, d.In, d.x, c.Lin[0], 0, d.t)
	be.AddRow(n, d.Out, c.Lin[1], d.t)
	be.Scale(n*d.Out, -2, d.t)
	d.addRowDots(dst)
	// What underflow took, and C, the same for every example.
	const parts = 4 // A's squares, its products, m∘V, B's products
	lost := parts * 0x1p-126 * float64(d.In+1) * float64(d.Out+1) * (c.Largest + 2) * (1 + 1e-5)
	be.RowNorms(n, d.In, d.x, d.normX)
	be.RowNorms(n, d.Out, d.dy, d.normDy)
	be.Mul(n, d.normX, d.normX, d.normX)
	be.Mul(n, d.normDy, d.normDy, d.normDy)
	be.Axpy(n, float32(lost), d.normX, dst)
	be.Axpy(n, float32(lost), d.normDy, dst)
	be.Fill(n, float32(c.Offsets[0]*(1+float64(slack))+2*lost), d.normX)
	be.Axpy(n, 1, d.normX, dst)
}

func (d *Dense) allocateScaled() {
	rows := d.y.Len() / d.Out
	d.xx, d.dd, d.t = d.be.New(rows*d.In), d.be.New(rows*d.Out), d.be.New(rows*d.Out)
	d.ones = d.be.New(d.Out)
	d.be.Fill(d.Out, 1, d.ones)
}

// Clamped is a layer that can sum gradients after clamping each of their
// coordinates, without forming them one by one in memory.
type Clamped interface {
	// ClampedGrads adds Σ_i clamp(g_i, −c, c) to dst, sums for each of Params.
	ClampedGrads(dst []compute.Sums, c float32)
}

// Projected is a layer that can take every example's gradient's inner product
// with a given vector, without forming the gradients.
type Projected interface {
	// Dots adds ⟨g_i, v⟩ to dst [n], v with one buffer for each of Params.
	Dots(dst compute.Buffer, v []compute.Buffer)
}

// Dots uses ⟨h⊗δ, V⟩ = hᵀVδ: one matrix product over the batch.
func (d *Dense) Dots(dst compute.Buffer, v []compute.Buffer) {
	if d.ones == nil {
		d.allocateScaled()
	}
	d.be.Gemm(compute.NoTrans, compute.NoTrans, d.n, d.Out, d.In, d.x, v[0], 0, d.t)
	d.be.AddRow(d.n, d.Out, v[1], d.t)
	d.addRowDots(dst)
}

// addRowDots adds Σ_k t_ik·δ_ik to dst [n].
func (d *Dense) addRowDots(dst compute.Buffer) {
	d.be.Mul(d.n*d.Out, d.t, d.t, d.dy)
	d.be.Gemm(compute.NoTrans, compute.NoTrans, d.n, 1, d.Out, d.t, d.ones, 1, dst)
}

// ClampedGrads sums the clamped outer products.
func (d *Dense) ClampedGrads(dst []compute.Sums, c float32) {
	d.be.AddClampedOuter(d.n, d.In, d.Out, c, d.x, d.dy, dst[0])
	d.be.AddClampedOuter(d.n, 1, d.Out, c, d.one, d.dy, dst[1])
}

// Rounded is a layer that can sum its weighted gradients as whole numbers.
type Rounded interface {
	// RoundedGrads adds Σ_i round(factors_i·g_i), every coordinate of every
	// example rounded to the nearest whole number, to dst, sums for each of
	// Params. They are exact while those of compute.PieceRows rows stay within
	// ±2²⁴.
	RoundedGrads(dst []compute.Sums, factors compute.Buffer)
}

// RoundedGrads sums the rounded outer products.
func (d *Dense) RoundedGrads(dst []compute.Sums, factors compute.Buffer) {
	d.be.ScaleRows(d.n, d.Out, factors, d.dy, d.scaled)
	d.be.AddRoundedOuter(d.n, d.In, d.Out, d.x, d.scaled, dst[0])
	d.be.AddRoundedOuter(d.n, 1, d.Out, d.one, d.scaled, dst[1])
}
