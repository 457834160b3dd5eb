package worker

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// TestPicturesAreShownAndAnswered: of a model of pictures, a file is shown as training read it, and files are answered by
// a line each; a table is refused.
func TestPicturesAreShownAndAnswered(t *testing.T) {
	b, err := json.Marshal(&model.File{
		Format: model.Format, Version: model.Version, Guarantee: "made up", Epsilon: run.Number(math.Inf(1)),
		Apply: &run.Application{
			Task: "classification", Outputs: 2, Classes: []string{"dark", "light"}, Features: 4, Shape: []int{2, 2}, Transform: run.TransformFit,
			Scaling: run.AppliedScaling{Kind: "declared", Lo: []float64{0}, Hi: []float64{255}}, Layers: []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 10}},
		},
		Parameters: []float32{-1, 1, -1, 1, -1, 1, -1, 1, 1, -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := newPage(t, steps(1))
	light, wide := source.Bytes("d/a.png", datatest.Grey(2, 2, 255)), source.Bytes("d/b.png", datatest.Grey(1, 40, 255))
	p.send(Picture, 1, `{}`, light)
	if m := p.next(ErrorType); !strings.Contains(m.Text, "no model is open") {
		t.Errorf("%s", m.Text)
	}
	p.send(Model, 2, "", source.Bytes("m.json", b))
	if m := p.next(ReplyType); !strings.Contains(m.Text, `"transform":"fit"`) {
		t.Errorf("%s", m.Text)
	}
	for text, want := range map[string]run.Seen{`{}`: {Pixels: []byte{255, 255, 255, 255}}, `{"inverted":true}`: {Pixels: []byte{0, 0, 0, 0}, Inverted: true}} {
		p.send(Picture, 3, text, light)
		var seen run.Seen
		if m := p.next(ReplyType); json.Unmarshal([]byte(m.Text), &seen) != nil || string(seen.Pixels) != string(want.Pixels) || seen.Inverted != want.Inverted {
			t.Errorf("%s: %s", text, m.Text)
		}
	}
	p.send(Predict, 4, `{}`, wide, light, source.Bytes("d/.thumbnails/a.png", nil))
	if m := p.next(ReplyType); !strings.HasPrefix(m.Blob.(string), "\ufeffpicture,answer,p(dark),p(light),problem\nd/a.png,light,") || !strings.Contains(m.Text, `"rows":2`) || !strings.Contains(m.Text, "hidden folders") {
		t.Errorf("%+v", m)
	}
	for _, files := range [][]source.File{{light, wide}, {source.Bytes("t.csv", []byte("x,y\n1,2\n"))}} {
		kind, said := Picture, "one picture"
		if len(files) == 1 {
			kind, said = Predict, "a csv file"
		}
		p.send(kind, 5, `{}`, files...)
		if m := p.next(ErrorType); !strings.Contains(m.Text, said) {
			t.Errorf("%s: %s, want %q", kind, m.Text, said)
		}
	}
}
