package check

import (
	"regexp"
	"strings"
	"testing"

	"clipscope/core/model"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// TestARunFromWeightsSaysWhatIsNotChecked: the first run's events are in no file of the second, whose verdict says what
// both promise together.
func TestARunFromWeightsSaysWhatIsNotChecked(t *testing.T) {
	files := func(start *run.StartInfo) map[string][]byte {
		st := concluded(t, privacy.Statement{
			NoiseMultiplier: 1.25, SampleRate: 0.05, Steps: 40, Planned: 40, Delta: 1e-5, Accountant: privacy.PLD, Clipping: "constant, max_grad_norm = 1",
			PerStep: privacy.PoissonSampled{SampleRate: 0.05, Of: privacy.Gaussian{NoiseMultiplier: 1.25}}, Released: []string{"the parameters after every step"},
			Known: privacy.Known{Start: start},
		})
		var w strings.Builder
		var cfg run.Config
		if start != nil {
			cfg = run.Config{Data: "files", Start: run.Start{File: "before.zip", SHA256: start.SHA256, Public: true}}
		}
		f := model.File{Config: cfg, Program: "Clipscope 9.9.9", Statement: st.Text, Epsilon: st.Epsilon, Delta: 1e-5, Accountant: "pld", Steps: 40, Planned: 40, Events: st.Events, Apply: small(), Parameters: []float32{1, 2, 3, 4, 5, 6}}
		if err := f.JSON(&w); err != nil {
			t.Fatal(err)
		}
		all := map[string][]byte{"statement.json": indent(t, st), "statement.txt": []byte(st.Text), "model.json": []byte(w.String())}
		if start != nil {
			all["run.json"] = indent(t, map[string]any{"config": cfg, "epsilon": st.Epsilon, "delta": 1e-5, "accountant": "pld", "steps": 40, "planned_steps": 40, "events": st.Events, "series": map[string]any{}})
		}
		return all
	}
	const claim = "the weights that it started from"
	sha := strings.Repeat("ab", 32)
	before := &run.StartInfo{File: "before.zip", SHA256: sha, Private: true, Epsilon: 2, Delta: 1e-5}
	for name, b := range files(before) {
		v, err := Check(name, b)
		if err != nil {
			t.Fatal(err)
		}
		f := finding(v, claim)
		told := strings.Contains(f.File, "ε = 2, δ = 1e-05") && strings.Contains(f.Recomputed, "both together (ε = ") && strings.Contains(f.Recomputed, "δ = 2e-05)") &&
			strings.Contains(v.Text, "To a row that was in both runs, both together promise (ε = ")
		if name == "run.json" { // whose configuration names the file alone
			told = f.File == "before.zip" && strings.Contains(f.Why, "count as public")
		}
		if v.Verdict != run.Agrees || f.Verdict != run.Unchecked || !told {
			t.Errorf("%s: %s: %s %+v", name, v.Verdict, v.Text, f)
		}
	}
	less := edit(t, files(before)["statement.txt"], `both together promise \(ε = [0-9.]+`, "both together promise (ε = 2.0")
	if v, err := Check("less.txt", less); err != nil || v.Verdict != run.Differs || !has(v, claim, run.Differs) {
		t.Errorf("a smaller ε of both: %+v, %v", v, err)
	}
	for what, edited := range map[string][]byte{
		"a smaller ε of both in its paragraph": regexp.MustCompile(`("short": "[^"]*both together promise \(ε = )[0-9.]+`).ReplaceAll(files(before)["statement.json"], []byte("${1}1.6")),
		"another ε in its paragraph":           regexp.MustCompile(`("short": "[^"]*of another, of ε = )2 as`).ReplaceAll(files(before)["statement.json"], []byte("${1}0 as")),
		"no weights in its paragraph":          regexp.MustCompile(`("short": "[^"]*)started from the weights`).ReplaceAll(files(before)["statement.json"], []byte("${1}began with the weights")),
		"a smaller ε of both beside the true":  []byte(strings.Replace(string(files(before)["statement.txt"]), "both together promise", "both together promise (ε = 0.01, δ = 1e-09), both together promise", 1)),
		"weights that are not declared":        []byte(strings.Replace(string(files(before)["model.json"]), `"public":true`, `"public":false`, 1)),
		"another ε in its field":               edit(t, files(before)["statement.json"], `("start": \{[^}]*)"epsilon": 2`, `"start": {"private": true, "epsilon": 0.1`),
		"no promise in its field":              edit(t, files(before)["statement.json"], `("start": \{[^}]*)"private": true`, `"start": {"private": false`),
		"an ε below 0":                         []byte(strings.ReplaceAll(string(edit(t, files(before)["statement.json"], `("start": \{[^}]*)"epsilon": 2`, `"start": {"private": true, "epsilon": -2`)), "which left them is", "which left these is")),
	} {
		if v, err := Check("edited.json", edited); err != nil || !has(v, claim, run.Differs) || strings.Contains(v.Text, "both together promise") {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	for name, b := range files(&run.StartInfo{File: "public.zip", SHA256: sha}) {
		if v, err := Check(name, b); err != nil || finding(v, claim).Verdict != run.Unchecked || strings.Contains(v.Text, "both") {
			t.Errorf("%s, public weights: %+v, %v", name, v, err)
		}
	}
	for name, b := range files(nil) {
		if v, err := Check(name, b); err != nil || finding(v, claim).Verdict != "" {
			t.Errorf("%s, random weights: %+v, %v", name, v, err)
		}
	}
}

// TestPublicRowsAreNamedEverywhereOrNowhere: the file's statement, its field and its configuration.
func TestPublicRowsAreNamedEverywhereOrNowhere(t *testing.T) {
	const claim = "the public rows"
	st := concluded(t, privacy.Statement{
		NoiseMultiplier: 1.25, SampleRate: 0.05, Steps: 40, Planned: 40, Delta: 1e-5, Accountant: privacy.PLD, Clipping: "constant, max_grad_norm = 1",
		PerStep: privacy.PoissonSampled{SampleRate: 0.05, Of: privacy.Gaussian{NoiseMultiplier: 1.25}}, Released: []string{"the parameters after every step"},
		Known: privacy.Known{PublicRows: &run.PublicInfo{PublicRows: run.PublicRows{File: "open.csv", SHA256: strings.Repeat("ab", 32), Public: true, Weight: 0.5, BatchSize: 64}, Rows: 600}},
	})
	whole := indent(t, st)
	if v, err := Check("statement.json", whole); err != nil || v.Verdict != run.Agrees || finding(v, claim).Verdict != run.Unchecked {
		t.Errorf("%+v, %v", v, err)
	}
	for what, edited := range map[string][]byte{
		"its field":     edit(t, whole, `"public_rows"`, `"rows_of_others"`),
		"its paragraph": regexp.MustCompile(`("short": "[^"]*)were mixed in`).ReplaceAll(whole, []byte("${1}were there")),
	} {
		if v, err := Check("edited.json", edited); err != nil || !has(v, claim, run.Differs) {
			t.Errorf("without %s: %+v, %v", what, v, err)
		}
	}
}
