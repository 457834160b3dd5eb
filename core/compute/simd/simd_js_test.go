package simd_test

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
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

func TestSuite(t *testing.T) {
	t.Logf("kernels: %s", open(t).Kind())
	computetest.RunAll(t, func() compute.Backend { return open(t) })
}
