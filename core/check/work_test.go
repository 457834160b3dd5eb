package check

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"clipscope/core/privacy"
	"clipscope/core/run"
)

// encoded returns n events as JSON.
func encoded(t testing.TB, n int, event func(i int) privacy.Event) []json.RawMessage {
	t.Helper()
	list := make([]json.RawMessage, n)
	for i := range list {
		b, err := privacy.MarshalEvent(event(i))
		if err != nil {
			t.Fatal(err)
		}
		list[i] = b
	}
	return list
}

// stepsAt returns the event of n steps.
func stepsAt(rate, sigma float64, n int) privacy.Event {
	return privacy.SelfComposed{Of: privacy.PoissonSampled{SampleRate: rate, Of: privacy.Gaussian{NoiseMultiplier: sigma}}, Count: n}
}

// claiming returns a statement of ε = 1 for some events and groups of rows.
func claiming(t testing.TB, events []json.RawMessage, rows ...int) []byte {
	t.Helper()
	groups := []run.GroupEpsilon{}
	for _, n := range rows {
		groups = append(groups, run.GroupEpsilon{Rows: n, Epsilon: 1})
	}
	return indent(t, map[string]any{
		"guarantee": true, "sample_rate": 0.01, "noise_multiplier": 1, "epsilon": 1, "delta": 1e-5, "text": "x", "steps": 10, "planned_steps": 100,
		"epsilon_at_step": 1, "accountant": "pld", "events": events, "groups": groups, "attacker": map[string]any{},
	})
}

// ledgerOf returns a ledger of runs.
func ledgerOf(t testing.TB, lines []run.Line) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"made": "2026-11-26T00:00:00Z", "runs": lines})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// choice returns the event of the best of 60 runs, as the page charges a tuning.
func choice(sigma float64) privacy.Event {
	once := privacy.Gaussian{NoiseMultiplier: 14}
	return privacy.Selected{Runs: 60, Parts: []privacy.Event{privacy.Composed{Parts: []privacy.Event{once, stepsAt(0.01, sigma, 1000)}}, privacy.Gaussian{NoiseMultiplier: 20}}}
}

// manyGroups are as many as are looked at.
var manyGroups = []int{2, 3, 5, 10, 20, 50, 99, 100}

// TestHostileFilesExceedTheBudget holds, without working anything out, that files which asked
// accountants for minutes ask for more than the budget, so that it ends them.
func TestHostileFilesExceedTheBudget(t *testing.T) {
	joint := func(i int) (j privacy.Joint) {
		for k := range 60 {
			j.Parts = append(j.Parts, privacy.Gaussian{NoiseMultiplier: 30 + float64(i+k)})
		}
		return j
	}
	several := func(n int) (list []privacy.Event) {
		for k := range n {
			list = append(list, stepsAt(0.01+float64(k)/100, 0.7, 1000))
		}
		return list
	}
	tooMany := encoded(t, 60, func(i int) privacy.Event { return privacy.Selected{Runs: 1e6 - float64(i), Parts: several(60)} })
	if v, asked, err := examine("", claiming(t, tooMany, manyGroups...), 1); err != nil || !has(v, "events", run.Differs) || asked != 0 {
		t.Errorf("events that are too many: %.0f is asked for before they are refused, %v", asked, err)
	}
	for name, events := range map[string][]json.RawMessage{
		"64 kinds":                 encoded(t, 64, func(i int) privacy.Event { return stepsAt(0.01+float64(i)/100, 0.5+float64(i)/50, 1000) }),
		"64 kinds of little noise": encoded(t, 64, func(i int) privacy.Event { return stepsAt(0.5, 1e-3*(1+float64(i)), 1_000_000) }),
		"1,300 choices": encoded(t, 1300, func(i int) privacy.Event {
			return privacy.Selected{Runs: 1 + float64(i), Parts: []privacy.Event{privacy.Gaussian{NoiseMultiplier: 2 + float64(i)/100}}}
		}),
		"60 choices of 20 kinds": encoded(t, 60, func(i int) privacy.Event { return privacy.Selected{Runs: 1e6 - float64(i), Parts: several(20)} }),
		"60 joint releases of 60": encoded(t, 60, func(i int) privacy.Event {
			return privacy.SelfComposed{Count: 1000, Of: privacy.PoissonSampled{SampleRate: 0.3, Of: joint(i)}}
		}),
	} {
		v, asked, err := examine(name, claiming(t, events, manyGroups...), 0)
		if err != nil || asked <= mostOfRun {
			t.Errorf("%s: asks for %.0f of %d, %v", name, asked, mostOfRun, err)
		}
		for _, claim := range []string{"ε", "ε for 2 rows", "ε for 100 rows"} {
			if f := finding(v, claim); f.Verdict != run.Unchecked || !strings.Contains(f.Why, tooMuch) {
				t.Errorf("%s: without a budget %s is %+v", name, claim, f)
			}
		}
	}
}

func finding(v run.Verdict, claim string) run.Finding {
	for _, f := range v.Findings {
		if f.Claim == claim {
			return f
		}
	}
	return run.Finding{}
}

// TestHonestFilesAreWorkedOutWholly holds that the largest files that the page writes in
// practice ask for no more than the budget.
func TestHonestFilesAreWorkedOutWholly(t *testing.T) {
	perStep := func(sigma float64) json.RawMessage {
		return encoded(t, 1, func(int) privacy.Event {
			return privacy.FloatNoise{Values: 1000, Of: privacy.PoissonSampled{SampleRate: 0.01, Of: privacy.Gaussian{NoiseMultiplier: sigma}}}
		})[0]
	}
	bought := func(int) privacy.Event {
		return privacy.FloatNoise{Values: 512, Of: privacy.Gaussian{NoiseMultiplier: 14}}
	}
	ledger := func(line func(sigma float64) run.Line) []byte {
		var lines []run.Line
		for data := range 64 {
			for i := range 20 {
				l := line(1 + float64(data*20+i)/1280)
				l.Data, l.Done, l.Run = data+1, l.Charged, fmt.Sprint(data, i)
				lines = append(lines, l)
			}
		}
		return ledgerOf(t, lines)
	}
	changed := encoded(t, 8, func(i int) privacy.Event {
		return privacy.SelfComposed{Count: 2000, Of: privacy.FloatNoise{Values: 1000, Of: privacy.PoissonSampled{SampleRate: 0.01, Of: privacy.Gaussian{NoiseMultiplier: 1 + float64(i)/8}}}}
	})
	long := encoded(t, 1, func(int) privacy.Event { return stepsAt(0.01, 1, 1_000_000) })
	tests := map[string][]byte{
		"64 data sets of 20 runs": ledger(func(sigma float64) run.Line {
			return run.Line{Charged: 1000, Once: encoded(t, 5, bought), PerStep: perStep(sigma)}
		}),
		"64 data sets of 20 tuned runs": ledger(func(sigma float64) run.Line {
			return run.Line{Charged: 1000, Once: encoded(t, 1, func(int) privacy.Event { return choice(sigma) })}
		}),
		"a statement of noise changed seven times": claiming(t, append(changed, encoded(t, 5, bought)...), 2, 5, 20, 100),
		"a statement of a million steps":           claiming(t, long, 2, 5, 20, 100),
		"a statement of a tuning":                  claiming(t, encoded(t, 1, func(int) privacy.Event { return choice(1) }), 2, 5, 20, 100),
	}
	for name, b := range write(t) {
		tests[name] = b
	}
	for name, b := range tests {
		_, asked, err := examine(name, b, 0)
		t.Logf("%s: %.0f", name, asked)
		most := float64(mostOfRun)
		if strings.Contains(name, "data sets") {
			most = mostOfLedger
		}
		if err != nil || asked > most {
			t.Errorf("%s: asks for %.0f of %.0f, %v", name, asked, most, err)
		}
	}
}

// TestWorkOverTheBudgetIsNamed holds that a file is worked out as far as its budget goes, and that
// what is beyond is named, never taken for agreement.
func TestWorkOverTheBudgetIsNamed(t *testing.T) {
	least := encoded(t, 64, func(i int) privacy.Event { return stepsAt(0.01+float64(i)/100, 0.02, 1_000_000) })
	oneChoice := encoded(t, 1, func(int) privacy.Event {
		s := privacy.Selected{Runs: 60}
		for k := range 60 {
			s.Parts = append(s.Parts, stepsAt(0.01+float64(k)/100, 0.002, 1000))
		}
		return s
	})
	var lines []run.Line
	for i := range 500 {
		lines = append(lines, run.Line{Data: 1, Run: fmt.Sprint(i), Done: 1, Charged: 1, PerStep: least[0], Once: encoded(t, 60, func(k int) privacy.Event {
			return stepsAt(0.01+float64(k)/100+float64(i)/1e6, 0.5, 1000)
		})})
	}
	small := run.Line{Data: 2, Done: 1, Charged: 1, PerStep: encoded(t, 1, func(int) privacy.Event { return privacy.Gaussian{NoiseMultiplier: 9} })[0]}
	all := []string{"ε", "ε for 20 rows", "ε for 100 rows"}
	now := write(t)
	var sets, runs []run.Line
	for i := range 70 {
		l := small
		l.Data = i + 1
		sets = append(sets, l)
		l.Data, l.PerStep = 1, encoded(t, 1, func(int) privacy.Event {
			return privacy.PoissonSampled{SampleRate: 0.01, Of: privacy.Gaussian{NoiseMultiplier: 1 + float64(i)}}
		})[0]
		runs = append(runs, l)
	}
	tests := []struct {
		name    string
		file    []byte
		share   float64
		verdict string
		over    []string
		agrees  string // "": nothing has to; of a ledger, which names no total, it is worked out
	}{
		{"64 kinds of the least noise", claiming(t, least, 20, 100), 1, run.Differs, all, ""},
		{"a choice among 60 kinds", claiming(t, oneChoice, 20, 100), 1, run.Differs, all, ""},
		{"a ledger of 30,000 kinds", ledgerOf(t, append(lines, small)), 1, run.Unchecked, []string{"data set 1"}, "data set 2"},
		{"an honest statement, ε alone", now["statement.json"], 60.0 / mostOfRun, run.Unchecked, []string{"ε for 100 rows", "what an attacker can tell"}, "ε"},
		{"an honest statement, nothing", now["statement.json"], 0, run.Unchecked, []string{"ε", "ε for 2 rows", "what an attacker can tell"}, "steps charged"},
		{"70 data sets", ledgerOf(t, sets), 1, run.Unchecked, []string{"data sets beyond the first 64"}, "data set 64"},
		{"70 runs of their own noise on one data set", ledgerOf(t, runs), 0, run.Unchecked, []string{"data set 1"}, ""}, // and no claim differs
		{"an honest ledger, nothing", now["ledger.json"], 0, run.Unchecked, []string{"data set 1"}, ""},
	}
	for _, tt := range tests {
		v, _, err := examine(tt.name, tt.file, tt.share)
		if err != nil || v.Verdict != tt.verdict || !strings.Contains(v.Text, tooMuch) || !strings.Contains(v.Text, tt.over[0]) {
			t.Errorf("%s: %s, not %s: %s %v", tt.name, v.Verdict, tt.verdict, v.Text, err)
		}
		for _, claim := range tt.over {
			if f := finding(v, claim); f.Verdict != run.Unchecked || !strings.Contains(f.Why, tooMuch) {
				t.Errorf("%s: %s is %+v", tt.name, claim, f)
			}
		}
		if tt.agrees != "" && !has(v, tt.agrees, run.Agrees) && !(strings.HasPrefix(tt.agrees, "data set") && strings.HasPrefix(finding(v, tt.agrees).Recomputed, "ε = ")) {
			t.Errorf("%s: %s does not agree: %+v", tt.name, tt.agrees, v.Findings)
		}
	}
}

// TestGrantsNeverExceedTheBudget holds that no sum of grants exceeds what there was, whatever is
// asked.
func TestGrantsNeverExceedTheBudget(t *testing.T) {
	b := budget{left: 10}
	for _, tt := range []struct {
		cost float64
		want bool
	}{{6, true}, {5, false}, {math.NaN(), false}, {math.Inf(1), false}, {4, true}, {1, false}, {0, true}} {
		if got := b.grant(tt.cost); got != tt.want || b.left < 0 {
			t.Errorf("%g is granted: %t, %g left", tt.cost, got, b.left)
		}
	}
}
