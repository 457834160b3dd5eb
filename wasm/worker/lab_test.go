package worker

import (
	"context"
	"math"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/lab"
	"clipscope/core/run"
)

// bare is a plan whose runs have two examples with gradients of length 3 and 4, at right
// angles.
type bare struct{ fake }

func (b *bare) Start(ctx context.Context, ds *data.Dataset, be compute.Backend) (Trainer, error) {
	b.done = 0
	return b, nil
}

func (b *bare) Look(_ context.Context, batch int) (Gradients, error) {
	g, err := lab.New([]float32{9, 0, 0, 16}, 2)
	return seen{g, run.Look{Step: b.done, Steps: b.steps, Rows: 2, MaxGradNorm: float64(batch)}}, err
}

type seen struct {
	*lab.Batch
	told run.Look
}

func (s seen) Told() run.Look { return s.told }

func (s seen) Draws(_ context.Context, c float64, draws int) (run.Draws, error) {
	return run.Draws{Draws: draws, Formula: run.Number(c)}, nil
}

func (s seen) Boundary(_ context.Context, size int) (run.Boundary, error) {
	return run.Boundary{Size: size}, nil
}

func TestLaboratoryAnswersOnlyWhileOpen(t *testing.T) {
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return &bare{fake{steps: 5}}, nil })
	for _, kind := range []string{Look, Clipping, Estimate, Draws, Boundary} {
		p.send(kind, 1, `{"method":"constant","max_grad_norm":[1],"draws":2,"size":2}`)
		if kind == Draws {
			continue // its threshold is one number
		}
		p.next(ErrorType) // none is open
	}
	p.next(ErrorType)
	ask := func(kind, text string) run.Message {
		t.Helper()
		p.send(kind, 2, text)
		return p.next(ReplyType)
	}
	if l := decode[run.Look](t, ask(Lab, anyRun)); l.Step != 0 || l.Steps != 5 || l.Rows != 2 {
		t.Errorf("opened: %+v", l)
	}
	if l := decode[run.Look](t, ask(Look, `{"steps":2,"again":true}`)); l.Step != 2 || l.MaxGradNorm != 1 {
		t.Errorf("two steps on, another batch: %+v", l)
	}
	if l := decode[run.Look](t, ask(Look, `{"steps":9}`)); l.Step != 5 {
		t.Errorf("to the end: %+v", l)
	}
	p.send(Look, 3, `{"steps":1}`)
	p.refused("steps")
	if l := decode[run.Look](t, ask(Look, `{"back":true}`)); l.Step != 0 || l.MaxGradNorm != 1 {
		t.Errorf("back: %+v", l)
	}
	r := decode[run.ClipReply](t, ask(Clipping, `{"method":"constant","max_grad_norm":[3,1e6]}`))
	// Clipped to 3 each: (3, 0) and (0, 3), so that (0, 1)/2 is lost.
	if math.Abs(float64(r.Bias2[0])-0.25) > 1e-12 || r.Bias2[1] != 0 || r.Clipped[0] != 0.5 || r.Factors != nil {
		t.Errorf("clipped: %+v", r)
	}
	r = decode[run.ClipReply](t, ask(Clipping, `{"method":"auto-s","params":{"r":0.5},"max_grad_norm":[1],"factors":true}`))
	if len(r.Factors) != 2 || math.Abs(r.Factors[0]-1/3.5) > 1e-12 {
		t.Errorf("weighed: %+v", r)
	}
	if e := decode[run.EstimateReply](t, ask(Estimate, `{"max_grad_norm":[2]}`)); e.Bias2[0] != 2.5 {
		t.Errorf("estimate: %+v", e)
	}
	if d := decode[run.Draws](t, ask(Draws, `{"max_grad_norm":2,"draws":3}`)); d.Draws != 3 || d.Formula != 2 {
		t.Errorf("draws: %+v", d)
	}
	if b := decode[run.Boundary](t, ask(Boundary, `{"size":7}`)); b.Size != 7 {
		t.Errorf("boundary: %+v", b)
	}
	for _, c := range []struct{ kind, text, field string }{
		{Look, `{"steps":-1}`, "steps"},
		{Clipping, `{"method":"adaclip","max_grad_norm":[1]}`, "method"},
		{Clipping, `{"method":"value","max_grad_norm":[1]}`, "method"},
		{Clipping, `{"method":"nothing","max_grad_norm":[1]}`, "method"},
		{Clipping, `{"method":"psac","params":{"r":-1},"max_grad_norm":[1]}`, "r"},
		{Clipping, `{"method":"constant","max_grad_norm":[]}`, "max_grad_norm"},
		{Clipping, `{"method":"constant","max_grad_norm":[0]}`, "max_grad_norm"},
		{Clipping, `{"method":"constant","max_grad_norm":[1,2],"factors":true}`, "max_grad_norm"},
		{Estimate, `{"max_grad_norm":[-1]}`, "max_grad_norm"},
		{Draws, `{"max_grad_norm":1,"draws":1}`, "draws"},
		{Draws, `{"max_grad_norm":1,"draws":1000000}`, "draws"},
		{Boundary, `{"size":100000}`, "size"},
	} {
		p.send(c.kind, 4, c.text)
		p.refused(c.field)
	}
}

// TestOnlyRunsAreLookedAt refuses a trainer that cannot be looked at, and keeps the
// laboratory that was open.
func TestOnlyRunsAreLookedAt(t *testing.T) {
	plain := false
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		if plain {
			return &fake{steps: 2}, nil
		}
		return &bare{fake{steps: 2}}, nil
	})
	p.send(Lab, 1, anyRun)
	p.next(ReplyType)
	plain = true
	p.send(Lab, 2, anyRun)
	p.refused("tuning")
	p.send(Look, 3, `{"steps":1}`)
	if l := decode[run.Look](t, p.next(ReplyType)); l.Step != 1 {
		t.Errorf("the one before: %+v", l)
	}
}

// TestLaboratoriesKeepTheirSeed: a configuration's own is kept; without one, all that is looked
// at comes from one that was drawn, and diagnostics are left out.
func TestLaboratoriesKeepTheirSeed(t *testing.T) {
	var had run.Config
	p := newPage(t, func(c run.Config, _ data.Meta) (Planned, error) {
		had = c
		return &bare{fake{steps: 2}}, nil
	})
	drawn := map[uint64]bool{}
	for _, c := range []struct {
		text string
		want uint64
	}{{`{"config":{"data":"digits","seed":9,"diagnostics_every":1}}`, 9}, {`{"config":{"data":"digits"}}`, 0}, {`{"config":{"data":"digits"}}`, 0}} {
		p.send(Lab, 1, c.text)
		p.next(ReplyType)
		if had.Seed == nil || c.want != 0 && *had.Seed != c.want || had.DiagnosticsEvery != 0 {
			t.Fatalf("%s begins with %+v", c.text, had)
		}
		drawn[*had.Seed] = true
	}
	if len(drawn) != 3 { // two alike are drawn once in four thousand million times
		t.Errorf("the seeds are %v", drawn)
	}
}

// refused waits for a request to be refused for a field.
func (p *page) refused(field string) {
	p.t.Helper()
	m := p.next(ErrorType)
	f := decode[struct {
		Message string
		Detail  struct{ Field string }
	}](p.t, m)
	if f.Detail.Field != field {
		p.t.Errorf("%s is refused, not %s: %s", f.Detail.Field, field, f.Message)
	}
}
