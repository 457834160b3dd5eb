package nn

import "clipscope/core/compute"

// Scaled is a layer that can measure gradients in coordinates of their own:
// u = (g − a)/b, element by element, without forming g.
type Scaled interface {
	// ScaledSqNorms adds to dst [n] an upper bound on ‖u_i‖² over this
	// layer's parameters that is tight up to rounding, given for each of Params
	// the buffers inv = 1/b² and lin = a/b².
	ScaledSqNorms(dst compute.Buffer, inv, lin []compute.Buffer, offset float32)
}

// ScaledSqNorms uses, with V = 1/b² as a matrix and m the centre,
//
//	Σ_jk (h_j·δ_k − m_jk)²·V_jk = (h∘h)ᵀV(δ∘δ) − 2·hᵀ(m∘V)δ + Σ m²V
//
// two matrix products over the batch. offset is Σ m²V over this layer.
//
// Guarantee: the three terms nearly cancel where gradients lie close to the
// centre, so their rounding is covered: with A, B, C the three terms,
// |2B| ≤ A + C, and every one is computed to within gamma(in + out + 24) of its
// size, so adding 2·gamma·(A + C) keeps the result above the true value. Of the
// 24, four are for the rounding of V and m∘V, the others for offset, a sum of
// squares that is good to a millionth (17·2⁻²⁴).
func (d *Dense) ScaledSqNorms(dst compute.Buffer, inv, lin []compute.Buffer, offset float32) {
	if d.ones == nil {
		d.allocateScaled()
	}
	be, n := d.be, d.n
	slack := float32(2 * gamma(d.In+d.Out+24))
	be.Mul(n*d.In, d.xx, d.x, d.x)
	be.Mul(n*d.Out, d.dd, d.dy, d.dy)
	// A: squares against V, weights and biases.
	be.Gemm(compute.NoTrans, compute.NoTrans, n, d.Out, d.In, d.xx, inv[0], 0, d.t)
	be.AddRow(n, d.Out, inv[1], d.t)
	be.Mul(n*d.Out, d.t, d.t, d.dd)
	be.Scale(n*d.Out, 1+slack, d.t)
	be.Gemm(compute.NoTrans, compute.NoTrans, n, 1, d.Out, d.t, d.ones, 1, dst)
	// −2B: the centre's part.
	be.Gemm(compute.NoTrans, compute.NoTrans, n, d.Out, d.In, d.x, lin[0], 0, d.t)
	be.AddRow(n, d.Out, lin[1], d.t)
	be.Scale(n*d.Out, -2, d.t)
	d.addRowDots(dst)
	// C, the same for every example.
	be.Fill(n, offset*(1+slack), d.sqX)
	be.Axpy(n, 1, d.sqX, dst)
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
	// ClampedGrads adds Σ_i clamp(g_i, −c, c) to dst, one buffer for each of Params.
	ClampedGrads(dst []compute.Buffer, c float32)
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

// ClampedGrads sums the clamped outer products; the bias is the row of a
// constant input 1.
func (d *Dense) ClampedGrads(dst []compute.Buffer, c float32) {
	d.be.ClampedOuter(d.n, d.In, d.Out, c, d.x, d.dy, dst[0])
	d.be.ClampedOuter(d.n, 1, d.Out, c, d.constantInput(), d.dy, dst[1])
}

// Rounded is a layer that can sum its weighted gradients as whole numbers.
type Rounded interface {
	// RoundedGrads adds Σ_i round(factors_i·g_i), every coordinate of every
	// example rounded to the nearest whole number, to dst, one buffer for each
	// of Params. The sums are exact while they stay within ±2²⁴.
	RoundedGrads(dst []compute.Buffer, factors compute.Buffer)
}

// RoundedGrads sums the rounded outer products; the bias is the row of a
// constant input 1.
func (d *Dense) RoundedGrads(dst []compute.Buffer, factors compute.Buffer) {
	d.be.ScaleRows(d.n, d.Out, factors, d.dy, d.scaled)
	d.be.RoundedOuter(d.n, d.In, d.Out, d.x, d.scaled, dst[0])
	d.be.RoundedOuter(d.n, 1, d.Out, d.constantInput(), d.scaled, dst[1])
}

// constantInput is the input that the bias sees: ones [capacity×1].
func (d *Dense) constantInput() compute.Buffer {
	if d.column == nil {
		d.column = d.be.New(d.sqX.Len())
		d.be.Fill(d.column.Len(), 1, d.column)
	}
	return d.column
}
