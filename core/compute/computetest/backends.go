package computetest

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

// gpu is one for all tests of a program.
var gpu = sync.OnceValues(func() (*webgpu.Backend, error) { return webgpu.Open(context.Background()) })

// Backends are those that layers and methods are tested on where a test runs, opened by
// name: what is Go alone natively, where it is fast; "purego" and "simd" under Node, and
// there "simd" alone with CLIPSCOPE_THREADS, which is nothing to the others; the GPU in a
// browser's worker, in which the other two have their own suites.
func Backends(t testing.TB) map[string]func() compute.Backend {
	t.Helper()
	slow := func() compute.Backend { return purego.New() }
	switch {
	case runtime.GOOS != "js":
		return map[string]func() compute.Backend{"purego": slow, "deferred": func() compute.Backend { return deferred.New(purego.New()) }}
	case webgpu.Available() == nil:
		be, err := gpu()
		if err != nil {
			t.Fatal(err)
		}
		return map[string]func() compute.Backend{"webgpu": func() compute.Backend { return compute.NewScope(be) }}
	}
	all := map[string]func() compute.Backend{}
	if os.Getenv("CLIPSCOPE_THREADS") == "" || !HasSIMD(t) {
		all["purego"] = slow
	}
	if HasSIMD(t) {
		all["simd"] = func() compute.Backend { return Fast(t) }
	}
	return all
}

// HasSIMD reports whether the SIMD kernels are there. Under Node they must be, or a broken
// build would pass for a host without them.
func HasSIMD(t testing.TB) bool {
	t.Helper()
	be, err := simd.New()
	switch {
	case err == nil:
		be.Close()
		return true
	case !errors.Is(err, simd.ErrNone):
		t.Fatal(err)
	case runtime.GOOS == "js" && os.Getenv("CLIPSCOPE_SIMD") != "none":
		t.Fatalf("no SIMD kernels under Node: %v (run the tests through web/go_wasm_exec.mjs)", err)
	}
	return false
}

// Fast opens the quickest backend there is, but for a GPU.
func Fast(t testing.TB) compute.Backend {
	t.Helper()
	if !HasSIMD(t) {
		return purego.New()
	}
	be, err := simd.New()
	if err != nil {
		t.Fatal(err)
	}
	return be
}
