package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"clipscope/core/compute/computetest"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/lab"
	"clipscope/core/run"
)

// TestPapersSettledThreshold compares where dc-e's threshold settles with the minimum of
// the measured U of the batch at the run's end, and with that of DC's own estimate of it.
func TestPapersSettledThreshold(t *testing.T) {
	papers(t)
	header("data, model", "ε", "steps", "C of dc-e, second half", "least of the measured U", "ratio", "least of DC's estimate", "ratio")
	for _, c := range []struct {
		data  string
		model run.Model
		eps   float64
		steps int
		rate  float64
	}{
		{"digits", run.Model{Kind: "softmax"}, 2, 240, 0.3},
		{"digits", run.Model{Kind: "softmax"}, 8, 240, 0.3},
		{"digits", run.Model{Kind: "mlp", Hidden: []int{64}}, 2, 240, 0.3},
		{"digits", run.Model{Kind: "cnn-opacus"}, 2, 120, 0.3},
		{"mnist", run.Model{Kind: "mlp", Hidden: []int{128}}, 2, 240, 0.3},
		{"mnist", run.Model{Kind: "cnn-dc"}, 2, 120, 0.3},
	} {
		var ds *data.Dataset
		if c.data == "digits" {
			ds = builtin.Digits(1, 6000, 100)
		} else {
			ds = images(t, c.data)
		}
		r := startOn(t, run.Config{
			Model: c.model, Method: "dc-e", MaxGradNorm: 1, TargetEpsilon: &c.eps, ExpectedBatchSize: 512, Steps: c.steps, LearningRate: c.rate,
			Seed: ptr(uint64(1)), Accountant: "rdp",
		}, ds, computetest.Fast(t))
		var settled []float64
		for e, err := range r.Steps(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Step > c.steps/2 {
				settled = append(settled, e.Released.MaxGradNorm)
			}
		}
		g, err := r.Look(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := lab.Clipper("constant", nil)
		if err != nil {
			t.Fatal(err)
		}
		noise := r.work.terms.GradNoise * r.work.terms.GradNoise * float64(r.work.terms.Spec.Params()) / (r.work.terms.BatchSize * r.work.terms.BatchSize)
		factors := make([]float64, g.Len())
		least := func(bias func(c float64) float64) float64 {
			best, at := math.Inf(1), 0.0
			for c := 1e-3; c < 1e3; c *= 1.02 {
				if e := bias(c) + noise*c*c; e < best {
					best, at = e, c
				}
			}
			return at
		}
		measured := least(func(c float64) float64 { return g.At(cl.Weight, c, factors).Bias2 })
		estimate := least(g.Estimate)
		typical := geometricMean(settled)
		row(c.data+", "+c.model.Kind, c.eps, c.steps, fmt.Sprintf("%.2f", typical), fmt.Sprintf("%.2f", measured), fmt.Sprintf("%.1f", typical/measured), fmt.Sprintf("%.2f", estimate), fmt.Sprintf("%.2f", typical/estimate))
		r.Close()
	}
}
