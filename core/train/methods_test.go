package train

import (
	"context"
	"math"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// outcome is what these tests look at. Result would also work out the privacy
// statement under every accountant, which takes longer than a small run itself.
type outcome struct {
	events     []run.Event
	parameters []float32
	test       run.Eval // zero where there are no test rows
	thresholds []float64
}

// outcomeOf runs cfg to its end on a backend of its own.
func outcomeOf(t *testing.T, open func() compute.Backend, cfg run.Config, ds *data.Dataset) outcome {
	t.Helper()
	be := open()
	defer be.Close()
	p := startOn(t, cfg, ds, be)
	var o outcome
	ctx := context.Background()
	for e, err := range p.Steps(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		o.events = append(o.events, e)
	}
	o.thresholds = p.thresholds.values
	for _, w := range p.work.model.Params() {
		part := make([]float32, w.Len())
		if err := compute.Read(ctx, be, part, w); err != nil {
			t.Fatal(err)
		}
		o.parameters = append(o.parameters, part...)
	}
	switch eval, err := p.feed.evaluate(ctx, ds.Test.N); {
	case err != nil:
		t.Fatal(err)
	case eval != nil:
		o.test = *eval
	}
	return o
}

// last is the run's last event.
func (o outcome) last() run.Event { return o.events[len(o.events)-1] }

// eachMethod runs f for every registered method on every backend, but for the
// deferred one: TestBackendsAgree holds that against purego.
func eachMethod(t *testing.T, f func(t *testing.T, m clip.Info, open func() compute.Backend)) {
	for name, open := range computetest.Backends(t) {
		if name == "deferred" {
			continue
		}
		for _, m := range clip.Methods() {
			t.Run(name+"/"+m.Name, func(t *testing.T) { f(t, m, open) })
		}
	}
}

// TestEveryMethodLearnsDigits: a few steps on drawn digits teach a small network
// something, whatever clips its gradients. Batches are larger than what goes
// through the network at once.
func TestEveryMethodLearnsDigits(t *testing.T) {
	t.Parallel()
	ds := builtin.Digits(1, 500, 100)
	eachMethod(t, func(t *testing.T, m clip.Info, open func() compute.Backend) {
		cfg := run.Config{
			Method: m.Name, Model: run.Model{Kind: "mlp", Hidden: []int{10}}, NoiseMultiplier: ptr(0.5),
			ExpectedBatchSize: 80, Steps: 16, LearningRate: 1, Seed: ptr(uint64(1)), MaxPhysicalBatchSize: 48,
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
		o := outcomeOf(t, open, cfg, ds)
		if len(o.events) != cfg.Steps || len(o.thresholds) != cfg.Steps {
			t.Fatalf("%d events and %d thresholds, want %d", len(o.events), len(o.thresholds), cfg.Steps)
		}
		// Guessing gets 10 %; on 100 rows that is 22 % at 4 standard deviations.
		t.Logf("accuracy %.2f", o.test.Accuracy)
		if !(o.test.Accuracy > 0.25) {
			t.Errorf("accuracy %.3f after %d steps", o.test.Accuracy, cfg.Steps)
		}
		// Below 0.3 a row moves a sum beyond the end of float noise.
		bounded := m.Private && *cfg.NoiseMultiplier >= 0.3
		if eps := float64(o.last().Released.Epsilon); bounded == math.IsInf(eps, 1) || math.IsNaN(eps) {
			t.Errorf("ε = %v, bounded: %v", eps, bounded)
		}
		for i, c := range o.thresholds {
			if !(c > 0) || math.IsInf(c, 1) {
				t.Fatalf("C = %v at step %d", c, i+1)
			}
		}
	})
}

// TestEveryMethodLearnsRegression: the same for squared loss and a linear model.
func TestEveryMethodLearnsRegression(t *testing.T) {
	t.Parallel()
	ds := builtin.LinearTruth(1, 1000, 200, 8)
	eachMethod(t, func(t *testing.T, m clip.Info, open func() compute.Backend) {
		cfg := run.Config{
			Method: m.Name, Model: run.Model{Kind: "linear"}, NoiseMultiplier: ptr(0.5),
			ExpectedBatchSize: 100, Steps: 40, LearningRate: 0.2, Seed: ptr(uint64(2)), Scaling: run.Scaling{Kind: "none"},
		}
		if m.Name == "adaclip" {
			cfg.Params = map[string]float64{"h2": 1}
		}
		o := outcomeOf(t, open, cfg, ds)
		// Predicting 0 loses ½·(1 + 0.01).
		if !(o.test.Loss < 0.25) {
			t.Errorf("test loss %.3f, 0.505 before training", o.test.Loss)
		}
	})
}

// TestMicroBatchEqualsConstant: one example at a time is another way to the
// same sum.
func TestMicroBatchEqualsConstant(t *testing.T) {
	t.Parallel()
	digits := builtin.Digits(2, 200, 0)
	for name, open := range computetest.Backends(t) {
		for _, c := range []struct {
			name  string
			model run.Model
			ds    *data.Dataset
			rows  float64
		}{
			{"softmax", run.Model{Kind: "softmax"}, small(t), 100},
			{"tanh", run.Model{Kind: "mlp", Hidden: []int{6, 5}, Activation: "tanh"}, small(t), 50},
			{"digits", run.Model{Kind: "mlp", Hidden: []int{16}}, digits, 20},
			{"regression", run.Model{Kind: "linear"}, builtin.MeanEstimation(100, 5), 1},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				var got [2]outcome
				for i, method := range []string{"constant", "micro-batch"} {
					cfg := run.Config{
						Method: method, Model: c.model, NoiseMultiplier: ptr(1.0), MaxGradNorm: 0.5,
						ExpectedBatchSize: c.rows, Steps: 10, LearningRate: 0.5, Seed: ptr(uint64(4)),
					}
					got[i] = outcomeOf(t, open, cfg, c.ds)
				}
				a, b := got[0].parameters, got[1].parameters
				if len(a) == 0 || len(a) != len(b) {
					t.Fatalf("%d and %d parameters", len(a), len(b))
				}
				for i := range a {
					if !(math.Abs(float64(a[i]-b[i])) <= 1e-5) {
						t.Fatalf("parameter %d is %g one way, %g the other", i, a[i], b[i])
					}
				}
				if a, b := got[0].last().Released.Epsilon, got[1].last().Released.Epsilon; a != b {
					t.Errorf("ε differs: %v and %v", a, b)
				}
			})
		}
	}
}

// TestBackendsAgree holds the first steps of every method against purego's: few
// enough that rounding has not been amplified yet.
func TestBackendsAgree(t *testing.T) {
	t.Parallel()
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
	for _, m := range clip.Methods() {
		want := outcomeOf(t, func() compute.Backend { return purego.New() }, plan(m.Name), ds).parameters
		for name, open := range computetest.Backends(t) {
			if name == "purego" {
				continue
			}
			got := outcomeOf(t, open, plan(m.Name), ds).parameters
			for i, w := range want {
				if g := got[i]; !(math.Abs(float64(g-w)) <= 1e-4) {
					t.Errorf("%s on %s: parameter %d is %g, on purego %g", m.Name, name, i, g, w)
					break
				}
			}
		}
	}
}
