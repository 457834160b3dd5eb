package computetest

import (
	"context"
	"errors"
	"fmt"
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

// gpu is the GPU that all tests of a program share.
var gpu = sync.OnceValues(func() (*webgpu.Backend, error) { return webgpu.Open(context.Background()) })

// Backends returns the back ends on which layers and methods are tested where a test runs, opened
// by name: what is Go alone natively, where it is fast; "purego" and "simd" under Node, and there
// "simd" alone with CLIPSCOPE_THREADS, which is nothing to the others; the GPU and "simd" in a
// browser's worker, which has other kernels than Node.
func Backends(t testing.TB) map[string]func() compute.Backend {
	t.Helper()
	all := map[string]func() compute.Backend{}
	be := Fast(t)
	defer be.Close()
	if be.Name() == "purego" {
		all["deferred"] = func() compute.Backend { return deferred.New(purego.New()) }
	} else {
		all[be.Name()] = func() compute.Backend { return Fast(t) }
	}
	if webgpu.Available() == nil {
		be, err := gpu()
		must(t, err)
		all["webgpu"] = func() compute.Backend { return compute.NewScope(be) }
	} else if os.Getenv("CLIPSCOPE_THREADS") == "" || be.Name() == "purego" {
		all["purego"] = func() compute.Backend { return purego.New() }
	}
	return all
}

// Fast opens the quickest backend there is, but for a GPU. Under Node the SIMD kernels must
// be there, or a broken build would pass for a host without them.
func Fast(t testing.TB) compute.Backend {
	t.Helper()
	be, err := simd.New()
	if !errors.Is(err, simd.ErrNone) {
		must(t, err)
		return be
	}
	if runtime.GOOS == "js" && os.Getenv("CLIPSCOPE_SIMD") != "none" {
		must(t, fmt.Errorf("%w under Node: run the tests through web/go_wasm_exec.mjs", err))
	}
	return purego.New()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
