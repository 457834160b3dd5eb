package computetest

import (
	"math"

	"clipscope/core/compute/kernel"
)

func checkFinite(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		x, keep := c.arg("x", data()), c.arg("keep", c.normals(n))
		kernel.Finite(c.b, n, x.buf, keep.buf)
		keep.want = each(n, func(i int) value {
			if v := x.data[i]; v-v != 0 {
				return exactly(0)
			}
			return exactly(keep.data[i])
		})
		c.verify("Finite(%d)", n)
	})
}

func checkRoot(c *check) {
	c.vectors(func(n int, data func() []float32) {
		v := squares(data())
		for i := range v {
			if c.rng.IntN(4) == 0 {
				v[i] = math.Float32frombits(c.rng.Uint32() >> (9 + c.rng.IntN(24))) // denormal
			}
		}
		x, y := c.arg("x", v), c.arg("y", data())
		kernel.Unary(c.b, kernel.Root, n, x.buf, y.buf)
		y.want = each(n, func(i int) value { return bound(math.Sqrt(float64(x.data[i]))) })
		c.verify("Root(%d)", n)
	})
}

func checkNormalize(c *check) {
	c.denormals = true
	defer func() { c.denormals = false }()
	test := func(n int, data func() []float32) {
		for _, size := range []float32{1, 1e-30, 1e-42, 1e30, 1 << 20} {
			v := data()
			for i := range v {
				v[i] *= size
			}
			x, norm := c.arg("x", v), c.arg("norm", c.normals(1))
			kernel.Normalize(c.b, n, x.buf, norm.buf)
			want := bound(length(v))
			norm.want = []value{want}
			by := kernel.NormalizedBy(float32(want.v))
			x.want = each(n, func(i int) value {
				w := value{v: float64(v[i]) / by, tol: 0x1p-126}
				// Within its slack the norm may be on either side of a power of two.
				if edge := math.Log2(want.v); math.Abs(edge-math.Round(edge)) < 1e-5 {
					w.any = true
				}
				if math.IsNaN(want.v) || math.IsInf(want.v, 1) || want.any {
					w.any = true
				}
				return w
			})
			c.verify("Normalize(%d) of values about %g", n, size)
		}
	}
	c.vectors(test)
	test(5000, func() []float32 { return c.normals(5000) })
}

func checkHits(c *check) {
	c.denormals = true
	c.shapes(func(m, n int, data func(int) []float32) {
		if n == 0 {
			return
		}
		z, t, dst := c.arg("z", data(m*n)), c.arg("targets", make([]float32, m)), c.arg("dst", c.normals(m))
		for i := range t.data {
			t.data[i] = float32(c.rng.IntN(n))
		}
		c.b.Write(t.buf, t.data)
		kernel.Hits(c.b, false, m, n, z.buf, t.buf, dst.buf)
		dst.want = each(m, func(i int) value {
			best, row := 0, z.data[i*n:(i+1)*n]
			for j, v := range row {
				if v > row[best] {
					best = j
				}
			}
			return one(best == int(t.data[i]))
		})
		c.verify("Hits(%d, %d) of classes", m, n)

		z, t, dst = c.arg("z", data(m*n)), c.arg("targets", make([]float32, m*n)), c.arg("dst", c.normals(m))
		for i := range t.data {
			t.data[i] = one(z.data[i] > 0 != (c.rng.IntN(2*n) == 0)).float()
		}
		c.b.Write(t.buf, t.data)
		kernel.Hits(c.b, true, m, n, z.buf, t.buf, dst.buf)
		dst.want = each(m, func(i int) value {
			right := true
			for j := i * n; j < (i+1)*n; j++ {
				right = right && (z.data[j] > 0) == (t.data[j] > 0.5)
			}
			return one(right)
		})
		c.verify("Hits(%d, %d) of labels", m, n)
	})
}

func one(is bool) value {
	if is {
		return exactly(1)
	}
	return exactly(0)
}

func (w value) float() float32 { return float32(w.v) }

// hostileNorms lists the norms that a factor must be right for, and as bits all that a device might
// take for a number.
var hostileNorms = []float32{
	0, math.SmallestNonzeroFloat32, 1e-40, 0x1p-126, 1e-30, 1e-12, 0.01, 1, 1 + 0x1p-23, 2, 1e6, 1e12, 0x1p60, 1e30, math.MaxFloat32,
	float32(math.Inf(1)), float32(math.NaN()), float32(math.Inf(-1)), -1, float32(math.Copysign(0, -1)),
}

// checkWeigh: the law f·u ≤ C with tables that are right, stale and corrupt, over
// 24 decades of C, and f as good as the table where that is right.
func checkWeigh(c *check) {
	for e := -12; e <= 12; e++ {
		limit := kernel.Limit{C: float32(math.Pow(10, float64(e))), Gain: 1, Most: kernel.GreatestFactor}
		for name, table := range c.tables(limit.C) {
			for _, l := range []kernel.Limit{limit, {C: limit.C, Gain: 3, Most: 0.5}, {C: float32(math.NaN()), Gain: 1, Most: 1}, {C: -1, Gain: 1, Most: 1}} {
				c.weigh(l, table, c.norms(3*len(hostileNorms), float64(limit.C)), name)
			}
		}
	}
}

func (c *check) weigh(l kernel.Limit, table, norms []float32, name string) {
	n := len(norms)
	u, keep, t, f := c.arg("u", norms), c.arg("keep", make([]float32, n)), c.arg("table", table), c.arg("f", c.normals(n))
	for i := range keep.data {
		keep.data[i] = float32(c.rng.IntN(8))
	}
	c.b.Write(keep.buf, keep.data)
	kernel.Weigh(c.b, n, l, u.buf, keep.buf, t.buf, f.buf)
	f.want = each(n, func(i int) value { return factorOf(l, u.data[i], keep.data[i], table) })
	c.law(l, u.data, f)
	c.verify("Weigh(%d, %+v) with a table that is %s", n, l, name)
}

// norms are hostile ones, ones about c, and any.
func (c *check) norms(n int, about float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		switch i % 3 {
		case 0:
			v[i] = hostileNorms[i/3]
		case 1:
			v[i] = float32(about * math.Exp(c.rng.NormFloat64()))
		default:
			v[i] = math.Float32frombits(c.rng.Uint32())
		}
	}
	return v
}

// tables are of 1/factor: of a weight near min(1, c/u), of one for another
// threshold, and of anything.
func (c *check) tables(threshold float32) map[string][]float32 {
	right, stale, corrupt := make([]float32, kernel.TableSize), make([]float32, kernel.TableSize), make([]float32, kernel.TableSize)
	for i := range right {
		n := kernel.TableNorm(i)
		right[i] = float32(math.Hypot(1, n/float64(threshold)))
		stale[i] = float32(1e-9 * math.Hypot(1, n))
		corrupt[i] = math.Float32frombits(c.rng.Uint32())
	}
	return map[string][]float32{"right": right, "stale": stale, "corrupt": corrupt, "empty": make([]float32, kernel.TableSize)}
}

// law checks f·u ≤ C, in float64, which has all digits of the product.
func (c *check) law(l kernel.Limit, u []float32, f *arg) {
	got := get32(c, f)
	for i, v := range got {
		if !(l.C >= 0) {
			if v != 0 {
				c.errorf("Weigh: factor %g of a norm of %g, where C is %g", v, u[i], l.C)
			}
			continue
		}
		if x := float64(v) * float64(u[i]); !(x <= float64(l.C)) || !(v >= 0) || float64(v) > float64(l.Most) {
			if u[i] >= 0 && u[i] <= math.MaxFloat32 || v != 0 {
				c.errorf("Weigh: factor %g of a norm of %g (%x) lets %g through, C is %g", v, u[i], math.Float32bits(u[i]), x, l.C)
			}
		}
	}
}

// factorOf wants a factor: what the table says, within the digits that it has and
// 2⁻²¹, or less where the limits say so.
func factorOf(l kernel.Limit, u, keep float32, table []float32) value {
	bits := math.Float32bits(u)
	if keep == 0 || bits >= 0x7f800000 || !(l.C >= 0) {
		return exactly(0)
	}
	j, x := bits>>16, float64(bits&0xffff)/0x10000
	low, high := float64(table[j]), float64(table[j+1])
	t := low + x*(high-low)
	f := min(float64(l.Gain)/t, float64(l.Most))
	if !(f > 0) {
		return exactly(0)
	}
	if norm := float64(u); f*norm > float64(l.C) {
		f = float64(l.C) / norm
	}
	tol := 0x1p-21 * f
	if size := math.Abs(low) + math.Abs(high); size > 1e4*math.Abs(t) || math.IsNaN(size) { // it cancels
		return value{any: true}
	}
	if f <= kernel.LeastFactor*(1+1e-6) {
		return value{v: 0, tol: kernel.LeastFactor * (1 + 1e-5)}
	}
	return value{v: f - tol/2, tol: tol/2 + 0x1p-24*f}
}
