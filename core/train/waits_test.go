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

// waitsOf is how often each of the first steps of a run on an MLP waited. Events
// are reported later, or the oldest report would be waited for.
func waitsOf(t *testing.T, cfg run.Config) []int {
	t.Helper()
	be := deferred.New(purego.New())
	cfg.Model = run.Model{Kind: "mlp", Hidden: []int{8}}
	cfg.Accountant, cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Seed = "rdp", 20, 100, 0.1, ptr(uint64(3))
	if cfg.Method != "none" && cfg.NoiseMultiplier == nil {
		cfg.NoiseMultiplier = ptr(1.0)
	}
	ds := *small(t)
	ds.Test = data.Split{} // testing waits as well, now and then
	r := startOn(t, cfg, &ds, be)
	var waits []int
	last := be.Waits()
	for range 5 {
		if err := r.step(context.Background()); err != nil {
			t.Fatal(err)
		}
		waits = append(waits, be.Waits()-last)
		last = be.Waits()
	}
	for range 5 {
		if _, err := r.next(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if r.reported != 5 || r.done > 5+trailing {
		t.Errorf("%d steps are reported and %d taken", r.reported, r.done)
	}
	return waits
}

func TestNoStepWaitsMoreThanOnce(t *testing.T) {
	t.Parallel()
	check := func(name string, cfg run.Config, want int) {
		t.Run(name, func(t *testing.T) {
			for i, got := range waitsOf(t, cfg) {
				if got != want {
					t.Errorf("step %d waits %d times, want %d", i+1, got, want)
				}
			}
		})
	}
	// A rule's statistic is waited for, and integer sums where they are noised on this
	// side.
	want := map[string]int{"quantile": 1, "dc-p": 1, "dc-e": 1, "slaclip": 1}
	for _, m := range clip.Methods() {
		check(m.Name, run.Config{Method: m.Name}, want[m.Name])
	}
	check("secure", run.Config{Method: "constant", NoiseMode: "secure"}, 0)
	check("secure, numbers drawn one by one", run.Config{Method: "constant", NoiseMode: "secure", NoiseMultiplier: ptr(0.03)}, 1)
}
