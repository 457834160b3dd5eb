package privacy

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestStatement(t *testing.T) {
	s, err := NewStatement(Statement{
		NoiseMultiplier: 1.1, SampleRate: 0.01, Steps: 300, Delta: 1e-5, Accountant: PLD, Clipping: "constant, C = 4",
		PerStep: PoissonSampled{0.01, Gaussian{1.1}}, Once: []Event{Gaussian{20}}, SecureNoise: true, TuningRuns: 3,
		Released: []string{"the parameters after every step"}, Ledger: &Total{Runs: 2, Epsilon: 3.5, Delta: 1e-5},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := mustEpsilon(t, PLD, 1e-5, Gaussian{20}, SelfComposed{PoissonSampled{0.01, Gaussian{1.1}}, 300})
	if s.Epsilon() != want {
		t.Errorf("ε = %v, want %v", s.Epsilon(), want)
	}
	text := s.Text()
	for _, say := range []string{"noise_multiplier = 1.1", "sample_rate = 0.01", "300 steps", "δ = 1e-05", "PLD", "adding or removing one row", "Poisson", "constant, C = 4", "secure", "3 configurations", "ε = 3.5", "not a bound", "once"} {
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

func TestStatementWithoutGuarantee(t *testing.T) {
	s, err := NewStatement(Statement{SampleRate: 0.1, Steps: 3, Delta: 1e-5, Accountant: RDP, PerStep: PoissonSampled{0.1, NonPrivate{}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Broken) != 1 || !math.IsInf(s.Epsilon(), 1) || !strings.HasPrefix(s.Text(), "For teaching, no guarantee") {
		t.Errorf("%v\n%s", s.Broken, s.Text())
	}
	if b, err := json.Marshal(s); err != nil || !strings.Contains(string(b), `"guarantee":false`) || !strings.Contains(string(b), `"Infinity"`) {
		t.Errorf("%s, %v", b, err)
	}
	seeded, err := NewStatement(Statement{NoiseMultiplier: 1, SampleRate: 0.1, Steps: 3, Delta: 1e-5, Accountant: PLD, PerStep: PoissonSampled{0.1, Gaussian{1}}, Broken: []string{"the seed is fixed"}})
	if err != nil || !strings.Contains(seeded.Text(), "the seed is fixed") {
		t.Errorf("%v, %v", seeded, err)
	}
	if _, err := NewStatement(Statement{Steps: 1, Delta: 1e-5, Accountant: PLD}); err == nil {
		t.Error("no error for steps that are nothing")
	}
	if _, err := NewStatement(Statement{Delta: 1e-5, Accountant: "x"}); err == nil {
		t.Error("no error for an unknown accountant")
	}
}
