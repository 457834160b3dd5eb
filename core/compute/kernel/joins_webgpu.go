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

// Join has a call do what the next one asks for as well, or reports false ([shader.Folder]).
type Join = func(c *shader.Call, next *compute.Kernel, a *compute.Args) bool

// JoinReLU has a call pass the buffer of that index, which it gives, through a ReLU as well, or back through one, where that is the next
// call. Scalar how says so.
func JoinReLU(how, gives int) Join {
	return func(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
		x, to := &a.Buf[0], &a.Buf[1]
		if next == unaryGrad {
			x, to = to, &a.Buf[2]
		}
		does, given := &c.F[how], &c.Buf[gives]
		if next != unary && next != unaryGrad || a.N[0] != int(ReLU) || *x != *given || *does > AddsBias || c.Buf[4].Memory != nil {
			return false
		}
		for i := range c.Buf {
			if other := &c.Buf[i]; !shader.Disjoint(to, other) && (i != gives || *to != *other) {
				return false
			}
		}
		if next == unary {
			*does += Rectifies
		} else {
			by := &a.Buf[0]
			if c.Buf[3].Memory != nil || !shader.Disjoint(by, given) || !shader.Disjoint(by, to) {
				return false
			}
			*does, c.Buf[3] = Passes, *by
		}
		c.Buf[4] = *to
		return true
	}
}

var afterProduct, afterSum = JoinReLU(2, 2), JoinReLU(1, 0)

// joinGemm has a product add the bias that follows, and pass the outcome through a ReLU or back through one.
func joinGemm(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
	if next != addRow {
		return afterProduct(c, next, a)
	}
	bias, to := &a.Buf[0], &a.Buf[1]
	if a.N[0] != c.N[2] || a.N[1] != c.N[3] || *to != c.Buf[2] || c.F[2] != 0 || !shader.Disjoint(bias, to) {
		return false
	}
	c.Buf[3], c.F[2] = *bias, AddsBias
	return true
}

// joinCopy has a copy add a multiple of another vector, and pass the outcome through a ReLU.
func joinCopy(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
	if c.N[1] == 1 {
		return next == unary && afterSum(c, next, a)
	}
	x, to := &a.Buf[0], &a.Buf[1]
	if next != axpy || *to != c.Buf[0] || !shader.Disjoint(x, to) || !shader.Disjoint(to, &c.Buf[1]) {
		return false
	}
	c.N[1], c.F[0], c.Buf[2] = 1, a.F[0], *x
	return true
}

// joinScaleRows has rows of one more matrix be dropped, whose factors are the same, or a sum of outer products of both do it all.
func joinScaleRows(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
	if next == addOuter {
		return scaleInSum(c, a)
	}
	x := &a.Buf[1]
	if next != dropRows || c.N[2] != 0 || a.N[1] == 0 || a.Buf[0] != c.Buf[0] || !shader.Disjoint(x, &c.Buf[0]) || !shader.Disjoint(x, &c.Buf[1]) || !shader.Disjoint(x, &c.Buf[2]) {
		return false
	}
	c.N[2], c.Buf[3] = a.N[1], *x
	c.Stages = c.Stages[:0]
	c.Run("main", shader.Per(c.N[0]*(c.N[1]+c.N[2]), 256))
	return true
}

// scaleInSum has a sum of outer products scale and drop rows as it reads them, and store what it would have found.
func scaleInSum(c *shader.Call, a *compute.Args) bool {
	factors, rows, scaled := c.Buf[0], c.Buf[1], c.Buf[2]
	if c.N[2] == 0 || a.N[0] != c.N[0] || a.N[1] == 1 || a.N[3] != Plain().how || a.Buf[0] != c.Buf[3] || a.Buf[1] != scaled ||
		!shader.Disjoint(&rows, &scaled) || !shader.Disjoint(&factors, &scaled) {
		return false
	}
	*c = shader.Call{Args: *a, Kernel: addOuter, Stages: c.Stages[:0], More: c.More[:0]}
	c.Buf[1], c.Buf[2], c.Buf[3], c.N[4] = rows, factors, scaled, 1
	addOuterCall(c)
	return true
}

// joinSettle has what sums were added to be scaled.
func joinSettle(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
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
func joinNoise(c *shader.Call, next *compute.Kernel, a *compute.Args) bool {
	dst, key, n := &c.Buf[0], c.Key, a.Buf[0].N
	after := max(len(c.More), 1)
	key.Nonce[0] += uint32(after)
	if next != noise || after == shader.MostMore || a.F[0] != c.F[0] || a.Buf[0].Memory != dst.Memory || a.Buf[0].Off != dst.Off+dst.N || a.Key != key {
		return false
	}
	if len(c.More) == 0 {
		c.More = append(c.More, uint32(dst.N))
	}
	dst.N += n
	c.More = append(c.More, uint32(dst.N))
	c.N[0], c.N[1] = dst.N, len(c.More)
	groups, first := 0, 0
	for _, end := range c.More {
		groups, first = groups+shader.Per(int(end)-first, noiseGroup), int(end)
	}
	c.Stages = c.Stages[:0]
	c.Run("main", groups)
	return true
}
