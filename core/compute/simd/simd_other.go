//go:build !(js && wasm)

package simd

import (
	"fmt"

	"clipscope/core/compute"
)

// Backend has no kernels on this platform.
type Backend struct{ compute.Backend }

// New returns an error: there is SIMD in WebAssembly only.
func New() (*Backend, error) {
	return nil, fmt.Errorf("simd: %w: only in WebAssembly", ErrNone)
}

// Threads is 1 on this platform.
func (b *Backend) Threads() int { return 1 }

// Kind is empty on this platform.
func (b *Backend) Kind() string { return "" }
