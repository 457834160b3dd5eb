//go:build js && wasm

package wasm

import (
	"clipscope/core/compute"
	"clipscope/core/compute/simd"
)

func openSIMD() (compute.Backend, error) {
	be, err := simd.New()
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return be, nil
}
