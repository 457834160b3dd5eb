package computetest

import (
	"context"
	"errors"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/compute/kernel"
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

	// What is written first, in part, leaves zeros, also where others were.
	for _, n := range []int{60, 64, 67} {
		for _, from := range []int{0, 1, n - 1} {
			y := c.b.New(64)
			kernel.Fill(c.b, 64, 9, y)
			c.reads(y, slices.Repeat([]float32{9}, 64), "a filled buffer")
			c.b.Free(y)
			x := c.b.New(n)
			c.b.Write(x.Slice(from, 1), []float32{5})
			want := make([]float32, n)
			want[from] = 5
			c.reads(x, want, "a new buffer written in part")
			c.b.Free(x)
		}
	}

	x := c.b.New(4)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := compute.Read(ctx, c.b, make([]float32, 4), x); !errors.Is(err, context.Canceled) {
		c.errorf("Read with a cancelled context: error %v, want %v", err, context.Canceled)
	}
	c.reads(x, make([]float32, 4), "a buffer after a cancelled Read")
}

func (c *check) reads(x compute.Buffer, want []float32, what string) {
	got := make([]float32, len(want)+1)
	got[len(want)] = 7
	if err := compute.Read(context.Background(), c.b, got[:len(want)], x); err != nil {
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
	kernel.Copy(c.b, n, z, x)
	kernel.Scale(c.b, n, 2, z)
	clear(a)
	c.b.Write(y, a)
	kernel.Axpy(c.b, n, 3, z, y)
	kernel.Fill(c.b, n, -4, x)
	kernel.Axpy(c.b, n, 1, y, x)
	kernel.Axpy(c.b, n, 1, z, x)
	c.b.Free(y)
	c.reads(x, want, "a chain of kernels")

	// What is fetched is what was there then.
	early := c.b.Fetch(x)
	kernel.Fill(c.b, n, 1, x)
	late := c.b.Fetch(x.Slice(1, 2))
	c.b.Write(x, []float32{9, 9, 9})
	got := make([]float32, n)
	for _, f := range []struct {
		what string
		p    compute.Pending
		want []float32
	}{{"before", late, []float32{1, 1}}, {"long before", early, want}, {"last", c.b.Fetch(x.Slice(2, 2)), []float32{9, 1}}} {
		if err := f.p.Wait(context.Background(), got[:len(f.want)]); err != nil || !slices.Equal(got[:len(f.want)], f.want) {
			c.errorf("what was fetched %s it was written again is %v, %v; want %v", f.what, got[:len(f.want)], err, f.want)
		}
		if !f.p.Done() {
			c.errorf("what has been waited for is not done")
		}
	}
}

// checkFreed has what takes the place of what was freed written to behind those that read
// it, however few of them are waited for.
func checkFreed(c *check) {
	const n = 37
	x := c.b.New(n)
	c.b.Write(x, slices.Repeat([]float32{3}, n))
	before := c.b.Fetch(x)
	c.b.Write(x, slices.Repeat([]float32{4}, n))
	got := make([]float32, n)
	if err := before.Wait(context.Background(), got); err != nil || !slices.Equal(got, slices.Repeat([]float32{3}, n)) {
		c.errorf("what was fetched before a Write is %v, error %v", got, err)
	}
	c.b.Free(x)
	// However many calls there were, what nobody has used yet is zeros.
	for calls := 50; calls < 70; calls++ {
		y, z := c.b.New(4), c.b.New(4)
		c.b.Write(y, make([]float32, 4))
		for range calls {
			kernel.Fill(c.b, 4, 1, y)
		}
		coming := c.b.Fetch(y)
		c.reads(z, make([]float32, 4), "a buffer that nobody has used")
		if err := coming.Wait(context.Background(), got[:4]); err != nil || got[0] != 1 {
			c.errorf("after %d calls %v, error %v", calls, got[:4], err)
		}
		c.b.Free(y)
		c.b.Free(z)
	}

	read, copies := make([]compute.Pending, 200), make([]compute.Buffer, 200)
	for i := range read {
		v, w := c.b.New(n), c.b.New(n)
		copies[i] = w
		c.b.Write(v, slices.Repeat([]float32{float32(i)}, n))
		kernel.Copy(c.b, n, w, v)
		c.b.Free(v)
		u := c.b.New(n)
		c.b.Write(u, slices.Repeat([]float32{-1}, n))
		read[i] = c.b.Fetch(w)
		c.b.Write(w, slices.Repeat([]float32{-2}, n))
		c.b.Free(u)
	}
	for i, p := range read {
		got := make([]float32, n)
		if err := p.Wait(context.Background(), got); err != nil || !slices.Equal(got, slices.Repeat([]float32{float32(i)}, n)) {
			c.errorf("copy %d of what was freed is %v, error %v", i, got, err)
		}
		c.b.Free(copies[i])
	}
}
