package computetest

import (
	"encoding/binary"

	"clipscope/core/compute/kernel"
)

func init() { parts = append(parts, suitePart{"PickRows", "pickRows", checkPickRows}) }

// checkPickRows picks rows that begin at every place within a word, some of them twice, and of
// pictures of several planes.
func checkPickRows(c *check) {
	c.denormals = true
	for _, s := range [][4]int{{0, 5, 3, 1}, {1, 1, 1, 1}, {5, 3, 7, 1}, {9, 7, 130, 1}, {6, 11, 27, 3}, {3, 40, 784, 1}, {5, 9, 3 * 64, 3}, {70, 1000, 10, 2}} {
		c.pickRows(s[0], s[1], s[2], s[3])
	}
}

func (c *check) pickRows(n, have, k, planes int) {
	bytes := make([]byte, have*k)
	for i := range bytes {
		bytes[i] = byte(c.rng.Uint32())
	}
	numbers := make([]byte, 4*n)
	table, dst := c.arg("table", c.edgy(256, 3)), c.arg("dst", c.normals(n*k))
	dst.want = nil
	for i := range n {
		row := c.rng.IntN(have)
		binary.LittleEndian.PutUint32(numbers[4*i:], uint32(row))
		for j := range k {
			dst.want = append(dst.want, exactly(table.data[bytes[row*k+j%planes*(k/planes)+j/planes]]))
		}
	}
	src, rows := c.b.New((len(bytes)+3)/4), c.b.New(n)
	c.b.WriteBytes(src, bytes)
	c.b.WriteBytes(rows, numbers)
	kernel.PickRows(c.b, n, k, planes, table.buf, rows, src, dst.buf)
	c.verify("PickRows(%d of %d, %d, %d)", n, have, k, planes)
	c.b.Free(src)
	c.b.Free(rows)
}
