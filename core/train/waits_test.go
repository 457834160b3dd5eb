package train

import (
	"context"
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
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
	check := func(name string, cfg run.Config, first, later int) {
		t.Run(name, func(t *testing.T) {
			want := first
			for i, got := range waitsOf(t, cfg) {
				if got != want {
					t.Errorf("step %d waits %d times, want %d", i+1, got, want)
				}
				want = later
			}
		})
	}
	// A rule's statistic is waited for in the next step, and integer sums where they are
	// noised on this side.
	want := map[string]int{"quantile": 1, "dc-p": 1, "dc-e": 1, "slaclip": 1}
	for _, m := range clip.Methods() {
		check(m.Name, run.Config{Method: m.Name}, 0, want[m.Name])
	}
	check("secure", run.Config{Method: "constant", NoiseMode: "secure"}, 0, 0)
	check("secure, numbers drawn one by one", run.Config{Method: "constant", NoiseMode: "secure", NoiseMultiplier: ptr(0.03)}, 1, 1)
}

// watched keeps how many products were called between the queueing of each report's reading and
// the wait for it.
type watched struct {
	*deferred.Backend
	products int
	between  []int
}

func (b *watched) Run(k *compute.Kernel, a compute.Args) {
	if k.Name == "gemm" {
		b.products++
	}
	b.Backend.Run(k, a)
}

func (b *watched) Fetch(x compute.Buffer) compute.Pending {
	p := b.Backend.Fetch(x)
	if x.Len() == 1 { // the norm of a step
		return p
	}
	return &watchedRead{p, b, b.products}
}

type watchedRead struct {
	compute.Pending
	of *watched
	at int
}

func (p *watchedRead) Wait(ctx context.Context, dst []float32) error {
	p.of.between = append(p.of.between, p.of.products-p.at)
	return p.Pending.Wait(ctx, dst)
}

// TestAStatisticIsWaitedForBehindTheNextPass: a device has the next step's pass over the model to
// run while a statistic is on its way, and the thresholds are those of a run that waits at once.
func TestAStatisticIsWaitedForBehindTheNextPass(t *testing.T) {
	ds := *small(t)
	ds.Test = data.Split{}
	cfg := run.Config{
		Method: "dc-e", Model: run.Model{Kind: "mlp", Hidden: []int{8}}, Accountant: "rdp", ExpectedBatchSize: 20, Steps: 8,
		NoiseMultiplier: ptr(1.0), Seed: ptr(uint64(3)),
	}
	be := &watched{Backend: deferred.New(purego.New())}
	told := func(r *Run) (cs []float64) {
		for e, err := range r.Steps(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, e.Released.MaxGradNorm, float64(e.Released.GradNorm))
			if len(e.Released.Histogram) == 0 {
				t.Errorf("step %d has no histogram", e.Step)
			}
		}
		return cs
	}
	got, want := told(startOn(t, cfg, &ds, be)), told(startOn(t, cfg, &ds, purego.New()))
	if !slices.Equal(got, want) {
		t.Errorf("thresholds and norms %v, want %v", got, want)
	}
	const pass = 3                                    // products: two layers forward, one back
	between := be.between[len(be.between)-cfg.Steps:] // before these the backend is tried
	for i, n := range between {
		if i < cfg.Steps-1 && n != pass {
			t.Errorf("step %d: %d products were called before its statistic was waited for, want %d", i+1, n, pass)
		}
	}
}
