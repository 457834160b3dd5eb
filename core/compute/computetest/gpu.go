package computetest

import (
	"context"
	"sync"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/webgpu"
)

// gpu is one for all tests of a program.
var gpu = sync.OnceValues(func() (*webgpu.Backend, error) { return webgpu.Open(context.Background()) })

// WithGPU adds the GPU to the backends of a test where there may be one: in a browser's
// worker, where it must not be missing then.
func WithGPU(t testing.TB, all map[string]func() compute.Backend) {
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
