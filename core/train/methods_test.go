package train

import (
	"math"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// finishOn runs cfg to its end on a backend of its own.
func finishOn(t *testing.T, open func() compute.Backend, cfg run.Config, ds *data.Dataset) ([]run.Event, run.Result) {
	t.Helper()
	be := open()
	defer be.Close()
	p, err := New(cfg, ds, be)
	if err != nil {
		t.Fatal(err)
	}
	return finish(t, p)
}

// eachMethod runs f for every registered method on every backend.
func eachMethod(t *testing.T, f func(t *testing.T, m clip.Info, open func() compute.Backend)) {
	for name, open := range backends(t) {
		for _, m := range clip.Methods() {
			t.Run(name+"/"+m.Name, func(t *testing.T) { f(t, m, open) })
		}
	}
}

// TestEveryMethodOnDigits: a few steps on drawn digits teach a small network
// something, whatever clips its gradients. Batches are larger than what goes
// through the network at once.
func TestEveryMethodOnDigits(t *testing.T) {
	ds := data.Digits(1, 600, 200)
	eachMethod(t, func(t *testing.T, m clip.Info, open func() compute.Backend) {
		cfg := run.Config{
			Method: m.Name, Model: run.Model{Kind: "mlp", Hidden: []int{16}}, NoiseMultiplier: ptr(0.5),
			ExpectedBatchSize: 100, Steps: 16, LearningRate: 1, Seed: ptr(uint64(1)), MaxPhysicalBatchSize: 48,
		}
		switch m.Name {
		case "norm-bound":
			cfg.Model = run.Model{Kind: "softmax"} // its proof ends where a hidden layer begins
		case "value":
			// Its bound is loose, so its steps are short and noise looms large.
			cfg.LearningRate, cfg.NoiseMultiplier = 10, ptr(0.05)
		case "value-tight":
			cfg.LearningRate = 5
		case "coordinate":
			cfg.LearningRate, cfg.NoiseMultiplier = 10, ptr(0.05)
		case "adaclip":
			cfg.LearningRate = 2
		}
		events, r := finishOn(t, open, cfg, ds)
		if len(events) != cfg.Steps || r.Steps != cfg.Steps {
			t.Fatalf("%d events and %d steps, want %d", len(events), r.Steps, cfg.Steps)
		}
		// Guessing gets 10 %; on 200 rows that is 18.5 % at 4 standard deviations.
		if !(r.TestAccuracy > 0.25) {
			t.Errorf("accuracy %.3f after %d steps", r.TestAccuracy, r.Steps)
		}
		if eps := float64(r.Epsilon); m.Private == math.IsInf(eps, 1) || math.IsNaN(eps) {
			t.Errorf("ε = %v, private: %v", eps, m.Private)
		}
		for i, c := range r.Released.MaxGradNorm {
			if !(c > 0) || math.IsInf(c, 1) {
				t.Fatalf("C = %v at step %d", c, i+1)
			}
		}
	})
}

// TestEveryMethodOnRegression: the same for squared loss and a linear model.
func TestEveryMethodOnRegression(t *testing.T) {
	ds := data.LinearTruth(1, 1000, 200, 8)
	eachMethod(t, func(t *testing.T, m clip.Info, open func() compute.Backend) {
		cfg := run.Config{
			Method: m.Name, Model: run.Model{Kind: "linear"}, NoiseMultiplier: ptr(0.5),
			ExpectedBatchSize: 100, Steps: 40, LearningRate: 0.2, Seed: ptr(uint64(2)), Scaling: run.Scaling{Kind: "none"},
		}
		if m.Name == "adaclip" {
			cfg.Params = map[string]float64{"h2": 1}
		}
		_, r := finishOn(t, open, cfg, ds)
		// Predicting 0 loses ½·(1 + 0.01).
		if !(r.TestLoss < 0.25) {
			t.Errorf("test loss %.3f, 0.505 before training", r.TestLoss)
		}
	})
}

// TestMicroBatchEqualsConstant: one example at a time is another way to the
// same sum.
func TestMicroBatchEqualsConstant(t *testing.T) {
	digits := data.Digits(2, 200, 0)
	for name, open := range backends(t) {
		for _, c := range []struct {
			name  string
			model run.Model
			ds    *data.Dataset
			rows  float64
		}{
			{"softmax", run.Model{Kind: "softmax"}, small(t), 100},
			{"tanh", run.Model{Kind: "mlp", Hidden: []int{6, 5}, Activation: "tanh"}, small(t), 50},
			{"digits", run.Model{Kind: "mlp", Hidden: []int{16}}, digits, 20},
			{"regression", run.Model{Kind: "linear"}, data.MeanEstimation(100, 5), 1},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				var got [2]run.Result
				for i, method := range []string{"constant", "micro-batch"} {
					cfg := run.Config{
						Method: method, Model: c.model, NoiseMultiplier: ptr(1.0), MaxGradNorm: 0.5,
						ExpectedBatchSize: c.rows, Steps: 10, LearningRate: 0.5, Seed: ptr(uint64(4)),
					}
					_, got[i] = finishOn(t, open, cfg, c.ds)
				}
				a, b := got[0].Released.Parameters, got[1].Released.Parameters
				if len(a) == 0 || len(a) != len(b) {
					t.Fatalf("%d and %d parameters", len(a), len(b))
				}
				for i := range a {
					if !(math.Abs(float64(a[i]-b[i])) <= 1e-5) {
						t.Fatalf("parameter %d is %g one way, %g the other", i, a[i], b[i])
					}
				}
				if got[0].Epsilon != got[1].Epsilon {
					t.Errorf("ε differs: %v and %v", got[0].Epsilon, got[1].Epsilon)
				}
			})
		}
	}
}

// TestBackendsAgree holds the first steps of every method against purego's: few
// enough that rounding has not been amplified yet.
func TestBackendsAgree(t *testing.T) {
	ds := small(t)
	plan := func(method string) run.Config {
		c := run.Config{
			Method: method, Model: run.Model{Kind: "mlp", Hidden: []int{9}}, NoiseMultiplier: ptr(0.5),
			ExpectedBatchSize: 64, Steps: 3, LearningRate: 0.1, Seed: ptr(uint64(5)),
		}
		if method == "norm-bound" {
			c.Model = run.Model{Kind: "softmax"}
		}
		return c
	}
	reference := backends(t)["purego"]
	eachMethod(t, func(t *testing.T, m clip.Info, open func() compute.Backend) {
		_, want := finishOn(t, reference, plan(m.Name), ds)
		_, got := finishOn(t, open, plan(m.Name), ds)
		for i, w := range want.Released.Parameters {
			if g := got.Released.Parameters[i]; !(math.Abs(float64(g-w)) <= 1e-4) {
				t.Fatalf("parameter %d is %g, on purego %g", i, g, w)
			}
		}
	})
}
