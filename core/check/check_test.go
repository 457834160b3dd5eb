package check

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clipscope/core/model"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// made holds the files that this version writes of one run, by kind.
type made map[string][]byte

// write makes every kind of file of a run with bought bounds, stopped after 30 of 40 steps.
func write(t testing.TB) made {
	t.Helper()
	step := privacy.FloatNoise{Of: privacy.PoissonSampled{SampleRate: 0.05, Of: privacy.Gaussian{NoiseMultiplier: 1.25}}, Values: 6}
	bought := privacy.FloatNoise{Of: privacy.Gaussian{NoiseMultiplier: 14}, Values: 512}
	st := concluded(t, privacy.Statement{
		NoiseMultiplier: 1.25, SampleRate: 0.05, Steps: 30, Planned: 40, Delta: 1e-5, Accountant: privacy.PLD, Clipping: "constant, max_grad_norm = 1",
		Once: []privacy.Event{bought}, PerStep: step, Released: []string{"the parameters after every step"},
	})
	all := made{"statement.json": indent(t, st), "statement.txt": []byte(st.Text)}
	sigma := 1.25
	cfg := run.Config{Data: "files", NoiseMultiplier: &sigma, TargetDelta: 1e-5, Steps: 40, ExpectedBatchSize: 50, Accountant: "pld", Scaling: run.Scaling{Kind: "private"}}
	guarantee := fmt.Sprintf("(ε = %s, δ = 1e-05)-differential privacy for every training row, under adding or removing one row, by the PLD accountant: "+
		"40 steps with Poisson sampling at rate 0.05 and noise_multiplier 1.25, floating-point noise. Bounds of the columns were released first, with noise_multiplier 14. It was stopped after step 30 and is charged all 40; had 30 been fixed beforehand, ε would be %s.",
		run.UpText(float64(st.Epsilon), 4), run.UpText(float64(st.EpsilonAtStep), 4))
	f := model.File{
		Program: "Clipscope 9.9.9", Config: cfg, Guarantee: guarantee, Statement: st.Text, Epsilon: st.Epsilon, Delta: 1e-5, Accountant: "pld", Steps: 30, Planned: 40, Events: st.Events,
		Apply: small(), Parameters: []float32{1, 2, 3, 4, 5, 6},
	}
	for name, form := range map[string]func(*bytes.Buffer) error{
		"model.json":        func(w *bytes.Buffer) error { return f.JSON(w) },
		"model.safetensors": func(w *bytes.Buffer) error { return f.Safetensors(w) },
		"model.zip":         func(w *bytes.Buffer) error { return f.Bundle(w, nil) },
	} {
		var w bytes.Buffer
		if err := form(&w); err != nil {
			t.Fatal(name, err)
		}
		all[name] = w.Bytes()
	}
	var curve []float64
	for k := 1; k <= 30; k++ {
		e, err := privacy.Epsilon(privacy.RDP, 1e-5, bought, privacy.SelfComposed{Of: step, Count: k})
		if err != nil {
			t.Fatal(err)
		}
		curve = append(curve, min(e, float64(st.EpsilonAtStep)))
	}
	curve[29] = float64(st.EpsilonAtStep)
	all["run.json"] = indent(t, map[string]any{
		"config": cfg, "guarantee": guarantee, "epsilon": st.Epsilon, "delta": 1e-5, "accountant": "pld", "steps": 30, "planned_steps": 40, "epsilon_at_step": st.EpsilonAtStep,
		"events": st.Events, "released": map[string]any{"noise_multiplier": 1.25, "sample_rate": 0.05, "max_grad_norm": []float64{1}}, "series": map[string]any{"epsilon": curve},
	})
	var table strings.Builder
	table.WriteString("step,max_grad_norm,epsilon,noisy_grad_norm\n")
	for i, e := range curve {
		fmt.Fprintf(&table, "%d,1,%v,0.5\n", i+1, e)
	}
	all["run.csv"] = []byte(table.String())
	all["ledger.json"] = indent(t, map[string]any{"made": "2026-11-26T00:00:00Z", "limit": nil, "runs": []run.Line{{
		Run: "a", Data: 1, Label: "x.csv", Done: 30, Charged: 40, Closed: true, Once: st.Events[:1], PerStep: json.RawMessage(`{"kind":"poisson_sampled","sample_rate":0.05,"float_values":6,"of":{"kind":"gaussian","noise_multiplier":1.25}}`),
	}}})
	all["chart.json"] = []byte(`{"program":"Clipscope","title":"Privacy cost","columns":["step","epsilon"],"rows":[[1,0.5]]}`)
	all["model.onnx"] = []byte("\x08\x08\x12\x09clipscope")
	all["state"] = binary.LittleEndian.AppendUint64(append([]byte(checkpointMagic), make([]byte, 64)...), 30)
	return all
}

// concluded returns a statement as version 9.9.9 gives it.
func concluded(t testing.TB, of privacy.Statement) run.Statement {
	t.Helper()
	s, err := privacy.NewStatement(of)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var st run.Statement
	if err := json.Unmarshal(b, &st); err != nil {
		t.Fatal(err)
	}
	if st, err = privacy.Conclude(run.StatementRequest{Statement: st, Version: "9.9.9"}); err != nil {
		t.Fatal(err)
	}
	return st
}

// small returns a model of six parameters.
func small() *run.Application {
	return &run.Application{
		Task: "classification", Outputs: 2, Features: 2, Scaling: run.AppliedScaling{Kind: "none"},
		Layers: []run.AppliedLayer{{Text: "dense:2", Shape: []int{2}, Parameters: 6, Tensors: []run.AppliedTensor{{Name: "weight", Shape: []int{2, 2}}, {Name: "bias", Shape: []int{2}}}}},
	}
}

func indent(t testing.TB, v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// edit replaces one thing in a file, which has to be there.
func edit(t testing.TB, b []byte, pattern, with string) []byte {
	t.Helper()
	re := regexp.MustCompile(pattern)
	at := re.FindIndex(b)
	if at == nil {
		t.Fatalf("there is no %s to edit", pattern)
	}
	return []byte(string(b[:at[0]]) + with + string(b[at[1]:]))
}

// rezipped is a zip with one of its files edited.
func rezipped(t testing.TB, b []byte, name, pattern, with string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		inside, err := model.Unpack(f, len(b))
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == name {
			inside = edit(t, inside, pattern, with)
		}
		e, err := w.Create(f.Name)
		if err == nil {
			_, err = e.Write(inside)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func old(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stateOf is the statement that 0.1.0 kept with a run.
func stateOf(t testing.TB) []byte {
	t.Helper()
	var all map[string]struct {
		Stores map[string]struct{ Entries [][2]json.RawMessage }
	}
	if err := json.Unmarshal(old(t, "0.1.0/indexeddb.json"), &all); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Result struct{ Statement json.RawMessage }
	}
	if err := json.Unmarshal(all["clipscope-runs"].Stores["bodies"].Entries[0][1], &body); err != nil {
		t.Fatal(err)
	}
	return body.Result.Statement
}

// TestEveryKindOfFileGetsItsVerdict checks each kind of file: honest, edited, of earlier versions,
// and hostile. The list of verdicts is printed with -v.
func TestEveryKindOfFileGetsItsVerdict(t *testing.T) {
	now := write(t)
	const refused = "refused"
	hostile := func(event string) []byte {
		return edit(t, now["statement.json"], `(?s)"events": \[.*?\n  \]`, `"events": [`+event+`]`)
	}
	tests := []struct {
		name string
		file []byte
		want string
		says string // a claim that differs, or a part of the error or of the text
	}{
		// Of today, as they were written.
		{"model.zip", now["model.zip"], run.Agrees, ""},
		{"model.json", now["model.json"], run.Agrees, ""},
		{"model.safetensors", now["model.safetensors"], run.Agrees, ""},
		{"model.onnx", now["model.onnx"], run.Unchecked, "no word on privacy"},
		{"run.json", now["run.json"], run.Agrees, ""},
		{"run.csv", now["run.csv"], run.Unchecked, "What can be compared agrees"},
		{"statement.json", now["statement.json"], run.Agrees, ""},
		{"statement.txt", now["statement.txt"], run.Unchecked, ""}, // it does not say what the bounds cost
		{"ledger.json", now["ledger.json"], run.Unchecked, "names no total to compare"},
		{"state", now["state"], run.Unchecked, "claims no ε"},
		{"chart.json", now["chart.json"], run.Unchecked, "no events"},
		// Edited.
		{"model.zip, ε of one form", rezipped(t, now["model.zip"], "model.json", `"epsilon":[0-9.]+`, `"epsilon":0.1`), run.Differs, "model.json and model.safetensors"},
		{"model.zip, another statement.txt", rezipped(t, now["model.zip"], "statement.txt", `ε = [0-9.]+`, "ε = 0.1"), run.Differs, "statement.txt"},
		{"model.json, ε = 0.1", edit(t, now["model.json"], `"epsilon":[0-9.]+`, `"epsilon":0.1`), run.Differs, "ε"},
		{"model.json, ε = 0.1 in words alone", edit(t, now["model.json"], `\(ε = [0-9.]+`, `(ε = 0.1`), run.Differs, "ε in the words of the guarantee"},
		{"model.safetensors, ε = 0.1", retensored(t, now["model.safetensors"], `"epsilon":"[0-9.]+"`, `"epsilon":"0.1"`), run.Differs, "ε"},
		{"run.json, ε = 0.1", edit(t, now["run.json"], `"epsilon": [0-9.]+`, `"epsilon": 0.1`), run.Differs, "ε"},
		{"run.json, σ", edit(t, now["run.json"], `("released": \{\s+"max_grad_norm": \[\s+1\s+\],\s+)"noise_multiplier": 1.25`, `"released": {"noise_multiplier": 2`), run.Differs, "noise_multiplier"},
		{"run.json, a curve that falls", edit(t, now["run.json"], `("epsilon": \[\n\s+)[0-9.]+`, `"epsilon": [9`), run.Differs, "ε step by step"},
		{"run.csv, a curve that falls", edit(t, now["run.csv"], `\n1,1,[0-9.]+`, "\n1,1,9"), run.Differs, "ε step by step"},
		{"statement.json, ε = 0.1", edit(t, now["statement.json"], `"epsilon": [0-9.]+`, `"epsilon": 0.1`), run.Differs, "ε"},
		{"statement.json, fewer steps in its events", edit(t, now["statement.json"], `"count": 40`, `"count": 4`), run.Differs, "steps charged"},
		{"statement.json, ε for 2 rows", edit(t, now["statement.json"], `("rows": 2,\s+)"epsilon": [0-9.]+`, `"rows": 2, "epsilon": 0.2`), run.Differs, "ε for 2 rows"},
		{"statement.json, a larger ε than its accountants say", edit(t, now["statement.json"], `"epsilon": [0-9.]+`, `"epsilon": 99`), run.Differs, "ε among its accountants"},
		{"0.1.0 model, a larger ε", edit(t, edit(t, old(t, "0.1.0/clipscope-parameters.json"), `"epsilon":[0-9.]+`, `"epsilon":0.7`), `\(ε = [0-9.]+`, `(ε = 0.7`), run.Agrees, ""},
		{"statement.txt, ε = 0.1", edit(t, now["statement.txt"], `ε = [0-9.]+`, "ε = 0.1"), run.Differs, "ε"},
		{"statement.json, σ", edit(t, now["statement.json"], `(?s)("clipping".*?)"events"|"noise_multiplier": 1.25,\s+"steps"`, `"noise_multiplier": 2, "steps"`), run.Differs, "noise_multiplier"},
		{"statement.json, q", edit(t, now["statement.json"], `"sample_rate": 0.05,\s+"noise_multiplier": 1.25,\s+"steps"`, `"sample_rate": 0.01, "noise_multiplier": 1.25, "steps"`), run.Differs, "sample_rate"},
		{"statement.json, ε = 0.1 in its short version alone", edit(t, now["statement.json"], `("short": "[^"]*?)\(ε = [0-9.]+`, `"short": "It satisfies (ε = 0.1`), run.Differs, "ε in the words of the short version"},
		{"statement.json, ε = 0.1 in its sections alone", edit(t, now["statement.json"], `("paragraphs": \[\s+"[^"]*?)\(ε = [0-9.]+`, `"paragraphs": ["It satisfies (ε = 0.1`), run.Differs, "the sections of the statement"},
		{"statement.json, an attacker who knows less", edit(t, now["statement.json"], `"right_at_most": [0-9.]+`, `"right_at_most": 0.501`), run.Differs, "what an attacker can tell"},
		{"statement.json, a test that finds less", edit(t, now["statement.json"], `("true_positive_rate": \[\s+)[0-9.e-]+`, `"true_positive_rate": [0.00001`), run.Differs, "what an attacker can tell"},
		{"statement.json, ε in words of its own", edit(t, now["statement.json"], `\n  "text": "[^"]*"`, "\n  \"text\": \"The model satisfies 0.1-differential privacy.\""), run.Differs, "the words of the statement"},
		{"model.json, ε in words of its own", edit(t, now["model.json"], `"statement":"[^"]*"`, `"statement":"The model is differentially private with ε = 0.1."`), run.Differs, "the words of the statement"},
		{"model.json, a guarantee in words of its own", edit(t, now["model.json"], `"guarantee":"[^"]*"`, `"guarantee":"ε = 0.1 differential privacy"`), run.Differs, "the words of the guarantee"},
		{"statement.json, a ninth group", edit(t, now["statement.json"], `"groups": \[`, `"groups": [`+strings.Repeat(`{"rows": 2, "epsilon": 99}, `, 8)+`{"rows": 3, "epsilon": 0.1},`), run.Differs, "groups"},
		{"ledger.json, fewer steps charged", edit(t, now["ledger.json"], `"charged": 40`, `"charged": 20`), run.Differs, "data set 1, run 1"},
		// Of 0.1.0.
		{"0.1.0 model", old(t, "0.1.0/clipscope-parameters.json"), run.Agrees, ""},
		{"0.1.0 run.json", old(t, "0.1.0/clipscope-run.json"), run.Agrees, ""},
		{"0.1.0 run.csv", old(t, "0.1.0/clipscope-run.csv"), run.Unchecked, "What can be compared agrees"},
		{"0.1.0 statement.json", stateOf(t), run.Agrees, ""},
		{"0.1.0 model, ε = 0.1", edit(t, old(t, "0.1.0/clipscope-parameters.json"), `"epsilon":[0-9.]+`, `"epsilon":0.1`), run.Differs, "ε"},
		{"0.1.0 model with a way to apply it", edit(t, old(t, "0.1.0/clipscope-parameters.json"), `\{`, `{"apply":{"columns":[]},`), run.Differs, "the model’s parts"},
		// Of 0.2.0.
		{"0.2.0 model.zip", old(t, "0.2.0/plain-model.zip"), run.Agrees, ""},
		{"0.2.0 model.json", old(t, "0.2.0/plain-model.json"), run.Agrees, ""},
		{"0.2.0 model.safetensors", old(t, "0.2.0/plain-model.safetensors"), run.Agrees, ""},
		{"0.2.0 run.json", old(t, "0.2.0/plain-run.json"), run.Agrees, ""},
		{"0.2.0 run.csv", old(t, "0.2.0/plain-run.csv"), run.Unchecked, "What can be compared agrees"},
		{"0.2.0 statement.json", old(t, "0.2.0/plain-statement.json"), run.Agrees, ""},
		{"0.2.0 statement.txt", old(t, "0.2.0/plain-statement.txt"), run.Agrees, ""},
		{"0.2.0 bounds, statement.json", old(t, "0.2.0/bounds-statement.json"), run.Agrees, ""},
		{"0.2.0 bounds, statement.txt", old(t, "0.2.0/bounds-statement.txt"), run.Unchecked, ""},
		{"0.2.0 bounds, run.json", old(t, "0.2.0/bounds-run.json"), run.Unchecked, ""},
		{"0.2.0 bounds, model.json", old(t, "0.2.0/bounds-model.json"), run.Unchecked, ""},
		{"0.2.0 secure, statement.json", old(t, "0.2.0/secure-statement.json"), run.Agrees, ""},
		{"0.2.0 secure, run.json", old(t, "0.2.0/secure-run.json"), run.Unchecked, ""},
		{"0.2.0 bounds, run.json, ε = 0.5", edit(t, old(t, "0.2.0/bounds-run.json"), `"epsilon": [0-9.]+`, `"epsilon": 0.5`), run.Differs, "ε"},
		{"0.2.0 statement.txt, ε = 0.1", edit(t, old(t, "0.2.0/plain-statement.txt"), `ε = [0-9.]+`, "ε = 0.1"), run.Differs, "ε"},
		// Hostile.
		{"σ = 1e-300", hostile(`{"kind":"gaussian","noise_multiplier":1e-300}`), run.Differs, "events"},
		{"10⁹ steps", hostile(`{"kind":"self_composed","count":1000000000,"of":{"kind":"gaussian","noise_multiplier":1}}`), run.Differs, "events"},
		{"T = 10¹⁸", hostile(`{"kind":"self_composed","count":1000000000000000000,"of":{"kind":"poisson_sampled","sample_rate":0.1,"of":{"kind":"gaussian","noise_multiplier":1}}}`), run.Differs, "events"},
		{"σ = 1e-300, in float noise", hostile(`{"kind":"gaussian","noise_multiplier":1e-300,"float_values":1}`), run.Differs, "events"},
		{"T = 10¹⁸, of float noise", hostile(`{"kind":"self_composed","count":1000000000,"of":{"kind":"self_composed","count":1000000000,"float_values":1,"of":{"kind":"gaussian","noise_multiplier":1}}}`), run.Differs, "events"},
		{"q = 1.5, of float noise", hostile(`{"kind":"poisson_sampled","sample_rate":1.5,"float_values":1,"of":{"kind":"gaussian","noise_multiplier":1}}`), run.Differs, "events"},
		{"q = 1.5", hostile(`{"kind":"poisson_sampled","sample_rate":1.5,"of":{"kind":"gaussian","noise_multiplier":1}}`), run.Differs, "events"},
		{"q = 0", hostile(`{"kind":"poisson_sampled","sample_rate":0,"of":{"kind":"gaussian","noise_multiplier":1}}`), run.Differs, "events"},
		{"no noise", hostile(`{"kind":"non_private"}`), run.Differs, "ε"},
		{"an unknown event", hostile(`{"kind":"laplace","scale":1}`), run.Differs, "events"},
		{"100 kinds of release", hostile(kinds(100)), run.Differs, "events"},
		{"5,000 events", hostile(strings.TrimSuffix(strings.Repeat(`{"kind":"gaussian","noise_multiplier":9},`, 5000), ",")), run.Differs, "events"},
		{"ε twice", edit(t, now["statement.json"], `"epsilon":`, `"epsilon": 0.1, "Epsilon":`), refused, "stands twice"},
		{"δ = 0", edit(t, now["statement.json"], `"delta": 0.00001`, `"delta": 0`), run.Differs, "δ"},
		{"a negative ε", edit(t, now["statement.json"], `"epsilon": [0-9.]+`, `"epsilon": -1`), run.Differs, "ε"},
		{"ε a text", edit(t, now["statement.json"], `"epsilon": [0-9.]+`, `"epsilon": "small"`), refused, "epsilon"},
		{"an ε that is a text, of a model", edit(t, now["model.json"], `"epsilon": ?[0-9.]+`, `"epsilon": "small"`), refused, "check: epsilon: a string is not"},
		{"a sentence of 10 MB", edit(t, now["model.json"], `"guarantee": ?"`, `"guarantee": "`+strings.Repeat("x ", 5<<20)), run.Differs, "the model’s parts"},
		{"nested lists", []byte(`{"made":1,"runs":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`), refused, "nested"},
		{"a zip cut short", now["model.zip"][:len(now["model.zip"])/2], refused, "zip"},
		{"safetensors cut short", now["model.safetensors"][:200], refused, "cut short"},
		{"a header that ends nowhere", append(binary.LittleEndian.AppendUint64(nil, 1<<20), '{'), refused, "cut short"},
		{"nothing", nil, refused, "empty"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n"), refused, "not a file that Clipscope writes"},
		{"somebody's JSON", []byte(`{"name":"x"}`), refused, "not a file that Clipscope writes"},
		{"a statement of somebody", []byte("This data is protected by differential privacy with epsilon 0.1."), run.Unchecked, "not those of a statement"},
		{"a fixed seed with a guarantee", edit(t, now["run.json"], `"config": \{`, `"config": {"seed": 7,`), run.Differs, "guarantee"},
	}
	if len(tests) < 40 {
		t.Fatalf("only %d files", len(tests))
	}
	for _, tt := range tests {
		v, err := Check(tt.name, tt.file)
		if err != nil {
			t.Logf("%-42s refused: %v", tt.name, err)
			if tt.want != refused || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		t.Logf("%-42s %s: %s", tt.name, v.Verdict, v.Text)
		if v.Verdict != tt.want {
			t.Errorf("%s: %s, not %s: %+v", tt.name, v.Verdict, tt.want, v.Findings)
		}
		if tt.want == run.Differs && !has(v, tt.says, run.Differs) {
			t.Errorf("%s: %q does not differ: %+v", tt.name, tt.says, v.Findings)
		}
		if tt.want != run.Differs && !strings.Contains(v.Text, tt.says) {
			t.Errorf("%s: %q does not say %q", tt.name, v.Text, tt.says)
		}
		if v.Verdict == run.Agrees && len(v.Unknown) == 0 {
			t.Errorf("%s: nothing is said of what no check shows", tt.name)
		}
	}
}

func has(v run.Verdict, claim, verdict string) bool {
	for _, f := range v.Findings {
		if f.Claim == claim && f.Verdict == verdict {
			return true
		}
	}
	return false
}

// kinds are events that differ in their rate.
func kinds(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"kind":"poisson_sampled","sample_rate":%g,"of":{"kind":"gaussian","noise_multiplier":1}}`, 0.001*float64(i+1)))
	}
	return strings.Join(all, ",")
}

// retensored edits the header of a safetensors file.
func retensored(t testing.TB, b []byte, pattern, with string) []byte {
	t.Helper()
	n := binary.LittleEndian.Uint64(b)
	header := edit(t, b[8:8+n], pattern, with)
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), b[8+n:]...)
}

// TestMessagesQuoteLittle holds that a message repeats no more than the beginning of a long
// number or name of the file.
func TestMessagesQuoteLittle(t *testing.T) {
	now := write(t)
	long := strings.Repeat("9", 1<<20)
	messages := map[string]string{}
	for name, b := range map[string][]byte{
		"a field":   []byte(`{"sample_rate":` + long + `,"noise_multiplier":1,"epsilon":1,"text":"x"}`),
		"a model":   []byte(`{"format":"clipscope-model","version":` + long + `,"guarantee":"x","parameters":[1]}`),
		"a setting": edit(t, now["run.json"], `"expected_batch_size": 50`, `"expected_batch_size": `+long),
	} {
		_, err := Check(name, b)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		messages[name] = err.Error()
	}
	for name, event := range map[string]string{
		"an event's number": `{"kind":"gaussian","noise_multiplier":` + long[:60000] + `}`,
		"an event's kind":   `{"kind":"` + long[:60000] + `"}`,
	} {
		v, err := Check(name, edit(t, now["statement.json"], `(?s)"events": \[.*?\n  \]`, `"events": [`+event+`]`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range v.Findings {
			messages[name] += f.Why + "\n"
		}
	}
	for name, m := range messages {
		if m == "" || strings.Contains(m, long[:60]) {
			t.Errorf("%s: %.300q", name, m)
		}
	}
}

// TestManySmallValuesTakeMemoryInProportion: files of nothing but small values are read in
// proportion to their bytes, or refused by the bound that they pass.
func TestManySmallValuesTakeMemoryInProportion(t *testing.T) {
	if testing.Short() && runtime.GOOS == "js" {
		t.Skip("bytes are counted alike natively, in a tenth of the time; web/e2e has hostile files in the page")
	}
	const size = 9 << 20
	filled := func(before, part, after string) []byte {
		return []byte(before + strings.Repeat(part, size/len(part)) + after)
	}
	keys := strings.Builder{}
	for i := range size / 10 {
		fmt.Fprintf(&keys, `"%06x":0,`, i)
	}
	run := `{"config":{},"guarantee":"x","series":{"epsilon":[0`
	for name, tc := range map[string]struct {
		b    []byte
		want string
	}{
		"rows":             {[]byte("step,max_grad_norm,epsilon,\n" + strings.Repeat("1,1,1,\n", mostPoints-1)), ""},
		"rows of nothing":  {filled("step,max_grad_norm,epsilon,\n", ",,,\n", ""), "which is no number"},
		"rows without end": {[]byte("step,max_grad_norm,epsilon,\n" + strings.Repeat("1,,1,\n", mostPoints+1)), "more than 1048576 rows"},
		"keys":             {[]byte("{" + keys.String() + `"made":0,"runs":[]}`), "more than 65536 keys"},
		"a series":         {filled(run, ",0", "]}}"), "more than 4194304 values beside"},
		"a long series":    {[]byte(run + strings.Repeat(",0", mostPoints-1) + "]}}"), ""},
		"a longer series":  {[]byte(run + strings.Repeat(",0", mostPoints) + "]}}"), "series.epsilon: there are 1048577 values, over the limit of 1048576"},
		"words":            {filled("differential privacy (ε = 1, δ = 1e-5)", " over 1", ""), "over the limit of 262144 of a statement"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Check(name, tc.b)
		runtime.ReadMemStats(&after)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64*uint64(len(tc.b)) {
			t.Errorf("%s: took %d MB of a file of %d", name, took>>20, len(tc.b)>>20)
		}
	}
}

// FuzzRead holds that no file is read otherwise than to claims or an error, and that events
// which pass are within what accountants are asked.
func FuzzRead(f *testing.F) {
	for _, b := range write(f) {
		f.Add(b)
	}
	f.Add(old(f, "0.1.0/clipscope-run.json"))
	f.Add(old(f, "0.2.0/secure-statement.json"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readFile(b)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		seen, unseen := recognise(b)
		if (seen == nil) == (unseen == nil) {
			t.Fatalf("recognised %v, %v", seen, unseen)
		}
		if err != nil {
			return
		}
		if unseen == nil && seen.kind != c.kind {
			t.Errorf("%q is recognised as %q", c.kind, seen.kind)
		}
		events, err := (&judge{claims: c}).readEvents(c.events)
		if err == nil && stepsOf(events).count > len(events)*mostSteps {
			t.Errorf("%d steps in %d events", stepsOf(events).count, len(events))
		}
	})
}

// TestSettingsAreNoLongerThanALink holds that a file's configuration is handed on only where a link could
// hold it, and that recognising a file compares nothing.
func TestSettingsAreNoLongerThanALink(t *testing.T) {
	for note, handed := range map[int]bool{10: true, run.MaxHash - 5: true, run.MaxHash: false, 1 << 22: false} {
		b := []byte(fmt.Sprintf(`{"config": {"note": %q}, "epsilon": 1, "delta": 1e-5, "series": {}}`, strings.Repeat("n", note)))
		for name, do := range map[string]func(string, []byte) (run.Verdict, error){"Check": Check, "Recognise": Recognise} {
			v, err := do("run.json", b)
			if err != nil || v.Kind != "run, JSON" || (v.Config != nil) != handed {
				t.Errorf("%s, a note of %d bytes: %q, handed on %v, %v", name, note, v.Kind, v.Config != nil, err)
			}
			if name == "Recognise" && len(v.Findings) > 0 {
				t.Errorf("compared: %v", v.Findings)
			}
		}
	}
}

// TestFindingsAreFew holds that a file cannot ask for more findings, or longer ones, than a page shows.
func TestFindingsAreFew(t *testing.T) {
	failed := `{"name": "` + strings.Repeat("n", 1000) + `", "ok": false}`
	v, err := Check("run.json", []byte(`{"config": {"accountant": "`+strings.Repeat("a", 1000)+`"}, "epsilon": 1, "accountant": "rdp", "series": {}, "checks": [`+strings.Repeat(failed+",", 9999)+failed+`]}`))
	if err != nil || len(v.Findings) > 100 || !has(v, "the run’s own checks", run.Differs) {
		t.Fatalf("%d findings, %v", len(v.Findings), err)
	}
	for _, f := range v.Findings {
		if len(f.File) > 300 || len(f.Recomputed) > 300 {
			t.Errorf("%s: %d and %d bytes", f.Claim, len(f.File), len(f.Recomputed))
		}
	}
	if f := v.Findings; !slices.ContainsFunc(f, func(f run.Finding) bool { return strings.Contains(f.File, "9936 more failed") }) {
		t.Errorf("what more failed is not counted: %+v", f[len(f)-1])
	}
}

// TestTextIsRefusedBeforeItIsRead holds that only models may be larger than a text that is read.
func TestTextIsRefusedBeforeItIsRead(t *testing.T) {
	for head, want := range map[string]int64{"PK\x03\x04": 2 << 30, "\x10\x00\x00\x00\x00\x00\x00\x00{": 2 << 30, "{\"config\"": mostText, "": mostText, "clipscope": mostText} {
		if got := MaxBytes([]byte(head)); got != want {
			t.Errorf("%q: %d, want %d", head, got, want)
		}
	}
}
