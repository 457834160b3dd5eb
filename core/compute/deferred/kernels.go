package deferred

import "clipscope/core/compute"

type buf = compute.Buffer

func (b *Backend) Fill(n int, v float32, dst compute.Buffer) {
	b.later1(dst, func(dst buf) { b.inner.Fill(n, v, dst) })
}

func (b *Backend) Copy(n int, dst, src compute.Buffer) {
	b.later2(dst, src, func(dst, src buf) { b.inner.Copy(n, dst, src) })
}

func (b *Backend) Scale(n int, a float32, x compute.Buffer) {
	b.later1(x, func(x buf) { b.inner.Scale(n, a, x) })
}

func (b *Backend) Axpy(n int, a float32, x, y compute.Buffer) {
	b.later2(x, y, func(x, y buf) { b.inner.Axpy(n, a, x, y) })
}

func (b *Backend) Mul(n int, dst, x, y compute.Buffer) {
	b.later3(dst, x, y, func(dst, x, y buf) { b.inner.Mul(n, dst, x, y) })
}

func (b *Backend) Gemm(tA, tB compute.Trans, m, n, k int, a, bb compute.Buffer, beta float32, c compute.Buffer) {
	b.later3(a, bb, c, func(a, bb, c buf) { b.inner.Gemm(tA, tB, m, n, k, a, bb, beta, c) })
}

func (b *Backend) AddRow(m, n int, row, y compute.Buffer) {
	b.later2(row, y, func(row, y buf) { b.inner.AddRow(m, n, row, y) })
}

func (b *Backend) RowNorms(m, n int, x, dst compute.Buffer) {
	b.later2(x, dst, func(x, dst buf) { b.inner.RowNorms(m, n, x, dst) })
}

func (b *Backend) JoinNorms(n int, h, d, dst compute.Buffer) {
	b.later3(h, d, dst, func(h, d, dst buf) { b.inner.JoinNorms(n, h, d, dst) })
}

func (b *Backend) ScaleRows(m, n int, f, x, dst compute.Buffer) {
	b.later3(f, x, dst, func(f, x, dst buf) { b.inner.ScaleRows(m, n, f, x, dst) })
}

func (b *Backend) ReLU(n int, x, y compute.Buffer) {
	b.later2(x, y, func(x, y buf) { b.inner.ReLU(n, x, y) })
}

func (b *Backend) ReLUGrad(n int, y, dy, dx compute.Buffer) {
	b.later3(y, dy, dx, func(y, dy, dx buf) { b.inner.ReLUGrad(n, y, dy, dx) })
}

func (b *Backend) Tanh(n int, x, y compute.Buffer) {
	b.later2(x, y, func(x, y buf) { b.inner.Tanh(n, x, y) })
}

func (b *Backend) TanhGrad(n int, y, dy, dx compute.Buffer) {
	b.later3(y, dy, dx, func(y, dy, dx buf) { b.inner.TanhGrad(n, y, dy, dx) })
}

func (b *Backend) SoftmaxCE(m, n int, z, labels, loss, dz compute.Buffer) {
	b.later4(z, labels, loss, dz, func(z, labels, loss, dz buf) { b.inner.SoftmaxCE(m, n, z, labels, loss, dz) })
}

func (b *Backend) SigmoidBCE(m, n int, z, t, loss, dz compute.Buffer) {
	b.later4(z, t, loss, dz, func(z, t, loss, dz buf) { b.inner.SigmoidBCE(m, n, z, t, loss, dz) })
}

func (b *Backend) Squared(m, n int, z, t, loss, dz compute.Buffer) {
	b.later4(z, t, loss, dz, func(z, t, loss, dz buf) { b.inner.Squared(m, n, z, t, loss, dz) })
}

func (b *Backend) Noise(n int, std float32, key compute.NoiseKey, dst compute.Buffer) {
	b.later1(dst, func(dst buf) { b.inner.Noise(n, std, key, dst) })
}

func (b *Backend) Spread(n int, p compute.SpreadParams, g, m, r compute.Buffer) {
	b.later3(g, m, r, func(g, m, r buf) { b.inner.Spread(n, p, g, m, r) })
}

func (b *Backend) Rescale(n int, scale float32, m, r, bb, inv, lin compute.Buffer) {
	b.later5(m, r, bb, inv, lin, func(m, r, bb, inv, lin buf) { b.inner.Rescale(n, scale, m, r, bb, inv, lin) })
}

func (b *Backend) Adam(n int, p compute.AdamParams, g, m, v, w compute.Buffer) {
	b.later4(g, m, v, w, func(g, m, v, w buf) { b.inner.Adam(n, p, g, m, v, w) })
}

func (b *Backend) AddOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	s := b.ownSums(dst)
	b.later2(h, d, func(h, d buf) { b.inner.AddOuter(m, n, k, h, d, s.inner) })
}

func (b *Backend) AddClampedOuter(m, n, k int, c float32, h, d compute.Buffer, dst compute.Sums) {
	s := b.ownSums(dst)
	b.later2(h, d, func(h, d buf) { b.inner.AddClampedOuter(m, n, k, c, h, d, s.inner) })
}

func (b *Backend) AddRoundedOuter(m, n, k int, h, d compute.Buffer, dst compute.Sums) {
	s := b.ownSums(dst)
	b.later2(h, d, func(h, d buf) { b.inner.AddRoundedOuter(m, n, k, h, d, s.inner) })
}

func (b *Backend) AddScaled(n int, a float64, x compute.Buffer, dst compute.Sums) {
	s := b.ownSums(dst)
	b.later1(x, func(x buf) { b.inner.AddScaled(n, a, x, s.inner) })
}

func (b *Backend) Settle(n int, src compute.Sums, dst compute.Buffer) {
	s := b.ownSums(src)
	b.later1(dst, func(dst buf) { b.inner.Settle(n, s.inner, dst) })
}
