package train

import (
	"context"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
)

// waitsOf is how often each of the first steps of a run on an MLP waited; its
// batches fit into memory whole.
func waitsOf(t *testing.T, cfg run.Config) []int {
	t.Helper()
	be := deferred.New(purego.New())
	cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
	cfg.Accountant, cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Seed = "rdp", 20, 6, 0.1, ptr(uint64(3))
	if cfg.Method != "none" {
		cfg.NoiseMultiplier = ptr(1.0)
	}
	ds := *small(t)
	ds.Test = data.Split{} // testing waits as well, now and then
	p, err := New(cfg, &ds, be)
	if err != nil {
		t.Fatal(err)
	}
	var waits []int
	last := 0
	for e, err := range p.Run(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step > 1 && e.Step < cfg.Steps { // what comes before the first step, and after the last, is apart
			waits = append(waits, be.Waits()-last)
		}
		last = be.Waits()
	}
	return waits
}

func TestWaitsPerStep(t *testing.T) {
	t.Parallel()
	check := func(name string, cfg run.Config, want int) {
		t.Run(name, func(t *testing.T) {
			for i, got := range waitsOf(t, cfg) {
				if got != want {
					t.Errorf("step %d waits %d times, want %d", i+2, got, want)
				}
			}
		})
	}
	want := map[string]int{"none": 3, "adaclip": 12, "value": 22, "value-tight": 14, "per-layer": 5}
	for _, m := range clip.Methods() {
		if m.Name == "micro-batch" {
			continue // waits for each example on its own
		}
		n, ok := want[m.Name]
		if !ok {
			n = 4
		}
		check(m.Name, run.Config{Method: m.Name}, n)
	}
	check("secure", run.Config{Method: "constant", NoiseMode: "secure"}, 8)
}
