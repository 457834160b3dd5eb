package train

import (
	"context"
	"errors"
	"slices"
	"testing"

	"clipscope/core/run"
)

// TestAStepListensBetweenPhysicalBatches: between the physical batches of a step others are
// listened to, and a stop that is heard there leaves the run as it was after the step before, with
// a result.
func TestAStepListensBetweenPhysicalBatches(t *testing.T) {
	for mode, blind := range map[string]bool{"float": false, "secure": true} {
		cfg := base("constant")
		cfg.NoiseMode, cfg.MaxPhysicalBatchSize, cfg.Blind = mode, 7, blind
		_, whole := finish(t, started(t, cfg, small(t)))
		pauses := 0

		ctx, stop := context.WithCancel(t.Context())
		listening := run.WithPauses(ctx, func(share float64) {
			if blind && share != 0 || !blind && !(share > 0 && share < 1) {
				t.Errorf("%s: %v of a batch is said to be done", mode, share)
			}
			if pauses++; pauses == 40 {
				stop()
			}
		})
		r := started(t, cfg, small(t))
		var last run.Event
		var broken error
		for e, err := range r.Steps(listening) {
			if broken = err; err == nil {
				last = e
			}
		}
		if !errors.Is(broken, context.Canceled) || pauses != 40 {
			t.Fatalf("%s: after %d pauses %v", mode, pauses, broken)
		}
		result, err := r.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !result.Stopped || result.Steps != last.Step || last.Step < 1 || last.Step >= cfg.Steps {
			t.Errorf("%s: %d steps, the last told is %d", mode, result.Steps, last.Step)
		}

		stopped := started(t, cfg, small(t))
		for e, err := range stopped.Steps(t.Context()) {
			if err != nil || e.Step == last.Step {
				break
			}
		}
		shorter, err := stopped.Result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(result.Released.Parameters, shorter.Released.Parameters) {
			t.Errorf("%s: its parameters are not those after %d steps", mode, last.Step)
		}
		if slices.Equal(result.Released.Parameters, whole.Released.Parameters) {
			t.Errorf("%s: it is the whole run", mode)
		}
	}
}
