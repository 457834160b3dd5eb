package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
)

// fiveLabels draws rows of d features, of which a fifth is held out, with five labels, each by a straight line of its own.
func fiveLabels(seed uint64, n, d int) *data.Dataset {
	rng := rand.New(rand.NewPCG(seed, 5))
	ds := &data.Dataset{Name: "labels", Task: data.MultiLabel, Features: d, Outputs: 5, Classes: []string{"a", "b", "c", "d", "e"}}
	lines := make([]float64, 5*d)
	for i := range lines {
		lines[i] = rng.NormFloat64()
	}
	for i := range n {
		split := &ds.Train
		if i >= n-n/5 {
			split = &ds.Test
		}
		x := make([]float32, d)
		for j := range x {
			x[j] = float32(rng.NormFloat64())
		}
		split.N, split.F32 = split.N+1, append(split.F32, x...)
		for k := range 5 {
			s := 0.0
			for j := range x {
				s += lines[k*d+j] * float64(x[j])
			}
			y := float32(0)
			if s > float64(k-2)/4*math.Sqrt(float64(d)) { // a label of fewer rows, the later it is
				y = 1
			}
			split.Y = append(split.Y, y)
		}
	}
	return ds
}

// TestLabelsAreLearned: with noise, a run on five labels is right of each of them more often than any answer that
// looks at no row, by 0.1 at least, with a constant threshold and with one that adapts. The seeds are fixed.
func TestLabelsAreLearned(t *testing.T) {
	t.Parallel()
	ds := fiveLabels(1, 5000, 8)
	for _, method := range []string{"constant", "quantile"} {
		cfg := run.Config{Method: method, Model: run.Model{Kind: "linear"}, NoiseMultiplier: ptr(1.0), Accountant: "rdp", ExpectedBatchSize: 400, Steps: 100, LearningRate: 1, Seed: ptr(uint64(1))}
		_, r := finish(t, started(t, cfg, ds))
		s := r.TestScores
		if s == nil || len(s.Labels) != 5 || s.LabelMean == nil || r.TestRows != 1000 {
			t.Fatalf("%s: %d rows, scores %+v", method, r.TestRows, s)
		}
		for k, l := range s.Labels {
			t.Logf("%s: %s has %d rows: accuracy %.3f of %.3f, balanced %.3f, F1 %.3f, area %.3f", method, l.Label, l.Rows, l.Accuracy, l.Majority, l.Balanced, l.F1, l.ROCArea)
			if l.Label != ds.Classes[k] || !(l.Accuracy > l.Majority+0.1) || !(l.ROCArea > 0.95) {
				t.Errorf("%s: %+v", method, l)
			}
		}
		if e := float64(r.Epsilon); !(e > 0) || math.IsInf(e, 1) {
			t.Errorf("%s: ε = %v", method, e)
		}
		if a := r.Released.Apply; a.Task != "multi-label" || !slices.Equal(a.Classes, ds.Classes) {
			t.Errorf("%s: the model is of %s %v", method, a.Task, a.Classes)
		}
	}
}

// TestEveryMethodTakesLabels: every method trains on several labels a row, or is refused by name. The test's figures are
// of its rows alone.
func TestEveryMethodTakesLabels(t *testing.T) {
	t.Parallel()
	ds := fiveLabels(2, 600, 4)
	for _, m := range clip.Methods() {
		cfg := run.Config{Method: m.Name, Model: run.Model{Kind: "linear"}, NoiseMultiplier: ptr(0.5), Accountant: "rdp", ExpectedBatchSize: 100, Steps: 20, LearningRate: 1, Seed: ptr(uint64(1))}
		switch m.Name {
		case "none":
			cfg.NoiseMultiplier = nil
		case "value", "coordinate", "value-tight":
			cfg.LearningRate, cfg.NoiseMultiplier = 10, ptr(0.05) // as their steps are short
		}
		p, err := plan.New(cfg, ds.Meta())
		if err != nil {
			if !strings.Contains(err.Error(), "label") {
				t.Errorf("%s is refused without a reason: %v", m.Name, err)
			}
			t.Logf("%s: %v", m.Name, err)
			continue
		}
		r, err := Start(t.Context(), p, ds, purego.New())
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		events, res := finish(t, r)
		if len(events) != cfg.Steps || res.TestScores == nil {
			t.Fatalf("%s: %d events", m.Name, len(events))
		}
		if l := res.TestScores.LabelMean; !(l.ROCArea > 0.6) { // 0.5 of what has learned nothing; over 5 × 120 rows by 0.03
			t.Errorf("%s: the labels' mean area is %v", m.Name, l.ROCArea)
		}
	}
}

// TestLabelsRefuseSoftmax: a model that answers with one class is refused for several labels, as are tuning runs by it.
func TestLabelsRefuseSoftmax(t *testing.T) {
	meta := fiveLabels(3, 100, 4).Meta()
	cfg := run.Config{Model: run.Model{Kind: "softmax"}}
	if _, err := plan.New(cfg, meta); err == nil || !strings.Contains(err.Error(), "a row of the data has several labels") {
		t.Error(err)
	}
	if c := (run.Config{}).WithDefaultsFor(meta.Facts()); c.Model.Kind == "softmax" {
		t.Errorf("the default is %s", c.Model.Kind)
	}
	cfg = run.Config{Scaling: run.Scaling{Target: "private"}}
	if _, err := plan.New(cfg, meta); err == nil || !strings.Contains(err.Error(), "targets are scaled where they are numbers") {
		t.Error(err)
	}
}
