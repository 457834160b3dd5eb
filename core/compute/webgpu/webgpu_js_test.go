package webgpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/webgpu"
)

// open returns a backend; a browser without an adapter fails the test.
func open(t testing.TB) *webgpu.Backend {
	t.Helper()
	if js.Global().Get("clipscopeWorker").Get("gpu").IsUndefined() {
		t.Skip("in a browser alone: web/e2e/adapters.test.mjs runs this there")
	}
	b, err := webgpu.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBackendPassesTheSuite(t *testing.T) {
	b := open(t)
	defer b.Close()
	t.Logf("adapter: %+v", b.Adapter())
	computetest.RunAll(t, func() compute.Backend { return compute.NewScope(b) })
	t.Logf("%+v", b.Stats())
}

// A GPU that is gone is an error for everything that waits, then and later, and nothing
// else.
func TestALostGPUIsAnErrorForEveryWait(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b := open(t)
	defer b.Close()
	x := b.New(4)
	before := b.Fetch(x)
	kernel.Fill(b, 4, 1, x)
	b.Lose()
	var got [4]float32
	for what, err := range map[string]error{"fetched before": before.Wait(ctx, got[:]), "read after": compute.Read(ctx, b, got[:], x)} {
		if !errors.Is(err, compute.ErrLost) {
			t.Errorf("what was %s it was lost: error %v", what, err)
		}
	}
	y := b.New(1 << 22) // more than the heap has
	b.Write(y, got[:])
	kernel.Fill(b, 4, 1, y)
	if err := b.Fetch(y).Wait(ctx, got[:]); !errors.Is(err, compute.ErrLost) {
		t.Errorf("memory made after it was lost reads with error %v", err)
	}
}

// What the GPU has no room for ends in an error where something waits, and in no panic: a
// run goes on without the GPU.
func TestOutOfMemoryIsAnErrorAtAWait(t *testing.T) {
	b := open(t)
	defer b.Close()
	before := b.Fetch(b.New(4))
	x := b.New(math.MaxInt32/4 - 1) // 2 GB, as s is: together more than a binding may have
	s := b.NewSums(math.MaxInt32/8 - 1)
	kernel.Fill(b, 4, 1, x)
	kernel.Clear(b, s)
	var got [4]float32
	lost := func(err error) bool {
		return errors.Is(err, compute.ErrLost) && strings.Contains(err.Error(), "no room for")
	}
	if err := before.Wait(t.Context(), got[:]); err != nil && !lost(err) { // it may have come meanwhile
		t.Errorf("what was fetched before: error %v", err)
	}
	if err := compute.Read(t.Context(), b, got[:], x); !lost(err) {
		t.Errorf("what was read after: error %v", err)
	}
	b.FreeSums(s)
	b.Free(x)
}

// What the heap held is there when it has grown, and what was freed is zero again.
func TestGrowthKeepsWhatTheHeapHeld(t *testing.T) {
	b := open(t)
	defer b.Close()
	x := b.New(1000)
	kernel.Fill(b, 1000, 3, x)
	var all []compute.Buffer
	for range 12 {
		y := b.New(1 << 19)
		kernel.Fill(b, y.N, 7, y)
		all = append(all, y)
	}
	var got [1000]float32
	if err := compute.Read(context.Background(), b, got[:], x); err != nil || got[0] != 3 || got[999] != 3 {
		t.Errorf("read %v … %v, error %v", got[0], got[999], err)
	}
	for _, y := range all {
		b.Free(y)
	}
	y := b.New(1000)
	if err := compute.Read(context.Background(), b, got[:], y); err != nil || got[0] != 0 || got[999] != 0 {
		t.Errorf("new memory reads %v … %v, error %v", got[0], got[999], err)
	}
	if s := b.Stats(); s.Live != 2 {
		t.Errorf("%d parts are in use, want 2", s.Live)
	}
}

// TestProgramsAreCompiledSideBySide: the programs that are called for the first time before something
// waits are all on their way to the compiler at once, and none is compiled twice.
func TestProgramsAreCompiledSideBySide(t *testing.T) {
	b := open(t)
	defer b.Close()
	most := b.CountPipelines()
	before, _ := b.Compiled()
	x, y := b.New(100), b.New(100)
	for range 2 {
		kernel.Fill(b, 100, 4, x)
		kernel.Unary(b, kernel.ReLU, 100, x, y)
		kernel.Scale(b, 100, 0.5, y)
		kernel.Copy(b, 100, x, y)
		var got [1]float32
		if err := compute.Read(t.Context(), b, got[:], x); err != nil || got[0] != 2 {
			t.Fatalf("%v instead of 2, error %v", got[0], err)
		}
		if programs, took := b.Compiled(); programs-before != 3 || most() != 3 || took <= 0 { // and fill when it was opened
			t.Errorf("%d programs were compiled in %v, at most %d side by side; want 3", programs-before, took, most())
		}
	}
}

// BenchmarkGemm is the products of training, and a large one.
func BenchmarkGemm(b *testing.B) {
	be := open(b)
	defer be.Close()
	for _, s := range []struct {
		tA, tB  kernel.Trans
		m, n, k int
	}{
		{kernel.NoTrans, kernel.NoTrans, 128, 128, 784}, {kernel.NoTrans, kernel.NoTrans, 128, 10, 128},
		{kernel.NoTrans, kernel.Transpose, 128, 128, 10}, {kernel.NoTrans, kernel.NoTrans, 512, 512, 512}, {kernel.Transpose, kernel.NoTrans, 512, 512, 512}, {kernel.NoTrans, kernel.Transpose, 512, 512, 512},
	} {
		b.Run(fmt.Sprintf("%dx%dx%d,%v,%v", s.m, s.n, s.k, s.tA, s.tB), func(b *testing.B) {
			x, y, z := be.New(s.m*s.k), be.New(s.k*s.n), be.New(s.m*s.n)
			defer func() { be.Free(x); be.Free(y); be.Free(z) }()
			for b.Loop() {
				kernel.Gemm(be, s.tA, s.tB, s.m, s.n, s.k, x, y, 0, z)
				var one [1]float32
				if err := compute.Read(context.Background(), be, one[:], z); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(2*s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
