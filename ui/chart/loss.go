package chart

import (
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// loss is what training makes smaller.
func loss() *Chart {
	return &Chart{
		Title: "Loss", Ink: Diagnostic,
		Empty: "Loss on each batch and on the test rows.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis,
			Series: []Line{{Label: "batch", Ink: Diagnostic, Width: 1}, {Label: "test", Ink: Diagnostic, Width: 2, Points: true}}},
		has:      column(series.TrainLoss),
		draw:     lines(series.TrainLoss, series.TestLoss),
		sentence: func(r *series.Record) string { return words.Learning(r.Moment()) },
		rows:     learningRows,
	}
}

func learningRows(r *series.Record) []Row {
	d := diagnostics(r.Moment())
	list := []Row{
		{"batch accuracy", words.Percent(float64(d.TrainAcc), 1), Diagnostic},
		{"batch loss", words.Number(float64(d.TrainLoss), 3), Diagnostic},
	}
	if r.Test == nil {
		return list
	}
	when := ""
	if r.Tested < r.Last.Step {
		when = ", step " + words.Count(r.Tested)
	}
	return append(list,
		Row{"test accuracy" + when, words.Percent(float64(r.Test.Accuracy), 1), Diagnostic},
		Row{"test loss" + when, words.Number(float64(r.Test.Loss), 3), Diagnostic})
}
