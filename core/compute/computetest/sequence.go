package computetest

import (
	"math"

	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/sequence"
)

func init() {
	parts = append(parts, suitePart{"Embed", "embed", checkEmbed}, suitePart{"TokenGrad", "tokenGrad", checkTokenGrad},
		suitePart{"AddTokens", "addTokens", checkAddTokens}, suitePart{"TokenGram", "tokenGram", checkTokenGram},
		suitePart{"Mean", "mean", checkMean}, suitePart{"MeanGrad", "meanGrad", checkMeanGrad},
		suitePart{"Typed", "typed", checkTyped},
		suitePart{"Attend", "attend", checkAttend}, suitePart{"AttendGrad", "attendGrad", checkAttendGrad})
}

// tokens returns n values of which most are tokens, of so many; the others are just beside
// one, and edge values.
func (c *check) tokens(n, many int) []float32 {
	none := []float32{-1, -0.5, 0.5, float32(many), float32(many) - 0.5, 1 << 24, 1e30, 1e-40, float32(math.Copysign(0, -1))}
	x := make([]float32, n)
	for i := range x {
		switch c.rng.IntN(8) {
		case 0:
			x[i] = none[c.rng.IntN(len(none))]
		case 1:
			x[i] = edges[c.rng.IntN(len(edges))]
		default:
			x[i] = float32(c.rng.IntN(many))
		}
	}
	return x
}

// tokenOf returns the number of a token, of so many, or -1.
func tokenOf(x float32, many int) int {
	for k := range many {
		if x == float32(k) {
			return k
		}
	}
	return -1
}

// eachTable calls f for numbers of rows, of tokens in each, of all tokens and of channels.
func (c *check) eachTable(f func(m, t, v, d int)) {
	for i, d := range []int{0, 1, 3, 4, 5, 8, 17, 67} {
		for _, m := range []int{0, 1, 3} {
			f(m, []int{1, 2, 9}[(i+m)%3], []int{1, 2, 27, 40}[(i+m)%4], d)
		}
	}
	f(2, 0, 5, 3)
	f(70, 12, 9, 6)
	f(2, 300, 3, 2) // a token comes a hundred times
}

func checkEmbed(c *check) {
	defer func() { c.denormals = false }()
	c.denormals = true // values are only moved
	c.eachTable(func(m, t, v, d int) {
		n := m * t
		x, table, y := c.arg("x", c.tokens(n, v)), c.arg("table", c.edgy(v*d, 5)), c.arg("y", c.edgy(n*d, 3))
		y.want = each(n*d, func(i int) value {
			if k := tokenOf(x.data[i/d], v); k >= 0 {
				return exactly(table.data[k*d+i%d])
			}
			return exactly(0)
		})
		sequence.Embed(c.b, n, v, d, x.buf, table.buf, y.buf)
		c.verify("Embed(%d, %d, %d)", n, v, d)
	})
}

func checkTyped(c *check) {
	for _, n := range []int{0, 1, 3, 15, 16, 17, 300} {
		for _, many := range []int{1, 2, 27, 1 << 20} {
			for _, types := range []int{1, 2, 5} {
				x, tokens, kinds := c.arg("x", c.tokens(n, many*types)), c.arg("tokens", c.edgy(n, 3)), c.arg("kinds", c.edgy(n, 3))
				part := func(of func(k int) int) func(i int) value {
					return func(i int) value {
						if v := x.data[i]; v >= 0 && v < float32(many*types) && v == float32(int(v)) {
							return exactly(float32(of(int(v))))
						}
						return exactly(-1)
					}
				}
				tokens.want, kinds.want = each(n, part(func(k int) int { return k % many })), each(n, part(func(k int) int { return k / many }))
				sequence.Typed(c.b, n, many, types, x.buf, tokens.buf, kinds.buf)
				c.verify("Typed(%d, %d, %d)", n, many, types)
			}
		}
	}
}

func checkTokenGrad(c *check) {
	c.eachTable(func(m, t, v, d int) {
		for _, data := range c.usual() {
			x, dy, g := c.arg("x", c.tokens(m*t, v)), c.arg("dy", data(m*t*d)), c.arg("g", c.edgy(m*t*d, 3))
			all := make([]sum, m*t*d)
			for j, u := range dy.data {
				if first := firstPlace(x.data, j/d, t, v); first >= 0 {
					all[first*d+j%d].addTerms(float64(u))
				}
			}
			g.want = each(len(all), func(i int) value { return all[i].value(1) })
			sequence.TokenGrad(c.b, m, t, v, d, x.buf, dy.buf, g.buf)
			c.verify("TokenGrad(%d, %d, %d, %d)", m, t, v, d)
		}
	})
}

// usual returns makers of values: of the usual ones, and with edge values among them.
func (c *check) usual() []func(int) []float32 {
	return []func(int) []float32{c.normals, func(n int) []float32 { return c.edgy(n, 40) }}
}

// firstPlace returns the first place in the row of place j, of t places, with the same token; -1
// where there is no token, of so many.
func firstPlace(x []float32, j, t, many int) int {
	own := tokenOf(x[j], many)
	for i := j / t * t; own >= 0; i++ {
		if tokenOf(x[i], many) == own {
			return i
		}
	}
	return -1
}

func checkAddTokens(c *check) {
	bound := float32(0.7)
	for _, kind := range []struct {
		name  string
		each  kernel.Each
		added func(f, g float32) float64
	}{
		{"plain", kernel.Plain(), func(f, g float32) float64 { return float64(f) * float64(g) }},
		{"clamped", kernel.Clamped(bound), func(f, g float32) float64 { return float64(min(max(f*g, -bound), bound)) }},
		{"rounded", kernel.Rounded(), func(f, g float32) float64 { return math.RoundToEven(float64(f * g)) }},
	} {
		c.eachTable(func(m, t, v, d int) {
			for _, data := range c.usual() {
				if kind.name == "rounded" {
					data = c.normals
				}
				start := c.normals(v * d)
				for i := range start {
					start[i] = float32(math.Round(float64(100 * start[i])))
				}
				factors, tokens, grads := c.normals(m), c.tokens(m*t, v), data(m*t*d)
				for i := range factors {
					if i%3 == 1 { // what it holds is not looked at
						factors[i] = 0
					}
				}
				folded(tokens, grads, t, v, d)
				x, f, g, dst := c.arg("x", tokens), c.arg("f", factors), c.arg("g", grads), c.sums(start)
				want := each(v*d, func(p int) value {
					return inPieces(m, start[p], func(i int) (s float64) {
						for j := i * t; j < (i+1)*t && f.data[i] != 0; j++ {
							if tokenOf(x.data[j], v) == p/d {
								s += kind.added(f.data[i], g.data[j*d+p%d])
							}
						}
						return s
					})
				})
				sequence.AddTokens(c.b, m, t, v, d, kind.each, x.buf, f.buf, g.buf, dst.sums)
				c.verifySums(dst, want, "AddTokens(%d, %d, %d, %d, %s)", m, t, v, d, kind.name)
			}
		})
	}
}

// folded clears gradients at all places but the first of a token, as TokenGrad leaves them.
func folded(tokens, grads []float32, t, v, d int) {
	for j := range tokens {
		if firstPlace(tokens, j, t, v) != j {
			clear(grads[j*d : (j+1)*d])
		}
	}
}

func checkTokenGram(c *check) {
	c.eachTable(func(m, t, v, d int) {
		for _, data := range c.usual() {
			tokens, grads := c.tokens(m*t, v), data(m*t*d)
			folded(tokens, grads, t, v, d)
			x, g, dst := c.arg("x", tokens), c.arg("g", grads), c.arg("dst", c.normals(m*m))
			dst.want = each(m*m, func(p int) value {
				var s sum
				s.add32(dst.data[p])
				for j := p / m * t; j < (p/m+1)*t; j++ {
					own := tokenOf(x.data[j], v)
					for l := p % m * t; l < (p%m+1)*t && own >= 0; l++ {
						for i := 0; i < d && tokenOf(x.data[l], v) == own; i++ {
							s.addTerms(float64(g.data[j*d+i]) * float64(g.data[l*d+i]))
							s.via(s.s)
						}
					}
				}
				return s.value(1)
			})
			sequence.TokenGram(c.b, m, t, v, d, x.buf, g.buf, dst.buf)
			c.verify("TokenGram(%d, %d, %d, %d)", m, t, v, d)
		}
	})
}

// meant returns the places of those tokens, of so many, among the first p of t places of the i-th row that a
// mean is over, and their number, at least 1.
func meant(x []float32, i, t, p, many int, over sequence.Over) (places map[int]bool, n int) {
	var all []int
	for j, x := range x[i*t : i*t+p] {
		if tokenOf(x, many) >= 0 {
			all = append(all, j)
		}
	}
	switch {
	case over == sequence.First && len(all) > 0:
		all = all[:1]
	case over == sequence.Last && len(all) > 0:
		all = all[len(all)-1:]
	}
	places = map[int]bool{}
	for _, j := range all {
		places[j] = true
	}
	return places, max(len(all), 1)
}

// eachMean calls f for the sizes of means: as eachTable, and with fewer places than tokens.
func (c *check) eachMean(f func(m, t, p, v, d int, over sequence.Over)) {
	for _, over := range []sequence.Over{sequence.All, sequence.First, sequence.Last} {
		c.eachTable(func(m, t, v, d int) { f(m, t, t-t/3, v, d, over) })
		f(5, 7, 7, 4, 3, over)
		f(2, 3, 0, 4, 3, over)
	}
}

func checkMean(c *check) {
	c.eachMean(func(m, t, p, v, d int, over sequence.Over) {
		for _, data := range c.usual() {
			x, e, y := c.arg("x", c.tokens(m*t, v)), c.arg("e", data(m*p*d)), c.arg("y", c.edgy(m*d, 3))
			y.want = each(m*d, func(k int) value {
				var s sum
				all, row := 0.0, k/d
				places, n := meant(x.data, row, t, p, v, over)
				for j := range p {
					if places[j] {
						u := float64(e.data[(row*p+j)*d+k%d])
						all += u
						s.via(all)
						s.addTerms(u / float64(n))
					}
				}
				return s.value(2)
			})
			sequence.Mean(c.b, m, t, p, v, d, over, x.buf, e.buf, y.buf)
			c.verify("Mean(%d, %d, %d, %d, %d, %d)", m, t, p, v, d, over)
		}
	})
}

func checkMeanGrad(c *check) {
	c.eachMean(func(m, t, p, v, d int, over sequence.Over) {
		for _, data := range c.usual() {
			x, dy, dx := c.arg("x", c.tokens(m*t, v)), c.arg("dy", data(m*d)), c.arg("dx", c.edgy(m*p*d, 3))
			dx.want = each(m*p*d, func(k int) value {
				var s sum
				row := k / d / p
				if places, n := meant(x.data, row, t, p, v, over); places[k/d%p] {
					s.addTerms(float64(dy.data[row*d+k%d]) / float64(n))
				}
				return s.value(1)
			})
			sequence.MeanGrad(c.b, m, t, p, v, d, over, x.buf, dy.buf, dx.buf)
			c.verify("MeanGrad(%d, %d, %d, %d, %d, %d)", m, t, p, v, d, over)
		}
	})
}

// oneEndless returns values of which one is not finite.
func (c *check) oneEndless(n int) []float32 {
	v := c.normals(n)
	if n > 0 {
		v[c.rng.IntN(n)] = edges[c.rng.IntN(3)]
	}
	return v
}

// eachHeads calls f for numbers of rows and of places, for heads, and for makers of what places
// have.
func (c *check) eachHeads(f func(m, t, v int, h sequence.Heads, data func(int) []float32)) {
	for _, n := range [][5]int{{1, 1, 3, 1, 1}, {3, 2, 2, 2, 6}, {2, 9, 5, 3, 12}, {2, 7, 1, 1, 5}, {1, 67, 4, 2, 8}, {1, 4, 3, 1, 70}, {2, 130, 3, 1, 3}, {0, 3, 2, 1, 4}, {2, 0, 2, 1, 4}} {
		h := sequence.Heads{Count: n[3], Channels: n[4]}
		f(n[0], n[1], n[2], h, c.normals)
		f(n[0], n[1], n[2], h, func(n int) []float32 {
			v := c.normals(n)
			for i := range v {
				v[i] *= 6 // so that a few places have all of the weight
			}
			return v
		})
		f(n[0], n[1], n[2], h, c.oneEndless)
		if c.full() {
			return
		}
	}
}

// part returns the query, key or value of a head at a place of row i, of t places.
func part(a []float32, i, t, place int, h sequence.Heads, head, part int) []float32 {
	width := h.Channels / h.Count
	return a[((i*t+place)*3+part)*h.Channels+head*width:][:width]
}

// share returns how much a place of row i takes of each, and by how many roundings that may be off.
func share(x, a []float32, i, t, v, place int, h sequence.Heads, head int) (p []float64, off float64) {
	p = make([]float64, t)
	scale, sum, most := 1/math.Sqrt(float64(h.Channels/h.Count)), 0.0, math.Inf(-1)
	for k := range p {
		if tokenOf(x[i*t+k], v) < 0 {
			continue
		}
		size := 0.0
		for c, key := range part(a, i, t, k, h, head, 1) {
			u := float64(part(a, i, t, place, h, head, 0)[c]) * float64(key) * scale
			p[k] += u
			size += math.Abs(u)
		}
		if math.IsInf(p[k], 0) { // what is not finite is NaN
			p[k] = math.NaN()
		}
		if most = max(most, p[k]); size < 1e9 { // what is not finite makes NaN of all
			off = max(off, size*float64(h.Channels+4))
		}
	}
	for k := range p {
		if tokenOf(x[i*t+k], v) >= 0 {
			p[k] = math.Exp(p[k] - most)
			sum += p[k]
		}
	}
	for k := range p {
		if tokenOf(x[i*t+k], v) >= 0 {
			p[k] /= sum
		}
	}
	return p, 2*off + float64(t) + function
}

func checkAttend(c *check) {
	c.eachHeads(func(m, t, v int, h sequence.Heads, data func(int) []float32) {
		width := h.Channels / h.Count
		x, a := c.arg("x", c.tokens(m*t, v)), c.arg("a", data(m*t*3*h.Channels))
		p, y := c.arg("p", c.edgy(m*h.Count*t*t, 3)), c.arg("y", c.edgy(m*t*h.Channels, 3))
		p.want, y.want = make([]value, m*h.Count*t*t), make([]value, m*t*h.Channels)
		for at := range m * h.Count * t { // queries
			i, head, place := at/t/h.Count, at/t%h.Count, at%t
			shares, off := share(x.data, a.data, i, t, v, place, h, head)
			for k, w := range shares {
				var s sum
				s.addTerms(w)
				p.want[at*t+k] = s.value(int(off))
			}
			for ch := range width {
				var s sum
				for k, w := range shares {
					if w != 0 {
						s.addTerms(w * float64(part(a.data, i, t, k, h, head, 2)[ch]))
					}
				}
				y.want[(i*t+place)*h.Channels+head*width+ch] = s.value(int(off) + 1)
			}
		}
		sequence.Attend(c.b, m, t, v, h, x.buf, a.buf, p.buf, y.buf)
		c.verify("Attend(%d, %d, %d, %+v)", m, t, v, h)
	})
}

func checkAttendGrad(c *check) {
	c.eachHeads(func(m, t, _ int, h sequence.Heads, data func(int) []float32) {
		width := h.Channels / h.Count
		shares := c.normals(m * h.Count * t * t)
		for i := range shares {
			shares[i] = max(0, shares[i]) // of half of all places nothing is taken
		}
		a, p, y := c.arg("a", data(m*t*3*h.Channels)), c.arg("p", shares), c.arg("y", c.normals(m*t*h.Channels))
		dy, da := c.arg("dy", c.normals(m*t*h.Channels)), c.arg("da", c.edgy(m*t*3*h.Channels, 3))
		all := make([]sum, len(da.data))
		for at, share := range shares {
			if share == 0 {
				continue
			}
			i, head, j, k := at/t/t/h.Count, at/t/t%h.Count, at/t%t, at%t
			first := (i*t+j)*h.Channels + head*width
			by, size := 0.0, 0.0
			for ch, v := range part(a.data, i, t, k, h, head, 2) {
				u, w := float64(dy.data[first+ch])*float64(v), float64(dy.data[first+ch])*float64(y.data[first+ch])
				by, size = by+u-w, size+math.Abs(u)+math.Abs(w)
			}
			scale := float64(share) / math.Sqrt(float64(width))
			for ch := range width {
				add := func(place, to int, by, size, v float64) {
					s := &all[((i*t+place)*3+to)*h.Channels+head*width+ch]
					s.s += by * v
					s.abs += size * math.Abs(v) * float64(width+8)
					s.n++
				}
				add(j, 0, scale*by, scale*size, float64(part(a.data, i, t, k, h, head, 1)[ch]))
				add(k, 1, scale*by, scale*size, float64(part(a.data, i, t, j, h, head, 0)[ch]))
				add(k, 2, float64(share), float64(share), float64(dy.data[first+ch]))
			}
		}
		da.want = each(len(all), func(i int) value { return all[i].value(2) })
		sequence.AttendGrad(c.b, m, t, h, a.buf, p.buf, y.buf, dy.buf, da.buf)
		c.verify("AttendGrad(%d, %d, %+v)", m, t, h)
	})
}
