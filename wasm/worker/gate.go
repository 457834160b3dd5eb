package worker

import (
	"context"
	"sync"
)

// gate holds a run back while it is paused.
type gate struct {
	mu      sync.Mutex
	paused  bool
	credit  int           // steps that may pass while paused
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

// held reports whether the run is paused, if only between steps.
func (g *gate) held() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// closed reports whether the next wait would block.
func (g *gate) closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused && g.credit == 0
}

// wait blocks while the gate is closed and uses up a credit where that is what
// opened it. It reports false when ctx ended.
func (g *gate) wait(ctx context.Context) bool {
	for ctx.Err() == nil {
		g.mu.Lock()
		if !g.paused {
			g.mu.Unlock()
			return true
		}
		if g.credit > 0 {
			g.credit--
			g.mu.Unlock()
			return true
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return false
}
