package chart

import (
	"math"

	"clipscope/ui/series"
	"clipscope/ui/words"
)

// epsilon charts the cost of the run.
func epsilon() *Chart {
	whole := func(r *series.Record) float64 {
		if r.Whole > 0 {
			return r.Whole
		}
		return math.NaN()
	}
	return &Chart{
		Title: "Privacy cost", Ink: Released,
		Empty: "ε of a run planned to end at each step, and that of the whole run, which is what it is charged.",
		None:  "ε is ∞: nothing is protected.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis, Y: Axis{Format: "epsilon"}, Mark: "horizontal", MarkLabel: "whole run",
			Series: []Line{{Label: "ε", Ink: Released, Width: 2}}},
		has:      column(series.Epsilon),
		draw:     markedLines(whole, series.Epsilon),
		sentence: func(r *series.Record) string { return words.Spending(r.Moment()) },
		rows:     epsilonRows,
	}
}

func epsilonRows(r *series.Record) []Row {
	list := []Row{
		{"ε, planned to end here", words.Epsilon(float64(r.Last.Released.Epsilon)), Released},
		{"step", words.Count(r.Last.Step), Released},
	}
	if r.Whole > 0 {
		list = append(list, Row{"ε of the whole run", words.Epsilon(r.Whole), Released})
	}
	if r.Plan.Unbacked() {
		list = append(list, Row{"guarantee", "none", Released})
	}
	return list
}
