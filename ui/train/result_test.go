package train

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/scores"
	"clipscope/ui/series"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// TestScoresAreShown: of each task what it has, and nothing that is not a number.
func TestScoresAreShown(t *testing.T) {
	nan := run.Number(math.NaN())
	regression := &run.Result{TestAccuracy: nan, TestLoss: 2, TestRows: 9, TestScores: &run.Scores{
		Balanced: nan, ROCArea: nan, AveragePrecision: nan, CalibrationError: nan, MeanError: 1.25, MedianError: 1.125, OfMean: 2.5, RootError: 1.5, R2: 0.75,
	}}
	for _, tt := range []struct {
		name    string
		result  *run.Result
		want    []string
		without []string
	}{
		{"classes", exampleResult(), []string{"What was answered", "How sure, and how right", "area under ROC", "0.94", "<td>38</td>", "<td>84.0 %</td>"}, []string{"R²", "NaN", "beside the truth"}},
		{"numbers", regression, []string{"mean absolute error", "1.25", "R²", "0.75", "beside the truth in parts of the rows from 20 rows on"}, []string{"ROC", "By class", "What was answered", "NaN"}},
	} {
		html := app.HTMLString(scores.View(tt.result))
		for _, want := range tt.want {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q in %s", tt.name, want, html)
			}
		}
		for _, not := range tt.without {
			if strings.Contains(html, not) {
				t.Errorf("%s: there is %q in %s", tt.name, not, html)
			}
		}
	}
}

// TestAModelIsSaved: one form at a time, with how far it is, and why if it fails.
func TestAModelIsSaved(t *testing.T) {
	b := newBench(t)
	b.load(6000)
	b.trials.start()
	r := b.client.runs[0]
	r.events([]run.Event{series.Example(1)})
	r.done(run.Result{Steps: 1, PlannedSteps: 1, Released: run.Summary{Parameters: []float32{1}}}, nil)
	shown := b.trials.shown
	shown.saveModel("zip")
	shown.saveModel("onnx") // while the first is under way
	r.written(34_000_000)
	if want := "Writing clipscope-model.zip: 34 MB"; shown.writing != want {
		t.Errorf("says %q, want %q", shown.writing, want)
	}
	html := app.HTMLString(&resultView{Result: exampleResult(), Writing: shown.writing, Saver: shown})
	for _, want := range []string{"34 MB", "Model (.zip)", `id="save-model-json"`, `id="save-model-safetensors"`, `id="save-model-onnx"`} {
		if !strings.Contains(html, want) {
			t.Errorf("there is no %q in %s", want, html)
		}
	}
	r.saved(errors.New("The disk is full."))
	if shown.writing != "" || shown.fault != "The disk is full." {
		t.Errorf("says %q and %q", shown.writing, shown.fault)
	}
	shown.saveModel("onnx")
	r.saved(nil)
	if shown.writing != "" || shown.fault != "" {
		t.Errorf("says %q and %q", shown.writing, shown.fault)
	}
	if want := "save zip as clipscope-model.zip, save onnx as clipscope-model.onnx"; !strings.HasSuffix(strings.Join(r.calls, ", "), want) {
		t.Errorf("calls %q", r.calls)
	}
}

// TestAModelThatCannotBeUsedSaysSo: where the button is, and not after it was pressed.
func TestAModelThatCannotBeUsedSaysSo(t *testing.T) {
	r := exampleResult()
	button := func() (html string, off bool) {
		html = app.HTMLString(&resultView{Result: r})
		before, _, _ := strings.Cut(html, "Use it")
		return html, regexp.MustCompile(` disabled[ >]`).MatchString(before[strings.LastIndex(before, "<button"):]) // attributes are in any order
	}
	if html, off := button(); off || strings.Contains(html, "cannot be used") {
		t.Errorf("of one that can be used it says %s", html)
	}
	r.Unusable = "The means were measured."
	if html, off := button(); !off || !strings.Contains(html, "It cannot be used here. The means were measured.") {
		t.Errorf("disabled %t: %s", off, html)
	}
}

// TestTheResultSaysWhatAllRunsCost: of data that other runs have spent, the result says what all
// cost together.
func TestTheResultSaysWhatAllRunsCost(t *testing.T) {
	for statement, want := range map[string]string{
		`{"ledger":{"runs":2,"epsilon":5.9581,"delta":1e-5}}`:                                                                   "Together, the 2 runs on these data have spent ε = 5.96 at δ = 1e−5. ",
		`{"ledger":{"runs":2,"unprotected":1,"epsilon":{"$numberDouble":"Infinity"},"guaranteed_epsilon":3.9981,"delta":1e-5}}`: "ε = ∞: 1 of these 2 runs has no guarantee. The other has spent 4.00.",
		`{"ledger":{"runs":3,"unprotected":1,"epsilon":3.9981,"delta":1e-5}}`:                                                   "ε = ∞: 1 of these 3 runs has no guarantee. The others have spent 4.00.", // of version 0.2
		`{"ledger":{"runs":1,"epsilon":4,"delta":1e-5}}`:                                                                        "",
		`{"ledger":null}`: "",
		``:                "",
	} {
		if got := spentBefore(json.RawMessage(statement)); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", statement, got)
		}
	}
}

// TestTheVerdictStandsBesideTheFigure: what keeps a figure from being believed, and what the data have spent in all,
// stand outside of the words that scroll on a low page.
func TestTheVerdictStandsBesideTheFigure(t *testing.T) {
	r := exampleResult()
	r.TestAccuracy = 0.76 // the share of the largest class
	for statement, want := range map[string]string{
		`{"ledger":{"runs":3,"epsilon":4.1871,"delta":1e-5}}`:               "ε, all 3 runs|4.19",
		`{"ledger":{"runs":3,"unprotected":1,"epsilon":4.18,"delta":1e-5}}`: "ε, all 3 runs|∞",
		`{"ledger":{"runs":1,"epsilon":4.18,"delta":1e-5}}`:                 "",
		`{}`: "",
	} {
		r.Statement = json.RawMessage(statement)
		head, scrolling, _ := strings.Cut(app.HTMLString(&resultView{Result: r}), "result-words")
		if !strings.Contains(head, "No better than answering “0” always") || strings.Contains(scrolling, "No better") || !strings.Contains(scrolling, "may help") {
			t.Errorf("above the words: %s", head)
		}
		name, value, some := strings.Cut(want, "|")
		if strings.Contains(head, ", all ") != some || !strings.Contains(head, name) || !strings.Contains(head, value) {
			t.Errorf("%s: no %q in %s", statement, want, head)
		}
	}
	head, _, _ := strings.Cut(app.HTMLString(&resultView{Result: exampleDoubted()}), "result-words")
	if !strings.Contains(head, "No ε is claimed") {
		t.Errorf("a failed check is not in %s", head)
	}
}
