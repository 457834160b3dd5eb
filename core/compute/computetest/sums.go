package computetest

import (
	"context"
	"errors"
	"math"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
)

// wideArg is [arg] for sums.
type wideArg struct {
	sums compute.Sums
	data []float32
}

// sums makes sums that hold data, and the padding.
func (c *check) sums(data []float32) *wideArg {
	a := &wideArg{c.b.NewSums(len(data) + pad), data}
	all := append(append([]float32(nil), data...), make([]float32, pad)...)
	x := c.b.New(len(all))
	c.b.Write(x, all)
	kernel.AddScaled(c.b, len(all), 1, x, a.sums)
	c.b.Free(x)
	return a
}

// verifySums compares sums with what is wanted of them, and frees them.
func (c *check) verifySums(a *wideArg, want []value, format string, args ...any) {
	n := len(a.data) + pad
	both := c.b.New(2 * n)
	kernel.Split(c.b, n, a.sums, both.Slice(0, n), both.Slice(n, n))
	coming := c.b.Fetch(both)
	c.b.Free(both)
	c.b.FreeSums(a.sums)
	c.later(func() {
		parts := make([]float32, 2*n)
		if err := coming.Wait(context.Background(), parts); err != nil {
			c.errorf("reading sums: %v", err)
		}
		for i := range n {
			g, w := float64(parts[i])+float64(parts[n+i]), value{exact: true}
			if i < len(want) {
				w = want[i]
				w.any = w.any || math.Abs(w.v) > math.MaxFloat32*(1-1e-6) // sums are read in float32
			}
			if !w.accepts64(g) {
				c.errorf(format+": dst[%d] of %d = %v, want %v", append(args, i, len(want), g, w)...)
				break
			}
		}
	})
	c.verify(format, args...)
}

// inPieces is start and the terms of m rows, added up as the contract says: in
// float32 within a piece and a few times more within a block, in many more digits
// between those.
func inPieces(m int, start float32, term func(i int) float64) value {
	out := value{v: float64(start), tol: 0x1p-45 * math.Abs(float64(start))}
	for lo := 0; lo < m; lo += compute.PieceRows {
		var s sum
		for i := lo; i < min(m, lo+compute.PieceRows); i++ {
			s.addTerms(term(i))
		}
		w := s.value(1)
		out.v += w.v
		out.tol += w.tol + compute.BlockPieces*0x1p-24*s.abs
		out.any = out.any || w.any
	}
	return out
}

func checkSums(c *check) {
	for _, n := range []int{0, 1, 3, 64, 1000} {
		s := c.sums(c.normals(n))
		if s.sums.Len() != n+pad {
			c.errorf("NewSums(%d).Len() = %d", n+pad, s.sums.Len())
		}
		kernel.Clear(c.b, s.sums)
		c.verifySums(s, make([]value, n), "Clear")
	}
	c.adjoining(9, 0, 300, 1, 3)
	s := c.b.NewSums(4)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := kernel.ReadSums(ctx, c.b, make([]float64, 4), s); !errors.Is(err, context.Canceled) {
		c.errorf("ReadSums with a cancelled context: error %v, want %v", err, context.Canceled)
	}
}

// adjoining checks sums of so many numbers each, which may share memory: what is added to some of them, or clears them, is
// about these alone, and what is about all is about each.
func (c *check) adjoining(lengths ...int) {
	scope := compute.NewScope(c.b)
	defer scope.Close()
	all, each := scope.NewSumsOf(lengths...)
	one := c.b.New(1)
	defer c.b.Free(one)
	kernel.Fill(c.b, 1, 1, one)
	want := make([][]float64, len(each))
	add := func(i int) {
		x := c.normals(lengths[i])
		d := c.b.New(len(x))
		c.b.Write(d, x)
		kernel.AddOuter(c.b, 1, 1, len(x), kernel.Plain(), one, d, each[i])
		c.b.Free(d)
		for j, v := range x {
			want[i][j] += float64(v)
		}
	}
	look := func(when string) {
		for i, s := range each {
			got := make([]float64, lengths[i])
			if err := kernel.ReadSums(context.Background(), c.b, got, s); err != nil || s.Len() != lengths[i] {
				c.errorf("sums side by side, %d of %d: error %v", s.Len(), lengths[i], err)
			}
			for j, v := range got {
				if v != want[i][j] {
					c.errorf("sums side by side, %s: %d of %d is %v, want %v", when, j, i, v, want[i][j])
				}
			}
		}
	}
	for i, n := range lengths {
		want[i] = make([]float64, n)
	}
	look("new")
	for i := range each {
		add(i)
	}
	add(2)
	look("added to")
	kernel.Clear(c.b, each[2])
	clear(want[2])
	look("of which some were cleared")
	if all.Memory == nil {
		return
	}
	settled := c.b.New(all.Len())
	defer c.b.Free(settled)
	kernel.Settle(c.b, all.Len(), all, settled)
	got := make([]float32, all.Len())
	if err := compute.Read(context.Background(), c.b, got, settled); err != nil {
		c.errorf("sums side by side: error %v", err)
	}
	for i, v := range slices.Concat(want...) {
		if got[i] != float32(v) {
			c.errorf("sums side by side: %d of all is %v, want %v", i, got[i], v)
		}
	}
	kernel.Clear(c.b, all)
	for _, w := range want {
		clear(w)
	}
	look("cleared at once")
}

// outers calls f for each shape of a sum of outer products, within a piece and
// beyond, with makers of both operands.
func (c *check) outers(g func(m, n, k int, h, d func(int) []float32)) {
	f := func(m, n, k int, data func(int) []float32) { g(m, n, k, data, data) }
	for d := range 68 {
		for _, s := range [][3]int{{d, 5, 13}, {7, d, 11}, {9, 13, d}, {3, d, 1}, {4, 1, d}} {
			f(s[0], s[1], s[2], c.normals)
		}
		if d < 20 {
			f(d, d, d, c.normals)
		}
		if c.full() {
			return
		}
	}
	for _, s := range [][3]int{{67, 66, 65}, {130, 10, 300}, {200, 300, 10}, {3, 530, 41}, {3, 41, 530}, {300, 1, 10}, {300, 10, 18}, {70, 1, 1030}, {129, 10, 1}, {64, 6, 8}, {65, 6, 8}} {
		f(s[0], s[1], s[2], c.normals)
		for _, every := range []int{40, 400} {
			f(s[0], s[1], s[2], func(n int) []float32 { return c.edgy(n, every) })
		}
	}
	for _, s := range [][3]int{{130, 72, 9}, {130, 72, 40}, {256, 75, 34}, {64, 200, 33}} {
		f(s[0], s[1], s[2], func(n int) []float32 { return c.pictured(n, 400) })
	}
	grown := func(n int) []float32 { // all sums grow: float32 would lose them
		v := c.normals(n)
		for i := range v {
			v[i] = 1 + 1e-4*v[i]
		}
		return v
	}
	f(5000, 3, 9, grown)
	f(5000, 1, 19, grown)
	for _, s := range [][3]int{{16, 32, 32}, {65, 33, 35}, {130, 70, 48}, {300, 40, 130}} {
		for kind := range 3 {
			g(s[0], s[1], s[2], func(n int) []float32 { return c.sparse(n, kind) }, c.normals)
		}
		g(s[0], s[1], s[2], func(n int) []float32 { return c.sparse(n, 0) }, func(n int) []float32 { return c.edgy(n, 400) })
	}
}

func checkAddOuter(c *check) {
	c.outers(func(m, n, k int, x, y func(int) []float32) {
		start := y(n * k)
		if (m+n+k)%3 == 0 { // sums that are empty may be held in another way
			clear(start)
		}
		h, d, dst := c.arg("h", x(m*n)), c.arg("d", y(m*k)), c.sums(start)
		if (m+n+k)%3 == 0 {
			kernel.Clear(c.b, dst.sums)
		}
		kernel.AddOuter(c.b, m, n, k, kernel.Plain(), h.buf, d.buf, dst.sums)
		c.verifySums(dst, each(n*k, func(p int) value {
			return inPieces(m, dst.data[p], func(i int) float64 { return float64(h.data[i*n+p/k]) * float64(d.data[i*k+p%k]) })
		}), "AddOuter(%d, %d, %d)", m, n, k)
	})
	c.ownBlocks()
}

// ownBlocks: the rows of one block leave the sums of the others as they are, to
// the bit, which is what lets one example move the sum by its own block's
// rounding alone.
func (c *check) ownBlocks() {
	for _, m := range []int{257, 512, 700} {
		c.ownBlocksOf(m, 13, 21)
		c.ownBlocksOf(m, 1, 1030)
	}
}

func (c *check) ownBlocksOf(m, n, k int) {
	h, d := c.normals(m*n), c.normals(m*k)
	all, apart := c.b.NewSums(n*k), c.b.NewSums(n*k)
	add := func(lo, hi int, dst compute.Sums) {
		x, y := c.b.New((hi-lo)*n), c.b.New((hi-lo)*k)
		c.b.Write(x, h[lo*n:hi*n])
		c.b.Write(y, d[lo*k:hi*k])
		kernel.AddOuter(c.b, hi-lo, n, k, kernel.Plain(), x, y, dst)
	}
	add(0, m, all)
	for lo := 0; lo < m; lo += compute.BlockRows {
		add(lo, min(m, lo+compute.BlockRows), apart)
	}
	got, want := make([]float64, n*k), make([]float64, n*k)
	if err := errors.Join(kernel.ReadSums(context.Background(), c.b, got, all), kernel.ReadSums(context.Background(), c.b, want, apart)); err != nil {
		c.errorf("ReadSums: %v", err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0x1p-45*float64(m) {
			c.errorf("AddOuter of %d rows gives dst[%d] = %v, its blocks one by one %v", m, i, got[i], want[i])
			break
		}
	}
}

func checkAddClampedOuter(c *check) {
	c.outers(func(m, n, k int, x, y func(int) []float32) {
		bound := []float32{0, 0.3, 2, float32(math.Inf(1))}[c.rng.IntN(4)]
		h, d, dst := c.arg("h", x(m*n)), c.arg("d", y(m*k)), c.sums(y(n*k))
		kernel.AddOuter(c.b, m, n, k, kernel.Clamped(bound), h.buf, d.buf, dst.sums)
		c.verifySums(dst, each(n*k, func(p int) value {
			return inPieces(m, dst.data[p], func(i int) float64 {
				x := float64(h.data[i*n+p/k]) * float64(d.data[i*k+p%k])
				return min(max(x, -float64(bound)), float64(bound))
			})
		}), "AddClampedOuter(%d, %d, %d, %v)", m, n, k, bound)
	})
}

func checkAddRoundedOuter(c *check) {
	c.outers(func(m, n, k int, x, _ func(int) []float32) {
		h, d := c.arg("h", finite(x(m*n))), c.arg("d", c.normals(m*k))
		for i := range d.data {
			d.data[i] = float32(math.Ldexp(float64(d.data[i]), c.rng.IntN(14)))
			if i%2 == 0 {
				d.data[i] = float32(math.Round(float64(d.data[i])))
			}
		}
		for i := range h.data { // some products are ties
			if i%3 == 0 && h.data[i] != 0 {
				h.data[i] = 0.5
			}
		}
		if m > 0 && n > 0 && k%4 == 1 { // a product beyond 2²²
			clear(d.data[:k])
			h.data[0], d.data[0] = 1<<20, 8
		}
		start := make([]float32, n*k)
		for i := range start {
			start[i] = float32(c.rng.IntN(2e6) - 1e6)
		}
		dst := c.sums(start)
		c.b.Write(h.buf, h.data)
		c.b.Write(d.buf, d.data)
		kernel.AddOuter(c.b, m, n, k, kernel.Rounded(), h.buf, d.buf, dst.sums)
		c.verifySums(dst, each(n*k, func(p int) value {
			s := value{v: float64(start[p])}
			for i := range m {
				x, y := h.data[i*n+p/k], d.data[i*k+p%k]
				whole := math.RoundToEven(float64(x * y))
				s.v += whole
				s.tol += math.Abs(whole - math.RoundToEven(float64(x)*float64(y)))
			}
			return s
		}), "AddRoundedOuter(%d, %d, %d)", m, n, k)
	})
}

func checkAddScaled(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		a := c.rng.NormFloat64() * 1e5
		x, dst := c.arg("x", data()), c.sums(data())
		kernel.AddScaled(c.b, n, a, x.buf, dst.sums)
		c.verifySums(dst, each(n, func(i int) value {
			s, t := float64(dst.data[i]), a*float64(x.data[i])
			return value{v: s + t, tol: 0x1p-45*(math.Abs(s)+math.Abs(t)) + 0x1p-149}
		}), "AddScaled(%d, %v)", n, a)
	})
}

func checkSettle(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		src, dst := c.sums(data()), c.arg("dst", data())
		kernel.Settle(c.b, n, src.sums, dst.buf)
		dst.want = each(n, func(i int) value {
			var s sum
			s.add32(src.data[i], dst.data[i])
			w := s.value(-1) // one rounding
			w.tol = 0x1p-23*math.Abs(s.s) + 0x1p-126
			return w
		})
		c.verifySums(src, each(n, func(i int) value { return exactly(src.data[i]) }), "Settle(%d)", n)
	})
	// Sums of one block may be held in another way, and are more than once what they are.
	for _, s := range [][3]int{{130, 72, 40}, {70, 64, 32}, {40, 33, 80}, {128, 10, 12}} {
		for _, every := range []int{0, 400} {
			c.settleBlock(s[0], s[1], s[2], func(n int) []float32 {
				if every == 0 {
					return c.normals(n)
				}
				return c.edgy(n, every)
			})
		}
	}
	// What float32 could not hold on the way is not lost.
	s, dst := c.sums([]float32{1 << 30}), c.arg("dst", []float32{0.25})
	minus := c.arg("x", []float32{-(1 << 30) / 2})
	kernel.AddScaled(c.b, 1, 2, minus.buf, s.sums)
	kernel.AddScaled(c.b, 1, 0x1p-31, minus.buf, s.sums) // −0.25
	kernel.Settle(c.b, 1, s.sums, dst.buf)
	dst.want = []value{exactly(0)}
	c.verifySums(s, []value{{v: -0.25, exact: true}}, "Settle of a sum that cancels")
}

// settleBlock settles the sums of one block, and then those of two.
func (c *check) settleBlock(m, n, k int, data func(n int) []float32) {
	h, d, dst := c.arg("h", data(m*n)), c.arg("d", data(m*k)), c.sums(make([]float32, n*k))
	noise := [2]*arg{c.arg("noise", c.normals(n*k)), c.arg("more noise", c.normals(n*k))}
	kernel.Clear(c.b, dst.sums)
	var want []value
	for i, z := range noise {
		kernel.AddOuter(c.b, m, n, k, kernel.Plain(), h.buf, d.buf, dst.sums)
		kernel.Settle(c.b, n*k, dst.sums, z.buf)
		want = each(n*k, func(p int) value {
			w := inPieces(m, 0, func(i int) float64 { return float64(h.data[i*n+p/k]) * float64(d.data[i*k+p%k]) })
			w.v, w.tol = w.v*float64(i+1), w.tol*float64(i+1)
			return w
		})
		z.want = each(n*k, func(p int) value {
			w := want[p]
			w.v += float64(z.data[p])
			w.tol += 0x1p-23 * math.Abs(w.v)
			return w
		})
	}
	c.verifySums(dst, want, "Settle of the sums of %d rows, %d×%d", m, n, k)
}

func checkSplit(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		src, high, low := c.sums(data()), c.arg("high", data()), c.arg("low", data())
		fine := data()
		x := c.b.New(n)
		c.b.Write(x, fine)
		kernel.AddScaled(c.b, n, 0x1p-30, x, src.sums)
		c.b.Free(x)
		kernel.Split(c.b, n, src.sums, high.buf, low.buf)
		high.want, low.want = make([]value, n), make([]value, n)
		sum := make([]value, n)
		for i := range n {
			s := float64(src.data[i]) + 0x1p-30*float64(fine[i])
			h := float32(s)
			high.want[i], low.want[i] = exactly(h), exactly(float32(s-float64(h)))
			if h-h != 0 {
				low.want[i] = exactly(0)
			}
			sum[i] = value{v: s, tol: 0x1p-48*math.Abs(s) + 0x1p-149}
		}
		c.verifySums(src, sum, "Split(%d)", n)
	})
}
