package train

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"clipscope/core/data/builtin"
	"clipscope/core/run"
)

// TestMistakesAreTestRowsOfTheirClass: what is shown as mistaken is a test row of its class, the
// surest first; of data that are no pictures nothing is shown.
func TestMistakesAreTestRowsOfTheirClass(t *testing.T) {
	t.Parallel()
	ds, err := builtin.Make("digits", 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg := base("constant")
	cfg.Steps = 10
	_, res := finish(t, started(t, cfg, ds))
	if len(res.Mistakes) != 12 {
		t.Fatalf("%d mistakes of an accuracy of %v", len(res.Mistakes), res.TestAccuracy)
	}
	if !slices.IsSortedFunc(res.Mistakes, func(a, b run.Mistake) int { return -int(1e9 * (a.Sure - b.Sure)) }) {
		t.Error("the surest are not the first")
	}
	for _, m := range res.Mistakes {
		found := false
		for i, y := range ds.Test.Y {
			found = found || ds.Classes[int(y)] == m.Class && bytes.Equal(ds.Test.U8[i*ds.Features:][:ds.Features], m.Pixels)
		}
		if !found || m.Class == m.Answer || !(m.Sure > 0.1 && m.Sure <= 1) {
			t.Errorf("a %s taken for %s, sure of %v, is in the test rows: %t", m.Class, m.Answer, m.Sure, found)
		}
	}
	if _, res := finish(t, started(t, cfg, small(t))); res.Mistakes != nil {
		t.Error("points are shown as pictures")
	}
}

// TestNoAnswerIsNotRight: a model that has lost its way answers no row, and none counts as
// right, nor as without a loss.
func TestNoAnswerIsNotRight(t *testing.T) {
	t.Parallel()
	cfg := base("constant")
	cfg.Model = run.Model{Kind: "layers", Layers: []string{"dense:4", "dense:4", "dense:4", "dense"}}
	cfg.LearningRate, cfg.MaxGradNorm, cfg.Steps = 1e6, 1e12, 6
	events, res := finish(t, started(t, cfg, small(t)))
	if res.TestScores.Unanswered != res.TestRows || res.TestAccuracy != 0 || !math.IsNaN(float64(res.TestLoss)) {
		t.Errorf("of %d rows %d have no answer, and the accuracy is %v, the loss %v", res.TestRows, res.TestScores.Unanswered, res.TestAccuracy, res.TestLoss)
	}
	for _, e := range events[1:] {
		if d := e.Diag; d.NonFinite != d.BatchSize || d.TrainAcc != 0 || !math.IsNaN(float64(d.TrainLoss)) || d.Eval != nil && d.Eval.Accuracy != 0 {
			t.Errorf("step %d, where %d of %d gradients are not finite: loss %v, accuracy %v, tested %+v", e.Step, d.NonFinite, d.BatchSize, d.TrainLoss, d.TrainAcc, d.Eval)
		}
	}
}
