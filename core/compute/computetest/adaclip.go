package computetest

import (
	"math"

	"clipscope/core/compute/kernel/adaclip"
)

func init() {
	parts = append(parts,
		suitePart{"Spread", "spread", checkSpread}, suitePart{"Rescale", "rescale", checkRescale}, suitePart{"AtLeast", "atLeast", checkAtLeast},
		suitePart{"Total", "total", checkTotal}, suitePart{"Centre", "centre", checkCentre},
	)
}

func checkSpread(c *check) {
	first := adaclip.SpreadParams{Beta1: 0.99, Beta2: 0.9, Times: 600, Noise: 0.25, Least: 1e-12, Greatest: 1e-2}
	wide := adaclip.SpreadParams{Beta1: 0.5, Beta2: 0.25, Times: 1, Noise: 1e-3, Least: 0.5, Greatest: 1e6}
	c.vectors(func(n int, data func() []float32) {
		for _, p := range []adaclip.SpreadParams{first, wide} {
			size := c.arg("size", []float32{float32(math.Exp(c.rng.NormFloat64()))})
			g, m, r := c.arg("g", data()), c.arg("m", c.normals(n)), c.arg("r", squares(data()))
			adaclip.Spread(c.b, n, p, size.buf, g.buf, m.buf, r.buf)
			m.want, r.want = make([]value, n), make([]value, n)
			for i := range n {
				m.want[i], r.want[i] = spread(p, size.data[0], g.data[i], m.data[i], r.data[i])
			}
			c.verify("Spread(%d, %+v)", n, p)
		}
	})
}

func spread(p adaclip.SpreadParams, size, g32, m32, r32 float32) (m, r value) {
	g, mean, s := float64(g32), float64(m32), float64(r32)*float64(r32)
	times, b1, b2 := float64(p.Times), float64(p.Beta1), float64(p.Beta2)
	dev := g - mean
	var v, square, centre sum
	v.addTerms(times*dev*dev, -times*p.Noise*float64(size)*float64(size)*s)
	v.via(s * s)
	fresh := v.value(6)
	centre.addTerms(b1*mean, (1-b1)*g)
	if math.IsNaN(fresh.v) || math.IsInf(fresh.v, 0) {
		return exactly(m32), exactly(r32)
	}
	if fresh.any { // in float32 it may count as infinite
		return value{any: true}, value{any: true}
	}
	square.addTerms(b2*s*s, (1-b2)*min(max(fresh.v, float64(p.Least)), float64(p.Greatest)))
	// Within these bounds of its square the fourth root is; rounding four times.
	off := square.value(4).tol + (1-b2)*fresh.tol
	root := math.Sqrt(math.Sqrt(square.s))
	high, low := math.Sqrt(math.Sqrt(square.s+off)), math.Sqrt(math.Sqrt(max(0, square.s-off)))
	return centre.value(3), value{v: root, tol: max(high-root, root-low) + 4*0x1p-24*root}
}

func checkRescale(c *check) {
	c.vectors(func(n int, data func() []float32) {
		m, b, inv, lin := c.arg("m", data()), c.arg("b", squares(data())), c.arg("inv", data()), c.arg("lin", data())
		adaclip.Rescale(c.b, n, m.buf, b.buf, inv.buf, lin.buf)
		inv.want, lin.want = make([]value, n), make([]value, n)
		for i := range n {
			inv.want[i], lin.want[i] = rescale(float64(m.data[i]), float64(b.data[i]))
		}
		c.verify("Rescale(%d)", n)
	})
}

func rescale(m, b float64) (inv, lin value) {
	var si, sl sum
	si.addTerms(1 / (b * b))
	sl.addTerms(m / (b * b))
	sl.via(1 / (b * b))
	if b < 0x1p-62 && b != 0 { // its square loses bits, or all of them
		si.high, sl.high = true, true
	}
	if b > 0x1p62 { // and here the inverse
		sl.high = true
	}
	return si.value(3), sl.value(5)
}

func checkAtLeast(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		for _, x := range []float32{0, 3, 1e-30, 1e-37, 1e-40, float32(math.Inf(1)), float32(math.NaN())} {
			from, u := c.arg("from", []float32{x}), c.arg("u", data())
			adaclip.AtLeast(c.b, n, 0.0625, from.buf, u.buf)
			u.want = each(n, func(i int) value {
				if v := max(float64(u.data[i]), 0.0625*float64(x)); v != float64(u.data[i]) {
					return value{v: v, tol: 0x1p-24*v + 0x1p-150, bound: true}
				}
				return exactly(u.data[i])
			})
			c.verify("AtLeast(%d) of %g", n, x)
		}
	})
}

// checkTotal: multiples of the unit, below what is rounded down, that add up
// exactly.
func checkTotal(c *check) {
	c.vectors(func(n int, _ func() []float32) {
		for _, away := range []float32{0x1p-30, 1e-12, 7, 1e20, 0, float32(math.Inf(1)), float32(math.NaN())} {
			const reach = 0x1p-40
			from, f, dst := c.arg("away", []float32{away}), c.arg("f", c.normals(n)), c.sums([]float32{0})
			unit := math.Exp2(math.Ceil(math.Log2(reach / float64(away))))
			sized := away > 0 && !math.IsInf(float64(away), 1)
			for i, x := range f.data {
				f.data[i] = float32(math.Abs(float64(x)) * 0x1p20)
				if sized {
					f.data[i] = float32(math.Abs(float64(x)) * 1e6 * unit)
				}
			}
			c.b.Write(f.buf, f.data)
			adaclip.Total(c.b, n, reach, from.buf, f.buf, dst.sums)
			total := 0.0
			f.want = each(n, func(i int) value {
				v := f.data[i]
				if sized {
					v = float32(math.Floor(float64(v)/unit) * unit)
				}
				total += float64(v)
				return exactly(v)
			})
			c.verifySums(dst, []value{{v: total, exact: sized, tol: 0x1p-45 * total}}, "Total(%d) with %g", n, away)
		}
	})
}

func checkCentre(c *check) {
	c.denormals = true
	c.vectors(func(n int, data func() []float32) {
		w, a, dst := c.arg("w", []float32{1e6, 0x1p-20}), c.arg("a", data()), c.sums(data())
		adaclip.Centre(c.b, n, w.buf, a.buf, dst.sums)
		c.verifySums(dst, each(n, func(i int) value {
			s, t := float64(dst.data[i]), (1e6+0x1p-20)*float64(a.data[i])
			return value{v: s - t, tol: 0x1p-45*(math.Abs(s)+math.Abs(t)) + 0x1p-149}
		}), "Centre(%d)", n)
	})
}
