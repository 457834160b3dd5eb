package train

import (
	"clipscope/core/compute"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"clipscope/core/run"
)

// evals is how often a run tests itself while it goes on, on evalRows rows at
// most: enough for a curve, and a few per cent of the time. The result is
// measured on all rows.
const (
	evals    = 20
	evalRows = 1000
)

// Run takes the plan's steps, yielding an event after each. To pause is to stop
// pulling; to stop is to break off. A plan runs once, and no further than it was
// planned: a second run of the same plan would add the same noise to other
// gradients.
//
// Guarantee: what has been released, and the step at which the run was broken off
// if released values alone decided that, cost the ε of the whole plan. In a blind
// run no diagnostic is yielded that could decide it.
func (p *Plan) Run(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		if err := p.begin(ctx); err != nil {
			yield(run.Event{}, err)
			return
		}
		for p.st.done < p.steps {
			e, err := p.next(ctx)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (p *Plan) begin(ctx context.Context) (err error) {
	switch {
	case p.st != nil:
		return errors.New("train: a plan runs once; make a new one")
	case p.be == nil:
		return errors.New("train: the plan has no backend to run on")
	}
	if err := p.openScale(); err != nil {
		return err
	}
	if err := p.openPCA(ctx, p.capacity()); err != nil {
		return err
	}
	p.st, err = p.start(ctx)
	return err
}

func (p *Plan) next(ctx context.Context) (run.Event, error) {
	if err := ctx.Err(); err != nil {
		return run.Event{}, fmt.Errorf("train: step %d: %w", p.st.done+1, err)
	}
	e, err := p.step(ctx)
	if err != nil {
		return e, err
	}
	if p.cfg.Blind {
		e.Diag = nil
		return e, nil
	}
	if every := max(1, p.steps/evals); e.Step%every == 0 || e.Step == 1 {
		if e.Diag.Eval, err = p.evaluate(ctx, evalRows); err != nil {
			return e, err
		}
	}
	return e, nil
}

// evaluate measures loss and accuracy on the first limit test rows; nil where
// there are none.
func (p *Plan) evaluate(ctx context.Context, limit int) (*run.Eval, error) {
	n := min(limit, p.ds.Test.N)
	if n == 0 {
		return nil, nil
	}
	s := p.st
	loss, correct := 0.0, 0
	rows := make([]int, 0, s.model.Capacity)
	for lo := 0; lo < n; lo += len(rows) {
		rows = rows[:0]
		for i := lo; i < min(n, lo+s.model.Capacity); i++ {
			rows = append(rows, i)
		}
		l, c, err := p.test(ctx, rows)
		if err != nil {
			return nil, fmt.Errorf("train: testing: %w", err)
		}
		loss += l
		correct += c
	}
	e := &run.Eval{Rows: n, Loss: run.Number(loss / float64(n)), Accuracy: run.Number(math.NaN())}
	if correct >= 0 {
		e.Accuracy = run.Number(float64(correct) / float64(n))
	}
	return e, nil
}

// test returns the summed loss and the hits on a physical batch of test rows.
func (p *Plan) test(ctx context.Context, rows []int) (loss float64, correct int, err error) {
	s, n := p.st, len(rows)
	p.load(&p.ds.Test, rows)
	s.model.Forward(s.x, n)
	losses := s.model.Losses(s.targets)
	if err := compute.Read(ctx, p.be, s.host.losses[:n], losses); err != nil {
		return 0, 0, err
	}
	if err := s.model.ReadOutputs(ctx, s.host.outputs); err != nil {
		return 0, 0, err
	}
	for _, l := range s.host.losses[:n] {
		loss += float64(l)
	}
	return loss, hits(p.ds.Task, s.host.outputs, s.host.targets, n, s.model.Outputs()), nil
}

// Result measures the model on all test rows and gathers what the run leaves,
// whether it ended or was stopped.
func (p *Plan) Result(ctx context.Context) (run.Result, error) {
	nan := run.Number(math.NaN())
	// Stopped before the first step: bounds or directions may have been worked out
	// for it, but nothing of them leaves.
	if p.st == nil || p.st.done == 0 {
		return run.Result{
			PlannedSteps: p.steps, Stopped: true, Blind: p.cfg.Blind, Delta: p.cfg.TargetDelta, Accountant: p.cfg.Accountant, TestAccuracy: nan, TestLoss: nan,
			Backend: p.info.Backend, Guarantee: "Nothing was trained and nothing was released.",
			Released: run.Summary{NoiseMultiplier: p.sigma, SampleRate: p.rate},
		}, nil
	}
	r := run.Result{
		Steps: p.st.done, PlannedSteps: p.steps, Stopped: p.st.done < p.steps, Blind: p.cfg.Blind,
		Epsilon: run.Number(p.curve.Epsilon(p.steps)), EpsilonAtStep: run.Number(p.epsilonAt(p.st.done)), Delta: p.cfg.TargetDelta, Accountant: p.cfg.Accountant,
		TestAccuracy: nan, TestLoss: nan, TrainSeconds: p.st.trainSeconds, Backend: p.be.Name(),
		Guarantee: p.guarantee(p.st.done), Notes: p.notes,
		Released: run.Summary{NoiseMultiplier: p.sigma, SampleRate: p.rate, MaxGradNorm: p.st.thresholds},
	}
	p.statement(p.st.done, &r)
	if it := p.st.iterate; it != nil {
		it.restore(p.st.params, p.st.done)
		p.st.iterate = nil
	}
	eval, err := p.evaluate(ctx, p.ds.Test.N)
	if err != nil {
		return r, err
	}
	if eval != nil {
		r.TestAccuracy, r.TestLoss = eval.Accuracy, eval.Loss
	}
	r.Released.Parameters = make([]float32, p.spec.Params())
	return r, p.readAll(ctx, r.Released.Parameters, p.st.params)
}
