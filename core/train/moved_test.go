package train

import (
	"testing"

	"clipscope/core/compute"
	"clipscope/core/compute/deferred"
	"clipscope/core/compute/purego"
	"clipscope/core/run"
)

// card is a device whose memory may be lost and that counts what is written and fetched.
type card struct {
	compute.Backend
	moved int64
}

func (c *card) Device() string { return "a card" }
func (c *card) Moved() int64   { return c.moved }
func (c *card) Lost() error    { return nil }

func (c *card) Write(dst compute.Buffer, src []float32) {
	c.moved += int64(4 * len(src))
	c.Backend.Write(dst, src)
}

func (c *card) WriteBytes(dst compute.Buffer, src []byte) {
	c.moved += int64(len(src)+3) / 4 * 4
	c.Backend.WriteBytes(dst, src)
}

func (c *card) Fetch(x compute.Buffer) compute.Pending {
	c.moved += int64(4 * x.Len())
	return c.Backend.Fetch(x)
}

// TestMovedBytesAreThoseOfTheStep: an event has the bytes of its own step, and neither those of
// the opening nor those of steps that were queued before it was told.
func TestMovedBytesAreThoseOfTheStep(t *testing.T) {
	t.Parallel()
	c := &card{Backend: deferred.New(purego.New())}
	r := startOn(t, run.Config{
		Model: run.Model{Kind: "mlp", Hidden: []int{8}}, Method: "constant", NoiseMultiplier: ptr(1.0), ExpectedBatchSize: 20, Steps: 12, LearningRate: 0.1, Seed: ptr(uint64(3)),
	}, small(t), c)
	opening := c.moved
	if params := int64(4 * r.work.terms.Spec.Params()); opening < params {
		t.Fatalf("the opening moved %d bytes, and the parameters have %d", opening, params)
	}
	var each []int64 // by step, of what was queued while it was taken
	for range 12 {
		before := c.moved
		if err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		each = append(each, c.moved-before)
	}
	for i, want := range each {
		e, err := r.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Diag.MovedBytes; got != want || got == 0 {
			t.Errorf("step %d tells of %d bytes and has moved %d", i+1, got, want)
		}
	}
}
