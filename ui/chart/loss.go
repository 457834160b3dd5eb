package chart

import (
	"clipscope/ui/series"
	"clipscope/ui/words"
)

// loss charts the loss.
func loss() *Chart {
	return &Chart{
		Title: "Loss", Ink: Diagnostic,
		Empty: "Loss on each batch and on the test rows.",
		Spec: Spec{Kind: "lines", Sync: syncSteps, X: stepAxis,
			Series: []Line{{Label: "batch", Ink: Diagnostic, Width: 1}, {Label: "test", Ink: Diagnostic, Width: 2, Points: true}}},
		has:      column(series.TrainLoss),
		draw:     lines(series.TrainLoss, series.TestLoss),
		sentence: learningSentence,
		rows:     learningRows,
	}
}

// learningSentence says what the loss is of, too, where that is not what the files have.
func learningSentence(r *series.Record) string {
	s := words.Learning(r.Moment())
	if by := r.Plan.TargetScaling; s != "" && (by == "declared" || by == "private") {
		s += " Losses are of targets that were brought to −1 … 1."
	}
	return s
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
