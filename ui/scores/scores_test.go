package scores

import (
	"math"
	"testing"

	"clipscope/core/run"
)

// TestFlattered: an accuracy that the largest class would have is said to be one.
func TestFlattered(t *testing.T) {
	classes := []run.ClassScore{{Class: "sick", Rows: 25}, {Class: "well", Rows: 975}}
	nan := run.Number(math.NaN())
	for _, tt := range []struct {
		accuracy run.Number
		classes  []run.ClassScore
		want     string
	}{
		{0.975, classes, "No better than answering “well” always, which is right for 97.5 % of the test rows."},
		{0.4, classes, "No better than answering “well” always, which is right for 97.5 % of the test rows."},
		{0.976, classes, ""},
		{nan, nil, ""},
	} {
		r := &run.Result{TestAccuracy: tt.accuracy, TestClasses: tt.classes, TestRows: 1000}
		if got := Flattered(r); got != tt.want {
			t.Errorf("accuracy %v: %q, want %q", tt.accuracy, got, tt.want)
		}
	}
}
