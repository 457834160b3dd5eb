package train

import (
	"math"
	"testing"

	"clipscope/core/run"
)

// TestLanesDifferOnlyInWhatTheyVary has runs of one seed differ in one field: everything
// that is released is the same until the field matters, and the batches always are.
func TestLanesDifferOnlyInWhatTheyVary(t *testing.T) {
	t.Parallel()
	ds := small(t)
	taken := func(set func(*run.Config)) []run.Event {
		cfg := base("constant")
		cfg.Model, cfg.Steps = run.Model{Kind: "softmax"}, 20 // left out, the model would follow from the budget
		set(&cfg)
		events, _ := finish(t, started(t, cfg, ds))
		return events
	}
	plain := taken(func(*run.Config) {})
	for _, c := range []struct {
		name string
		set  func(*run.Config)
		same int // steps whose released values are the same
	}{
		{"nothing", func(*run.Config) {}, 20},
		{"how many steps", func(c *run.Config) { c.Steps = 30 }, 20},
		{"threads", func(c *run.Config) { c.Threads = 2 }, 20},
		// The first step's gradient is taken before a rate is used.
		{"the rate", func(c *run.Config) { c.LearningRate = 0.1 }, 1},
		{"C", func(c *run.Config) { c.MaxGradNorm = 0.1 }, 0},
		{"the method", func(c *run.Config) { c.Method = "auto-s" }, 0},
	} {
		got := taken(c.set)
		same := 0
		for i := range plain {
			a, b := plain[i].Released, got[i].Released
			if a.GradNorm != b.GradNorm || a.MaxGradNorm != b.MaxGradNorm {
				break
			}
			same++
		}
		if same != c.same {
			t.Errorf("%s: %d steps are the same, want %d", c.name, same, c.same)
		}
		for i := range plain {
			if plain[i].Diag.BatchSize != got[i].Diag.BatchSize {
				t.Errorf("%s: batch %d has %d examples in one lane and %d in the other", c.name, i+1, plain[i].Diag.BatchSize, got[i].Diag.BatchSize)
				break
			}
		}
	}
}

// TestLanesShareTheNoise has clipping leave nothing of the gradients: what is left of the
// first released sum is the noise, which is C times the same draw.
func TestLanesShareTheNoise(t *testing.T) {
	t.Parallel()
	ds := small(t)
	first := func(c float64) float64 {
		cfg := base("constant")
		// Of σ = 1e4 the clipped gradients are a part in a hundred or less.
		cfg.Steps, cfg.MaxGradNorm, *cfg.NoiseMultiplier = 1, c, 1e4
		events, _ := finish(t, started(t, cfg, ds))
		return float64(events[0].Released.GradNorm)
	}
	if one, ten := first(0.01), first(0.1); math.Abs(ten/one-10) > 0.2 {
		t.Errorf("the noise is %v at C = 0.01 and %v at ten times that", one, ten)
	}
}
