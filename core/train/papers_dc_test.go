package train

import (
	"fmt"
	"math"
	"testing"

	"clipscope/core/run"
)

// TestPapersDCEStart lets dc-e start four orders of magnitude apart: the
// threshold must come to the same size by itself.
func TestPapersDCEStart(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	starts := []float64{0.01, 1, 100}
	show := []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 469}
	type moment struct{ c, clipped, loss float64 }
	seen := map[float64]map[int]moment{}
	accuracy := map[float64]float64{}
	for _, start := range starts {
		cfg := run.Config{
			Method: "dc-e", Model: run.Model{Kind: "mlp", Hidden: []int{128}}, Accountant: "rdp", NoiseMultiplier: ptr(1.0),
			MaxGradNorm: start, ExpectedBatchSize: 128, Epochs: 1, LearningRate: 0.1,
		}
		seen[start] = map[int]moment{}
		r := once(t, cfg, ds, 1, func(e run.Event) {
			seen[start][e.Step] = moment{e.Released.MaxGradNorm, float64(e.Diag.ClipFraction), float64(e.Diag.TrainLoss)}
		})
		accuracy[start] = 100 * float64(r.TestAccuracy)
	}
	say("\n### dc-e on MNIST: MLP 784-128-10, B = 128, σ = 1, η = 0.1, one epoch; C_t and the share of gradients clipped\n")
	cells := []any{"step"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("C₀ = %g", s))
	}
	header(cells...)
	for _, step := range show {
		cells := []any{step}
		for _, s := range starts {
			m := seen[s][step]
			cells = append(cells, fmt.Sprintf("%.3g (%.0f %%)", m.c, 100*m.clipped))
		}
		row(cells...)
	}
	cells = []any{"test accuracy %"}
	for _, s := range starts {
		cells = append(cells, fmt.Sprintf("%.2f", accuracy[s]))
	}
	row(cells...)
	for _, s := range starts {
		// The threshold is drawn anew at each step; its typical size over the
		// epoch's second half must not depend on where it started.
		a, b := typical(seen[s], 235, 469, func(m moment) float64 { return m.c }), typical(seen[1], 235, 469, func(m moment) float64 { return m.c })
		say("- C₀ = %g: geometric mean of C over the second half %.3g", s, a)
		if a/b > 1.5 || b/a > 1.5 {
			t.Errorf("from C₀ = %g the threshold goes to %g, from 1 to %g", s, a, b)
		}
	}
}

// typical is the geometric mean of a value over steps from to to.
func typical[T any](seen map[int]T, from, to int, value func(T) float64) float64 {
	sum := 0.0
	for i := from; i <= to; i++ {
		sum += math.Log(value(seen[i]))
	}
	return math.Exp(sum / float64(to-from+1))
}
