package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
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

var ofTokens = run.Model{Layers: []string{"embedding:27:6", "conv:5:1", "tanh", "globalpool", "dense"}}

// TestTokensAreLearned: every method trains an embedding, and every back end to the same
// parameters.
func TestTokensAreLearned(t *testing.T) {
	t.Parallel()
	ds := names(300)
	for _, m := range clip.Methods() {
		if strings.HasPrefix(m.Name, "value") { // an embedding has no Lipschitz bound
			continue
		}
		cfg := run.Config{
			Method: m.Name, Model: ofTokens, NoiseMultiplier: ptr(0.1), ExpectedBatchSize: 80, Steps: 3, LearningRate: 0.1,
			Seed: ptr(uint64(1)), MaxPhysicalBatchSize: 48,
		}
		want := outcomeOf(t, func() compute.Backend { return purego.New() }, cfg, ds)
		for name, open := range computetest.Backends(t) {
			if name == "purego" {
				continue
			}
			for i, x := range outcomeOf(t, open, cfg, ds).parameters {
				if w := want.parameters[i]; math.Abs(float64(x-w)) > 1e-4*(1+math.Abs(float64(w))) {
					t.Errorf("%s on %s: parameter %d is %g, on purego %g", m.Name, name, i, x, w)
					break
				}
			}
		}
	}
	cfg := run.Config{Model: ofTokens, NoiseMultiplier: ptr(0.5), ExpectedBatchSize: 80, Steps: 60, LearningRate: 1, Seed: ptr(uint64(1))}
	// Guessing gets half; of 300 rows 65 % is 5 standard deviations more.
	if o := outcomeOf(t, func() compute.Backend { return computetest.Fast(t) }, cfg, ds); !(o.test.Accuracy > 0.65) {
		t.Errorf("accuracy %.3f", o.test.Accuracy)
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
		if !m.Private || strings.HasPrefix(m.Name, "value") {
			continue
		}
		for _, size := range []float32{1, 1e6} {
			p := begunWith(t, m.Name, ds, size, ofTokens, purego.New())
			if err := overshoot(t, p, 0, rows); err != nil {
				t.Errorf("%s, weights times %g: %v", m.Name, size, err)
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
