package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"clipscope/core/run"
)

// ask puts a request to a session and decodes its reply.
func ask(t *testing.T, kind, text string, reply any) error {
	t.Helper()
	s := NewSession(Host{})
	r, err := s.answer(context.Background(), Request{Message: run.Message{Type: kind, ID: 1, Text: text}})
	if err != nil {
		return err
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, reply); err != nil {
		t.Fatal(err)
	}
	return nil
}

const common = `"noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 1000, "target_delta": 1e-5`

func TestDeltaInvertsTheReport(t *testing.T) {
	var r run.ReportReply
	if err := ask(t, Report, "{"+common+"}", &r); err != nil {
		t.Fatal(err)
	}
	if !(r.Low > 0 && r.Low <= r.PLD && r.PLD <= r.RDP) || r.Order <= 1 || r.Notice != "" {
		t.Errorf("report %+v", r)
	}
	var d float64
	if err := ask(t, Delta, `{"noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 1000, "epsilon": `+jsonOf(t, r.PLD)+`}`, &d); err != nil {
		t.Fatal(err)
	}
	if !(d <= 1.01e-5 && d > 0.97e-5) {
		t.Errorf("δ(ε(1e-5)) = %v", d)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCurvesEndAtTheRunsCost(t *testing.T) {
	var c run.CurveReply
	if err := ask(t, Curve, "{"+common+"}", &c); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Steps); n < 20 || len(c.Epsilon) != n || c.Steps[0] != 0 || c.Steps[n-1] != 1000 || c.Epsilon[0] != 0 {
		t.Fatalf("over steps: %+v", c)
	}
	var whole float64
	if err := ask(t, Epsilon, "{"+common+"}", &whole); err != nil {
		t.Fatal(err)
	}
	if last := float64(c.Epsilon[len(c.Epsilon)-1]); math.Abs(last-whole) > 1e-9 {
		t.Errorf("the curve ends at ε = %v, the run costs %v", last, whole)
	}
	c = run.CurveReply{}
	if err := ask(t, Curve, "{"+common+`, "over": "epsilon", "points": 9}`, &c); err != nil {
		t.Fatal(err)
	}
	// The middle of the axis is the run's ε, and there δ is the target.
	if len(c.Delta) != 9 || len(c.Steps) != 0 || math.Abs(float64(c.Epsilon[4])-whole) > 1e-9 || math.Abs(float64(c.Delta[4])/1e-5-1) > 0.1 {
		t.Errorf("over ε: %+v, want δ = 1e-5 at %v", c, whole)
	}
	for _, bad := range []string{`"over": "x"`, `"points": 1`, `"points": 1000000`, `"to": -1`} {
		if err := ask(t, Curve, "{"+common+", "+bad+"}", &c); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
}

func TestTuningCostsMoreWithMoreRuns(t *testing.T) {
	for runs, want := range map[string]string{"1": "composition_pld", "100000": "repeat_"} {
		var r run.TuningReply
		if err := ask(t, Tuning, "{"+common+`, "runs": `+runs+"}", &r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Cheapest, want) || !(r.CompositionPLD <= r.CompositionRDP) {
			t.Errorf("%s runs: %+v", runs, r)
		}
	}
	var r run.TuningReply
	for _, runs := range []string{"0", "-1", "1e15"} {
		if err := ask(t, Tuning, "{"+common+`, "runs": `+runs+"}", &r); err == nil {
			t.Errorf("no error for %s runs", runs)
		}
	}
}

func TestGroupCostsMoreWithMoreRows(t *testing.T) {
	const run = `"noise_multiplier": 4, "sample_rate": 0.01, "steps": 1000, "target_delta": 1e-5`
	var one float64
	if err := ask(t, Epsilon, "{"+run+"}", &one); err != nil {
		t.Fatal(err)
	}
	last := one
	for _, rows := range []int{2, 5, 10, 20, 50, 100} {
		var e float64
		if err := ask(t, Group, fmt.Sprintf(`{%s, "rows": %d}`, run, rows), &e); err != nil {
			t.Fatal(err)
		}
		if e <= last {
			t.Errorf("%d rows cost %v, fewer %v", rows, e, last)
		}
		last = e
	}
	var same float64
	if err := ask(t, Group, "{"+run+`, "rows": 1}`, &same); err != nil || math.Abs(same/one-1) > 1e-3 {
		t.Errorf("one row costs %v as a group and %v as a row: %v", same, one, err)
	}
	var a struct {
		Sure   float64   `json:"posterior_at_most"`
		Except float64   `json:"except_with_probability"`
		Found  []float64 `json:"true_positive_rate"`
	}
	if err := ask(t, Attack, "{"+run+"}", &a); err != nil || !(a.Sure > 0.5 && a.Sure < 1) || a.Except != 1e-5 || len(a.Found) == 0 || a.Found[len(a.Found)-1] != 1 {
		t.Errorf("an attacker: %+v, %v", a, err)
	}
	for _, rows := range []string{"0", "-1", "10000000", "1.5"} {
		var e float64
		if err := ask(t, Group, "{"+run+`, "rows": `+rows+"}", &e); err == nil {
			t.Errorf("no error for %s rows", rows)
		}
	}
}

func TestCalibrateFindsTheSampleRate(t *testing.T) {
	var r run.CalibrateReply
	if err := ask(t, Calibrate, `{"target_epsilon": 2, "target_delta": 1e-5, "steps": 1000, "noise_multiplier": 1}`, &r); err != nil {
		t.Fatal(err)
	}
	if !(r.SampleRate > 0.005 && r.SampleRate < 0.05) || !(r.Epsilon <= 2 && r.Epsilon > 1.99) || r.Steps != 0 || r.NoiseMultiplier != 0 {
		t.Errorf("%+v", r)
	}
	if err := ask(t, Calibrate, `{"target_epsilon": 2, "target_delta": 1e-5, "sample_rate": 0.1}`, &r); err == nil {
		t.Error("no error for a question with two unknowns")
	}
}

// TestWhatIsLeftOutIsNotFree: a question that lacks the sample rate or the steps,
// or has NaN there, which JSON makes null, is refused and not answered with ε = 0.
func TestWhatIsLeftOutIsNotFree(t *testing.T) {
	s := NewSession(Host{})
	for _, kind := range []string{Epsilon, Report, Tuning, Group, Delta, Curve} {
		for _, missing := range []string{"sample_rate", "steps"} {
			q := map[string]any{"noise_multiplier": 1, "sample_rate": 0.01, "steps": 100, "target_delta": 1e-5, "epsilon": 1, "rows": 2, "runs": 3}
			delete(q, missing)
			for _, null := range []bool{false, true} {
				if null {
					q[missing] = nil
				}
				b, err := json.Marshal(q)
				if err != nil {
					t.Fatal(err)
				}
				ce := (*run.ConfigError)(nil)
				if reply, err := s.answer(context.Background(), Request{Message: run.Message{Type: kind, ID: 1, Text: string(b)}}); !errors.As(err, &ce) || ce.Field != missing {
					t.Errorf("%s without %s: %v, %v", kind, missing, reply, err)
				}
			}
		}
	}
	_, err := s.answer(context.Background(), Request{Message: run.Message{Type: Group, ID: 1, Text: `{"rows": 1.5}`}})
	if ce := (*run.ConfigError)(nil); !errors.As(err, &ce) || ce.Field != "rows" || !strings.Contains(ce.Message, "a whole number") {
		t.Errorf("a row and a half: %v", err)
	}
	for _, kind := range []string{Epsilon, Delta, Curve, Calibrate} {
		for _, no := range []string{`"0.01"`, `{"$numberDouble":"NaN"}`} {
			_, err := s.answer(context.Background(), Request{Message: run.Message{Type: kind, ID: 1, Text: `{"sample_rate": ` + no + `}`}})
			if ce := (*run.ConfigError)(nil); !errors.As(err, &ce) || ce.Field != "sample_rate" || !strings.Contains(ce.Message, "give a number") {
				t.Errorf("%s of %s: %v", kind, no, err)
			}
		}
	}
}
