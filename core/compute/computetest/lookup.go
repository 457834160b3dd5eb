package computetest

import "clipscope/core/compute/kernel"

func init() { parts = append(parts, suitePart{"LookUp", "lookUp", checkLookUp}) }

// checkLookUp takes bytes through WriteBytes, which has to copy them, among them such
// as are a signalling NaN where four are read as a value: nothing on the way may tidy
// that up.
func checkLookUp(c *check) {
	c.denormals = true
	c.vectors(func(n int, _ func() []float32) { c.lookUp(1, n) })
	for _, s := range [][2]int{{0, 5}, {5, 0}, {3, 7}, {9, 130}, {5, 784}, {3, 1029}} {
		c.lookUp(s[0], s[1])
	}
}

func (c *check) lookUp(rows, columns int) {
	n := rows * columns
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(c.rng.Uint32())
	}
	copy(bytes[min(n, 4):], []byte{1, 0, 160, 127, 255, 255, 255, 255, 0, 0, 128, 255, 1, 0, 0, 0})
	clear(bytes[min(n, 22):min(n, 37)])
	table, dst := c.arg("table", c.edgy(256, 3)), c.arg("dst", c.normals(n))
	dst.want = each(n, func(i int) value { return exactly(table.data[bytes[i]]) })
	src := c.b.New((n + 3) / 4)
	c.b.WriteBytes(src, bytes)
	clear(bytes)
	kernel.LookUp(c.b, rows, columns, table.buf, src, dst.buf)
	c.verify("LookUp(%d, %d)", rows, columns)
	c.b.Free(src)
}
