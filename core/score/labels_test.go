package score

import (
	"math"
	"testing"

	"clipscope/core/run"
)

// TestLabels: figures of each label, by hand, and their means over the labels that have one.
func TestLabels(t *testing.T) {
	c := NewLabels([]string{"a", "b", "never"})
	inf := float32(math.Inf(1))
	for _, row := range []struct{ y, z []float32 }{
		{[]float32{1, 0, 0}, []float32{2, -1, -1}},  // right of all
		{[]float32{1, 0, 0}, []float32{-1, 3, -1}},  // a missed, b wrong
		{[]float32{0, 1, 0}, []float32{-2, 4, 1}},   // never is wrong
		{[]float32{0, 1, 0}, []float32{1, 5, -1}},   // a wrong
		{[]float32{0, 0, 0}, []float32{-3, -2, -1}}, // right of all
	} {
		c.Add(row.y, row.z)
	}
	s := c.Scores()
	nan := math.NaN()
	for j, want := range []run.LabelScore{
		// a: right of rows 1, 3 and 5; 1 of 2 found, 2 of 3 left. By logit: 2, 1, −1, −2, −3 are yes no yes no no: 5 of 6 pairs.
		{Label: "a", Rows: 2, Accuracy: 3.0 / 5, Majority: 3.0 / 5, Balanced: (0.5 + 2.0/3) / 2, F1: 0.5, ROCArea: 5.0 / 6},
		{Label: "b", Rows: 2, Accuracy: 4.0 / 5, Majority: 3.0 / 5, Balanced: (1 + 2.0/3) / 2, F1: 0.8, ROCArea: 1},
		{Label: "never", Rows: 0, Accuracy: 4.0 / 5, Majority: 1, Balanced: run.Number(nan), F1: 0, ROCArea: run.Number(nan)},
	} {
		if got := s.Labels[j]; !nearLabel(got, want) {
			t.Errorf("%s: %+v, want %+v", want.Label, got, want)
		}
	}
	if want := (run.LabelScore{Accuracy: 11.0 / 15, Majority: 11.0 / 15, Balanced: (7.0/12 + 5.0/6) / 2, F1: (0.5 + 0.8) / 3, ROCArea: 11.0 / 12}); !nearLabel(*s.LabelMean, want) {
		t.Errorf("mean: %+v, want %+v", *s.LabelMean, want)
	}
	c.Add([]float32{1, 0, 0}, []float32{1, inf, 0}) // no answer: right of no label
	if s = c.Scores(); s.Unanswered != 1 || math.Abs(float64(s.Labels[1].Accuracy)-4.0/6) > 1e-12 || !math.IsNaN(float64(s.Labels[0].ROCArea)) {
		t.Errorf("with a row without an answer: %+v", s.Labels)
	}
	if s := NewLabels([]string{"a", "b"}).Scores(); !math.IsNaN(float64(s.LabelMean.Accuracy)) || !math.IsNaN(float64(s.Balanced)) {
		t.Errorf("of no rows: %+v", s)
	}
}

// nearLabel reports whether two scores are equal but for rounding.
func nearLabel(a, b run.LabelScore) bool {
	same := func(x, y run.Number) bool {
		return math.Abs(float64(x-y)) < 1e-12 || math.IsNaN(float64(x)) && math.IsNaN(float64(y))
	}
	return a.Label == b.Label && a.Rows == b.Rows && same(a.Accuracy, b.Accuracy) && same(a.Majority, b.Majority) && same(a.Balanced, b.Balanced) && same(a.F1, b.F1) && same(a.ROCArea, b.ROCArea)
}
