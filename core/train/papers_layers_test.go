package train

import (
	"fmt"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// TestPapersLayers compares one threshold with one for each layer, fixed and by counts, at one ε: He et al. 2023 say
// that fixed thresholds per layer tend to be behind one for all, and thresholds that adapt level with it or ahead.
func TestPapersLayers(t *testing.T) {
	papers(t)
	header("data, model", "ε", "constant", "per-layer", "quantile", "quantile, per layer", "its thresholds at the end")
	for _, c := range []struct {
		data  string
		model run.Model
		eps   float64
		steps int
	}{
		{"digits", run.Model{Kind: "mlp", Hidden: []int{64}}, 2, 240},
		{"digits", run.Model{Kind: "mlp", Hidden: []int{64}}, 8, 240},
		{"digits", run.Model{Kind: "cnn-opacus"}, 2, 120},
		{"digits", run.Model{Kind: "cnn-opacus"}, 8, 120},
		{"mnist", run.Model{Kind: "mlp", Hidden: []int{128}}, 2, 470},
		{"mnist", run.Model{Kind: "cnn-dc"}, 2, 240},
	} {
		var ds *data.Dataset
		if c.data == "digits" {
			ds = builtin.Digits(1, 6000, 1000)
		} else {
			ds = images(t, c.data)
		}
		cells := []any{c.data + ", " + c.model.Kind, c.eps}
		var last []float64
		for _, way := range [][2]string{{"constant", "flat"}, {"constant", "per-layer"}, {"quantile", "flat"}, {"quantile", "per-layer"}} {
			cfg := run.Config{
				Method: way[0], Grouping: way[1], Model: c.model, Accountant: "rdp", TargetEpsilon: &c.eps, ExpectedBatchSize: 512, Steps: c.steps, MaxGradNorm: 1,
			}
			var grid []choice
			if way[0] == "constant" {
				for _, threshold := range []float64{0.3, 1, 3} {
					grid = append(grid, rates(fmt.Sprintf("C=%g", threshold), with(cfg, func(f *run.Config) { f.MaxGradNorm = threshold }), 0.1, 0.3, 1, 3)...)
				}
			} else {
				for _, gamma := range []float64{0.3, 0.5, 0.7} {
					grid = append(grid, rates(fmt.Sprintf("γ=%g", gamma), with(cfg, func(f *run.Config) { f.Params["gamma"] = gamma }), 0.1, 0.3, 1, 3)...)
				}
			}
			chosen := best(try(t, fmt.Sprint(c.data, " ", c.model.Kind, " ", c.eps, " ", way), ds, grid, tuning(1)))
			cells = append(cells, fmt.Sprintf("%v (%s)", scores(t, chosen.cfg, ds, measuring(5)), chosen.label))
			if way == [2]string{"quantile", "per-layer"} {
				last = once(t, chosen.cfg, ds, 1).last().Released.MaxGradNorms
			}
		}
		row(append(cells, fmt.Sprintf("%.3g", last))...)
	}
}
