package worker

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// sent is a blob that can be looked at.
type sent struct{ bytes.Buffer }

func (b *sent) Sent() any { return b.String() }

// saved is the file of a model that says yes to what is above 0.
func saved(t testing.TB) source.File {
	t.Helper()
	b, err := json.Marshal(&model.File{
		Format: model.Format, Version: model.Version, Guarantee: "made up", Epsilon: run.Number(math.Inf(1)),
		Apply: &run.Application{
			Task: "classification", Outputs: 2, Classes: []string{"no", "yes"}, Features: 1,
			Columns: []run.AppliedColumn{{Name: "x", Kind: "numeric"}, {Name: "y", Kind: "label", First: -1}},
			Scaling: run.AppliedScaling{Kind: "none"}, Layers: []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 4}},
		},
		Parameters: []float32{-1, 1, 0, 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	return source.Bytes("m.json", b)
}

// TestModelAnswersRowsAndTables: a model is loaded, answers rows and tables, and is compared with
// labels. What fails leaves it as it is.
func TestModelAnswersRowsAndTables(t *testing.T) {
	p := newPage(t, steps(1))
	fails := func(kind, text, said string, files ...source.File) {
		t.Helper()
		p.send(kind, 9, text, files...)
		if m := p.next(ErrorType); !strings.Contains(m.Text, said) {
			t.Errorf("%s: %s, want %q", kind, m.Text, said)
		}
	}
	table := source.Bytes("t.csv", []byte("x,y\n2,yes\n-2,yes\n"))
	fails(Predict, `{"rows":[[1]]}`, "no model is open")
	fails(Evaluate, "", "no model is open", table)
	fails(Model, "", "one file")
	p.send(Model, 1, "", saved(t))
	if m := p.next(ReplyType); !strings.Contains(m.Text, `"label":"y"`) || !strings.Contains(m.Text, `"epsilon":{"$numberDouble":"Infinity"}`) {
		t.Errorf("%s", m.Text)
	}
	fails(Model, "", "cut.json: byte", source.Bytes("cut.json", []byte(`{"a":`)))
	fails(Predict, `{"rows":[3]}`, "a row is a list of cells")
	fails(Predict, `{"rows":[[`+strings.Repeat("1],[", run.MaxTyped)+`1]]}`, "more than the 10000")
	fails(Predict, `{}`, `expected a column \"x\"`, source.Bytes("t.csv", []byte("a,b\n1,2\n")))
	fails(Predict, `{"rows":[[1]]}`, "rows, or one file", table)

	p.send(Predict, 2, `{"rows":[[1],{"x":-1}]}`)
	var answers []run.Answer
	if m := p.next(ReplyType); json.Unmarshal([]byte(m.Text), &answers) != nil || len(answers) != 2 || answers[0].Answer != "yes" || answers[1].Answer != "no" || m.Blob != nil {
		t.Errorf("%+v", m)
	}
	p.send(Predict, 3, `{}`, table)
	if m := p.next(ReplyType); m.Blob != "x,y,answer,p(no),p(yes),problem\n2,yes,yes,0.017986,0.982014,\n-2,yes,no,0.982014,0.017986,\n" || !strings.Contains(m.Text, `"rows":2`) {
		t.Errorf("%+v", m)
	}
	p.send(Evaluate, 4, "", table)
	if m := p.next(ReplyType); !strings.Contains(m.Text, `"test_accuracy":0.5`) {
		t.Errorf("%+v", m)
	}
}

// opening is a file that calls back when it is opened.
type opening struct {
	source.File
	call func()
}

func (f opening) Open() (io.ReadCloser, error) {
	f.call()
	return f.File.Open()
}

// TestAQuestionIsCalledOff: a request that is cancelled while it waits for another, or is answered, comes to an error, and the
// next one is answered.
func TestAQuestionIsCalledOff(t *testing.T) {
	p := newPage(t, steps(1))
	p.send(Model, 1, "", saved(t))
	p.next(ReplyType)
	off := func(what string) {
		t.Helper()
		if m := p.next(ErrorType); !strings.Contains(m.Text, "context canceled") {
			t.Errorf("%s: %s", what, m.Text)
		}
	}
	table := source.Bytes("t.csv", []byte("x,y\n2,yes\n-2,yes\n"))
	for id, kind := range map[int]string{2: Predict, 3: Evaluate} {
		p.send(kind, id, "{}", opening{table, func() { p.send(Cancel, id, "") }})
		off(kind)
	}
	p.s.work.Lock()
	p.send(Predict, 4, `{"rows":[[1]]}`)
	p.send(Cancel, 4, "")
	p.s.work.Unlock()
	off("a question that waits")
	p.send(Cancel, 4, "") // which nobody waits for
	p.send(Predict, 5, `{"rows":[[1]]}`)
	p.next(ReplyType)
}
