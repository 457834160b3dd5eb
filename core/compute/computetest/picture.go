package computetest

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/picture"
	"clipscope/core/compute/kernel/sequence"
)

func init() {
	parts = append(parts,
		suitePart{"Conv", "conv", checkConv}, suitePart{"ConvGrad", "convGrad", checkConvGrad}, suitePart{"ConvWeights", "convWeights", checkConvWeights},
		suitePart{"Pool", "pool", checkPool}, suitePart{"PoolGrad", "poolGrad", checkPoolGrad},
		suitePart{"GroupNorm", "groupNorm", checkGroupNorm}, suitePart{"GroupNormGrad", "groupNormGrad", checkGroupNormGrad}, suitePart{"GroupNormParams", "groupNormParams", checkGroupNormParams},
		suitePart{"Alone", "convWeights", checkAlone},
	)
}

// windows are of every kind: padded and not, overlapping, touching and apart, one
// position, the whole picture, higher than wide, one that fits nowhere.
var windows = []picture.Window{
	{Height: 5, Width: 6, Channels: 1, High: 3, Wide: 3, Stride: 1, Pad: 1},
	{Height: 7, Width: 7, Channels: 3, High: 4, Wide: 4, Stride: 2, Pad: 1},
	{Height: 9, Width: 8, Channels: 1, High: 8, Wide: 8, Stride: 2, Pad: 3},
	{Height: 4, Width: 5, Channels: 5, High: 2, Wide: 2, Stride: 1},
	{Height: 6, Width: 6, Channels: 4, High: 2, Wide: 2, Stride: 2},
	{Height: 5, Width: 5, Channels: 6, High: 1, Wide: 1, Stride: 1},
	{Height: 5, Width: 5, Channels: 2, High: 1, Wide: 1, Stride: 2},
	{Height: 7, Width: 4, Channels: 2, High: 2, Wide: 1, Stride: 3},
	{Height: 3, Width: 2, Channels: 7, High: 3, Wide: 2, Stride: 1},
	{Height: 2, Width: 3, Channels: 2, High: 5, Wide: 5, Stride: 1, Pad: 2},
	{Height: 2, Width: 2, Channels: 2, High: 3, Wide: 3, Stride: 1},
	{Height: 19, Width: 18, Channels: 1, High: 3, Wide: 2, Stride: 1, Pad: 1}, // 400 places
}

// eachWindow calls f for windows, numbers of pictures and of channels that come
// out, with ordinary values and with edge values.
func (c *check) eachWindow(padded bool, f func(v picture.Window, m, k int, data func(n int) []float32)) {
	for i, v := range windows {
		if v.Pad > 0 && !padded {
			continue
		}
		for _, m := range []int{0, 1, 3} {
			k := []int{1, 3, 8, 10}[(i+m)%4]
			f(v, m, k, c.normals)
			f(v, m, k, func(n int) []float32 { return c.edgy(n, 40) })
			if c.full() {
				return
			}
		}
	}
	if padded {
		f(windows[1], 70, 9, c.normals)
		f(windows[4], 2, 0, c.normals)
		f(windows[0], 2, 40, c.normals)
		f(picture.Window{Height: 80, Width: 6, Channels: 1, High: 3, Wide: 3, Stride: 1, Pad: 1}, 1, 40, c.normals) // 480 places in short lines
	}
	if !padded { // vectors of channels that overlap, and in a line that none fits
		for _, v := range []picture.Window{{Height: 4, Width: 5, Channels: 8, High: 2, Wide: 2, Stride: 1}, {Height: 1, Width: 5, Channels: 4, High: 2, Wide: 2, Stride: 1}} {
			f(v, 3, 1, c.normals)
			f(v, 3, 1, func(n int) []float32 { return c.edgy(n, 40) })
		}
	}
	f(windows[3], 3, 33, c.normals)
	f(windows[4], 70, 9, c.normals)
}

// places returns the number of times that a window fits.
func places(n, size, stride, pad int) int {
	count := 0
	for at := -pad; at+size <= n+pad; at += stride {
		count++
	}
	return count
}

// eachSeen calls f for each element that window v sees at a place, with its index in the patch and
// its index in the picture, -1 outside.
func eachSeen(v picture.Window, place int, f func(j, at int)) {
	across := places(v.Width, v.Wide, v.Stride, v.Pad)
	j := 0
	for y := place/across*v.Stride - v.Pad; y < place/across*v.Stride-v.Pad+v.High; y++ {
		for x := place%across*v.Stride - v.Pad; x < place%across*v.Stride-v.Pad+v.Wide; x++ {
			for c := range v.Channels {
				if y < 0 || x < 0 || y >= v.Height || x >= v.Width {
					f(j, -1)
				} else {
					f(j, (y*v.Width+x)*v.Channels+c)
				}
				j++
			}
		}
	}
}

func sizes(v picture.Window) (in, patch, t int) {
	return v.Height * v.Width * v.Channels, v.High * v.Wide * v.Channels,
		places(v.Height, v.High, v.Stride, v.Pad) * places(v.Width, v.Wide, v.Stride, v.Pad)
}

// within is x[at], and 0 outside.
func within(x []float32, at int) float64 {
	if at < 0 {
		return 0
	}
	return float64(x[at])
}

func checkConv(c *check) {
	c.eachWindow(true, func(v picture.Window, m, k int, data func(int) []float32) {
		in, patch, t := sizes(v)
		x, w, b, y := c.arg("x", data(m*in)), c.arg("w", data(patch*k)), c.arg("b", data(k)), c.arg("y", c.edgy(m*t*k, 3))
		picture.Conv(c.b, v, m, k, x.buf, w.buf, b.buf, y.buf)
		y.want = each(m*t*k, func(p int) value {
			var s sum
			s.addTerms(float64(b.data[p%k]))
			eachSeen(v, p/k%t, func(j, at int) { s.addTerms(within(x.data[p/k/t*in:], at) * float64(w.data[j*k+p%k])) })
			return s.value(1)
		})
		c.verify("Conv(%+v, %d, %d)", v, m, k)
	})
}

func checkConvGrad(c *check) {
	c.eachWindow(true, func(v picture.Window, m, k int, data func(int) []float32) {
		in, patch, t := sizes(v)
		dy, w, dx := c.arg("dy", data(m*t*k)), c.arg("w", data(patch*k)), c.arg("dx", c.edgy(m*in, 3))
		picture.ConvGrad(c.b, v, m, k, dy.buf, w.buf, dx.buf)
		all := make([]sum, m*in)
		for p := range m * t {
			eachSeen(v, p%t, func(j, at int) {
				if at >= 0 {
					var s sum
					for o := range k {
						s.addTerms(float64(dy.data[p*k+o]) * float64(w.data[j*k+o]))
					}
					to := &all[p/t*in+at]
					to.via(s.finite)
					to.s, to.abs, to.finite, to.n = to.s+s.s, to.abs+s.abs, to.finite+s.finite, to.n+s.n
				}
			})
		}
		dx.want = each(m*in, func(i int) value {
			want := all[i].value(1)
			want.orNaN = endlessBeyond(v, k, w.data, i%in)
			return want
		})
		c.verify("ConvGrad(%+v, %d, %d)", v, m, k)
	})
}

// endlessBeyond reports whether a weight is not finite through which a value of the picture would be
// seen from a place that there is not.
func endlessBeyond(v picture.Window, k int, w []float32, at int) bool {
	down, across := v.Out()
	for j := range v.High * v.Wide {
		y, x := at/v.Channels/v.Width+v.Pad-j/v.Wide, at/v.Channels%v.Width+v.Pad-j%v.Wide
		if y%v.Stride != 0 || x%v.Stride != 0 || y >= 0 && y/v.Stride < down && x >= 0 && x/v.Stride < across {
			continue
		}
		for _, u := range w[(j*v.Channels+at%v.Channels)*k:][:k] {
			if float64(u)-float64(u) != 0 {
				return true
			}
		}
	}
	return false
}

func checkConvWeights(c *check) {
	c.eachWindow(true, func(v picture.Window, m, k int, data func(int) []float32) {
		in, patch, t := sizes(v)
		x, dy, g := c.arg("x", data(m*in)), c.arg("dy", data(m*t*k)), c.arg("g", c.edgy(m*(patch+1)*k, 3))
		picture.ConvWeights(c.b, v, m, k, x.buf, dy.buf, g.buf)
		all := make([]sum, m*(patch+1)*k)
		for p := range m * t {
			i := p / t
			for o := range k {
				d := float64(dy.data[p*k+o])
				eachSeen(v, p%t, func(j, at int) { all[(i*(patch+1)+j)*k+o].addTerms(within(x.data[i*in:], at) * d) })
				all[(i*(patch+1)+patch)*k+o].addTerms(d)
			}
		}
		g.want = each(len(all), func(i int) value { return all[i].value(1) })
		c.verify("ConvWeights(%+v, %d, %d)", v, m, k)
	})
}

var poolings = []picture.Pooling{picture.Max, picture.Mean}

// pooled reduces one channel at one place, and returns the indices that it read.
func pooled(how picture.Pooling, v picture.Window, x []float32, place, channel int) (s sum, at []int) {
	greatest := math.Inf(-1)
	eachSeen(v, place, func(j, i int) {
		if j%v.Channels == channel {
			at = append(at, i)
			greatest = max(greatest, float64(x[i]))
			s.addTerms(float64(x[i]) / float64(v.High*v.Wide))
		}
	})
	if how == picture.Max {
		s = sum{s: greatest}
	}
	return s, at
}

func checkPool(c *check) {
	defer func() { c.denormals = false }()
	c.denormals = true // the greatest is only moved
	c.eachWindow(false, func(v picture.Window, m, _ int, data func(int) []float32) {
		in, _, t := sizes(v)
		for _, how := range poolings {
			x, y := c.arg("x", data(m*in)), c.arg("y", c.edgy(m*t*v.Channels, 3))
			picture.Pool(c.b, how, v, m, x.buf, y.buf)
			y.want = each(m*t*v.Channels, func(p int) value {
				s, _ := pooled(how, v, x.data[p/v.Channels/t*in:], p/v.Channels%t, p%v.Channels)
				if how == picture.Max {
					return exactly(float32(s.s))
				}
				return s.value(2)
			})
			c.verify("Pool(%d, %+v, %d)", how, v, m)
		}
	})
}

func checkPoolGrad(c *check) {
	defer func() { c.denormals = false }()
	c.denormals = true // the greatest is only moved
	c.eachWindow(false, func(v picture.Window, m, _ int, data func(int) []float32) {
		in, _, t := sizes(v)
		out := t * v.Channels
		for _, how := range poolings {
			x, y, dy, dx := c.arg("x", data(m*in)), c.arg("y", make([]float32, m*out)), c.arg("dy", data(m*out)), c.arg("dx", c.edgy(m*in, 3))
			for i := range x.data { // ties
				if i%5 != 0 && x.data[i] == x.data[i] {
					x.data[i] = float32(math.Min(1, float64(x.data[i])))
				}
			}
			all := make([]sum, m*in)
			for p := range m * out {
				i := p / out
				s, at := pooled(how, v, x.data[i*in:(i+1)*in], p%out/v.Channels, p%v.Channels)
				y.data[p] = float32(s.s)
				for _, j := range at {
					if how == picture.Mean {
						all[i*in+j].addTerms(float64(dy.data[p]) / float64(v.High*v.Wide))
					} else if x.data[i*in+j] == y.data[p] {
						all[i*in+j].addTerms(float64(dy.data[p]))
						break
					}
				}
			}
			c.b.Write(x.buf, x.data)
			c.b.Write(y.buf, y.data)
			picture.PoolGrad(c.b, how, v, m, x.buf, y.buf, dy.buf, dx.buf)
			dx.want = each(len(all), func(i int) value { return all[i].value(2) })
			c.verify("PoolGrad(%d, %+v, %d)", how, v, m)
		}
	})
}

// eachGroups calls f for pictures and groups, with ordinary values and with pictures
// that hold NaN or an infinity; mean is what their values are about.
func (c *check) eachGroups(f func(g picture.Groups, m int, data func(n int) []float32)) {
	for _, n := range [][3]int{{6, 4, 2}, {5, 8, 1}, {9, 8, 2}, {3, 6, 2}, {7, 10, 2}, {4, 5, 5}, {1, 12, 3}, {400, 4, 1}, {1, 1, 1}} {
		g := picture.Groups{Positions: n[0], Channels: n[1], Count: n[2]}
		for _, m := range []int{0, 1, 3} {
			if n[0] < 10 {
				f(picture.Groups{Positions: n[0], Channels: n[1], Count: n[2], Apart: true}, m, c.normals)
				f(picture.Groups{Positions: n[0], Channels: n[1], Count: n[2], Apart: true, Epsilon: 1e-12}, m, func(n int) []float32 {
					v := c.normals(n)
					for i := range v {
						v[i] *= 1e-3 // of a variance that 10⁻⁵ would hide
					}
					return v
				})
			}
			f(g, m, c.normals)
			f(g, m, func(n int) []float32 {
				v := c.normals(n)
				for i := range v {
					v[i] = 30 + 1e-3*v[i]
				}
				if n > 1 {
					v[c.rng.IntN(n)] = edges[c.rng.IntN(3)]
				}
				return v
			})
			if c.full() {
				return
			}
		}
	}
}

// onePlace returns the groups of m pictures, those that are apart as of pictures of one position.
func onePlace(g picture.Groups, m int) (picture.Groups, int) {
	if !g.Apart {
		return g, m
	}
	return picture.Groups{Positions: 1, Channels: g.Channels, Count: g.Count, Epsilon: g.Epsilon}, m * g.Positions
}

// statistics returns the mean and scale that GroupNorm takes from picture x.
func statistics(g picture.Groups, x []float32, group int) (mean, r float64) {
	n := g.Channels / g.Count
	count, square := float64(g.Positions*n), 0.0
	all := func(f func(v float64)) {
		for t := range g.Positions {
			for j := range n {
				f(float64(x[t*g.Channels+group*n+j]))
			}
		}
	}
	all(func(v float64) { mean += v / count })
	all(func(v float64) { square += (v - mean) * (v - mean) / count })
	return mean, 1 / math.Sqrt(square+cmp.Or(g.Epsilon, 1e-5))
}

func checkGroupNorm(c *check) {
	c.eachGroups(func(g picture.Groups, m int, data func(int) []float32) {
		all, rows := g, m
		g, m = onePlace(g, m)
		in, n := g.Positions*g.Channels, g.Channels/g.Count
		count := g.Positions * n
		x, p := c.arg("x", data(m*in)), c.arg("p", c.normals(2*g.Channels))
		stats, y := c.arg("stats", c.edgy(2*m*g.Count, 3)), c.arg("y", c.edgy(m*in, 3))
		picture.GroupNorm(c.b, all, rows, x.buf, p.buf, stats.buf, y.buf)
		stats.want = each(2*m*g.Count, func(i int) value {
			row, group := x.data[i/2/g.Count*in:], i/2%g.Count
			mean, r := statistics(g, row, group)
			var s sum
			if i%2 == 1 { // of the variance's terms, none is negative
				s.addTerms(r)
				return s.value(count)
			}
			// What is added up may be rounded as the sum of how far the values are from the mean.
			s.addTerms(mean)
			for t := range g.Positions {
				for _, v := range row[t*g.Channels+group*n:][:n] {
					s.addTerms((float64(v) - mean) / float64(count))
				}
			}
			return s.of(mean, 1)
		})
		y.want = each(m*in, func(i int) value {
			ch := i % g.Channels
			mean, r := statistics(g, x.data[i/in*in:], ch/(g.Channels/g.Count))
			scale := r * float64(p.data[ch])
			var s sum
			s.addTerms(float64(x.data[i])*scale, -mean*scale, float64(p.data[g.Channels+ch]))
			return s.value(6)
		})
		c.verify("GroupNorm(%+v, %d)", all, rows)
	})
}

// normalised makes what a backward pass is given: a picture and its statistics, as
// float32 has them.
func (c *check) normalised(g picture.Groups, m int, data func(int) []float32) (x, stats *arg) {
	in := g.Positions * g.Channels
	x, stats = c.arg("x", data(m*in)), c.arg("stats", make([]float32, 2*m*g.Count))
	for i := range m * g.Count {
		mean, r := statistics(g, x.data[i/g.Count*in:], i%g.Count)
		stats.data[2*i], stats.data[2*i+1] = float32(mean), float32(r)
	}
	c.b.Write(stats.buf, stats.data)
	return x, stats
}

// hat is value i of x at mean 0 and variance 1, and the size of what it is made of.
func hat(g picture.Groups, x, stats *arg, i int) (h, size float64) {
	in := g.Positions * g.Channels
	at := 2 * (i/in*g.Count + i%g.Channels/(g.Channels/g.Count))
	v, mean, r := float64(x.data[i]), float64(stats.data[at]), float64(stats.data[at+1])
	return (v - mean) * r, (math.Abs(v) + math.Abs(mean)) * r
}

func checkGroupNormGrad(c *check) {
	c.eachGroups(func(g picture.Groups, m int, data func(int) []float32) {
		all, rows := g, m
		g, m = onePlace(g, m)
		in, n := g.Positions*g.Channels, g.Channels/g.Count
		count := float64(g.Positions * n)
		x, stats := c.normalised(g, m, data)
		p, dy, dx := c.arg("p", c.normals(2*g.Channels)), c.arg("dy", c.normals(m*in)), c.arg("dx", c.edgy(m*in, 3))
		picture.GroupNormGrad(c.b, all, rows, x.buf, p.buf, stats.buf, dy.buf, dx.buf)
		u := func(i int) float64 { return float64(dy.data[i]) * float64(p.data[i%g.Channels]) }
		dx.want = each(m*in, func(i int) value {
			r := float64(stats.data[2*(i/in*g.Count+i%g.Channels/n)+1])
			var s sum
			s.addTerms(r * u(i))
			hi, sizeI := hat(g, x, stats, i)
			want, abs := r*u(i), 0.0
			for t := range g.Positions {
				for j := range n {
					k := i/in*in + t*g.Channels + i%g.Channels/n*n + j
					h, size := hat(g, x, stats, k)
					want -= r * (u(k) + hi*u(k)*h) / count
					abs += r * math.Abs(u(k)) * (1 + sizeI*size) / count
				}
			}
			s.addTerms(abs)
			return s.of(want, int(count)+8)
		})
		c.verify("GroupNormGrad(%+v, %d)", all, rows)
	})
}

func checkGroupNormParams(c *check) {
	c.eachGroups(func(g picture.Groups, m int, data func(int) []float32) {
		in := g.Positions * g.Channels
		group, positions := onePlace(g, m)
		x, stats := c.normalised(group, positions, data)
		dy, dst := c.arg("dy", c.normals(m*in)), c.arg("dst", c.edgy(2*m*g.Channels, 3))
		picture.GroupNormParams(c.b, g, m, x.buf, stats.buf, dy.buf, dst.buf)
		dst.want = each(2*m*g.Channels, func(i int) value {
			row, ch := i/(2*g.Channels), i%(2*g.Channels)
			var s sum
			want := 0.0
			for t := range g.Positions {
				at := row*in + t*g.Channels + ch%g.Channels
				d := float64(dy.data[at])
				if ch >= g.Channels {
					s.addTerms(d)
					want += d
					continue
				}
				h, size := hat(group, x, stats, at)
				s.addTerms(math.Abs(d) * size)
				want += d * h
			}
			return s.of(want, 4)
		})
		c.verify("GroupNormParams(%+v, %d)", g, m)
	})
}

// checkAlone has every kernel give a picture, or a row of tokens, the same bits among others and alone,
// wherever its values stand in their buffers.
func checkAlone(c *check) {
	each := func(what string, m int, of []int, run func(m int, buf []compute.Buffer)) {
		var bufs, alone []compute.Buffer
		for _, n := range of {
			all := c.b.New(m * n)
			c.b.Write(all, c.normals(m*n))
			bufs, alone = append(bufs, all), append(alone, c.b.New(n))
		}
		out := len(of) - 1
		run(m, bufs)
		coming := []compute.Pending{c.b.Fetch(bufs[out])}
		for i := range m {
			for j, n := range of[:out] {
				kernel.Copy(c.b, n, alone[j], bufs[j].Slice(i*n, n))
			}
			run(1, alone)
			coming = append(coming, c.b.Fetch(alone[out]))
		}
		together := make([]float32, m*of[out])
		for i, p := range coming {
			got := together
			if i > 0 {
				got = make([]float32, of[out])
			}
			if err := p.Wait(context.Background(), got); err != nil {
				c.errorf("%s: %v", what, err)
			}
			for j, v := range got {
				if w := together[max(i-1, 0)*of[out]+j]; math.Float32bits(v) != math.Float32bits(w) {
					c.errorf("%s: picture %d of %d: [%d] = %v, but %v alone", what, i-1, m, j, w, v)
				}
			}
		}
		for j := range bufs {
			c.b.Free(bufs[j])
			c.b.Free(alone[j])
		}
	}
	const m = 7
	for i, v := range windows {
		k := []int{5, 35}[i%2]
		in, patch, t := sizes(v)
		out := t * k
		w, b := c.b.New(patch*k), c.b.New(k)
		c.b.Write(w, c.normals(patch*k))
		c.b.Write(b, c.normals(k))
		each(fmt.Sprintf("Conv(%+v)", v), m, []int{in, out}, func(m int, x []compute.Buffer) {
			picture.Conv(c.b, v, m, k, x[0], w, b, x[1])
		})
		each(fmt.Sprintf("ConvGrad(%+v)", v), m, []int{out, in}, func(m int, x []compute.Buffer) {
			picture.ConvGrad(c.b, v, m, k, x[0], w, x[1])
		})
		each(fmt.Sprintf("ConvWeights(%+v)", v), m, []int{in, out, (patch + 1) * k}, func(m int, x []compute.Buffer) {
			picture.ConvWeights(c.b, v, m, k, x[0], x[1], x[2])
		})
		c.b.Free(w)
		c.b.Free(b)
		for _, how := range poolings {
			if v.Pad > 0 {
				continue
			}
			each(fmt.Sprintf("Pool(%d, %+v)", how, v), m, []int{in, t * v.Channels}, func(m int, x []compute.Buffer) {
				picture.Pool(c.b, how, v, m, x[0], x[1])
			})
			each(fmt.Sprintf("PoolGrad(%d, %+v)", how, v), m, []int{in, t * v.Channels, t * v.Channels, in}, func(m int, x []compute.Buffer) {
				picture.Pool(c.b, how, v, m, x[0], x[1])
				picture.PoolGrad(c.b, how, v, m, x[0], x[1], x[2], x[3])
			})
		}
	}
	for i, n := range [][3]int{{6, 4, 2}, {9, 15, 5}, {49, 12, 3}, {400, 4, 1}, {9, 15, 5}} {
		g := picture.Groups{Positions: n[0], Channels: n[1], Count: n[2], Apart: i == 4}
		in := g.Positions * g.Channels
		p := c.b.New(2 * g.Channels)
		c.b.Write(p, c.normals(2*g.Channels))
		each(fmt.Sprintf("GroupNorm(%+v)", g), m, []int{in, g.Stats(), in}, func(m int, x []compute.Buffer) {
			picture.GroupNorm(c.b, g, m, x[0], p, x[1], x[2])
		})
		each(fmt.Sprintf("GroupNormGrad(%+v)", g), m, []int{in, g.Stats(), in, in}, func(m int, x []compute.Buffer) {
			picture.GroupNormGrad(c.b, g, m, x[0], p, x[1], x[2], x[3])
		})
		each(fmt.Sprintf("GroupNormParams(%+v)", g), m, []int{in, g.Stats(), in, 2 * g.Channels}, func(m int, x []compute.Buffer) {
			picture.GroupNormParams(c.b, g, m, x[0], x[1], x[2], x[3])
		})
		c.b.Free(p)
	}
	const t = 9
	for _, h := range []sequence.Heads{{Count: 3, Channels: 12}, {Count: 1, Channels: 7}} {
		shares, in := h.Count*t*t, t*h.Channels
		look := func(m int, x []compute.Buffer) {
			kernel.Fill(c.b, m*t, 1, x[0]) // a token at each place
			sequence.Attend(c.b, m, t, 2, h, x[0], x[1], x[2], x[3])
		}
		each(fmt.Sprintf("Attend(%+v)", h), m, []int{t, 3 * in, shares, in}, look)
		each(fmt.Sprintf("AttendGrad(%+v)", h), m, []int{t, 3 * in, shares, in, in, 3 * in}, func(m int, x []compute.Buffer) {
			look(m, x)
			sequence.AttendGrad(c.b, m, t, h, x[1], x[2], x[3], x[4], x[5])
		})
	}
	for _, h := range []int{5, 33} {
		w := c.b.New(4 * h * (h + 1))
		c.b.Write(w, c.weights(h))
		pass := func(m int, x []compute.Buffer) {
			kernel.Copy(c.b, 4*m*t*h, x[2], x[1])
			kernel.Fill(c.b, m*t, 1, x[0])
			sequence.LSTM(c.b, m, t, 2, h, x[0], x[2], w, x[3], x[4])
		}
		each(fmt.Sprintf("LSTM(%d)", h), m, []int{t, 4 * t * h, 4 * t * h, t * h, t * h}, pass)
		each(fmt.Sprintf("LSTMGrad(%d)", h), m, []int{t, 4 * t * h, 0, t * h, t * h, 4 * t * h}, func(m int, x []compute.Buffer) {
			pass(m, []compute.Buffer{x[0], x[1], x[5], x[3], x[4]})
			sequence.LSTMGrad(c.b, m, t, 2, h, x[0], x[5], w, x[3], x[4])
		})
		c.b.Free(w)
	}
}
