package simd_test

import (
	"context"
	"math"
	"math/rand/v2"
	"syscall/js"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/kernel/adaclip"
	"clipscope/core/compute/simd"
)

// open returns the backend; a host without kernels fails the test, since
// nothing else would notice that the kernels went untested.
func open(t testing.TB) *simd.Backend {
	t.Helper()
	b, err := simd.New()
	if err != nil {
		t.Fatalf("%v (build them: npm --prefix web run kernels)", err)
	}
	return b
}

func TestBackendPassesTheSuite(t *testing.T) {
	t.Logf("kernels: %s", open(t).Kind())
	computetest.RunAll(t, func() compute.Backend { return open(t) })
}

func TestWrongCallsPanic(t *testing.T) {
	b := open(t)
	x := b.New(6)
	for name, f := range map[string]func(){
		"a size beyond the buffer":  func() { kernel.Fill(b, 7, 0, x) },
		"a negative size":           func() { kernel.Fill(b, -1, 0, x) },
		"a matrix beyond an i32":    func() { kernel.AddRow(b, 1<<16, 1<<16, x, x) },
		"two negative sizes":        func() { kernel.AddRow(b, -2, -3, x, x) },
		"a matrix beyond":           func() { kernel.RowNorms(b, 2, 4, x, x) },
		"a write beyond":            func() { b.Write(x, make([]float32, 7)) },
		"a buffer of another kind":  func() { kernel.Fill(b, 0, 0, compute.Buffer{Memory: foreign{}}) },
		"a buffer that was freed":   func() { y := b.New(3); b.Free(y); kernel.Fill(b, 1, 0, y) },
		"sums beyond":               func() { adaclip.Centre(b, 6, x, x, b.NewSums(4)) },
		"a total of nothing":        func() { adaclip.Total(b, 6, 1, x, x, b.NewSums(0)) },
		"a gemm beyond its operand": func() { kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, 2, 2, 4, x, x, 0, b.New(4)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was accepted")
				}
			}()
			f()
		})
	}
}

type foreign struct{}

// TestMemoryBeginsWithALine: of the cache, 64 bytes. And what was given back is there
// again, or the heap would grow.
func TestMemoryBeginsWithALine(t *testing.T) {
	open(t)
	kernels := js.Global().Get("clipscopeWorker").Get("kernels").Get("imports")
	for _, c := range []struct{ take, giveBack string }{{"alloc", "free"}, {"newSums", "freeSums"}} {
		for n := 1; n < 200; n += 7 {
			at := kernels.Call(c.take, n).Int()
			if at%64 != 0 {
				t.Errorf("%s(%d) is at %d, which no line begins with", c.take, n, at)
			}
			kernels.Call(c.giveBack, at)
			if again := kernels.Call(c.take, n).Int(); again != at {
				t.Errorf("%s(%d) is at %d, and after it was given back at %d", c.take, n, at, again)
			}
			kernels.Call(c.giveBack, at)
		}
	}
}

func TestALabelThatIsNoClassLosesNaN(t *testing.T) {
	b := open(t)
	labels := []float32{-1, 2, 0.5, float32(math.NaN()), float32(math.Inf(1)), 1e30, 1}
	m := len(labels)
	z, l, loss, dz := b.New(2*m), b.New(m), b.New(m), b.New(2*m)
	b.Write(l, labels)
	kernel.Loss(b, kernel.SoftmaxCE, m, 2, z, l, loss, dz)
	got := make([]float32, m)
	if err := compute.Read(context.Background(), b, got, loss); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if isNaN := v != v; isNaN != (i < m-1) {
			t.Errorf("label %v: loss %v", labels[i], v)
		}
	}
}

// TestLeavingOutZerosChangesNoBit: a product that leaves out the zeros of its left operand has the
// same sums, to the bit, as one that does not, as columns too few for that are.
func TestLeavingOutZerosChangesNoBit(t *testing.T) {
	const m, n, k, few = 67, 48, 700, 16
	b := open(t)
	defer b.Close()
	rng := rand.New(rand.NewPCG(5, 6))
	values := func(n int, zeros float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			if rng.Float64() >= zeros {
				v[i] = float32(rng.NormFloat64())
			}
		}
		return v
	}
	made := func(v []float32) compute.Buffer {
		x := b.New(len(v))
		b.Write(x, v)
		return x
	}
	for _, zeros := range []float64{0.55, 0.8, 0.99} {
		x, y, d := values(m*k, zeros), values(k*n, 0), values(m*n, 0)
		for _, p := range []struct {
			name     string
			rows     int // of the right operand
			right    []float32
			multiply func(right compute.Buffer, columns int) []float32
		}{
			{"x·y", k, y, func(right compute.Buffer, columns int) []float32 {
				c := b.New(m * columns)
				kernel.Gemm(b, kernel.NoTrans, kernel.NoTrans, m, columns, k, made(x), right, 0, c)
				return read(t, b, c)
			}},
			{"xᵀ·d", m, d, func(right compute.Buffer, columns int) []float32 {
				s, c := b.NewSums(k*columns), b.New(k*columns)
				kernel.AddOuter(b, m, k, columns, kernel.Plain(), made(x), right, s)
				kernel.Settle(b, k*columns, s, c)
				return read(t, b, c)
			}},
		} {
			got := p.multiply(made(p.right), n)
			for from := 0; from < n; from += few {
				some := make([]float32, 0, p.rows*few)
				for i := range p.rows {
					some = append(some, p.right[i*n+from:i*n+from+few]...)
				}
				for i, want := range p.multiply(made(some), few) {
					if at := i/few*n + from + i%few; got[at] != want {
						t.Fatalf("%s, %v of x zero: value %d is %v, and %v where no zero is left out", p.name, zeros, at, got[at], want)
					}
				}
			}
		}
	}
}

func read(t *testing.T, b compute.Backend, x compute.Buffer) []float32 {
	t.Helper()
	v := make([]float32, x.Len())
	if err := compute.Read(t.Context(), b, v, x); err != nil {
		t.Fatal(err)
	}
	return v
}
