//go:build !(js && wasm)

package simd_test

import (
	"errors"
	"testing"

	"clipscope/core/compute/simd"
)

func TestNewFailsOutsideOfWebAssembly(t *testing.T) {
	if b, err := simd.New(); b != nil || !errors.Is(err, simd.ErrNone) {
		t.Errorf("New() = %v, %v; want nil and an error that wraps %v", b, err, simd.ErrNone)
	}
}
