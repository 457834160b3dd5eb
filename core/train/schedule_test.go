package train

import (
	"slices"
	"testing"

	"clipscope/core/optim"
	"clipscope/core/run"
)

// watchedRate notes the rate of each step.
type watchedRate struct {
	optim.Optimizer
	set []float64
}

func (r *watchedRate) SetRate(rate float64) {
	r.set = append(r.set, rate)
	r.Optimizer.SetRate(rate)
}

// TestEachStepHasItsRate: the optimiser has the schedule's rate in every step, and the step's event tells it.
func TestEachStepHasItsRate(t *testing.T) {
	t.Parallel()
	for _, schedule := range append(run.Schedules(), "") {
		cfg := run.Config{
			LearningRate: 0.1, LearningRateSchedule: schedule, WarmupSteps: 3, WeightDecay: 0.01, Steps: 12, ExpectedBatchSize: 20,
			NoiseMultiplier: ptr(1.0), Seed: ptr(uint64(1)), Accountant: "rdp",
		}
		var want []float64
		for k := range cfg.Steps {
			want = append(want, cfg.RateAt(k, cfg.Steps))
		}
		r := started(t, cfg, firstRows(t))
		watched := &watchedRate{Optimizer: r.opt}
		r.opt = watched
		events, _ := finish(t, r)
		r.Close()
		for i, e := range events {
			if e.Released.LearningRate != want[i] {
				t.Errorf("%q: step %d tells a rate of %v, want %v", schedule, e.Step, e.Released.LearningRate, want[i])
			}
		}
		if !slices.Equal(watched.set, want) {
			t.Errorf("%q: rates %v, want %v", schedule, watched.set, want)
		}
	}
}
