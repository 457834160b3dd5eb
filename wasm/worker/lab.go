package worker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/lab"
	"clipscope/core/run"
)

// Looker is a Trainer whose batches can be looked at. A tuning cannot.
type Looker interface {
	Look(ctx context.Context, batch int) (Gradients, error)
}

// Gradients answers questions about the gradients of a batch.
type Gradients interface {
	Len() int
	Told() run.Look
	At(w clip.Weight, c float64, factors []float64) lab.Point
	Estimate(c float64) float64
	Draws(ctx context.Context, c float64, draws int) (run.Draws, error)
	Boundary(ctx context.Context, size int) (run.Boundary, error)
}

// laboratory opens a bench on the open data, or on built-in data.
type laboratory struct {
	mail  mail
	plans *planner
	bench *bench // nil until one has been opened
}

// bench is a run that is advanced by hand, and the batch of it that is looked at.
type bench struct {
	prepared
	be        compute.Backend
	trainer   Trainer
	batch     int // its number
	gradients Gradients
}

func (b *bench) close() {
	if b.trainer != nil {
		b.trainer.Close()
	}
	b.be.Close()
}

// open replaces the bench by a new one, once that is ready.
func (l *laboratory) open(q run.LabRequest) (any, error) {
	if q.Config.Backend == "" || q.Config.Backend == "auto" {
		q.Config.Backend = "simd" // a GPU's steps end after they are told, and a batch is read whole
	}
	if q.Config.Seed == nil {
		seed, err := drawnSeed()
		if err != nil {
			return nil, err
		}
		q.Config.Seed = &seed
	}
	q.Config.DiagnosticsEvery = 0 // the batch is looked at, and not those that are trained on
	p, err := l.plans.prepare(q.Config)
	if err != nil {
		return nil, err
	}
	be, _, err := p.on.Open()
	if err != nil {
		return nil, err
	}
	b := &bench{prepared: p, be: be}
	if err := b.restart(); err != nil {
		b.close()
		return nil, err
	}
	if l.bench != nil {
		l.bench.close()
	}
	l.bench = b
	return b.gradients.Told(), nil
}

// drawnSeed draws a seed that a number of JavaScript's can hold, and that people can type.
func drawnSeed() (uint64, error) {
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("worker: a seed: %w", err)
	}
	return uint64(binary.LittleEndian.Uint32(b[:])), nil
}

// restart goes to the first parameters.
func (b *bench) restart() error {
	trainer, err := b.plan.Start(context.Background(), b.ds, b.be)
	if err != nil {
		return err
	}
	if _, ok := trainer.(Looker); !ok {
		trainer.Close()
		return &run.ConfigError{Field: "tuning", Message: "the laboratory looks at one run; leave tuning out"}
	}
	if b.trainer != nil {
		b.trainer.Close()
	}
	b.trainer = trainer
	return b.look()
}

func (b *bench) look() (err error) {
	b.gradients, err = b.trainer.(Looker).Look(context.Background(), b.batch)
	return err
}

// advance takes so many steps, or as many as are left of the plan, and calls onStep after
// each.
func (b *bench) advance(steps int, onStep func(step int)) error {
	taken := 0
	for e, err := range b.trainer.Steps(context.Background()) {
		if err != nil {
			return err
		}
		onStep(e.Step)
		if taken++; taken == steps {
			break
		}
	}
	if taken == 0 {
		return &run.ConfigError{Field: "steps", Message: "the run has taken all of its steps; go back to its start, or plan more"}
	}
	return nil
}

var errNoLab = errors.New("worker: no laboratory is open here; open one first")

// onBench returns a handler that has f answer a question about the bench.
func onBench[Q any](l *laboratory, f func(*bench, Q) (any, error)) handler {
	return question(func(q Q) (any, error) {
		if l.bench == nil {
			return nil, errNoLab
		}
		return f(l.bench, q)
	})
}

func (l *laboratory) look(r Request, q run.LookRequest) (any, error) {
	b := l.bench
	if b == nil {
		return nil, errNoLab
	}
	if q.Again {
		b.batch++
	}
	if q.Back {
		if err := b.restart(); err != nil {
			return nil, err
		}
	}
	if q.Steps > 0 {
		progress, steps := l.mail.throttle(progressEvery), b.plan.Info().Steps
		err := b.advance(q.Steps, func(step int) {
			if progress.open() {
				l.mail.send(ProgressType, r.ID, run.LabProgress{Step: step, Steps: steps})
				l.mail.yield()
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if err := b.look(); err != nil {
		return nil, err
	}
	return b.gradients.Told(), nil
}

// weightOf returns a method's weight function.
func weightOf(method string, params map[string]float64) (clip.Weight, error) {
	c, err := lab.Clipper(method, params)
	if pe := (*clip.ParamError)(nil); errors.As(err, &pe) {
		return nil, &run.ConfigError{Field: pe.Key, Message: pe.Message}
	}
	if err != nil {
		return nil, &run.ConfigError{Field: "method", Message: method + ": " + strings.TrimPrefix(err.Error(), "lab: ")}
	}
	return c.Weight, nil
}

func (b *bench) clipping(q run.ClipRequest) (any, error) {
	w, err := weightOf(q.Method, q.Params)
	if err != nil {
		return nil, err
	}
	g := b.gradients
	r := run.ClipReply{MaxGradNorm: q.MaxGradNorm}
	factors := make([]float64, g.Len())
	for _, c := range q.MaxGradNorm {
		p := g.At(w, c, factors)
		r.Bias2, r.Clipped = append(r.Bias2, run.Number(p.Bias2)), append(r.Clipped, run.Number(p.Clipped))
		r.Along, r.Across = append(r.Along, run.Number(p.Along)), append(r.Across, run.Number(p.Across))
		r.Cosine = append(r.Cosine, run.Number(p.Cosine))
	}
	if q.Factors {
		r.Factors = factors
	}
	return r, nil
}

func (b *bench) estimate(q run.EstimateRequest) (any, error) {
	r := run.EstimateReply{MaxGradNorm: q.MaxGradNorm}
	for _, c := range q.MaxGradNorm {
		e := b.gradients.Estimate(c)
		if b.gradients.Len() == 0 {
			e = math.NaN()
		}
		r.Bias2 = append(r.Bias2, run.Number(e))
	}
	return r, nil
}

func (b *bench) draws(q run.DrawsRequest) (any, error) {
	return b.gradients.Draws(context.Background(), q.MaxGradNorm, q.Draws)
}

func (b *bench) boundary(q run.BoundaryRequest) (any, error) {
	return b.gradients.Boundary(context.Background(), q.Size)
}
