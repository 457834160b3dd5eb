package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// letters is an extractor that reads the first letters of a row's texts as tokens, -1 behind the last.
type letters struct{ places, texts int }

func (l letters) Width() int { return l.places }

func (l letters) Extract(_ context.Context, rows data.Split, dst []float32) error {
	for i := range rows.N {
		text := strings.Join(rows.Text[i*l.texts:(i+1)*l.texts], "|")
		if strings.Contains(text, "boom") {
			return &data.Error{File: "tokenizer.json", Got: "a fault"}
		}
		for k := range l.places {
			dst[i*l.places+k] = -1
			if k < len(text) {
				dst[i*l.places+k] = float32(text[k] & 127)
			}
		}
	}
	return nil
}

// reader is a model that was trained on what letters makes of two columns of a table, with the run's result and the test rows.
func reader(t *testing.T, opt run.CSV, label func(bool, int) string) (*model.File, *run.Result, source.File) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	table := func(name string, n int) source.File {
		var b strings.Builder
		b.WriteString("subject,verdict,body,note\n")
		for i := range n {
			good := rng.IntN(2) == 1
			subject, body := []string{"dull grey", "blue sky"}[map[bool]int{true: 1}[good]], "so it was"
			if i%9 == 0 {
				body = "NA"
			}
			fmt.Fprintf(&b, "%s,%s, %s ,%d\n", subject, label(good, i), body, i%2)
		}
		return source.Bytes(name, []byte(b.String()))
	}
	test := table("test.csv", 150)
	ds, _, err := load.Load(t.Context(), []source.File{table("train.csv", 600)}, []source.File{test}, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := run.Backbone{SHA256: strings.Repeat("ab", 32), Output: "12 tokens", Normalise: "none", Column: "subject", Second: "body", Batch: 1, Tokens: 128}
	made, _, err := data.Featured(t.Context(), ds, letters{12, 2}, by, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := run.Config{CSV: opt, Model: run.Model{Layers: strings.Fields("embedding:128:6 mean dense")}, ExpectedBatchSize: 60, Steps: 60, LearningRate: 2}
	res := trained(t, cfg, made)
	return fileOf(cfg, &res), &res, test
}

func texts() run.CSV {
	return run.CSV{Columns: map[string]string{"subject": "text", "body": "text", "note": "ignored"}, Label: "verdict", Missing: "zero"}
}

// TestAModelOfTextsAnswersThroughWhatReadsThem: a model whose features another made of two columns of texts answers tables, typed rows and
// labelled files as training saw them; what made the features is given to it anew.
func TestAModelOfTextsAnswersThroughWhatReadsThem(t *testing.T) {
	numbers, labels := texts(), texts()
	numbers.Task = "regression"
	numbers.Bounds = map[string]run.Bounds{"verdict": {Lo: 0, Hi: 2}}
	labels.Columns["note"], labels.Columns["verdict"], labels.Label = "label", "label", ""
	labels.Task = "multi-label"
	for name, c := range map[string]struct {
		opt   run.CSV
		label func(bool, int) string
	}{
		"classes": {texts(), func(good bool, _ int) string { return map[bool]string{true: "yes", false: "no"}[good] }},
		"labels":  {labels, func(good bool, _ int) string { return map[bool]string{true: "1", false: "0"}[good] }},
		"numbers": {numbers, func(good bool, i int) string { return fmt.Sprintf("\"%d,5\"", map[bool]int{true: 1}[good]) }},
	} {
		f, res, test := reader(t, c.opt, c.label)
		p := opened(t, f)
		p.Features = letters{12, 2}
		if info := p.Info(); info.Label != map[bool]string{true: "verdict"}[name != "labels"] || info.Lacks != "" || len(info.Columns) != 4 || info.Columns[2].Name != "body" || info.FeaturesOf == nil {
			t.Errorf("%s: %+v", name, info)
		}
		e, err := p.Evaluate(t.Context(), []source.File{test}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameScores(t, e, res)
		if name == "classes" && !(e.Accuracy > 0.9) {
			t.Errorf("accuracy %v", e.Accuracy)
		}
		var out bytes.Buffer
		reply, err := p.Answer(t.Context(), test, &out, nil)
		if err != nil || reply.Rows != 150 || reply.Problems != 0 || reply.Own != 4 {
			t.Fatalf("%s: %+v, %v", name, reply, err)
		}
		want := records(t, out.String(), ',')
		for i, row := range []run.Row{
			{Cells: []run.Cell{{Text: want[1][0]}, {}, {Text: want[1][2]}, {}}},
			{Named: map[string]run.Cell{"body": {Text: " so it was"}, "subject": {Text: want[2][0]}}},
		} {
			a, err := p.Predict(t.Context(), []run.Row{row})
			if err != nil || len(a) != 1 || a[0].Problem != "" {
				t.Fatalf("%s: %+v, %v", name, a, err)
			}
			if have := fmt.Sprint(a[0].Answer); name == "classes" && have != want[1+i][4] {
				t.Errorf("%s: %s of a row whose answer in a table is %s", name, have, want[1+i][4])
			}
		}
		a, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{}, {}, {Text: strings.Repeat("x", 20_001)}, {}}}, {Cells: []run.Cell{{Text: "NA"}, {}, {}, {}}}, {Cells: []run.Cell{{}}}})
		if err != nil || !strings.Contains(a[0].Problem, "at most 20000 characters") || a[1].Problem != "" || !strings.Contains(a[2].Problem, "expected 4 cells") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if _, err := p.Predict(t.Context(), []run.Row{{Named: map[string]run.Cell{"body": {Text: "boom"}}}}); err == nil || !strings.Contains(err.Error(), "tokenizer.json: a fault") {
			t.Errorf("%s: what makes features fails, and it says %v", name, err)
		}
	}
}

// TestAModelOfTextsAloneSaysWhatItLacks: without what makes features such a model says which files are missing, in place of each answer.
func TestAModelOfTextsAloneSaysWhatItLacks(t *testing.T) {
	f, _, test := reader(t, texts(), func(good bool, _ int) string { return map[bool]string{true: "yes", false: "no"}[good] })
	sum, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	tokenizer := "the tokenizer (tokenizer.json or vocab.txt) with the SHA-256 "
	for want, by := range map[string]run.Backbone{
		"through a tokenizer, which is not in its file. Choose the same as in training: " + tokenizer + sum:                   {Tokens: 128},
		"through a backbone, which is not in its file. Choose the same as in training: the ONNX file with the SHA-256 " + sum: {},
		"the ONNX file with the SHA-256 " + sum + " and " + tokenizer + other:                                                 {Tokenizer: other},
	} {
		by.SHA256, by.Output, by.Normalise, by.Column, by.Second, by.Batch = sum, "12 tokens", "none", "subject", "body", 1
		f.Apply.FeaturesOf = &by
		p, err := model.Open(f, purego.New())
		if err != nil {
			t.Fatal(err)
		}
		if info := p.Info(); !strings.Contains(info.Lacks, want) {
			t.Errorf("%q, and not %q", info.Lacks, want)
		}
		_, err = p.Predict(t.Context(), []run.Row{{}})
		_, err2 := p.Answer(t.Context(), test, &bytes.Buffer{}, nil)
		_, err3 := p.Evaluate(t.Context(), []source.File{test}, nil)
		for _, err := range []error{err, err2, err3} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, and not %q", err, want)
			}
		}
		p.Close()
	}
	if why := f.Apply.Unusable(); why != "" {
		t.Errorf("the page cannot use it: %s", why)
	}
	f.Apply.FeaturesOf.Column, f.Apply.FeaturesOf.Second = "", ""
	if why := f.Apply.Unusable(); !strings.Contains(why, "of pictures or numbers") {
		t.Errorf("of pictures it says %q", why)
	}
}

// TestAModelOfTextsReadsTablesWithoutNames: such a table's columns are in the order of training, the label and what is ignored among them, or
// the label left out.
func TestAModelOfTextsReadsTablesWithoutNames(t *testing.T) {
	for _, order := range []string{"text ignored label", "ignored text label", "label text ignored text", "text label text ignored", "text text label ignored"} {
		opt, by := run.CSV{Header: "no", Columns: map[string]string{}, Missing: "zero"}, run.Backbone{SHA256: strings.Repeat("ab", 32), Output: "20 tokens", Normalise: "none", Batch: 1, Tokens: 128}
		kinds, texts := strings.Fields(order), 0
		for i, kind := range kinds {
			name := fmt.Sprintf("column %d", i+1)
			switch opt.Columns[name] = kind; {
			case kind == "label":
				delete(opt.Columns, name)
				opt.Label = name
			case kind == "text" && texts == 0:
				by.Column = name
			case kind == "text":
				by.Second = name
			}
			texts += strings.Count(kind, "text")
		}
		table := func(n int, with bool) source.File {
			var b strings.Builder
			for i := range n {
				var cells []string
				for k, kind := range kinds {
					switch {
					case kind == "text":
						cells = append(cells, fmt.Sprintf("%s %d.", []string{"dull grey", "blue sky"}[i%2], k))
					case kind == "ignored":
						cells = append(cells, fmt.Sprint(i))
					case with:
						cells = append(cells, []string{"no", "yes"}[i%2])
					}
				}
				b.WriteString(strings.Join(cells, ";") + "\n")
			}
			return source.Bytes("t.csv", []byte(b.String()))
		}
		ds, _, err := load.Load(t.Context(), []source.File{table(400, true)}, []source.File{table(100, true)}, opt, nil)
		if err != nil {
			t.Fatalf("%s: %v", order, err)
		}
		made, _, err := data.Featured(t.Context(), ds, letters{20, texts}, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg := run.Config{CSV: opt, Model: run.Model{Layers: strings.Fields("embedding:128:6 mean dense")}, ExpectedBatchSize: 60, Steps: 40, LearningRate: 2}
		res := trained(t, cfg, made)
		p := opened(t, fileOf(cfg, &res))
		p.Features = letters{20, texts}
		e, err := p.Evaluate(t.Context(), []source.File{table(100, true)}, nil)
		if err != nil {
			t.Fatalf("%s: %v", order, err)
		}
		sameScores(t, e, &res)
		if !(e.Accuracy > 0.9) {
			t.Errorf("%s: accuracy %v", order, e.Accuracy)
		}
		for _, with := range []bool{true, false} {
			var out bytes.Buffer
			if reply, err := p.Answer(t.Context(), table(10, with), &out, nil); err != nil || reply.Rows != 10 || reply.Problems != 0 {
				t.Fatalf("%s: %+v, %v", order, reply, err)
			}
			for i, row := range records(t, out.String(), ';')[1:] {
				if want := []string{"no", "yes"}[i%2]; row[len(row)-4] != want {
					t.Errorf("%s: %q, want %s", order, row, want)
				}
			}
		}
	}
}

// TestTheTableOfTextsIsChecked: a model's file may name the columns of a table in which another model reads texts, with labels and what is ignored.
func TestTheTableOfTextsIsChecked(t *testing.T) {
	f, _, _ := reader(t, texts(), func(good bool, _ int) string { return map[bool]string{true: "yes", false: "no"}[good] })
	for want, change := range map[string]func(a *run.Application){
		"the column \"note\" is none of texts":     func(a *run.Application) { a.Table[3].Kind = "numeric" },
		"reads no texts through another":           func(a *run.Application) { a.FeaturesOf = nil },
		"the name \"subject\" comes twice":         func(a *run.Application) { a.Table[1].Name = "subject" },
		"a second label":                           func(a *run.Application) { a.Table[3].Kind = "label" },
		"no column of texts is called \"body\"":    func(a *run.Application) { a.FeaturesOf.Column = "body" },
		"no column of texts is called \"note\"":    func(a *run.Application) { a.FeaturesOf.Second = "note" },
		"no column of texts is called \"subject\"": func(a *run.Application) { a.Table = a.Table[1:] },
	} {
		g := *f
		a, by := *f.Apply, *f.Apply.FeaturesOf
		g.Apply, a.FeaturesOf, a.Table = &a, &by, slices.Clone(a.Table)
		change(&a)
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %q", err, want)
		}
	}
	f.Apply.Table = nil // of an earlier version
	p, err := model.Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	p.Features = letters{12, 2}
	if a, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{Text: "blue"}, {}}}}); err != nil || a[0].Problem != "" || p.Info().Label != "" {
		t.Errorf("%+v, %v", a, err)
	}
}
