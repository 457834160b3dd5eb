package computetest

import (
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
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
	for n := 3; n < 32; n++ { // few columns, of which implementations may make tiles of their own
		c.gemm(17+n%2, n, 16+n%5, c.normals)
	}
	c.gemm(19, 10, 1700, c.normals)
	for _, every := range []int{3, 40, 400} {
		c.gemm(13, 21, 18, func(n int) []float32 { return c.edgy(n, every) })
		c.gemm(8, 16, 4, func(n int) []float32 { return c.edgy(n, every) })
		c.gemm(17, 10, 23, func(n int) []float32 { return c.edgy(n, every) })
	}
	for _, s := range [][3]int{{16, 32, 32}, {17, 33, 64}, {40, 47, 700}, {128, 130, 100}} {
		for kind := range 3 {
			c.gemmOf(s[0], s[1], s[2], func(n int) []float32 { return c.sparse(n, kind) }, c.normals)
		}
		c.gemmOf(s[0], s[1], s[2], func(n int) []float32 { return c.sparse(n, 0) }, func(n int) []float32 { return c.edgy(n, 400) })
	}
	for _, s := range [][3]int{{40, 36, 300}, {65, 33, 257}, {32, 70, 784}} {
		c.gemm(s[0], s[1], s[2], func(n int) []float32 { return c.pictured(n, 1000) })
	}
	for n := range 41 {
		c.gram(n, 7)
	}
	c.gram(13, 700)
	c.gram(530, 3)
}

// gram checks a matrix times its own transpose, both of one buffer.
func (c *check) gram(n, k int) {
	for _, t := range []kernel.Trans{kernel.NoTrans, kernel.Transpose} {
		a, dst := c.arg("a", c.normals(n*k)), c.arg("c", c.edgy(n*n, 3))
		kernel.Gemm(c.b, t, !t, n, n, k, a.buf, a.buf, 0, dst.buf)
		dst.want = each(n*n, func(p int) value {
			var s sum
			for l := range k {
				s.addTerms(float64(a.data[at(t, p/n, l, n, k)]) * float64(a.data[at(t, p%n, l, n, k)]))
			}
			return s.value(1)
		})
		c.verify("Gemm(%t, %t, %d, %d, %d) of a matrix with itself", t, !t, n, n, k)
	}
}

// gemm checks one shape with all transposes and kinds of beta.
func (c *check) gemm(m, n, k int, data func(n int) []float32) { c.gemmOf(m, n, k, data, data) }

func (c *check) gemmOf(m, n, k int, left, data func(n int) []float32) {
	betas := []float32{0, 1, -0.75}
	for i, t := range [][2]kernel.Trans{{false, false}, {false, true}, {true, false}, {true, true}} {
		beta := betas[(i+m+n+k)%len(betas)]
		a, b, dst := c.arg("a", left(m*k)), c.arg("b", data(k*n)), c.arg("c", data(m*n))
		if beta == 0 && m*n > 0 {
			nan := append([]float32(nil), dst.data...)
			nan[c.rng.IntN(m*n)] = float32(math.NaN())
			c.b.Write(dst.buf, nan)
		}
		kernel.Gemm(c.b, t[0], t[1], m, n, k, a.buf, b.buf, beta, dst.buf)
		dst.want = each(m*n, func(p int) value {
			i, j := p/n, p%n
			var s sum
			for l := range k {
				x, y := a.data[at(t[0], i, l, m, k)], b.data[at(t[1], l, j, k, n)]
				s.addTerms(float64(x) * float64(y))
			}
			if beta != 0 {
				s.addTerms(float64(beta) * float64(dst.data[p]))
			}
			return s.value(1)
		})
		c.verify("Gemm(%t, %t, %d, %d, %d, beta %v)", t[0], t[1], m, n, k, beta)
	}
}

// at returns the index of element (i, j) of an [m×n] operand.
func at(t kernel.Trans, i, j, m, n int) int {
	if t == kernel.Transpose {
		return j*m + i
	}
	return i*n + j
}

func checkAddRow(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		b, y := c.arg("b", data(n)), c.arg("y", data(m*n))
		kernel.AddRow(c.b, m, n, b.buf, y.buf)
		y.want = each(m*n, func(i int) value {
			var s sum
			s.add32(y.data[i], b.data[i%n])
			return s.value(0)
		})
		c.verify("AddRow(%d, %d)", m, n)
	})
}

func checkRowNorms(c *check) {
	c.rowNorms("RowNorms", kernel.RowNorms, func(row []float32, _ float32) float64 { return length(row) })
}

// checkJoinRowNorms has norms of all magnitudes to which those of rows are joined.
func checkJoinRowNorms(c *check) {
	c.rowNorms("JoinRowNorms", kernel.JoinRowNorms, joinedLength)
	for _, n := range []int{0, 1, 32, 33, 4096, 4097, 20000} {
		for _, size := range []float64{0, 1e-40, 1e-22, 1, 1e18, 1e35} {
			x, dst := c.arg("x", c.normals(len(joined)*n)), c.arg("dst", joined)
			for i := range x.data {
				x.data[i] = float32(size * float64(x.data[i]))
			}
			c.b.Write(x.buf, x.data)
			c.checkNorms(kernel.JoinRowNorms, joinedLength, n, x, dst)
			c.verify("JoinRowNorms(%d, %d) of values about %g", len(joined), n, size)
		}
	}
}

// joined holds norms to which others are joined.
var joined = []float32{
	0, 0x1p-149, 1e-40, 0x1p-126, 1e-22, 1, 3, 1e10, 1e18, 1e22, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()),
}

type (
	// normsCall is a call of a kernel that writes or joins norms of rows.
	normsCall func(q compute.Queue, m, n int, x, dst compute.Buffer)
	// normLaw returns the norm that is wanted of a row, where dst held was.
	normLaw func(row []float32, was float32) float64
)

func joinedLength(row []float32, was float32) float64 {
	return math.Hypot(length(row), float64(was))
}

// rowNorms checks a kernel over rows of all lengths and of values of all magnitudes.
func (c *check) rowNorms(name string, call normsCall, want normLaw) {
	c.denormals = true
	defer func() { c.denormals = false }()
	c.shapes(func(m, n int, data func(int) []float32) {
		x, dst := c.arg("x", data(m*n)), c.arg("dst", data(m))
		c.checkNorms(call, want, n, x, dst)
		c.verify("%s(%d, %d)", name, m, n)
	})
	for _, n := range []int{1, 3, 16, 100, 1021} { // where float32 holds no square
		for _, size := range []float64{1e-45, 1e-40, 1e-30, 1e-22, 1e-19, 1e-10, 1e10, 1e18, 1e22, 1e35} {
			for _, m := range []int{2, 70} {
				x, dst := c.arg("x", c.normals(m*n)), c.arg("dst", c.normals(m))
				for i := range x.data {
					x.data[i] = float32(size * float64(x.data[i]))
				}
				c.b.Write(x.buf, x.data)
				c.checkNorms(call, want, n, x, dst)
				c.verify("%s(%d, %d) of values about %g", name, m, n, size)
			}
		}
	}
	for _, n := range []int{1, 32, 33, 4096, 4097, 20000, 1 << 16, 1<<16 + 1, 99_999} { // rows that several processors may share
		for _, last := range []float32{0, 1e30, 1e-40, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			for _, m := range []int{5, 66} {
				if m*n > 500_000 {
					continue
				}
				x, dst := c.arg("x", c.normals(m*n)), c.arg("dst", c.normals(m))
				x.data[3*n-1] = last
				c.b.Write(x.buf, x.data)
				c.checkNorms(call, want, n, x, dst)
				c.verify("%s(%d, %d), one of which ends with %g", name, m, n, last)
			}
		}
	}
	for _, n := range []int{4097, 20000} {
		for _, largest := range []float32{1, 0x1p-60, 0x1p-130, 0x1p100} {
			for _, less := range []int{1, 6, 12, 24, 27, 30, 60, 100} {
				c.steepNorms(name, call, want, n, largest, less)
			}
		}
	}
}

// steepNorms checks rows in which one value, or one and its neighbour, stands among zeros, and values
// far away are about 2^less times smaller. Each of those adds something to the norm.
func (c *check) steepNorms(name string, call normsCall, want normLaw, n int, largest float32, less int) {
	places := []int{0, 1000, n / 2, n - 1, 0, n / 2}
	away := min(4096, n/2+1) // no processor has two values so far apart
	x, dst := c.arg("x", c.normals(len(places)*n)), c.arg("dst", make([]float32, len(places)))
	for i, place := range places {
		row := x.data[i*n : (i+1)*n]
		for j, v := range row {
			if i >= 4 { // 64 powers of two, of which few digits are lost
				v = 0
				if far := (place + n/2) % n; far <= j && j < far+64 {
					v = 1
				}
			}
			row[j] = float32(math.Ldexp(float64(v*largest), -less))
			if -away < j-place && j-place < away {
				row[j] = 0
			}
		}
		row[place] = largest
		if i%2 == 1 && i < 4 {
			row[place-1] = -largest / 2
		}
	}
	c.b.Write(x.buf, x.data)
	c.checkNorms(call, func(row []float32, was float32) float64 {
		norm := want(row, was)
		for _, v := range row {
			if v != 0 && math.Abs(float64(v)) < float64(largest)/2 {
				return norm * (1 + 1e-12) // a square that float64 rounds away counts as well
			}
		}
		return norm
	}, n, x, dst)
	c.verify("%s(%d, %d) of values 2^%d times below the largest, %g", name, len(places), n, less, largest)
}

// checkNorms calls a kernel on the rows of x, of n values each, and dst.
func (c *check) checkNorms(call normsCall, want normLaw, n int, x, dst *arg) {
	call(c.b, len(dst.data), n, x.buf, dst.buf)
	dst.want = each(len(dst.data), func(i int) value { return bound(want(x.data[i*n:(i+1)*n], dst.data[i])) })
}

func length(x []float32) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

// bound wants an upper bound on a norm; one that is exact must not fail by the
// rounding of these float64.
func bound(norm float64) value {
	slack := norm*1e-6 + 0x1p-149
	return value{v: norm + slack/2, tol: slack / 2 * (1 + 1e-8), bound: true, any: norm > math.MaxFloat32*(1-1e-6) && !math.IsInf(norm, 1)}
}

func checkJoinNorms(c *check) {
	c.denormals = true
	defer func() { c.denormals = false }()
	c.vectors(func(n int, data func() []float32) {
		h, d, dst := c.arg("h", data()), c.arg("d", data()), c.arg("dst", data())
		for i := range n {
			for _, v := range [][]float32{h.data, d.data, dst.data} { // lengths
				v[i] = float32(math.Abs(float64(v[i])))
			}
		}
		for _, a := range []*arg{h, d, dst} {
			c.b.Write(a.buf, a.data)
		}
		kernel.JoinNorms(c.b, n, h.buf, d.buf, dst.buf)
		dst.want = each(n, func(i int) value {
			x, y, z := float64(h.data[i]), float64(d.data[i]), float64(dst.data[i])
			if !(x <= compute.MaxInput) {
				return value{bound: true, any: true, refuse: true}
			}
			return bound(math.Sqrt(z*z + y*y*(x*x+1)))
		})
		c.verify("JoinNorms(%d)", n)
	})
}

func checkScaleRows(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		for _, inPlace := range []bool{false, true} {
			c.denormals = true // a factor that is not 0 does not count as 0
			f := c.arg("f", data(m))
			c.denormals = false
			x := c.arg("x", data(m*n))
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
			kernel.ScaleRows(c.b, m, n, f.buf, x.buf, dst.buf)
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

func checkDropRows(c *check) {
	c.denormals = true
	c.shapes(func(m, n int, data func(int) []float32) {
		f, x := c.arg("f", data(m)), c.arg("x", data(m*n))
		for i := range m {
			if i%3 == 0 {
				f.data[i] = 0
			}
		}
		c.b.Write(f.buf, f.data)
		kernel.DropRows(c.b, m, n, f.buf, x.buf)
		x.want = each(m*n, func(i int) value {
			if f.data[i/n] == 0 {
				return exactly(0)
			}
			return exactly(x.data[i])
		})
		c.verify("DropRows(%d, %d)", m, n)
	})
}
