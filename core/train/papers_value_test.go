package train

import (
	"fmt"
	"testing"
)

// TestPapersValueClipping is VC §6 on MNIST: an MLP with 128 hidden units,
// B = 128, σ = 1, δ = 1e−5, five epochs. Every cell tunes η over the same grid,
// as the paper tunes over its own, which is the grid's beginning; larger rates
// follow because the bounds of value clipping make for short steps.
func TestPapersValueClipping(t *testing.T) {
	papers(t)
	ds := images(t, "mnist")
	grid := []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2}
	const inPaper = 3
	methods := []string{"constant", "value", "value-tight"}
	seeds := measuring(3)
	say("\n### VC §6: MLP 784-128-10 on MNIST, B = 128, σ = 1, five epochs; η ∈ %v, of which the first %d are the paper's\n", grid, inPaper)
	type cell struct {
		settings string
		s        sample
	}
	cells := map[string]cell{}
	for _, c := range []float64{1, 5, 20, 40} {
		for _, m := range methods {
			all := try(t, fmt.Sprintf("%s, C = %g", m, c), ds, rates("", perceptron(m, c, 5), grid...), tuning(1))
			for name, part := range map[string][]tried{"VC's": all[:inPaper], "wide": all} {
				best := best(part)
				cells[fmt.Sprint(m, c, name)] = cell{best.label, scores(t, best.cfg, ds, seeds)}
			}
		}
	}
	for _, g := range []string{"VC's", "wide"} {
		say("\n%s grid of η:\n", g)
		header("C", "constant", "value", "value-tight", "gap of value", "closed by value-tight")
		for _, c := range []float64{1, 5, 20, 40} {
			var line []any
			var mean [3]float64
			for i, m := range methods {
				x := cells[fmt.Sprint(m, c, g)]
				mean[i] = x.s.mean()
				line = append(line, fmt.Sprintf("%s (%s)", x.s, x.settings))
			}
			gap := mean[0] - mean[1]
			closed := fmt.Sprintf("%.0f %%", 100*(mean[2]-mean[1])/gap)
			row(append(append([]any{c}, line...), fmt.Sprintf("%.2f", gap), closed)...)
		}
	}
}
