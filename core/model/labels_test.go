package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// fiveLabels is a model of a table with three columns of numbers and five of labels, which stand between them.
func fiveLabels() *File {
	f := outline(nn.Shape{Channels: 3}, 5, 11, "dense:6", "tanh", "dense")
	f.Apply.Task = string(data.MultiLabel)
	feature := 0
	for i, kind := range strings.Fields("label numeric label numeric label label numeric label") {
		c := run.AppliedColumn{Name: fmt.Sprint("c", i), Kind: kind, First: -1, Categories: []string{"0", "1"}}
		if kind == "numeric" {
			c.First, c.Categories = feature, nil
			feature++
		} else {
			f.Apply.Classes = append(f.Apply.Classes, c.Name)
		}
		f.Apply.Columns = append(f.Apply.Columns, c)
	}
	return f
}

// TestLabelFormsAgree: predict.mjs, predict.py and the ONNX file give 1,000 rows the probabilities that the page does, within 1e-5.
func TestLabelFormsAgree(t *testing.T) {
	t.Parallel()
	agree(t, []*formed{form(t, "five labels", fiveLabels(), 1, 1000)})
}

// TestLabelsAreEvaluated: labels of a file are found by their columns' names, and rows with a label that is none are left out.
func TestLabelsAreEvaluated(t *testing.T) {
	p, err := Open(fiveLabels(), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if info := p.Info(); info.Label != "" || len(info.Classes) != 5 {
		t.Errorf("%+v", info)
	}
	answers, err := p.Predict(t.Context(), []run.Row{{Cells: typed(0.5, -1, 2)}, {Cells: []run.Cell{{}, typed(0.5)[0], {}, typed(-1)[0], {}, {}, typed(2)[0], {}}}})
	if err != nil || len(answers[0].Outputs) != 5 || fmt.Sprint(answers[0]) != fmt.Sprint(answers[1]) {
		t.Fatalf("%+v, %v", answers, err)
	}
	on := func(k int) string {
		if answers[0].Outputs[k] > 0.5 {
			return "1"
		}
		return "0"
	}
	right := fmt.Sprintf("%s,%s,0.5,-1,2,%s,%s,%s\n", on(0), on(1), on(2), on(3), on(4))
	other := map[string]string{"0": "TRUE", "1": "FALSE"}
	wrong := fmt.Sprintf("%s,%s,0.5,-1,2,%s,%s,%s\n", other[on(0)], on(1), on(2), on(3), on(4))
	head := "c0,c2,c1,c3,c6,c4,c5,c7\n"
	e, err := p.Evaluate(t.Context(), []source.File{source.Bytes("t.csv", []byte(head+right+wrong+strings.Replace(right, ",0.5", ".5,0.5", 1)+right))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Rows != 3 || e.Problems != 1 || !strings.Contains(e.Problem, "a label of 0 or 1") || math.Abs(float64(e.Accuracy)-2.0/3) > 1e-12 || math.Abs(float64(e.Scores.Labels[0].Accuracy)-2.0/3) > 1e-12 || e.Scores.Labels[4].Accuracy != 1 {
		t.Errorf("%+v, %+v", e, e.Scores)
	}
	if _, err := p.Evaluate(t.Context(), []source.File{source.Bytes("t.csv", []byte("c1,c3,c6,c0\n1,2,3,0\n"))}, nil); err == nil || !strings.Contains(err.Error(), "the columns with the labels: c0, c2, c4, c5, c7") {
		t.Error(err)
	}
}

// typed are numbers as cells.
func typed(v ...float64) (cells []run.Cell) {
	for _, x := range v {
		cells = append(cells, run.Cell{Number: &x})
	}
	return cells
}

// TestHostileLabelsAreRefused: files whose label columns contradict their labels are no models.
func TestHostileLabelsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(a *run.Application)
		want string
	}{
		"a column less":    {func(a *run.Application) { a.Columns[7].Kind = "ignored" }, "4 label columns for 5 labels"},
		"another order":    {func(a *run.Application) { a.Classes[0], a.Classes[1] = a.Classes[1], a.Classes[0] }, `is label 1, which is called "c2"`},
		"other words":      {func(a *run.Application) { a.Columns[2].Categories = []string{"no", "yes"} }, "says no and yes as no, yes"},
		"mixed words":      {func(a *run.Application) { a.Columns[2].Categories = []string{"-1", "1"} }, "says no and yes as -1, 1"},
		"one of each task": {func(a *run.Application) { a.Task = "classification" }, "a second label"},
	} {
		f := fiveLabels()
		c.edit(f.Apply)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
