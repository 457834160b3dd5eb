package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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
		k := len(f.Apply.Labels)
		if info := p.Info(); info.Label != map[int]string{1: "verdict"}[k] || info.Lacks != "" || len(info.Columns) != 2+k || info.Columns[1].Name != "body" || info.FeaturesOf == nil {
			t.Errorf("%s: %+v", name, info)
		}
		e, err := p.Evaluate(t.Context(), []source.File{test}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameScores(t, e, res)
		if k != map[bool]int{true: 2, false: 1}[name == "labels"] {
			t.Errorf("%s: %d columns of labels", name, k)
		}
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
			{Cells: []run.Cell{{Text: want[1][0]}, {Text: want[1][2]}}},
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
		a, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{Text: strings.Repeat("x", 20_001)}, {}}}, {Cells: []run.Cell{{Text: "NA"}, {}}}, {Cells: []run.Cell{{}}}})
		if err != nil || !strings.Contains(a[0].Problem, "at most 20000 characters") || a[1].Problem != "" || !strings.Contains(a[2].Problem, fmt.Sprintf("expected %d cells", 2+k)) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if _, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{Text: "boom"}, {}}}}); err == nil || !strings.Contains(err.Error(), "tokenizer.json: a fault") {
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
		"through a tokenizer, which is not in its file. Choose " + tokenizer + sum:                   {Tokens: 128},
		"through a backbone, which is not in its file. Choose the ONNX file with the SHA-256 " + sum: {},
		"Choose the ONNX file with the SHA-256 " + sum + " and " + tokenizer + other:                 {Tokenizer: other},
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

// TestColumnsOfLabelsBesideTextsAreChecked: a model's file may name columns of labels beside texts that another model reads, and no others.
func TestColumnsOfLabelsBesideTextsAreChecked(t *testing.T) {
	f, _, _ := reader(t, texts(), func(good bool, _ int) string { return map[bool]string{true: "yes", false: "no"}[good] })
	label := f.Apply.Labels[0]
	for want, change := range map[string]func(a *run.Application){
		"no columns of labels beside texts": func(a *run.Application) { a.Labels = []run.AppliedColumn{{Name: "n", Kind: "numeric"}} },
		"reads no texts through another":    func(a *run.Application) { a.FeaturesOf, a.Labels = nil, []run.AppliedColumn{label} },
		"the name \"subject\" comes twice":  func(a *run.Application) { l := label; l.Name = "subject"; a.Labels = []run.AppliedColumn{l} },
		"a second label":                    func(a *run.Application) { l := label; l.Name = "other"; a.Labels = []run.AppliedColumn{label, l} },
		"the name \"body\" comes twice":     func(a *run.Application) { a.FeaturesOf.Column = "body" },
	} {
		g := *f
		a, by := *f.Apply, *f.Apply.FeaturesOf
		g.Apply, a.FeaturesOf = &a, &by
		change(&a)
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and not %q", err, want)
		}
	}
	f.Apply.Labels = nil // of an earlier version
	p, err := model.Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	p.Features = letters{12, 2}
	if a, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{Text: "blue"}, {}}}}); err != nil || a[0].Problem != "" || p.Info().Label != "" {
		t.Errorf("%+v, %v", a, err)
	}
}
