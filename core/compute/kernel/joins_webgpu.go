package kernel

import (
	"clipscope/core/compute"
	"clipscope/core/compute/shader"
)

// What a program does with what it computes, beside storing it: bits of a scalar that is 0 where nothing joined it.
const (
	AddsBias  = 1 // the vector at b3 is added to each row before
	Rectifies = 2 // ReLU of it is stored at b4
	Passes    = 4 // it is stored at b4 where the value at b3 is above 0, and else 0
)

// JoinReLU has a call that gives a buffer pass it through a ReLU as well, or back through one, which is the next call. What it does beside is in
// *how; read are the buffers that the call reads all over, which must not be written.
func JoinReLU(c *shader.Call, how *float64, gives compute.Buffer, read []compute.Buffer, next *compute.Kernel, a compute.Args) bool {
	if a.N[0] != int(ReLU) || a.N[1] != gives.N || int(*how)&^AddsBias != 0 {
		return false
	}
	switch by, to := a.Buf[0], a.Buf[2]; {
	case next == unary:
		if to = a.Buf[1]; a.Buf[0] != gives || to != gives && !shader.Disjoint(to, gives, c.Buf[3]) || !shader.Disjoint(to, read...) {
			return false
		}
		c.Buf[4], *how = to, *how+Rectifies
	case next == unaryGrad:
		if a.Buf[1] != gives || *how != 0 || !shader.Disjoint(by, gives, to) || to != gives && !shader.Disjoint(to, gives) || !shader.Disjoint(to, read...) {
			return false
		}
		c.Buf[3], c.Buf[4], *how = by, to, Passes
	default:
		return false
	}
	return true
}

// joinGemm has a product add the bias that follows, and pass the outcome through a ReLU or back through one.
func joinGemm(c *shader.Call, next *compute.Kernel, a compute.Args) bool {
	m, n, to := c.N[2], c.N[3], c.Buf[2]
	if next != addRow {
		return JoinReLU(c, &c.F[2], to, c.Buf[:2], next, a)
	}
	if a.N[0] != m || a.N[1] != n || a.Buf[1] != to || c.F[2] != 0 || !shader.Disjoint(a.Buf[0], to) {
		return false
	}
	c.Buf[3], c.F[2] = a.Buf[0], AddsBias
	return true
}

// joinCopy has a copy add a multiple of another vector, and pass the outcome through a ReLU.
func joinCopy(c *shader.Call, next *compute.Kernel, a compute.Args) bool {
	to := c.Buf[0]
	if next != axpy {
		return c.N[1] == 1 && next == unary && JoinReLU(c, &c.F[1], to, c.Buf[1:3], next, a)
	}
	if c.N[1] != 0 || a.N[0] != c.N[0] || a.Buf[1] != to || !shader.Disjoint(a.Buf[0], to) || !shader.Disjoint(to, c.Buf[1]) {
		return false
	}
	c.N[1], c.F[0], c.Buf[2] = 1, a.F[0], a.Buf[0]
	return true
}

// joinScaleRows has rows of one more matrix be dropped, whose factors are the same.
func joinScaleRows(c *shader.Call, next *compute.Kernel, a compute.Args) bool {
	x := a.Buf[1]
	if next != dropRows || c.N[2] != 0 || a.N[0] != c.N[0] || a.N[1] == 0 || a.Buf[0] != c.Buf[0] || !shader.Disjoint(x, c.Buf[:3]...) {
		return false
	}
	c.N[2], c.Buf[3] = a.N[1], x
	c.Stages = c.Stages[:0]
	c.Run("main", shader.Per(c.N[0]*(c.N[1]+c.N[2]), 256))
	return true
}

// joinSettle has what sums were added to be scaled.
func joinSettle(c *shader.Call, next *compute.Kernel, a compute.Args) bool {
	if next != scale || c.F[1] != 0 || a.Buf[0] != c.Buf[0] {
		return false
	}
	c.F[0], c.F[1] = a.F[0], 1
	return true
}

// noiseGroup is the number of values that a workgroup of noise draws.
const noiseGroup = 1024

// joinNoise has the noise of the tensor that stands next be drawn, whose stream is the next one. more has the numbers of values
// until the end of each tensor.
func joinNoise(c *shader.Call, next *compute.Kernel, a compute.Args) bool {
	dst, n := c.Buf[0], a.Buf[0].N
	after := max(len(c.More), 1)
	if next != noise || after == shader.MostMore || n == 0 || dst.N == 0 || a.F[0] != c.F[0] || a.Buf[0].Memory != dst.Memory || a.Buf[0].Off != dst.Off+dst.N {
		return false
	}
	if key := c.Key; key.Nonce[0]+uint32(after) != a.Key.Nonce[0] || key.Key != a.Key.Key || key.Nonce[1] != a.Key.Nonce[1] || key.Nonce[2] != a.Key.Nonce[2] {
		return false
	}
	if len(c.More) == 0 {
		c.More = append(c.More, uint32(dst.N))
	}
	c.More = append(c.More, uint32(dst.N+n))
	c.Buf[0].N += n
	c.N[0], c.N[1] = c.Buf[0].N, len(c.More)
	groups, from := 0, 0
	for _, end := range c.More {
		groups, from = groups+shader.Per(int(end)-from, noiseGroup), int(end)
	}
	c.Stages = c.Stages[:0]
	c.Run("main", groups)
	return true
}
