package nn

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

// backends are all that can run where the test runs, opened by name. Under Node
// the SIMD kernels must be there, or a broken build would pass for a host
// without them.
func backends(t *testing.T) map[string]func() compute.Backend {
	t.Helper()
	all := map[string]func() compute.Backend{
		"purego":   func() compute.Backend { return purego.New() },
		"deferred": func() compute.Backend { return deferred.New(purego.New()) },
	}
	switch _, err := simd.New(); {
	case err == nil:
		all["simd"] = func() compute.Backend {
			be, err := simd.New()
			if err != nil {
				t.Fatal(err)
			}
			return be
		}
	case !errors.Is(err, simd.ErrNone):
		t.Fatal(err)
	case runtime.GOOS == "js" && os.Getenv("CLIPSCOPE_SIMD") != "none":
		t.Fatalf("no SIMD kernels under Node: %v (run the tests through web/go_wasm_exec.mjs)", err)
	}
	computetest.WithGPU(t, all)
	return all
}
