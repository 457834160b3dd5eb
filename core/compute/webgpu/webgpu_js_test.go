package webgpu_test

import (
	"context"
	"fmt"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/webgpu"
)

// open returns the one backend of these tests, as compiling the kernels takes seconds;
// a browser without an adapter fails the test.
func open(t testing.TB) *webgpu.Backend {
	t.Helper()
	b, err := webgpu.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSuite(t *testing.T) {
	b := open(t)
	defer b.Close()
	t.Logf("adapter: %+v", b.Adapter())
	computetest.RunAll(t, func() compute.Backend { return compute.NewScope(b) })
	t.Logf("%+v", b.Stats())
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
