package train

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/train/traintest"
)

// survived is a run's events and parameters, on a backend that is lost as often as there
// are lives, and then on one that is not.
func survived(t *testing.T, cfg run.Config, ds *data.Dataset, lives ...int) (events []string, parameters []float32, lost int) {
	t.Helper()
	ctx := context.Background()
	next := func() compute.Backend {
		if len(lives) == 0 {
			return purego.New()
		}
		be := &traintest.Fragile{Backend: purego.New(), Life: lives[0]}
		lives = lives[1:]
		return be
	}
	r := startOn(t, cfg, ds, next())
	again := func(err error) {
		if !errors.Is(err, compute.ErrLost) {
			t.Fatal(err)
		}
		lost++
		for len(lives) > 0 && lives[0] < 2 {
			lives = lives[1:]
		}
		if r, err = r.Continue(ctx, next()); err != nil {
			t.Fatal(err)
		}
	}
	for r.reported < r.work.terms.Steps {
		for e, err := range r.Steps(ctx) {
			if err != nil {
				again(err)
				break
			}
			events = append(events, traintest.Told(t, e))
		}
	}
	res, err := r.Outcome(ctx)
	for err != nil {
		again(err)
		res, err = r.Outcome(ctx)
	}
	if res.Steps != cfg.Steps {
		t.Errorf("%d steps, want %d", res.Steps, cfg.Steps)
	}
	r.Close()
	return events, res.Released.Parameters, lost
}

// firstRows is small's first rows, so that testing takes no longer than training.
func firstRows(t *testing.T) *data.Dataset {
	ds := small(t)
	for _, s := range []*data.Split{&ds.Train, &ds.Test} {
		s.N = 120
		s.F32, s.Y = s.F32[:s.N*ds.Features], s.Y[:s.N]
	}
	return ds
}

// A run whose backend is lost, at any moment, tells each step once, and what it tells and
// ends with is what an undisturbed run with its key does, to the bit.
func TestContinueTellsEachStepOnce(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	rng := rand.New(rand.NewPCG(21, 22))
	check := func(name string, cfg run.Config) {
		cfg.Model = run.Model{Kind: "mlp", Hidden: []int{5}}
		if cfg.Method == "norm-bound" {
			cfg.Model = run.Model{Kind: "softmax"}
		}
		cfg.ExpectedBatchSize, cfg.Steps, cfg.LearningRate, cfg.Seed, cfg.Accountant = 24, 14, 0.1, ptr(uint64(9)), "rdp"
		if cfg.Method != "none" {
			cfg.NoiseMultiplier = ptr(0.7)
		}
		t.Run(name, func(t *testing.T) {
			want, end, _ := survived(t, cfg, ds)
			for range 3 {
				lives := []int{3 + rng.IntN(70), 3 + rng.IntN(50)}
				events, parameters, lost := survived(t, cfg, ds, lives...)
				if !slices.Equal(events, want) {
					for i := range min(len(events), len(want)) {
						if events[i] != want[i] {
							t.Errorf("lost at %v: event %d is\n%s\nwant\n%s", lives, i, events[i], want[i])
							break
						}
					}
					t.Fatalf("lost %d times, at %v: %d events, want %d", lost, lives, len(events), len(want))
				}
				if !slices.Equal(parameters, end) {
					t.Fatalf("lost %d times, at %v: other parameters", lost, lives)
				}
			}
		})
	}
	for _, m := range clip.Methods() {
		check(m.Name, run.Config{Method: m.Name})
	}
	for _, optimizer := range []string{"momentum", "adam", "adam-bc"} {
		check(optimizer, run.Config{Method: "constant", Optimizer: optimizer})
	}
	for _, iterate := range []string{"ema", "random"} {
		check(iterate, run.Config{Method: "quantile", Iterate: iterate, Optimizer: "adam"})
	}
	check("secure", run.Config{Method: "constant", NoiseMode: "secure"})
	check("pca", run.Config{Method: "constant", PCA: run.PCA{Components: 1}})
	check("diagnostics", run.Config{Method: "constant", DiagnosticsEvery: 3})
}

// Of a large model's state not every step's is kept: events wait for one that is.
func TestContinueWaitsForAStateThatIsKept(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	cfg := run.Config{
		Method: "quantile", Model: run.Model{Kind: "mlp", Hidden: []int{5}}, NoiseMultiplier: ptr(0.7), Optimizer: "adam",
		ExpectedBatchSize: 24, Steps: 17, LearningRate: 0.1, Seed: ptr(uint64(9)), Accountant: "rdp",
	}
	want, end, _ := survived(t, cfg, ds)
	for life := 3; life < 90; life += 4 {
		be := &traintest.Fragile{Backend: purego.New(), Life: life}
		r := startOn(t, cfg, ds, be)
		r.checkpoints.every = 5
		var events []string
		for r.reported < r.work.terms.Steps {
			for e, err := range r.Steps(context.Background()) {
				if err != nil {
					if r, err = r.Continue(context.Background(), purego.New()); err != nil {
						t.Fatal(err)
					}
					break
				}
				if r.checkpoints != nil && r.checkpoints.last.step <= r.reported-1 {
					t.Fatalf("step %d was reported, and the state kept is that of %d", e.Step, r.checkpoints.last.step)
				}
				events = append(events, traintest.Told(t, e))
			}
		}
		if !slices.Equal(events, want) {
			t.Fatalf("lost at %d: other events", life)
		}
		if res, err := r.Outcome(context.Background()); err == nil && !slices.Equal(res.Released.Parameters, end) {
			t.Fatalf("lost at %d: other parameters", life)
		}
	}
}
