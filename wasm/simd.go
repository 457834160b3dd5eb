//go:build js && wasm

package main

import (
	"errors"

	"clipscope/core/compute"
)

func openSIMD() (compute.Backend, error) { return nil, errors.New("not built") }
