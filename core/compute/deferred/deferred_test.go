package deferred_test

import (
	"context"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/kernel"
	"clipscope/core/compute/purego"
)

func TestBackendPassesTheSuite(t *testing.T) {
	computetest.RunAll(t, func() compute.Backend { return deferred.New(purego.New()) })
}

// spy counts the kernels that reach the wrapped backend.
type spy struct {
	compute.Backend
	calls int
}

func (s *spy) Write(dst compute.Buffer, src []float32) { s.calls++; s.Backend.Write(dst, src) }

func (s *spy) WriteBytes(dst compute.Buffer, src []byte) { s.calls++; s.Backend.WriteBytes(dst, src) }

func (s *spy) Run(k *compute.Kernel, a compute.Args) { s.calls++; s.Backend.Run(k, a) }

func TestNothingRunsBeforeWait(t *testing.T) {
	inner := &spy{Backend: purego.New()}
	b := deferred.New(inner)
	x := b.New(3)
	b.Write(x, []float32{1, 2, 3})
	kernel.Fill(b, 2, 7, x)
	p := b.Fetch(x)
	if inner.calls != 0 || b.Queued() != 3 || p.Done() {
		t.Fatalf("before Wait: %d calls have run and %d are queued, want 0 and 3", inner.calls, b.Queued())
	}
	kernel.Fill(b, 3, 8, x)
	got := make([]float32, 3)
	if err := p.Wait(context.Background(), got); err != nil {
		t.Fatal(err)
	}
	if got[0] != 7 || got[1] != 7 || got[2] != 3 {
		t.Errorf("read %v, want [7 7 3]", got)
	}
	if inner.calls != 3 || b.Queued() != 0 || b.Waits() != 1 {
		t.Errorf("after Wait: %d calls have run, %d are queued, %d waits; want 3, 0 and 1", inner.calls, b.Queued(), b.Waits())
	}
}
