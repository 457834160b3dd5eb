// Package deferred wraps a [compute.Backend] so that every call is queued and
// nothing runs until Read. Code that works on it does not rely on a kernel
// having run when its call returns, and so will work on a GPU, whose queue it
// stands for. It is for tests.
package deferred

import (
	"context"
	"fmt"
	"slices"

	"clipscope/core/compute"
)

// Backend queues calls for the backend that it wraps. Make one with [New].
type Backend struct {
	inner compute.Backend
	queue []func()
}

// New returns a backend that owns inner and runs it at Read only.
func New(inner compute.Backend) *Backend { return &Backend{inner: inner} }

// buffer has its memory only once the queue has run up to its New.
type buffer struct {
	owner *Backend
	n     int
	inner compute.Buffer
}

func (b *buffer) Len() int { return b.n }

// Name is "deferred".
func (b *Backend) Name() string { return "deferred" }

// Pending is the number of calls that have been queued and not run.
func (b *Backend) Pending() int { return len(b.queue) }

func (b *Backend) later(f func()) { b.queue = append(b.queue, f) }

// own panics unless x is a buffer of this backend. That sizes fit is left to
// the wrapped backend to find, at Read.
func (b *Backend) own(x compute.Buffer) *buffer {
	p, ok := x.(*buffer)
	if !ok || p.owner != b {
		panic(fmt.Sprintf("deferred: a %T is not a buffer of this backend", x))
	}
	return p
}

func (b *Backend) New(n int) compute.Buffer {
	if n < 0 {
		panic(fmt.Sprintf("deferred: buffer of size %d", n))
	}
	x := &buffer{owner: b, n: n}
	b.later(func() { x.inner = b.inner.New(n) })
	return x
}

// sums, too, have their memory only then.
type sums struct {
	owner *Backend
	n     int
	inner compute.Sums
}

func (s *sums) Len() int { return s.n }
func (s *sums) Wide()    {}

func (b *Backend) NewSums(n int) compute.Sums {
	if n < 0 {
		panic(fmt.Sprintf("deferred: %d sums", n))
	}
	s := &sums{owner: b, n: n}
	b.later(func() { s.inner = b.inner.NewSums(n) })
	return s
}

func (b *Backend) ownSums(x compute.Sums) *sums {
	p, ok := x.(*sums)
	if !ok || p.owner != b {
		panic(fmt.Sprintf("deferred: a %T is not sums of this backend", x))
	}
	return p
}

func (b *Backend) Clear(x compute.Sums) {
	s := b.ownSums(x)
	b.later(func() { b.inner.Clear(s.inner) })
}

func (b *Backend) Free(x compute.Buffer) {
	if s, ok := x.(*sums); ok {
		b.ownSums(s)
		b.later(func() { b.inner.Free(s.inner); s.inner = nil })
		return
	}
	p := b.own(x)
	b.later(func() { b.inner.Free(p.inner); p.inner = nil })
}

// Write queues a copy of src, which the caller may change at once.
func (b *Backend) Write(dst compute.Buffer, src []float32) {
	p, kept := b.own(dst), slices.Clone(src)
	b.later(func() { b.inner.Write(p.inner, kept) })
}

// Read runs the queue in call order, then reads. A context that is already
// done runs nothing; the queue is kept for the next Read.
func (b *Backend) Read(ctx context.Context, dst []float32, src compute.Buffer) error {
	p := b.own(src)
	if err := b.run(ctx); err != nil {
		return err
	}
	return b.inner.Read(ctx, dst, p.inner)
}

// ReadSums is Read for sums.
func (b *Backend) ReadSums(ctx context.Context, dst []float64, src compute.Sums) error {
	s := b.ownSums(src)
	if err := b.run(ctx); err != nil {
		return err
	}
	return b.inner.ReadSums(ctx, dst, s.inner)
}

func (b *Backend) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("deferred: read: %w", err)
	}
	for _, f := range b.queue {
		f()
	}
	clear(b.queue)
	b.queue = b.queue[:0]
	return nil
}

// Close drops what is queued and closes the wrapped backend.
func (b *Backend) Close() {
	b.queue = nil
	b.inner.Close()
}

// later1 … later5 queue a kernel over that many buffers.

func (b *Backend) later1(x compute.Buffer, f func(x compute.Buffer)) {
	p := b.own(x)
	b.later(func() { f(p.inner) })
}

func (b *Backend) later2(x, y compute.Buffer, f func(x, y compute.Buffer)) {
	p, q := b.own(x), b.own(y)
	b.later(func() { f(p.inner, q.inner) })
}

func (b *Backend) later3(x, y, z compute.Buffer, f func(x, y, z compute.Buffer)) {
	p, q, r := b.own(x), b.own(y), b.own(z)
	b.later(func() { f(p.inner, q.inner, r.inner) })
}

func (b *Backend) later4(x, y, z, w compute.Buffer, f func(x, y, z, w compute.Buffer)) {
	p, q, r, s := b.own(x), b.own(y), b.own(z), b.own(w)
	b.later(func() { f(p.inner, q.inner, r.inner, s.inner) })
}

func (b *Backend) later5(x, y, z, w, v compute.Buffer, f func(x, y, z, w, v compute.Buffer)) {
	p, q, r, s, t := b.own(x), b.own(y), b.own(z), b.own(w), b.own(v)
	b.later(func() { f(p.inner, q.inner, r.inner, s.inner, t.inner) })
}

var _ compute.Backend = (*Backend)(nil)
