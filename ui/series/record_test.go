package series

import (
	"encoding/json"
	"math"
	"testing"

	"clipscope/core/run"
	"clipscope/ui/words"
)

func TestARecordHasItsMethodsWeight(t *testing.T) {
	for _, c := range []struct {
		cfg        run.Config
		norm, want float64
	}{
		{run.Config{Method: "constant", MaxGradNorm: 1}, 4, 0.25},
		{run.Config{Method: "dc-e", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.5, 1},
		{run.Config{Method: "dc-e", Weight: "auto-s", MaxGradNorm: 1, ExpectedBatchSize: 100}, 0.99, 1},
	} {
		w := NewRecord(c.cfg, run.PlanInfo{NoiseMultiplier: 1, Steps: 100}).Weight
		if w == nil {
			t.Errorf("%s has no weight function", c.cfg.Method)
			continue
		}
		if got := w(c.norm, 1); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s %s: w(%v) is %v, want %v", c.cfg.Method, c.cfg.Weight, c.norm, got, c.want)
		}
	}
	for _, cfg := range []run.Config{{Method: "per-layer", MaxGradNorm: 1}, {Method: "quantile", Grouping: "per-layer", MaxGradNorm: 1, ExpectedBatchSize: 100}} {
		if r := NewRecord(cfg, run.PlanInfo{NoiseMultiplier: 1, Steps: 100}); r.Weight != nil || !r.Moment().PerLayer {
			t.Errorf("%s %s: a whole gradient is weighed", cfg.Method, cfg.Grouping)
		}
	}
	for _, name := range []string{"none", "no such method"} {
		if NewRecord(run.Config{Method: name, MaxGradNorm: 1}, run.PlanInfo{NoiseMultiplier: 1, Steps: 100}).Weight != nil {
			t.Errorf("%q has a weight function", name)
		}
	}
}

func ended(steps int) (*Record, *run.Result) {
	r := NewRecord(run.Config{Method: "dc-e", MaxGradNorm: 1, ExpectedBatchSize: 100}, run.PlanInfo{NoiseMultiplier: 1, Steps: steps, Epsilon: 2})
	for step := 1; step <= steps; step++ {
		r.Add([]run.Event{Example(step)})
	}
	return r, &run.Result{Steps: steps, PlannedSteps: steps, TestRows: 10_000, TestLoss: 0.25, TestAccuracy: 0.875, EpsilonAtStep: 0.0625}
}

// Once a run has ended there is one figure of the test rows, that of all of them:
// where the chart ends, in the export and in words.
func TestOneFigureAfterTheEnd(t *testing.T) {
	for _, steps := range []int{1, 25, 3*Limit + 1} { // tested at the last step, and amid a bucket
		r, res := ended(steps)
		r.End(res)
		points := r.Points()
		last, drawn := points[len(points)-1], r.Column(TestAcc)
		if last[TestAcc] != 0.875 || last[TestLoss] != 0.25 || drawn[len(drawn)-1] != 0.875 || r.Column(TestLoss)[len(drawn)-1] != 0.25 {
			t.Errorf("%d steps: the series ends with %v and %v, the chart with %v", steps, last[TestAcc], last[TestLoss], drawn[len(drawn)-1])
		}
		if eps := r.Column(Epsilon); last[Epsilon] != 0.0625 || eps[len(eps)-1] != 0.0625 || r.Moment().Event.Released.Epsilon != 0.0625 {
			t.Errorf("%d steps: ε is %v in the series, %v on the chart, %v in words", steps, last[Epsilon], eps[len(eps)-1], r.Moment().Event.Released.Epsilon)
		}
		if m := r.Moment(); m.Test.Rows != 10_000 || m.Test.Accuracy != 0.875 {
			t.Errorf("%d steps: the words are made from %+v", steps, m.Test)
		}
	}
	r, res := ended(25)
	before := *r.Test
	res.TestRows, res.TestLoss = 0, run.Number(math.NaN())
	if r.End(res); *r.Test != before {
		t.Errorf("a result without test rows says %+v", r.Test)
	}
	r, res = ended(25)
	told := r.Last.Released.Epsilon
	res.Steps++ // one that was taken and not told
	if r.End(res); r.Last.Released.Epsilon != told {
		t.Errorf("ε of step 26 is that of step 25: %v", r.Last.Released.Epsilon)
	}
}

func TestARecordIsRestored(t *testing.T) {
	for _, steps := range []int{1, 3*Limit + 1} {
		restore(t, steps)
	}
	points := make([]Point, LogLimit+5) // with some that were tested and the newest
	for i := range points {
		points[i] = point(i+1, 1, 0)
	}
	if n := len(Restore(run.Config{}, run.PlanInfo{}, Newest{}, points).Points()); n != len(points) {
		t.Errorf("%d points were kept, and %d come back", len(points), n)
	}
}

func restore(t *testing.T, steps int) {
	t.Helper()
	a, res := ended(steps)
	a.End(res)
	text, err := json.Marshal(a.Newest)
	if err != nil {
		t.Fatal(err)
	}
	var n Newest
	if err := json.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	b := Restore(a.Config, a.Plan, n, a.Points())
	if a.Len() != b.Len() || a.Whole != b.Whole || b.Weight == nil || len(b.Curves.C) != len(a.Curves.C) || b.Norms.P50 != a.Norms.P50 {
		t.Fatalf("restored %d of %d points, ε %v", b.Len(), a.Len(), b.Whole)
	}
	for c := range Columns {
		if a.Has(c) != b.Has(c) {
			t.Errorf("column %d: %t and %t", c, a.Has(c), b.Has(c))
		}
		for i, v := range a.Column(c) {
			if w := b.Column(c)[i]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Fatalf("column %d, point %d was %v, is %v", c, i, v, w)
			}
		}
	}
	if x, y := words.Learning(a.Moment()), words.Learning(b.Moment()); x != y {
		t.Errorf("%q became %q", x, y)
	}
}
