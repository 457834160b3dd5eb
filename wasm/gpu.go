//go:build js && wasm

package wasm

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/webgpu"
	"clipscope/wasm/worker"
)

// patience is how long a browser may take to give a GPU.
const patience = 2 * time.Minute

// openGPU opens the GPU, or what there is instead, with a note that says why.
func openGPU(instead worker.Backend) func() (compute.Backend, string, error) {
	return func() (compute.Backend, string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		be, err := webgpu.Open(ctx)
		if err == nil {
			return be, aboutGPU(be.Adapter()), nil
		}
		other, note, err2 := instead.Open()
		if err2 != nil {
			return nil, "", err2
		}
		why := withoutGPU(err, instead)
		for _, w := range instead.Warnings {
			why += " " + w.Message
		}
		if note != "" {
			why += " " + note
		}
		return other, why, nil
	}
}

func withoutGPU(err error, instead worker.Backend) string {
	return fmt.Sprintf("There is no GPU for this run (%v): it runs on %s.", err, instead.Name)
}

// aboutGPU says what a run was computed on.
func aboutGPU(a webgpu.Adapter) string {
	if a.Fallback {
		return fmt.Sprintf("Computed by WebGPU on an adapter that is a program, not a GPU (%s): slower than SIMD.", a.Name)
	}
	return fmt.Sprintf("Computed by WebGPU on %s.", a.Name)
}
