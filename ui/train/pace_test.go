package train

import (
	"math"
	"testing"
)

// What is left goes by the last few seconds, however the run began, and counts no
// pause.
func TestPaceFollowsTheLastSeconds(t *testing.T) {
	var p pace
	if !math.IsNaN(p.left(100)) {
		t.Error("an unknown pace gives a time")
	}
	now, step := 0.0, 0
	run := func(seconds, interval, perSecond float64) {
		for end := now + seconds; now < end; now += interval {
			p.see(now, step)
			step += int(interval * perSecond)
		}
	}
	near := func(what string, steps int, want float64) {
		t.Helper()
		if got := p.left(steps); !(math.Abs(got-want) <= 0.15*want) {
			t.Errorf("%s: %v s are left, want about %v", what, got, want)
		}
	}
	run(60, 1, 1) // a slow beginning
	near("slow", step+100, 100)
	run(6, 0.05, 1000)
	near("fast after that", step+45_000, 45)
	run(6, 0.5, 10)
	near("slow again", step+100, 10)
	run(40, 10, 0.1) // messages further apart than what is looked back on
	near("one in 10 s", step+3, 40)
	p.rest()
	if !math.IsNaN(p.left(step + 100)) {
		t.Error("after a pause there is a pace before there are steps")
	}
	now += 3600
	run(3, 0.5, 20)
	near("after a pause", step+100, 5)
}
