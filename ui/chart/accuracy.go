package chart

import (
	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/ui/series"
)

// accuracy charts the share that is classified right. The loss under it speaks for
// both.
func accuracy() *Chart {
	return &Chart{
		Title: "Accuracy", Ink: Diagnostic,
		Empty: "Accuracy on each batch and on the test rows.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepHidden, Y: Axis{Format: "percent", Max: 1},
			Series: []Line{{Label: "batch", Ink: Diagnostic, Width: 1}, {Label: "test", Ink: Diagnostic, Width: 2, Points: true}}},
		fits: func(_ *run.Config, task data.Task, _ *series.Record) bool { return task != data.Regression },
		has:  column(series.TrainAcc),
		draw: lines(series.TrainAcc, series.TestAcc),
	}
}
