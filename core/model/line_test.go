package model

import (
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// TestALineDividesTwoClasses: a class is answered from the line's probability on, and no line is drawn where there are not two.
func TestALineDividesTwoClasses(t *testing.T) {
	f := outline(nn.Shape{Channels: 2}, 2, 9, "dense")
	f.Apply.Classes = []string{"well", "ill"}
	f.Parameters = []float32{-1, 1, 0.3, -0.3, 0, 0}
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	rows := make([]run.Row, 40)
	for i := range rows {
		x, y := float64(i%8)-4, float64(i/8)-2
		rows[i].Cells = []run.Cell{{Number: &x}, {Number: &y}}
	}
	for _, line := range []*run.ClassLine{nil, {Class: "ill", From: 0.1}, {Class: "ill", From: 0.5}, {Class: "ill", From: 0.9}, {Class: "well", From: 0.02}, nil} {
		if err := p.Draw(line); err != nil {
			t.Fatal(err)
		}
		answers, err := p.Predict(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for i, a := range answers {
			want := "well"
			switch {
			case line == nil:
				if a.Outputs[1] > a.Outputs[0] {
					want = "ill"
				}
			case float64(a.Outputs[slices.Index(f.Apply.Classes, line.Class)]) >= line.From:
				want = line.Class
			case line.Class == "well":
				want = "ill"
			}
			if a.Answer != want {
				t.Errorf("%+v: row %d is %v of %v, want %s", line, i, a.Answer, a.Outputs, want)
			}
			said = append(said, want)
		}
		if slices.Sort(said); said[0] == said[len(said)-1] {
			t.Errorf("%+v: all rows are %s, which shows nothing", line, said[0])
		}
	}
	for _, c := range []struct {
		line run.ClassLine
		want string
	}{{run.ClassLine{Class: "dead", From: 0.5}, `the class "dead", and the model has "well" and "ill"`}, {run.ClassLine{Class: "ill", From: 0}, "between 0 and 1"}, {run.ClassLine{Class: "ill", From: 1.5}, "between 0 and 1"}} {
		if err := p.Draw(&c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.line, err)
		}
	}
	three, err := Open(outline(nn.Shape{Channels: 2}, 3, 9, "dense"), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer three.Close()
	if err := three.Draw(&run.ClassLine{Class: "0", From: 0.5}); err == nil || !strings.Contains(err.Error(), "between two classes") {
		t.Errorf("of three classes: %v", err)
	}
}
