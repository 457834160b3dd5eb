package train

import (
	"math"
	"slices"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/optim"
	"clipscope/core/run"
)

// watchedNoise notes what the optimiser is told of each step's noise.
type watchedNoise struct {
	optim.Optimizer
	told []float64
}

func (w *watchedNoise) SetNoise(variance float64) {
	w.told = append(w.told, variance)
	w.Optimizer.SetNoise(variance)
}

// TestOptimisersAreToldTheNoise: of every method whose noise has one variance, the variance that the
// optimiser is told is that of what a step without rows leaves in the gradient: 4,000 numbers, so
// that six deviations are 13 %.
func TestOptimisersAreToldTheNoise(t *testing.T) {
	t.Parallel()
	ds := firstRows(t)
	check := func(name string, cfg run.Config) {
		t.Run(name, func(t *testing.T) {
			cfg.Model = run.Model{Kind: "mlp", Hidden: []int{60, 60}}
			cfg.Steps, cfg.ExpectedBatchSize, cfg.NoiseMultiplier, cfg.LearningRate = 1, 1e-3, ptr(1.3), 1e-3
			cfg.Accountant, cfg.Optimizer, cfg.Seed, cfg.MaxGradNorm = "rdp", "adam-bc", ptr(uint64(4)), 0.7
			r := started(t, cfg, ds)
			defer r.Close()
			watched := &watchedNoise{Optimizer: r.opt}
			r.opt = watched
			if _, err := r.next(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, r.work.gradient.Len())
			if err := compute.Read(t.Context(), r.work.be, got, r.work.gradient); err != nil {
				t.Fatal(err)
			}
			square := 0.0
			for _, v := range got {
				square += float64(v) * float64(v) / float64(len(got))
			}
			if want := watched.told[0]; !(math.Abs(square/want-1) < 6*math.Sqrt(2/float64(len(got)))) {
				t.Errorf("the mean square of %d numbers is %g, and the variance told is %g", len(got), square, want)
			}
		})
	}
	for _, m := range clip.Methods() {
		if m.Private && m.Name != "adaclip" { // which has one for each coordinate
			check(m.Name, run.Config{Method: m.Name})
		}
	}
	check("secure", run.Config{Method: "constant", NoiseMode: "secure"})
}

// TestTheVarianceFollowsTheThreshold: with a threshold that moves the variance told is (σ·C/B)² with
// the C that was released for each step; without noise it is 0.
func TestTheVarianceFollowsTheThreshold(t *testing.T) {
	t.Parallel()
	for _, noise := range []float64{0.7, 0} {
		cfg := run.Config{
			Method: "quantile", Optimizer: "adam-bc", LearningRate: 0.01, Steps: 8, ExpectedBatchSize: 20, MaxGradNorm: 3,
			NoiseMultiplier: &noise, NoPrivacy: noise == 0, Seed: ptr(uint64(1)), Accountant: "rdp",
		}
		r := started(t, cfg, firstRows(t))
		watched := &watchedNoise{Optimizer: r.opt}
		r.opt = watched
		_, res := finish(t, r)
		c := res.Released.MaxGradNorm
		if len(watched.told) != 8 || noise > 0 && slices.Max(c) == slices.Min(c) {
			t.Fatalf("%d steps were told of, thresholds %v", len(watched.told), c)
		}
		for k, have := range watched.told {
			want := math.Pow(r.work.terms.GradNoise*c[k]/20, 2)
			if !(have >= want && have <= want*1.003) {
				t.Errorf("step %d: variance %g, want %g", k+1, have, want)
			}
		}
		r.Close()
	}
}
