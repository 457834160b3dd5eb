//go:build js && wasm

// Package wasm runs the trainer in a worker of its own, one for every run. Messages come
// in and go out; package worker says what they mean and package train does the work.
package wasm

import (
	"context"
	"fmt"
	"time"

	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/compute/simd"
	"clipscope/core/compute/webgpu"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/load"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/train"
	"clipscope/core/tune"
	"clipscope/wasm/party"
	"clipscope/wasm/worker"
)

// Serve answers the page for as long as the worker lives.
func Serve() {
	port, accounts := newPort(), &privacy.Memory{}
	files := load.Loader{Parquet: openParquet}
	rooms := &site{known: map[string][]byte{}}
	session := worker.NewSession(worker.Host{
		Post:    port.post,
		Yield:   newYielder().yield,
		Now:     time.Now,
		Backend: backend,
		New: func(c run.Config, meta data.Meta, given worker.Given) (worker.Planned, error) {
			if c.Tuning.Runs != 0 {
				t, err := tune.New(c, meta)
				if err == nil && given.Start != nil {
					t, err = t.StartFrom(given.Start)
				}
				if err == nil && given.Public != nil {
					t, err = t.MixIn(given.Public)
				}
				if err != nil {
					return nil, err
				}
				return tuning{t}, nil
			}
			p, err := plan.Recall(accounts, c, meta)
			if err == nil && given.Start != nil {
				p, err = p.StartFrom(given.Start)
			}
			if err == nil && given.Public != nil {
				p, err = p.MixIn(given.Public)
			}
			if err != nil {
				return nil, err // not a Plan that is nil in an interface that is not
			}
			return planned{p, rooms}, nil
		},
		Load:        files.Load,
		Files:       files,
		Builtin:     builtin.Make,
		Blob:        newOutgoing,
		Checkpoints: newCheckpointStore(),
		Backbones:   onnx{},
		Features:    features{},
		Transformer: transformer,
		Restore:     restore,
		Agreement:   rooms.agreement,
		Audit:       audit,
	})
	port.listen(session.Handle)
	session.Greet()
	select {}
}

// planned is a [plan.Plan] as the session has it.
type planned struct {
	*plan.Plan
	site *site // where a run of several parties meets
}

func (p planned) StepTime(ctx context.Context, be compute.Backend) (time.Duration, error) {
	return train.StepTime(ctx, p.Plan, be)
}

func (p planned) Start(ctx context.Context, ds *data.Dataset, be compute.Backend) (worker.Trainer, error) {
	r, err := train.Start(ctx, p.Plan, ds, be)
	if err != nil {
		return nil, err
	}
	return trainer{r}, nil
}

func (p planned) Fits(state []byte) error {
	if p.Info().Together != nil {
		return party.Fits(p.Plan, state)
	}
	c, err := train.ReadCheckpoint(state)
	if err != nil {
		return err
	}
	return c.Fits(p.Plan)
}

func (p planned) Resume(ctx context.Context, ds *data.Dataset, be compute.Backend, state []byte, released int) (worker.Trainer, error) {
	c, err := train.ReadCheckpoint(state)
	if err != nil {
		return nil, err
	}
	r, err := train.Resume(ctx, p.Plan, ds, be, c, released)
	if err != nil {
		return nil, err
	}
	return trainer{r}, nil
}

var _ worker.Changer = trainer{}

// trainer is a [train.Run] as the session has it.
type trainer struct{ *train.Run }

func (t trainer) Continue(ctx context.Context, be compute.Backend) (worker.Trainer, error) {
	r, err := t.Run.Continue(ctx, be)
	if err != nil {
		return nil, err
	}
	return trainer{r}, nil
}

func (t trainer) Checkpoint(ctx context.Context) ([]byte, int, error) {
	c, err := t.Run.Checkpoint(ctx)
	if err != nil || c == nil {
		return nil, 0, err
	}
	return c.Append(nil), c.Step(), nil
}

func (t trainer) Look(ctx context.Context, batch int) (worker.Gradients, error) {
	g, err := t.Run.Look(ctx, batch)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// tuning is a [tune.Tuning] as the session has it.
type tuning struct{ *tune.Tuning }

func (t tuning) Start(ctx context.Context, ds *data.Dataset, be compute.Backend) (worker.Trainer, error) {
	u, err := t.Tuning.Start(ctx, ds, be)
	if err != nil {
		return nil, err
	}
	return tuner{u}, nil
}

// tuner is a [tune.Tuner] as the session has it.
type tuner struct{ *tune.Tuner }

func (t tuner) Continue(ctx context.Context, be compute.Backend) (worker.Trainer, error) {
	u, err := t.Tuner.Continue(ctx, be)
	if err != nil {
		return nil, err
	}
	return tuner{u}, nil
}

// backend finds what a configuration names. A fallback is never silent.
func backend(c run.Config) (worker.Backend, error) {
	warn := func(format string, args ...any) []run.Warning {
		return []run.Warning{{Field: "backend", Message: fmt.Sprintf(format, args...)}}
	}
	reference := worker.Backend{Name: "purego", Open: func() (compute.Backend, string, error) { return purego.New(), "", nil }}
	switch c.Backend {
	case "purego":
		return reference, nil
	case "auto", "":
		c.Backend = "simd"
		b, err := backend(c)
		if err != nil || webgpu.Available() != nil {
			return b, err
		}
		instead := b
		b.Rival = &worker.Backend{Name: "webgpu", Find: findGPU, Open: rivalGPU, Instead: &instead}
		return b, nil
	case "simd":
		if err := simd.Available(); err != nil {
			reference.Warnings = warn("SIMD kernels are not available (%v): running on plain Go, many times slower", err)
			return reference, nil
		}
		n, fair, warnings := threads(c)
		return worker.Backend{Name: "simd", Warnings: warnings, Open: openSIMD(n, fair, len(warnings) > 0)}, nil
	case "webgpu":
		c.Backend = "simd"
		instead, err := backend(c)
		if err != nil {
			return worker.Backend{}, err
		}
		if err := webgpu.Available(); err != nil {
			instead.Warnings = append(warn("%s", withoutGPU(err, instead)), instead.Warnings...)
			return instead, nil
		}
		return worker.Backend{Name: "webgpu", Open: openGPU(instead), Instead: &instead}, nil
	default:
		return worker.Backend{}, fmt.Errorf("there is no backend %q; choose auto, simd, purego or webgpu", c.Backend)
	}
}
