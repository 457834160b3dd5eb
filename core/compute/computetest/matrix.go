package computetest

import (
	"math"

	"clipscope/core/compute"
)

func checkGemm(c *check) {
	c.gemm(1, 1, 1500, c.normals)
	for d := range 68 {
		c.gemm(d, 17, 9, c.normals)
		c.gemm(5, d, 13, c.normals)
		c.gemm(7, 19, d, c.normals)
		if d < 20 {
			c.gemm(d, d, d, c.normals)
		}
		if c.full() {
			return
		}
	}
	// Past the block sizes that implementations may have.
	c.gemm(67, 66, 65, c.normals)
	c.gemm(130, 10, 300, c.normals)
	c.gemm(3, 530, 41, c.normals)
	c.gemm(530, 3, 41, c.normals)
	for _, every := range []int{3, 40, 400} {
		c.gemm(13, 21, 18, func(n int) []float32 { return c.edgy(n, every) })
		c.gemm(8, 16, 4, func(n int) []float32 { return c.edgy(n, every) })
	}
	for n := range 41 {
		c.gram(n, 7)
	}
	c.gram(13, 700)
	c.gram(530, 3)
}

// gram checks a matrix times its own transpose, both of one buffer.
func (c *check) gram(n, k int) {
	for _, t := range []compute.Trans{compute.NoTrans, compute.Transpose} {
		a, dst := c.arg("a", c.normals(n*k)), c.arg("c", c.edgy(n*n, 3))
		c.b.Gemm(t, !t, n, n, k, a.buf, a.buf, 0, dst.buf)
		dst.want = each(n*n, func(p int) value {
			var s sum
			for l := range k {
				s.add(float64(a.data[at(t, p/n, l, n, k)]) * float64(a.data[at(t, p%n, l, n, k)]))
			}
			return s.value(1)
		})
		c.verify("Gemm(%t, %t, %d, %d, %d) of a matrix with itself", t, !t, n, n, k)
	}
}

// gemm checks one shape with all transposes and kinds of beta.
func (c *check) gemm(m, n, k int, data func(n int) []float32) {
	betas := []float32{0, 1, -0.75}
	for i, t := range [][2]compute.Trans{{false, false}, {false, true}, {true, false}, {true, true}} {
		beta := betas[(i+m+n+k)%len(betas)]
		a, b, dst := c.arg("a", data(m*k)), c.arg("b", data(k*n)), c.arg("c", data(m*n))
		if beta == 0 && m*n > 0 {
			nan := append([]float32(nil), dst.data...)
			nan[c.rng.IntN(m*n)] = float32(math.NaN())
			c.b.Write(dst.buf, nan)
		}
		c.b.Gemm(t[0], t[1], m, n, k, a.buf, b.buf, beta, dst.buf)
		dst.want = each(m*n, func(p int) value {
			i, j := p/n, p%n
			var s sum
			for l := range k {
				x, y := a.data[at(t[0], i, l, m, k)], b.data[at(t[1], l, j, k, n)]
				s.add(float64(x) * float64(y))
			}
			if beta != 0 {
				s.add(float64(beta) * float64(dst.data[p]))
			}
			return s.value(1)
		})
		c.verify("Gemm(%t, %t, %d, %d, %d, beta %v)", t[0], t[1], m, n, k, beta)
	}
}

// at is where element (i, j) of an [m×n] operand is stored.
func at(t compute.Trans, i, j, m, n int) int {
	if t == compute.Transpose {
		return j*m + i
	}
	return i*n + j
}

func checkClampedOuter(c *check) {
	c.shapes(func(n, k int, data func(int) []float32) {
		const m = 5
		bound := []float32{0, 0.3, 2, float32(math.Inf(1))}[c.rng.IntN(4)]
		h, d, dst := c.arg("h", data(m*n)), c.arg("d", data(m*k)), c.arg("dst", data(n*k))
		c.b.ClampedOuter(m, n, k, bound, h.buf, d.buf, dst.buf)
		dst.want = each(n*k, func(p int) value {
			var s sum
			for i := range m {
				x := float64(h.data[i*n+p/k]) * float64(d.data[i*k+p%k])
				s.add(min(max(x, -float64(bound)), float64(bound)))
			}
			s.add32(dst.data[p])
			return s.value(1)
		})
		c.verify("ClampedOuter(%d, %d, %d, %v)", m, n, k, bound)
	})
}

func checkRoundedOuter(c *check) {
	c.shapes(func(n, k int, _ func(int) []float32) {
		const m = 5
		h, d, dst := c.arg("h", c.normals(m*n)), c.arg("d", c.normals(m*k)), c.arg("dst", c.normals(n*k))
		for i := range d.data {
			d.data[i] = float32(math.Ldexp(float64(d.data[i]), c.rng.IntN(14)))
		}
		for i := range h.data { // some products are ties
			if i%3 == 0 {
				h.data[i] = 0.5
			}
		}
		for i := range d.data {
			if i%2 == 0 {
				d.data[i] = float32(math.Round(float64(d.data[i])))
			}
		}
		for i := range dst.data {
			dst.data[i] = float32(c.rng.IntN(2e6) - 1e6)
		}
		c.b.Write(h.buf, h.data)
		c.b.Write(d.buf, d.data)
		c.b.Write(dst.buf, dst.data)
		c.b.RoundedOuter(m, n, k, h.buf, d.buf, dst.buf)
		dst.want = each(n*k, func(p int) value {
			s := float64(dst.data[p])
			for i := range m {
				s += math.RoundToEven(float64(h.data[i*n+p/k] * d.data[i*k+p%k]))
			}
			return exactly(float32(s))
		})
		c.verify("RoundedOuter(%d, %d, %d)", m, n, k)
	})
}

func checkAddRow(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		b, y := c.arg("b", data(n)), c.arg("y", data(m*n))
		c.b.AddRow(m, n, b.buf, y.buf)
		y.want = each(m*n, func(i int) value {
			var s sum
			s.add32(y.data[i], b.data[i%n])
			return s.value(0)
		})
		c.verify("AddRow(%d, %d)", m, n)
	})
}

func checkColSums(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		x, dst := c.arg("x", data(m*n)), c.arg("dst", data(n))
		c.b.ColSums(m, n, x.buf, dst.buf)
		dst.want = each(n, func(j int) value {
			var s sum
			for i := range m {
				s.add32(x.data[i*n+j])
			}
			s.add32(dst.data[j])
			return s.value(0)
		})
		c.verify("ColSums(%d, %d)", m, n)
	})
}

func checkRowSqNorms(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		x, dst := c.arg("x", data(m*n)), c.arg("dst", data(m))
		c.b.RowSqNorms(m, n, x.buf, dst.buf)
		dst.want = each(m, func(i int) value {
			var s sum
			for _, v := range x.data[i*n : (i+1)*n] {
				s.add(float64(v) * float64(v))
			}
			w := s.value(1)
			w.tol = min(w.tol, 1e-6*s.abs+float64(n)*0x1p-126)
			return w
		})
		c.verify("RowSqNorms(%d, %d)", m, n)
	})
}

func checkScaleRows(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		for _, inPlace := range []bool{false, true} {
			f, x := c.arg("f", data(m)), c.arg("x", data(m*n))
			if m > 0 {
				f.data[c.rng.IntN(m)] = 0
				c.b.Write(f.buf, f.data)
			}
			if n > 0 && m > 0 { // a rejected row that holds NaN
				i := c.rng.IntN(m)
				f.data[i], x.data[i*n+c.rng.IntN(n)] = 0, float32(math.NaN())
				c.b.Write(f.buf, f.data)
				c.b.Write(x.buf, x.data)
			}
			dst := x
			if !inPlace {
				dst = c.arg("dst", data(m*n))
			}
			c.b.ScaleRows(m, n, f.buf, x.buf, dst.buf)
			dst.want = each(m*n, func(i int) value {
				if f.data[i/n] == 0 {
					return exactly(0)
				}
				return product(f.data[i/n], x.data[i])
			})
			c.verify("ScaleRows(%d, %d) in place: %t", m, n, inPlace)
		}
	})
}
