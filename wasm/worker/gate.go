package worker

import (
	"context"
	"sync"
	"time"
)

// gate holds a run back while it is paused, and between its steps where it has a pace.
type gate struct {
	mu      sync.Mutex
	paused  bool
	credit  int           // steps that may pass while paused
	every   time.Duration // between two steps; 0: none
	next    time.Time     // when the next is due
	todo    []func()      // to be called between two steps
	ended   bool
	changed chan struct{} // closed and replaced at every change
}

func newGate(paused bool) *gate { return &gate{paused: paused, changed: make(chan struct{})} }

func (g *gate) update(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *gate) pause()  { g.update(func() { g.paused, g.credit = true, 0 }) }
func (g *gate) resume() { g.update(func() { g.paused, g.credit = false, 0 }) }

// step lets one step pass; it does nothing while the run is not paused.
func (g *gate) step() {
	g.update(func() {
		if g.paused {
			g.credit++
		}
	})
}

// slowest is the least pace: one step in so long.
const slowest = time.Minute

// pace lets so many steps pass in a second, on average and at most; all of them with 0, a
// negative number or NaN.
func (g *gate) pace(perSecond float64) {
	g.update(func() {
		g.every, g.next = 0, time.Time{}
		if perSecond > 0 {
			g.every = time.Duration(min(float64(time.Second)/perSecond, float64(slowest)))
		}
	})
}

// between has f called before the next step, by the goroutine that takes the steps; it
// reports false where there is none any more.
func (g *gate) between(f func()) (ok bool) {
	g.update(func() {
		if ok = !g.ended; ok {
			g.todo = append(g.todo, f)
		}
	})
	return ok
}

// end calls the functions that wait for the next step, of which there is none.
func (g *gate) end() {
	g.update(func() { g.ended = true })
	for _, f := range g.todo {
		f()
	}
}

// isPaused reports whether the run is paused, if only between steps.
func (g *gate) isPaused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// closed reports whether the next wait would block for good.
func (g *gate) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused && g.credit == 0
}

// slow reports whether steps are so far apart that each is posted at once.
func (g *gate) slow() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.every >= minInterval
}

// wait blocks while the gate is closed, or the next step is not due, and uses up a credit
// where that opened it. It reports false when ctx ended.
func (g *gate) wait(ctx context.Context) bool {
	for ctx.Err() == nil {
		todo, due, changed := g.look()
		for _, f := range todo {
			f()
		}
		switch {
		case todo != nil:
		case due == 0:
			return true
		case due < 0:
			select {
			case <-changed:
			case <-ctx.Done():
			}
		default:
			t := time.NewTimer(due)
			select {
			case <-t.C:
			case <-changed:
			case <-ctx.Done():
			}
			t.Stop()
		}
	}
	return false
}

// look returns the functions to call first, or the time until a step is due: 0, now, and then
// it may pass; -1, not before something changes.
func (g *gate) look() (todo []func(), due time.Duration, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if todo, g.todo = g.todo, nil; todo != nil {
		return todo, 0, nil
	}
	if g.paused {
		if g.credit == 0 {
			return nil, -1, g.changed
		}
		g.credit--
		return nil, 0, nil
	}
	if g.every == 0 {
		return nil, 0, nil
	}
	now := time.Now()
	if due = g.next.Sub(now); due > 0 {
		return nil, due, g.changed
	}
	// A step that is late by less than a turn does not put off those that follow.
	if g.next = g.next.Add(g.every); g.next.Before(now) {
		g.next = now.Add(g.every)
	}
	return nil, 0, nil
}
