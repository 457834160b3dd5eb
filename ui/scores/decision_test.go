package scores

import (
	"testing"

	"clipscope/core/run"
)

// TestTheCheapestLine finds the least sum of what missed rows and wrong alarms cost.
func TestTheCheapestLine(t *testing.T) {
	cuts := []run.Cut{{From: 0, Found: 10, Alarms: 90}, {From: 0.25, Found: 9, Alarms: 20}, {From: 0.5, Found: 5, Alarms: 2}, {From: 0.75, Found: 2, Alarms: 1}, {From: 1}}
	for _, c := range []struct {
		cost float64
		want int
	}{{0.1, 3}, {1, 2}, {4.4, 2}, {4.6, 1}, {100, 1}} {
		if got := cheapest(cuts, c.cost); got != c.want {
			t.Errorf("at %g: line %d, want %d", c.cost, got, c.want)
		}
	}
	for p, want := range map[float64]string{0.5: "50 %", 0.0025: "0.25 %", 0.012: "1.2 %", 0.98: "98.0 %", 0.99996: "99.9960 %"} {
		if got := probability(p); got != want {
			t.Errorf("%g is written %s, want %s", p, got, want)
		}
	}
	for i, want := range []string{"5 of 10", "2 of 90", "93.0 %", "0.27"} {
		if got := outcome(cuts[0], cuts[2], 5)[i][1]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
