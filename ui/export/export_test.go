package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/series"
)

// secret is a number that only diagnostics hold.
const secret = 0.123456789

func example() Run {
	e := run.Event{Step: 1, Released: run.Released{MaxGradNorm: 2, Epsilon: run.Number(math.Inf(1)), GradNorm: run.Number(math.NaN())},
		Diag: &run.Diag{BatchSize: 77, ClipFraction: secret, TrainLoss: secret, TrainAcc: secret, Eval: &run.Eval{Loss: secret, Accuracy: secret}}}
	return Run{
		Config: run.Config{Method: "psac", Params: map[string]float64{"r": 0.5}},
		Result: &run.Result{Steps: 1, Epsilon: 1.5, Delta: 1e-5, TestAccuracy: secret, TestLoss: secret, TrainSeconds: secret,
			Notes: []string{"secret note"}, Guarantee: "the statement", Released: run.Summary{NoiseMultiplier: 1, MaxGradNorm: []float64{2}}},
		Points: []series.Point{series.FromEvent(&e)},
	}
}

func write(t *testing.T, f func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Without the tick nothing that came from the data without noise is written.
func TestReleasedFilesHaveNoDiagnostics(t *testing.T) {
	r := example()
	for name, text := range map[string]string{
		"csv":  write(t, func(b *bytes.Buffer) error { return r.CSV(b) }),
		"json": write(t, func(b *bytes.Buffer) error { return r.JSON(b) }),
	} {
		for _, leak := range []string{"0.1234", "77", "diagnostic", "accuracy", "secret note"} {
			if strings.Contains(text, leak) {
				t.Errorf("%s holds %q:\n%s", name, leak, text)
			}
		}
	}
}

// What was changed of a run is in its files, of one that goes on as well.
func TestChangesAreSaid(t *testing.T) {
	r := example()
	r.Changes = []run.Changed{{Step: 7, Field: "noise_multiplier", From: 1, To: 0.5}}
	for _, result := range []*run.Result{r.Result, nil} {
		r.Result = result
		if text := write(t, func(b *bytes.Buffer) error { return r.CSV(b) }); !strings.HasPrefix(text, "# noise_multiplier was changed from 1 to 0.5 while the run went on, from step 7 on.\nstep,") {
			t.Errorf("the CSV is %s", text)
		}
		var f file
		if err := json.Unmarshal([]byte(write(t, func(b *bytes.Buffer) error { return r.JSON(b) })), &f); err != nil || len(f.Changes) != 1 || f.Changes[0] != r.Changes[0] {
			t.Errorf("the JSON tells of %v, %v", f.Changes, err)
		}
	}
}

// TestEveryColumnIsInFiles: a file has each column of a series once, those from Clipped to TestAcc among the
// diagnostics and the others among what is released.
func TestEveryColumnIsInFiles(t *testing.T) {
	for c := range series.Columns {
		measured := series.Clipped <= c && c <= series.TestAcc
		is := func(of column) bool { return of.of == c }
		if free, private := slices.ContainsFunc(released, is), slices.ContainsFunc(diagnostic, is); free == measured || private != measured {
			t.Errorf("column %d of a series is among the released columns: %t, and among the diagnostics: %t", c, free, private)
		}
	}
}

func TestFilesWithDiagnosticsSaySo(t *testing.T) {
	r := example()
	r.Diagnostics = true
	rows, err := csv.NewReader(strings.NewReader(write(t, func(b *bytes.Buffer) error { return r.CSV(b) }))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("rows %v, %v", rows, err)
	}
	for i, name := range rows[0] {
		if private := strings.HasPrefix(name, "diagnostic_"); private != (rows[1][i] == "0.123456789") {
			t.Errorf("column %s holds %s", name, rows[1][i])
		}
	}
	if text := write(t, func(b *bytes.Buffer) error { return r.JSON(b) }); !strings.Contains(text, Warning) {
		t.Errorf("the file does not say what it holds:\n%s", text)
	}
}

func TestJSONReadsBack(t *testing.T) {
	r := example()
	var back struct {
		Config    run.Config
		Guarantee string
		Epsilon   run.Number
		Series    map[string][]run.Number
		Released  run.Summary
	}
	if err := json.Unmarshal([]byte(write(t, func(b *bytes.Buffer) error { return r.JSON(b) })), &back); err != nil {
		t.Fatal(err)
	}
	if back.Config.Params["r"] != 0.5 || back.Guarantee != "the statement" || back.Epsilon != 1.5 || back.Released.NoiseMultiplier != 1 {
		t.Errorf("came back as %+v", back)
	}
	if e := back.Series["epsilon"]; len(e) != 1 || !math.IsInf(float64(e[0]), 1) {
		t.Errorf("ε came back as %v", e)
	}
	if n := back.Series["noisy_grad_norm"]; len(n) != 1 || !math.IsNaN(float64(n[0])) {
		t.Errorf("the norm came back as %v", n)
	}
}

func TestARunThatGoesOnHasNoGuaranteeYet(t *testing.T) {
	r := example()
	r.Result, r.Points = nil, nil
	if text := write(t, func(b *bytes.Buffer) error { return r.CSV(b) }); text != "step,max_grad_norm,epsilon,noisy_grad_norm,learning_rate\n" {
		t.Errorf("an empty run is %q", text)
	}
	if text := write(t, func(b *bytes.Buffer) error { return r.JSON(b) }); strings.Contains(text, "guarantee") {
		t.Errorf("a run that goes on has a guarantee:\n%s", text)
	}
}

// A file that lacks steps says how many of how many it has, and the tick changes
// nothing of that; one that has all of them says nothing.
func TestFilesThatLackStepsSaySo(t *testing.T) {
	for _, diagnostics := range []bool{false, true} {
		r := example()
		r.Diagnostics, r.Steps = diagnostics, 1
		if csv, json := write(t, func(b *bytes.Buffer) error { return r.CSV(b) }), write(t, func(b *bytes.Buffer) error { return r.JSON(b) }); strings.HasPrefix(csv, "#") || strings.Contains(json, "series_note") {
			t.Errorf("all steps are there, and the files say\n%s\n%s", csv, json)
		}
		r.Steps = 285692
		csv, json := write(t, func(b *bytes.Buffer) error { return r.CSV(b) }), write(t, func(b *bytes.Buffer) error { return r.JSON(b) })
		if !strings.HasPrefix(csv, "# 1 of 285692 steps: ") || strings.Count(csv, "\n") != 3 {
			t.Errorf("the table begins with %s", csv)
		}
		if !strings.Contains(json, `"series_note": "1 of 285692 steps: `) {
			t.Errorf("the file is %s", json)
		}
	}
}

// TestExportHasEvents: what ε was worked out from is in the file, so that it can be worked out
// again.
func TestExportHasEvents(t *testing.T) {
	r := Run{Result: &run.Result{Statement: json.RawMessage(`{"events":[{"kind":"gaussian","noise_multiplier":2}],"text":""}`)}}
	var b strings.Builder
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Events []struct {
			NoiseMultiplier float64 `json:"noise_multiplier"`
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &file); err != nil || len(file.Events) != 1 || file.Events[0].NoiseMultiplier != 2 {
		t.Errorf("%s: %v", b.String(), err)
	}
}
