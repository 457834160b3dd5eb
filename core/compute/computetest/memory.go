package computetest

import (
	"context"
	"errors"
	"slices"
)

func checkMemory(c *check) {
	if c.b.Name() == "" {
		c.errorf("Name is empty")
	}
	for _, n := range []int{0, 1, 3, 64, 67, 1000} {
		x := c.b.New(n)
		if x.Len() != n {
			c.errorf("New(%d).Len() = %d", n, x.Len())
		}
		c.reads(x, make([]float32, n), "a new buffer")
		src := c.normals(n)
		kept := slices.Clone(src)
		c.b.Write(x, src)
		for i := range src {
			src[i] = 9 // Write has copied it
		}
		c.reads(x, kept, "what was written")
		c.reads(x, kept[:n/2], "a part")
		c.b.Write(x, src[:n/3])
		copy(kept, src[:n/3])
		c.reads(x, kept, "a buffer written in part")
		c.b.Free(x)
		y := c.b.New(n)
		c.reads(y, make([]float32, n), "a new buffer after one was freed")
		c.b.Free(y)
	}

	x := c.b.New(4)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.b.Read(ctx, make([]float32, 4), x); !errors.Is(err, context.Canceled) {
		c.errorf("Read with a cancelled context: error %v, want %v", err, context.Canceled)
	}
	c.reads(x, make([]float32, 4), "a buffer after a cancelled Read")
}

func (c *check) reads(x interface{ Len() int }, want []float32, what string) {
	got := make([]float32, len(want)+1)
	got[len(want)] = 7
	if err := c.b.Read(context.Background(), got[:len(want)], x); err != nil {
		c.errorf("Read: %v", err)
	}
	if !slices.Equal(got[:len(want)], want) {
		c.errorf("%s of %d reads %v, want %v", what, x.Len(), got[:len(want)], want)
	}
	if got[len(want)] != 7 {
		c.errorf("Read of %d values wrote more", len(want))
	}
}

// checkOrder runs kernels that depend on each other, with no Read in between.
func checkOrder(c *check) {
	const n = 37
	x, y, z := c.b.New(n), c.b.New(n), c.b.New(n)
	a := make([]float32, n)
	want := make([]float32, n)
	for i := range a {
		a[i] = float32(i - 20)
		want[i] = 2*a[i] + 3*(2*a[i]) - 4 // below: z = 2a; y = 3z; x = −4; x += y; x += z
	}
	c.b.Write(x, a)
	c.b.Copy(n, z, x)
	c.b.Scale(n, 2, z)
	clear(a)
	c.b.Write(y, a)
	c.b.Axpy(n, 3, z, y)
	c.b.Fill(n, -4, x)
	c.b.Axpy(n, 1, y, x)
	c.b.Axpy(n, 1, z, x)
	c.b.Free(y)
	c.reads(x, want, "a chain of kernels")
}
