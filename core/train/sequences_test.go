package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// names makes rows of eight tokens, of 27: words of one language have mostly small ones,
// those of the other mostly large ones, and a few are none.
func names(n int) *data.Dataset {
	ds := &data.Dataset{Name: "names", Task: data.Classification, Features: 8, Outputs: 2, Classes: []string{"a", "b"}}
	rng := rand.New(rand.NewPCG(3, 9))
	for range n {
		y := rng.IntN(2)
		for range ds.Features {
			x := min(rng.IntN(28), rng.IntN(28))
			if y == 1 {
				x = 27 - x
			}
			ds.Train.F32 = append(ds.Train.F32, float32(x))
		}
		ds.Train.Y = append(ds.Train.Y, float32(y))
	}
	ds.Train.N, ds.Test = n, ds.Train
	ds.Test.N = n
	return ds
}

var (
	ofTokens = run.Model{Layers: []string{"embedding:27:6", "conv:5:1", "tanh", "globalpool", "dense"}}
	// attends has all that a transformer has.
	cells   = run.Model{Layers: strings.Fields("embedding:27:6 lstm:5 lstm:8 last dense")}
	attends = run.Model{Layers: strings.Fields("embedding:27:6 position skip layernorm attention:2 add skip layernorm conv1d:8:1 gelu conv1d:6:1 add layernorm mean dense")}
)

// ofSequences reports whether a method trains models of tokens: an embedding has no Lipschitz bound, and rows of tokens have no
// length that could be bounded.
func ofSequences(m clip.Info) bool {
	return !strings.HasPrefix(m.Name, "value") && m.Name != "norm-bound"
}

// TestTokensAreLearned: every method but these trains an embedding, and every back end to the same
// parameters.
func TestTokensAreLearned(t *testing.T) {
	t.Parallel()
	ds := names(300)
	for _, model := range []run.Model{ofTokens, attends, cells} {
		for _, m := range clip.Methods() {
			if !ofSequences(m) {
				continue
			}
			cfg := run.Config{
				Method: m.Name, Model: model, NoiseMultiplier: ptr(0.1), ExpectedBatchSize: 80, Steps: 3, LearningRate: 0.1,
				Seed: ptr(uint64(1)), MaxPhysicalBatchSize: 48,
			}
			want := outcomeOf(t, func() compute.Backend { return purego.New() }, cfg, ds)
			for name, open := range computetest.Backends(t) {
				if name == "purego" {
					continue
				}
				for i, x := range outcomeOf(t, open, cfg, ds).parameters {
					if w := want.parameters[i]; math.Abs(float64(x-w)) > 1e-4*(1+math.Abs(float64(w))) {
						t.Errorf("%s, %v on %s: parameter %d is %g, on purego %g", m.Name, model.Layers, name, i, x, w)
						break
					}
				}
			}
		}
		cfg := run.Config{Model: model, NoiseMultiplier: ptr(0.5), ExpectedBatchSize: 80, Steps: 60, LearningRate: 1, Seed: ptr(uint64(1))}
		// Guessing gets half; of 300 rows 65 % is 5 standard deviations more.
		if o := outcomeOf(t, func() compute.Backend { return computetest.Fast(t) }, cfg, ds); !(o.test.Accuracy > 0.65) {
			t.Errorf("%v: accuracy %.3f", model.Layers, o.test.Accuracy)
		}
	}
}

// TestNoSequenceAddsMoreThanStated, whatever stands where tokens were expected.
func TestNoSequenceAddsMoreThanStated(t *testing.T) {
	t.Parallel()
	const rows = 400
	ds := hostileRows(rows, 8)
	for i, x := range names(rows).Train.F32 {
		if i/8%2 == 0 {
			ds.Train.F32[i] = x
		}
	}
	for _, m := range clip.Methods() {
		if !m.Private || !ofSequences(m) {
			continue
		}
		for _, size := range []float32{1, 1e6} {
			for _, model := range []run.Model{ofTokens, attends, cells} {
				p := begunWith(t, m.Name, ds, size, model, purego.New())
				if err := overshoot(t, p, 0, rows); err != nil {
					t.Errorf("%s, %v, weights times %g: %v", m.Name, model.Layers, size, err)
				}
			}
		}
	}
}

// TestTokensAreNotScaled: what would make other numbers of tokens is refused, and is not
// chosen by itself.
func TestTokensAreNotScaled(t *testing.T) {
	table := names(300).Meta()
	table.Bounds = []data.Bound{{Lo: 0, Hi: 27}}
	for _, c := range []struct {
		field string
		edit  func(*run.Config)
	}{
		{"", func(*run.Config) {}},
		{"", func(c *run.Config) { c.Scaling.Kind = "none" }},
		{"scaling.kind", func(c *run.Config) { c.Scaling.Kind = "row" }},
		{"scaling.kind", func(c *run.Config) { c.Scaling.Kind = "declared" }},
		{"pca.components", func(c *run.Config) { c.PCA.Components = 3 }},
		{"method", func(c *run.Config) { c.Method = "norm-bound" }},
	} {
		cfg := base("constant")
		cfg.Model = ofTokens
		c.edit(&cfg)
		p, err := plan.New(cfg, table)
		var ce *run.ConfigError
		if c.field != "" {
			if !errors.As(err, &ce) || ce.Field != c.field {
				t.Errorf("want a fault in %s, got %v", c.field, err)
			}
		} else if err != nil || p.Terms().Config.Scaling.Kind != "none" {
			t.Errorf("%v", err)
		}
	}
}

// TestASumOfMillionsIsWithinItsSensitivity: four million rows bring a sum to just below a power of two, from which on numbers
// lie twice as far apart, and one row more takes it beyond; of the four million small ones that follow each is then rounded to
// twice as much, where they are added one by one. A table of tokens adds them so, and other sums add blocks of rows.
func TestASumOfMillionsIsWithinItsSensitivity(t *testing.T) {
	if testing.Short() {
		t.Skip("eight million rows, several times")
	}
	t.Parallel()
	const large, all = 1 << 22, 1<<23 + 1 // and the last one is the one more
	ds := &data.Dataset{Name: "token", Task: data.Regression, Features: 1, Outputs: 1, Train: data.Split{N: all, F32: make([]float32, all), Y: make([]float32, all)}}
	for i := range all { // from 0 a row's gradient is −y
		switch {
		case i < large:
			ds.Train.Y[i] = -0.5
		case i == large:
			ds.Train.Y[i] = 0x1p-9
		case i < all-1:
			ds.Train.Y[i] = -1.4 * 0x1p-32
		default:
			ds.Train.Y[i] = -1
		}
	}
	order := make([]int, all-1)
	for i := range order {
		order[i] = i
	}
	for _, layers := range [][]string{{"embedding:1:1", "mean"}, {"dense"}} {
		for name, open := range computetest.Backends(t) {
			p := startOn(t, run.Config{
				Method: "constant", Model: run.Model{Layers: layers}, NoiseMultiplier: ptr(1.0), Steps: 1, Seed: ptr(uint64(1)), Scaling: run.Scaling{Kind: "none"},
				MaxGradNorm: 1, ExpectedBatchSize: all, Accountant: "rdp", MaxPhysicalBatchSize: 1 << 16,
			}, ds, open())
			kernel.Fill(p.work.be, p.work.model.All().Len(), 0, p.work.model.All())
			without := added(t, p, order)
			with := slices.Clone(order)
			with[large+1] = all - 1
			moved, limit := added(t, p, append(with, large+1)), p.clipping.mech.sensitivity()
			for i := range moved {
				moved[i] -= without[i]
			}
			if n := length(moved); !(n <= limit) {
				t.Errorf("%v on %s: one row moves the sum by %.8g, and the sensitivity is %.8g", layers, name, n, limit)
			}
			p.Close()
		}
	}
}

// TestMadeUpTokensAreLearned: what a rehearsal is on tells candidates apart, also where rows are tokens.
func TestMadeUpTokensAreLearned(t *testing.T) {
	t.Parallel()
	for _, c := range []data.Column{{Name: "x", Kind: data.Letters, Tokens: 32, Buckets: 256}, {Name: "x", Kind: data.Words, Tokens: 64, Buckets: 4096}} {
		m := data.Meta{Name: "made up", Task: data.Classification, Features: c.Tokens, Outputs: 2, TrainRows: 1000, TestRows: 500, FeatureBytes: 4,
			Columns: []data.Column{c, {Name: "y", Kind: data.Label, First: -1, Categories: []string{"a", "b"}}}}
		ds := builtin.Lookalike(m, 1)
		for _, x := range ds.Train.F32 {
			if x != -1 && (x < 0 || x >= float32(c.Buckets) || x != float32(int(x))) {
				t.Fatalf("%s: %v is no token", c.Kind, x)
			}
		}
		_, res := finish(t, startOn(t, run.Config{NoiseMultiplier: ptr(1.0), Steps: 60, Seed: ptr(uint64(1))}, ds, computetest.Fast(t)))
		if !(float64(res.TestAccuracy) >= 0.6) { // guessing gets half, give or take 0.022
			t.Errorf("%s: an accuracy of %v", c.Kind, res.TestAccuracy)
		}
	}
}
