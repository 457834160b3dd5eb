package series

import (
	"math"
	"testing"

	"clipscope/core/run"
)

func TestWeightOfARecord(t *testing.T) {
	for _, c := range []struct {
		cfg        run.Config
		norm, want float64
	}{
		{run.Config{Method: "constant", MaxGradNorm: 1}, 4, 0.25},
		{run.Config{Method: "dc-e", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.5, 1},
		{run.Config{Method: "dc-e", Weight: "auto-s", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.99, 1},
	} {
		w := NewRecord(c.cfg, run.PlanInfo{NoiseMultiplier: 1, Steps: 100}).Weight
		if w == nil {
			t.Errorf("%s has no weight function", c.cfg.Method)
			continue
		}
		if got := w(c.norm, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s %s: w(%v) is %v, want %v", c.cfg.Method, c.cfg.Weight, c.norm, got, c.want)
		}
	}
	for _, name := range []string{"none", "no such method"} {
		if NewRecord(run.Config{Method: name, MaxGradNorm: 1}, run.PlanInfo{NoiseMultiplier: 1, Steps: 100}).Weight != nil {
			t.Errorf("%q has a weight function", name)
		}
	}
}
