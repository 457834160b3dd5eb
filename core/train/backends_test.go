package train

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/simd"
)

// backends are all that can run where the test runs, opened by name.
func backends(t testing.TB) map[string]func() compute.Backend {
	t.Helper()
	all := map[string]func() compute.Backend{
		"purego":   func() compute.Backend { return purego.New() },
		"deferred": func() compute.Backend { return deferred.New(purego.New()) },
	}
	if hasSIMD(t) {
		all["simd"] = func() compute.Backend { return fast(t) }
	}
	computetest.WithGPU(t, all)
	return all
}

// hasSIMD reports whether the SIMD kernels are there. Under Node they must be,
// or a broken build would pass for a host without them.
func hasSIMD(t testing.TB) bool {
	t.Helper()
	_, err := simd.New()
	switch {
	case err == nil:
		return true
	case !errors.Is(err, simd.ErrNone):
		t.Fatal(err)
	case runtime.GOOS == "js" && os.Getenv("CLIPSCOPE_SIMD") != "none":
		t.Fatalf("no SIMD kernels under Node: %v (run the tests through web/go_wasm_exec.mjs)", err)
	}
	return false
}

// fast opens the quickest backend there is.
func fast(t testing.TB) compute.Backend {
	t.Helper()
	if !hasSIMD(t) {
		return purego.New()
	}
	be, err := simd.New()
	if err != nil {
		t.Fatal(err)
	}
	return be
}
