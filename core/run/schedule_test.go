package run

import (
	"math"
	"testing"
)

// TestRateAt: known answers, and whatever the step and the number of steps a rate above 0 and at most the one that is set.
func TestRateAt(t *testing.T) {
	at := func(schedule string, warmup, k, steps int) float64 {
		return (&Config{LearningRate: 2, LearningRateSchedule: schedule, WarmupSteps: warmup}).RateAt(k, steps) / 2
	}
	for _, c := range []struct {
		schedule         string
		warmup, k, steps int
		want             float64
	}{
		{"", 0, 7, 10, 1}, {"constant", 4, 0, 10, 0.25}, {"constant", 4, 3, 10, 1}, {"constant", 4, 9, 10, 1},
		{"linear", 0, 0, 10, 1}, {"linear", 0, 9, 10, 0.1}, {"linear", 2, 6, 10, 0.5}, {"linear", 20, 9, 10, 0.5},
		{"cosine", 0, 0, 10, 1}, {"cosine", 0, 5, 10, 0.5}, {"cosine", 2, 4, 8, 0.75},
		{"step", 0, 4, 10, 1}, {"step", 0, 5, 10, 0.1}, {"step", 0, 8, 10, 0.01},
	} {
		if have := at(c.schedule, c.warmup, c.k, c.steps); math.Abs(have-c.want) > 1e-12 {
			t.Errorf("%+v: %v", c, have)
		}
	}
	for _, schedule := range Schedules() {
		for _, steps := range []int{1, 2, 3, 1000} {
			for _, warmup := range []int{0, 1, 5, 2000} {
				for _, k := range []int{0, 1, 5, steps - 1, steps, 2 * steps} {
					if f := at(schedule, warmup, k, steps); !(f > 0 && f <= 1) {
						t.Errorf("%s, %d to warm up, step %d of %d: %v", schedule, warmup, k, steps, f)
					}
				}
			}
		}
	}
}
