// Package deferred implements a [compute.Backend] that runs nothing before a wait, as a
// GPU would. It wraps another and keeps every call in a queue. Code that works on it
// relies on nothing but the order of its calls. For tests.
package deferred

import (
	"context"
	"fmt"
	"slices"

	"clipscope/core/compute"
)

// Backend is the wrapped one, later. Make one with [New].
type Backend struct {
	inner compute.Backend
	queue []func()
	waits int
}

// New wraps a backend.
func New(inner compute.Backend) *Backend { return &Backend{inner: inner} }

// Name is "deferred".
func (b *Backend) Name() string { return "deferred" }

// Queued is the number of calls that have not run.
func (b *Backend) Queued() int { return len(b.queue) }

// Waits returns the number of waits for something that had not run.
func (b *Backend) Waits() int { return b.waits }

func (b *Backend) later(f func()) { b.queue = append(b.queue, f) }

// New has its memory at once; that it is zero by then is part of the contract.
func (b *Backend) New(n int) compute.Buffer   { return b.inner.New(n) }
func (b *Backend) NewSums(n int) compute.Sums { return b.inner.NewSums(n) }

func (b *Backend) Free(x compute.Buffer)   { b.later(func() { b.inner.Free(x) }) }
func (b *Backend) FreeSums(s compute.Sums) { b.later(func() { b.inner.FreeSums(s) }) }

// Write queues a copy of src, which the caller may change at once.
func (b *Backend) Write(dst compute.Buffer, src []float32) {
	kept := slices.Clone(src)
	b.later(func() { b.inner.Write(dst, kept) })
}

// WriteBytes queues a copy of src, too.
func (b *Backend) WriteBytes(dst compute.Buffer, src []byte) {
	kept := slices.Clone(src)
	b.later(func() { b.inner.WriteBytes(dst, kept) })
}

func (b *Backend) Run(k *compute.Kernel, a compute.Args) {
	b.later(func() { b.inner.Run(k, a) })
}

// pending is fetched from the wrapped backend when its turn comes.
type pending struct {
	of *Backend
	p  compute.Pending
}

func (b *Backend) Fetch(x compute.Buffer) compute.Pending {
	p := &pending{of: b}
	b.later(func() { p.p = b.inner.Fetch(x) })
	return p
}

func (p *pending) Done() bool { return p.p != nil && p.p.Done() }

// Wait runs the queue in call order. A context that is already done runs nothing;
// the queue is kept for the next Wait.
func (p *pending) Wait(ctx context.Context, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("deferred: read: %w", err)
	}
	if p.p == nil {
		p.of.waits++
		p.of.flush()
	}
	return p.p.Wait(ctx, dst)
}

func (b *Backend) flush() {
	for _, f := range b.queue {
		f()
	}
	clear(b.queue)
	b.queue = b.queue[:0]
}

// Close drops what is queued and closes the wrapped backend.
func (b *Backend) Close() {
	b.queue = nil
	b.inner.Close()
}

var _ compute.Backend = (*Backend)(nil)
