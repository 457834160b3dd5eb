package privacy

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/run"
)

// TestStatementChargesTheTableOfJoinedNoise: what the table takes of δ is there, as a number and
// in the events, and ε is that with it.
func TestStatementChargesTheTableOfJoinedNoise(t *testing.T) {
	step := Inexact{PoissonSampled{0.01, Gaussian{1.1}}, JoinedDistance(100_000)}
	s, err := NewStatement(Statement{NoiseMultiplier: 1.1, SampleRate: 0.01, Steps: 300, Delta: 1e-5, Accountant: PLD, PerStep: step, SecureNoise: true})
	if err != nil {
		t.Fatal(err)
	}
	least := 300 * JoinedDistance(100_000) * (1 + math.Exp(s.Epsilon()))
	if want := mustEpsilon(t, PLD, 1e-5, SelfComposed{step, 300}); s.Epsilon() != want || s.beside < least || s.beside > 1e-70 {
		t.Errorf("ε = %v, want %v; %v of δ for the table, at least %v", s.Epsilon(), want, s.beside, least)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, say := range []string{"draws of a table", "charged to δ", run.UpText(s.beside, 2), `"kind":"inexact"`} {
		if !strings.Contains(string(b), say) {
			t.Errorf("the statement does not say %q:\n%s", say, b)
		}
	}
}

func TestStatementSaysItsEpsilon(t *testing.T) {
	s, err := NewStatement(Statement{
		NoiseMultiplier: 1.1, SampleRate: 0.01, Steps: 300, Delta: 1e-5, Accountant: PLD, Clipping: "constant, C = 4",
		PerStep: PoissonSampled{0.01, Gaussian{1.1}}, Once: []Event{Gaussian{20}}, SecureNoise: true,
		Released: []string{"the parameters after every step"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := mustEpsilon(t, PLD, 1e-5, Gaussian{20}, SelfComposed{PoissonSampled{0.01, Gaussian{1.1}}, 300})
	if s.Epsilon() != want {
		t.Errorf("ε = %v, want %v", s.Epsilon(), want)
	}
	text := s.Text()
	for _, say := range []string{"noise_multiplier = 1.1", "sample_rate = 0.01", "300 planned steps", "δ = 1e-05", "PLD", "zero-out relation", "which is public", "an attacker who knows every other row", "Poisson", "constant, C = 4", "secure", "not a bound", "charged once"} {
		if !strings.Contains(text, say) {
			t.Errorf("the statement does not say %q:\n%s", say, text)
		}
	}
	if strings.Contains(text, "no guarantee") {
		t.Errorf("it denies its guarantee:\n%s", text)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Guarantee bool
		Epsilon   float64
		Epsilons  map[string]float64
		Events    []json.RawMessage
		Relation  string `json:"neighbouring_relation"`
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !back.Guarantee || back.Epsilon != want || len(back.Events) != 2 || back.Relation == "" || back.Epsilons["rdp"] < back.Epsilons["pld"] || back.Epsilons["pld_lower_bound"] > want {
		t.Errorf("JSON: %s", b)
	}
	events := make([]Event, len(back.Events))
	for i, raw := range back.Events {
		if events[i], err = UnmarshalEvent(raw); err != nil {
			t.Fatal(err)
		}
	}
	if e := mustEpsilon(t, PLD, 1e-5, events...); e != want {
		t.Errorf("the events in the JSON cost %v, want %v", e, want)
	}
}

// A stopped run quotes the ε of its plan, says what the steps that it took would
// have cost, and what their number may tell.
func TestStatementOfAStoppedRunQuotesThePlan(t *testing.T) {
	step := PoissonSampled{0.01, Gaussian{1.1}}
	at := func(steps int) float64 {
		return mustEpsilon(t, PLD, 1e-5, Gaussian{20}, SelfComposed{step, steps})
	}
	for _, c := range []struct {
		steps   int
		blind   bool
		rested  bool
		say     []string
		without string
	}{
		{100, false, true, []string{"stopped after step 100", "that of all 300", "Early stopping", "covers the number of steps"}, "no ε covers"},
		{100, false, false, []string{"over 300 planned steps", "stopped after step 100", "that of all 300", "Diagnostics were shown", "no ε covers"}, "hidden until the end, so"},
		{100, true, false, []string{"over 300 planned steps", "stopped after step 100", "that of all 300", "hidden until the end", "covers the number of steps"}, "Diagnostics were shown"},
		{300, false, false, []string{"took all of its steps", "diagnostics were shown"}, "stopped after"},
		{300, true, false, []string{"took all of its steps", "hidden until the end"}, "stopped after"},
	} {
		s, err := NewStatement(Statement{
			NoiseMultiplier: 1.1, SampleRate: 0.01, Steps: c.steps, Planned: 300, Blind: c.blind, Rested: c.rested, Delta: 1e-5, Accountant: PLD,
			PerStep: step, Once: []Event{Gaussian{20}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Epsilon() != at(300) || s.EpsilonAtStep() != at(c.steps) {
			t.Errorf("%d steps: ε = %v, at the step %v; want %v, %v", c.steps, s.Epsilon(), s.EpsilonAtStep(), at(300), at(c.steps))
		}
		text := s.Text()
		for _, say := range c.say {
			if !strings.Contains(text, say) {
				t.Errorf("%d steps, blind %t: it does not say %q:\n%s", c.steps, c.blind, say, text)
			}
		}
		if strings.Contains(text, c.without) {
			t.Errorf("%d steps, blind %t: it says %q:\n%s", c.steps, c.blind, c.without, text)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Steps   int
			Planned int `json:"planned_steps"`
			Stopped bool
			Blind   bool
			Rested  bool
			Epsilon float64
			AtStep  float64 `json:"epsilon_at_step"`
			Events  []struct{ Count int }
		}
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if back.Steps != c.steps || back.Planned != 300 || back.Stopped != (c.steps < 300) || back.Blind != c.blind || back.Rested != c.rested || back.Epsilon != at(300) || back.AtStep != at(c.steps) || back.Events[1].Count != 300 {
			t.Errorf("%d steps, blind %t: %s", c.steps, c.blind, b)
		}
	}
	if _, err := NewStatement(Statement{Steps: 5, Planned: 4, Delta: 1e-5, Accountant: PLD, PerStep: step}); err == nil {
		t.Error("no error for more steps than were planned")
	}
}

// Several rows of one person cost more than one, and the more the more.
func TestStatementChargesGroupsMore(t *testing.T) {
	s, err := NewStatement(Statement{NoiseMultiplier: 4, SampleRate: 0.01, Steps: 300, Delta: 1e-5, Accountant: RDP, PerStep: PoissonSampled{0.01, Gaussian{4}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Groups []struct {
			Rows    int
			Epsilon float64
		}
	}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	sizes, last := []int{}, s.Epsilon()
	for _, g := range back.Groups {
		sizes = append(sizes, g.Rows)
		if g.Epsilon <= last {
			t.Errorf("%d rows cost %v, fewer %v", g.Rows, g.Epsilon, last)
		}
		last = g.Epsilon
	}
	if !slices.Equal(sizes, []int{2, 5, 20, 100}) || !strings.Contains(s.Text(), "for 100 rows, at the same δ") {
		t.Errorf("groups of %v in %s", sizes, s.Text())
	}
}

func TestStatementWithoutGuaranteeSaysSo(t *testing.T) {
	s, err := NewStatement(Statement{SampleRate: 0.1, Steps: 3, Delta: 1e-5, Accountant: RDP, PerStep: PoissonSampled{0.1, NonPrivate{}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Broken) != 1 || !math.IsInf(s.Epsilon(), 1) || !strings.HasPrefix(s.Text(), "For teaching, no guarantee") {
		t.Errorf("%v\n%s", s.Broken, s.Text())
	}
	if text := s.Text(); strings.Count(text, ". ")+1 != 3 || strings.ContainsAny(text, "∞δ") || strings.Contains(text, "satisfies") || strings.Contains(text, "covered") {
		t.Errorf("a run without noise says\n%s", text)
	}
	if b, err := json.Marshal(s); err != nil || !strings.Contains(string(b), `"guarantee":false`) || !strings.Contains(string(b), `"Infinity"`) {
		t.Errorf("%s, %v", b, err)
	}
	seeded, err := NewStatement(Statement{NoiseMultiplier: 1, SampleRate: 0.1, Steps: 3, Delta: 1e-5, Accountant: PLD, PerStep: PoissonSampled{0.1, Gaussian{1}}, Broken: []string{"the seed is fixed"}})
	if err != nil || !strings.Contains(seeded.Text(), "the seed is fixed") || !strings.Contains(seeded.Text(), "teaching") {
		t.Errorf("%v, %v", seeded, err)
	}
	if text := seeded.Text() + seeded.short(); strings.Contains(text, "ε =") || strings.Contains(text, "satisfies") || seeded.attacker != nil {
		t.Errorf("a seeded run quotes a guarantee:\n%s", text)
	}
	if _, err := NewStatement(Statement{Steps: 1, Delta: 1e-5, Accountant: PLD}); err == nil {
		t.Error("no error for steps that are nothing")
	}
	if _, err := NewStatement(Statement{Delta: 1e-5, Accountant: "x"}); err == nil {
		t.Error("no error for an unknown accountant")
	}
}

// What is added when a run is over: the ledger's total, that a choice among its
// runs is not covered, and the version; and nothing else is changed.
func TestConcludeAddsTheLedgersTotalAlone(t *testing.T) {
	s, err := NewStatement(Statement{NoiseMultiplier: 1, SampleRate: 0.01, Steps: 100, Delta: 1e-5, Accountant: PLD, PerStep: oneStep, Versions: map[string]string{"go": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var made run.Statement
	if err := json.Unmarshal(b, &made); err != nil {
		t.Fatal(err)
	}
	if made.Text != s.Text() || !made.Guarantee || made.Epsilon != run.Number(s.Epsilon()) {
		t.Fatalf("%s came back as %+v", b, made)
	}
	var records []run.Record
	for _, name := range []string{"a", "b", "c"} {
		records = append(records, run.Record{Run: name, Names: []string{"n"}, Entry: entry(t, name, 100)})
	}
	for runs, say := range map[int]string{0: "", 1: "in 1 run so far", 3: "This run is one of the 3. The ε above is its own. Picking the best of them is not covered"} {
		q := run.StatementRequest{Statement: made, Version: "9.9"}
		if runs > 0 {
			q.Account = &run.Account{Records: records[:runs], Names: []string{"n"}}
		}
		got, err := Conclude(q)
		if err != nil {
			t.Fatal(err)
		}
		added, kept := strings.CutPrefix(got.Text, made.Text)
		if !kept || !strings.Contains(added, say) || !strings.HasSuffix(added, "Made by Clipscope 9.9.\n") || !strings.HasSuffix(got.Short, ". Made by Clipscope 9.9.") || got.Versions["clipscope"] != "9.9" || got.Versions["go"] != "1" || made.Versions["clipscope"] != "" {
			t.Errorf("%d runs: %q, %v", runs, added, got.Versions)
		}
		if strings.Contains(added, "Picking the best") != (runs > 1) || (got.Ledger == nil) != (runs == 0) {
			t.Errorf("%d runs: %q, ledger %+v", runs, added, got.Ledger)
		}
		if l := got.Ledger; l != nil && (l.Runs != runs || l.Open != runs || l.Delta != 1e-5 || !(l.Epsilon > 0)) {
			t.Errorf("%d runs: ledger %+v", runs, l)
		}
		got.Ledger, got.Text, got.Versions, got.Sections, got.Short = made.Ledger, made.Text, made.Versions, made.Sections, made.Short
		if !reflect.DeepEqual(got, made) {
			t.Errorf("%+v became %+v", made, got)
		}
	}
}

// TestStatementOfDeclaredRowsIsAddOrRemove: a declared number makes the relation add-or-remove,
// and nothing says that the number of rows is public.
func TestStatementOfDeclaredRowsIsAddOrRemove(t *testing.T) {
	for _, declared := range []bool{false, true} {
		s, err := NewStatement(Statement{
			NoiseMultiplier: 1, SampleRate: 0.01, Steps: 100, Delta: 1e-5, Accountant: PLD, PerStep: oneStep,
			Data: "a.csv", NumExamples: 12345, Model: "softmax", Known: Known{Declared: declared},
		})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back run.Statement
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		relation, say, not := run.ZeroOut, "zero-out", "add-or-remove"
		if declared {
			relation, say, not = run.AddOrRemove, "add-or-remove", "zero-out"
		}
		if back.Neighbours != relation || back.Declared != declared || back.NumExamples != 12345 || back.Epsilon != run.Number(s.Epsilon()) {
			t.Errorf("declared %v: %s", declared, b)
		}
		for _, text := range []string{back.Text, back.Short} {
			if !strings.Contains(text, say) || strings.Contains(text, not) || !strings.Contains(text, "12,345 rows") ||
				strings.Contains(text, "number of rows is public") == declared && text == back.Short {
				t.Errorf("declared %v: it says\n%s", declared, text)
			}
		}
		named, err := Conclude(run.StatementRequest{Statement: back, Version: "9.9", Data: "a.csv and b.csv", Date: "2026-11-26"})
		if err != nil || !strings.Contains(named.Text, "Data: a.csv and b.csv") || !strings.Contains(named.Text, "Date: 2026-11-26.") || named.Date != "2026-11-26" || !strings.HasSuffix(named.Short, "on 2026-11-26.") {
			t.Errorf("%v: %+v", err, named)
		}
	}
}

// TestTheParagraphNamesWhatIsNotCovered: whoever pastes it into a report passes on what was public and what was before.
func TestTheParagraphNamesWhatIsNotCovered(t *testing.T) {
	short := func(k Known) string {
		s, err := NewStatement(Statement{
			NoiseMultiplier: 1.25, SampleRate: 0.05, Steps: 40, Planned: 40, Delta: 1e-5, Accountant: PLD, Clipping: "constant, max_grad_norm = 1",
			PerStep: PoissonSampled{SampleRate: 0.05, Of: Gaussian{NoiseMultiplier: 1.25}}, Released: []string{"the parameters after every step"}, Known: k,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s.short()
	}
	for name, c := range map[string]struct {
		known Known
		want  string
	}{
		"public rows":    {Known{PublicRows: &run.PublicInfo{PublicRows: run.PublicRows{File: "open.csv"}, Rows: 1600}}, "1,600 public rows of open.csv were mixed in, to which this ε promises nothing."},
		"public weights": {Known{Start: &run.StartInfo{File: "before.zip"}}, "the weights in before.zip: to the rows that they were trained on this ε promises nothing."},
		"a private run":  {Known{Start: &run.StartInfo{File: "before.zip", Private: true, Epsilon: 2, Delta: 1e-5}}, "both together promise (ε = "},
	} {
		if got := short(c.known); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := short(Known{}); strings.Contains(got, "promises nothing") || strings.Contains(got, "together") {
		t.Errorf("with neither: %s", got)
	}
}
