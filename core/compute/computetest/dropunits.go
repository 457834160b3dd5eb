package computetest

import "clipscope/core/compute/kernel"

func init() { parts = append(parts, suitePart{"DropUnits", "dropUnits", checkDropUnits}) }

// stays reports whether a unit of a row with these keys stays: the hash of [kernel.DropUnits], written in
// 64 bits.
func stays(a, b float32, unit, least int) bool {
	const word = 1<<32 - 1
	h := (uint64(unit)*0x9e3779b1 + uint64(a)) & word
	h = (h ^ h>>16) * 0x7feb352d & word
	h = (h ^ h>>15 ^ uint64(b)) * 0x846ca68b & word
	h ^= h >> 16
	return int(h>>8) >= least
}

func checkDropUnits(c *check) {
	c.shapes(func(m, n int, data func(int) []float32) {
		for i, p := range []float64{0, 0.2, 0.5, 1 - 0x1p-24} {
			key := make([]float32, 2*m)
			for i := range key {
				key[i] = float32([]uint32{c.rng.Uint32N(1 << 24), 0, 1<<24 - 1}[max(0, c.rng.IntN(12)-9)])
			}
			keys, x := c.arg("keys", key), c.arg("x", data(m*n))
			dst := x
			if i%2 == 0 {
				dst = c.arg("dst", data(m*n))
			}
			d := kernel.NewDrop(p, []int{0, 3, 1 << 20}[c.rng.IntN(3)])
			kernel.DropUnits(c.b, m, n, d, keys.buf, x.buf, dst.buf)
			dst.want = each(m*n, func(i int) value {
				if !stays(key[2*(i/n)], key[2*(i/n)+1], d.First+i%n, d.Least) {
					return exactly(0)
				}
				return product(d.Gain, x.data[i])
			})
			c.verify("DropUnits(%d, %d, %v)", m, n, d)
		}
	})
}
