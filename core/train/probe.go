package train

import (
	"context"
	"fmt"

	"clipscope/core/compute"
	"clipscope/core/run"
)

// Step takes one step, and returns its event and the parameters after it: for an audit that
// sees every step. Between two calls nothing else may take steps.
func (r *Run) Step(ctx context.Context) (run.Event, []float32, error) {
	if err := r.step(ctx); err != nil {
		return run.Event{}, nil, err
	}
	after, err := r.work.parameters(ctx)
	if err != nil {
		return run.Event{}, nil, err
	}
	e, err := r.next(ctx)
	return e, after, err
}

// NoisedSum returns the noised sum of a step that is not taken. All that a step releases is
// made from it, and says less: the mean of a sum around a centre is rounded to float32 where
// the centre is, which can be coarser than the noise.
func (r *Run) NoisedSum(ctx context.Context) ([]float64, error) {
	if _, err := r.sum(ctx); err != nil {
		return nil, err
	}
	sum := make([]float32, r.work.terms.Spec.Params())
	if err := compute.Read(ctx, r.work.be, sum, r.work.gradient); err != nil {
		return nil, fmt.Errorf("train: the noised sum: %w", err)
	}
	out := make([]float64, len(sum))
	for i, x := range sum {
		out[i] = float64(x)
	}
	return out, nil
}
