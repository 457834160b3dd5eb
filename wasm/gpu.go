//go:build js && wasm

package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/webgpu"
	"clipscope/core/run"
	"clipscope/wasm/worker"
)

// patience bounds the time in which a browser opens a GPU that was chosen by name. brief bounds that of
// one that is only tried.
const (
	patience = 2 * time.Minute
	brief    = 10 * time.Second
)

// errProgram says that an adapter is not tried because it is software.
var errProgram = errors.New("it is a program, and no GPU")

// findGPU returns the reason why there is no GPU to try; nil: there is one.
func findGPU() error {
	ctx, cancel := context.WithTimeout(context.Background(), brief)
	defer cancel()
	a, err := webgpu.Find(ctx)
	if err == nil && a.Fallback {
		return fmt.Errorf("%s: %w", a.Name, errProgram)
	}
	return inTime(err, brief)
}

// inTime says that an answer took longer than that, where it did.
func inTime(err error, most time.Duration) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the browser gave no answer within %v s", most.Seconds())
	}
	return err
}

// rivalGPU opens a GPU that is timed against SIMD.
func rivalGPU() (compute.Backend, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), brief)
	defer cancel()
	be, err := webgpu.Open(ctx)
	if err != nil {
		return nil, "", inTime(err, brief) // not a nil pointer in an interface
	}
	return be, "", nil
}

// openGPU returns a function that opens the GPU or, where that fails, instead, with a note that says why.
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
		why := withoutGPU(inTime(err, patience), instead)
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
	return fmt.Sprintf("There is no GPU for this run (%v): it runs on %v.", err, run.Place{Backend: instead.Name})
}

// aboutGPU returns a warning of an adapter that is software; "" for a GPU.
func aboutGPU(a webgpu.Adapter) string {
	if !a.Fallback {
		return ""
	}
	return fmt.Sprintf("Computed by WebGPU on an adapter that is a program, not a GPU (%s): slower than SIMD.", a.Name)
}
