package use

import (
	"math"

	"clipscope/core/run"
	"clipscope/ui/client"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Stories returns the parts of the page, each alone.
func Stories() []widget.Story {
	nan := run.Number(math.NaN())
	return []widget.Story{
		{Name: "Model", View: func() app.UI { return about("income-model.zip", exampleInfo(), func(app.Context) {}) }},
		{Name: "Answers to a table", View: func() app.UI {
			return answersView("people.csv", &client.Answers{Bytes: 123_456, Save: func(string) {}, PredictReply: run.PredictReply{Rows: 1200, Problems: 1, Unknown: 3, Missing: 12, Problem: "column 1 (\"age\"): expected a number, as in the training rows, found \"old\". Correct the cell.",
				Own: 2, Head: []string{"age", "colour", "answer", "p(<=50K)", "p(>50K)", "problem"}, First: [][]string{{"31", "red", "<=50K", "0.91", "0.09", ""}, {"old", "red", "", "", "", "column 1 (\"age\"): expected a number"}}}}, ofTable)
		}},
		{Name: "Probabilities", View: func() app.UI { return bars(exampleInfo(), []run.Number{0.91, 0.09}) }},
		{Name: "A labelled file", View: func() app.UI {
			return examView("people.csv", &run.Evaluation{Rows: 1000, Accuracy: 0.76, Classes: []run.ClassScore{{Class: "<=50K", Rows: 760, Recall: 1, Precision: 0.76}, {Class: ">50K", Rows: 240}},
				Scores: &run.Scores{Balanced: 0.5, ROCArea: 0.71, AveragePrecision: 0.4, Positive: ">50K", Confusion: [][]int{{760, 0}, {240, 0}}, CalibrationError: nan, MeanError: nan, MedianError: nan, OfMean: nan, RootError: nan, R2: nan}, Problems: 2, Problem: "people.csv, row 4, column 3 (\"income\"): expected a label, found none. Fill in the label, or leave the row out."})
		}},
	}
}

func exampleInfo() *run.ModelInfo {
	zero := 0.0
	return &run.ModelInfo{
		Task: "classification", Outputs: 2, Classes: []string{"<=50K", ">50K"}, Features: 4, Label: "income", Parameters: 10, Method: "constant", Steps: 300,
		Columns: []run.AppliedColumn{{Name: "age", Kind: "numeric", IfMissing: &zero, Indicator: 1}, {Name: "colour", Kind: "categorical", First: 2, Categories: []string{"blue", "red"}}, {Name: "income", Kind: "label", First: -1}},
		Scaling: run.AppliedScaling{Kind: "private", Lo: []float64{16, 0, 0, 0}, Hi: []float64{96, 1, 1, 1}}, Layers: []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 10}},
		Guarantee: "(ε, δ)-differentially private with ε = 1, δ = 1e−5, for one row more or less.", Statement: "Everything that the run may say of its privacy.", Epsilon: 1, Delta: 1e-5,
	}
}
