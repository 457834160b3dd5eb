//go:build js && wasm

// Command wasm is the trainer: the program that runs in a worker of its own for
// every run. It is messages in and messages out; package worker says what they
// mean and package train does the work.
package main

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/train"
	"clipscope/wasm/worker"
)

func main() {
	port := newPort()
	session := worker.NewSession(worker.Host{
		Post:    port.post,
		Yield:   newYielder().yield,
		Now:     time.Now,
		Backend: openBackend,
		New: func(c run.Config, ds *data.Dataset, be compute.Backend) (worker.Trainer, error) {
			p, err := train.New(c, ds, be)
			if err != nil {
				return nil, err // not a Plan that is nil in an interface that is not
			}
			return p, nil
		},
		Load: func(ctx context.Context, trainFiles, testFiles []data.File, opt run.CSV, progress func(data.Progress)) (*data.Dataset, *data.Report, error) {
			return data.Load(ctx, trainFiles, testFiles, opt, progress)
		},
		Builtin: data.Builtin,
		Audit:   audit,
	})
	port.listen(session.Handle)
	session.Greet()
	select {}
}

// openBackend opens what a configuration names. A fallback is never silent.
func openBackend(name string) (be compute.Backend, note string, err error) {
	switch name {
	case "purego":
		return purego.New(), "", nil
	case "auto", "", "simd":
		be, err := openSIMD()
		if err == nil {
			return be, "", nil
		}
		return purego.New(), fmt.Sprintf("SIMD kernels are not available (%v): running on plain Go, many times slower", err), nil
	case "webgpu":
		be, note, err := openBackend("auto")
		if err != nil {
			return nil, "", err
		}
		return be, join(fmt.Sprintf("the webgpu backend does not exist yet: running on %s", be.Name()), note), nil
	default:
		return nil, "", fmt.Errorf("there is no backend %q; choose auto, simd, purego or webgpu", name)
	}
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}
