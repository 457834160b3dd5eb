//go:build !(js && wasm)

package webgpu

import (
	"context"
	"fmt"

	"clipscope/core/compute"
)

// Backend is no GPU on this platform.
type Backend struct{ compute.Backend }

var errElsewhere = fmt.Errorf("webgpu: %w: only in a browser", ErrNone)

// Available returns the error that Open does.
func Available() error { return errElsewhere }

// Find returns the error that Open does.
func Find(context.Context) (Adapter, error) { return Adapter{}, errElsewhere }

// Open returns an error: WebGPU is a browser's.
func Open(context.Context) (*Backend, error) { return nil, errElsewhere }
