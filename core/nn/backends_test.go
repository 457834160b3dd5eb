package nn

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/simd"
	"clipscope/core/compute/webgpu"
)

// gpu is one for all tests, as its kernels take seconds to compile.
var gpu = sync.OnceValues(func() (*webgpu.Backend, error) { return webgpu.Open(context.Background()) })

// withGPU adds the GPU where there may be one: in a browser's worker.
func withGPU(t testing.TB, all map[string]func() compute.Backend) {
	t.Helper()
	if webgpu.Available() != nil {
		return
	}
	be, err := gpu()
	if err != nil {
		t.Fatal(err)
	}
	all["webgpu"] = func() compute.Backend { return compute.NewScope(be) }
}

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
	withGPU(t, all)
	return all
}
