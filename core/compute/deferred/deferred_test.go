package deferred_test

import (
	"context"
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/computetest"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
)

func TestSuite(t *testing.T) {
	computetest.RunAll(t, func() compute.Backend { return deferred.New(purego.New()) })
}

// spy counts the calls that reach the wrapped backend.
type spy struct {
	compute.Backend
	calls int
}

func (s *spy) New(n int) compute.Buffer { s.calls++; return s.Backend.New(n) }

func (s *spy) Write(dst compute.Buffer, src []float32) { s.calls++; s.Backend.Write(dst, src) }

func (s *spy) Fill(n int, v float32, dst compute.Buffer) { s.calls++; s.Backend.Fill(n, v, dst) }

func TestNothingRunsBeforeRead(t *testing.T) {
	inner := &spy{Backend: purego.New()}
	b := deferred.New(inner)
	x := b.New(3)
	b.Write(x, []float32{1, 2, 3})
	b.Fill(2, 7, x)
	if inner.calls != 0 || b.Pending() != 3 {
		t.Fatalf("before Read: %d calls have run and %d are pending, want 0 and 3", inner.calls, b.Pending())
	}
	got := make([]float32, 3)
	if err := b.Read(context.Background(), got, x); err != nil {
		t.Fatal(err)
	}
	if got[0] != 7 || got[1] != 7 || got[2] != 3 {
		t.Errorf("read %v, want [7 7 3]", got)
	}
	if inner.calls != 3 || b.Pending() != 0 {
		t.Errorf("after Read: %d calls have run and %d are pending, want 3 and 0", inner.calls, b.Pending())
	}
}

func TestForeignBufferPanics(t *testing.T) {
	a, b := deferred.New(purego.New()), deferred.New(purego.New())
	x := a.New(1)
	defer func() {
		if recover() == nil {
			t.Error("a buffer of another backend was accepted")
		}
	}()
	b.Fill(1, 1, x)
}
