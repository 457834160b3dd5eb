package webgpu_test

import (
	"context"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
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
