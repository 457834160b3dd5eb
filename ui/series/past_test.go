package series

import (
	"math"
	"testing"

	"clipscope/core/run"
)

// The record as it stood after a step is what a run that had come no further would have,
// but for what only the newest event has.
func TestUntilIsTheRecordOfAShorterRun(t *testing.T) {
	const steps = 3*Limit + 7 // so that drawn points are buckets
	whole, _ := ended(steps)
	whole.Changed(run.ChangeReply{Changes: []run.Changed{{Step: 40, Field: "max_grad_norm"}, {Step: 900, Field: "learning_rate", From: 1, To: 2}}, Steps: steps, Epsilon: 3})
	for _, step := range []int{1, 24, 25, 26, 39, 40, 1234, steps - 1} {
		past := whole.Until(step)
		if !past.Past() || past.Reach() != steps || past.Last.Step != step || past.Last.Steps != steps {
			t.Fatalf("until step %d it is at step %d of %d", step, past.Last.Step, past.Last.Steps)
		}
		want := Example(step)
		if past.Last.Released.MaxGradNorm != want.Released.MaxGradNorm || past.Last.Released.Epsilon != want.Released.Epsilon || past.Last.Diag.ClipFraction != want.Diag.ClipFraction || past.Last.Diag.TrainLoss != want.Diag.TrainLoss {
			t.Errorf("after step %d it says %+v", step, past.Last)
		}
		if tested := step / 25 * 25; tested != past.Tested || (past.Test == nil) != (tested == 0) || tested > 0 && past.Test.Accuracy != Example(tested).Diag.Eval.Accuracy {
			t.Errorf("after step %d it was tested at step %d: %+v", step, past.Tested, past.Test)
		}
		if n := map[bool]int{step >= 40: 1, step >= 900: 2}[true]; len(past.Changes) != n {
			t.Errorf("after step %d there are %d changes, want %d", step, len(past.Changes), n)
		}
		at := past.Column(Step)
		if last := at[len(at)-1]; last > float64(step) && len(at) > 1 || len(at) < whole.Len() && step > 4 && whole.Column(Step)[len(at)] <= float64(step) {
			t.Errorf("until step %d the lines end at %v", step, last)
		}
		if past.Norms != nil || past.Curves != nil || past.Gradient != nil {
			t.Errorf("after step %d it shows what only the newest event had", step)
		}
		if &past.Column(C)[0] != &whole.Column(C)[0] {
			t.Error("the past takes memory of its own")
		}
		past.Moment()
	}
	for _, step := range []int{steps, steps + 1, math.MaxInt} {
		if whole.Until(step) != whole {
			t.Errorf("until step %d it is another", step)
		}
	}
	if past := whole.Until(-5); past.Last.Step != 1 {
		t.Errorf("before all steps it is at step %d", past.Last.Step)
	}
	var none *Record
	if none.Until(3) != nil || NewRecord(run.Config{}, run.PlanInfo{}).Until(3).Past() {
		t.Error("of nothing there is a past")
	}
	blind := NewRecord(run.Config{}, run.PlanInfo{})
	blind.Add([]run.Event{{Step: 1, Steps: 2}, {Step: 2, Steps: 2}})
	if past := blind.Until(1); past.Last.Diag != nil || past.Test != nil {
		t.Errorf("the past of a blind run has %+v", past.Last.Diag)
	}
}

// TestAPastEventHasItsPointsNumbers: of a point an event can be made that has the same numbers, but
// for those of test rows, which a record takes from the point.
func TestAPastEventHasItsPointsNumbers(t *testing.T) {
	var want Point
	for c := range Columns {
		want[c] = float64(c + 1)
	}
	e := want.event(100)
	got := FromEvent(&e)
	got[TestLoss], got[TestAcc] = want[TestLoss], want[TestAcc]
	if got != want {
		t.Errorf("the event of the point %v has the numbers %v", want, got)
	}
}

func TestNowFollowsEveryChange(t *testing.T) {
	r := NewRecord(run.Config{MaxGradNorm: 1, LearningRate: 0.5}, run.PlanInfo{NoiseMultiplier: 2, Epsilon: 4})
	r.Add([]run.Event{{Step: 1, Steps: 9}, {Step: 2, Steps: 9, Changes: []run.Changed{{Step: 2, Field: "noise_multiplier", From: 2, To: 1}, {Step: 2, Field: "max_grad_norm", From: 1, To: 3}}}, {Step: 3, Steps: 9}})
	for field, want := range map[string]float64{"max_grad_norm": 3, "noise_multiplier": 1, "learning_rate": 0.5} {
		if got := r.Now(field); got != want {
			t.Errorf("%s is %v, want %v", field, got, want)
		}
	}
	r.Changed(run.ChangeReply{Changes: append(r.Changes, run.Changed{Step: 4, Field: "learning_rate", From: 0.5, To: 7}), Steps: 5, Epsilon: 6})
	if r.Now("learning_rate") != 7 || r.Whole != 6 || r.Plan.Epsilon != 6 || r.Last.Steps != 5 {
		t.Errorf("after a change it is charged %v, and by its plan %v, for %d steps, at a rate of %v", r.Whole, r.Plan.Epsilon, r.Last.Steps, r.Now("learning_rate"))
	}
	if kept := Restore(r.Config, r.Plan, r.Newest, r.Points()); kept.Whole != 6 || kept.Now("learning_rate") != 7 {
		t.Errorf("kept it is charged %v", kept.Whole)
	}
	// It is stopped before the step from which the change would have held.
	r.End(&run.Result{Steps: 3, PlannedSteps: 9, Epsilon: 4})
	if len(r.Changes) > 0 || r.Whole != 4 || r.Last.Steps != 9 {
		t.Errorf("it ended with the changes %v, charged %v for %d steps", r.Changes, r.Whole, r.Last.Steps)
	}
}
