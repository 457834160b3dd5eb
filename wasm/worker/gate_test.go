package worker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A pace is kept on average, whatever a step takes up to its turn, and is no burst after a
// pause; a pause, a stop and another pace come at once.
func TestPaceIsKeptOnAverage(t *testing.T) {
	for _, c := range []struct {
		perSecond float64
		each      time.Duration // that a step takes
		want      time.Duration // of 40 steps after the first
	}{
		{10, 0, 4 * time.Second},
		{10, 60 * time.Millisecond, 4 * time.Second},
		{1, 10 * time.Millisecond, 40 * time.Second},
		{100, 25 * time.Millisecond, time.Second}, // it cannot be kept
		{0, 5 * time.Millisecond, 200 * time.Millisecond},
		{-3, 5 * time.Millisecond, 200 * time.Millisecond},
		{1e-300, 0, 40 * slowest},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(false)
			g.pace(c.perSecond)
			g.wait(t.Context())
			began := time.Now()
			for range 40 {
				time.Sleep(c.each)
				g.wait(t.Context())
			}
			if took := time.Since(began); took != c.want {
				t.Errorf("40 steps of %v at %v a second took %v, want %v", c.each, c.perSecond, took, c.want)
			}
		})
	}
}

func TestPaceGivesWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		g := newGate(false)
		g.pace(1)
		g.wait(ctx)
		passed := make(chan bool)
		wait := func() { go func() { passed <- g.wait(ctx) }() }
		after := func(d time.Duration, f func()) {
			time.Sleep(d)
			synctest.Wait()
			f()
		}
		began := time.Now()
		wait()
		after(200*time.Millisecond, g.pause)
		after(time.Hour, g.step) // while it is paused, a step does not wait
		if !<-passed || time.Since(began) != time.Hour+200*time.Millisecond {
			t.Errorf("a step of a paused run came after %v", time.Since(began))
		}
		g.resume()
		g.wait(ctx)
		began = time.Now()
		for range 3 { // of the hour nothing is made up for
			g.wait(ctx)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("after a pause three steps took %v", took)
		}
		wait()
		did := 0
		after(100*time.Millisecond, func() { g.between(func() { did++ }) })
		synctest.Wait()
		if did != 1 {
			t.Error("what was to be done between steps was not done while a step was waited for")
		}
		after(100*time.Millisecond, func() { g.pace(0) })
		if synctest.Wait(); !<-passed || time.Since(began) != 3*time.Second+200*time.Millisecond {
			t.Errorf("full speed came after %v", time.Since(began))
		}
		g.pace(1)
		g.wait(ctx)
		wait()
		after(300*time.Millisecond, stop)
		if <-passed {
			t.Error("a step passed after the stop")
		}
		g.between(func() { did++ })
		if g.end(); did != 2 || g.between(func() {}) {
			t.Error("what was to be done is left at the end")
		}
	})
}
