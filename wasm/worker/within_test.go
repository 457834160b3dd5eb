package worker

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// slow is a run of one step that takes long, and of which so much is told on the way.
type slow struct {
	fake
	shares []float64
}

func (s *slow) Start(context.Context, *data.Dataset, compute.Backend) (Trainer, error) { return s, nil }

func (s *slow) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for _, share := range s.shares {
			time.Sleep(trialEvery + 10*time.Millisecond)
			run.Pause(ctx, share)
			run.Pause(ctx, share) // too soon to be told again
		}
		s.done = 1
		yield(run.Event{Step: 1, Steps: 1}, nil)
	}
}

// TestALongStepSaysHowFarItIs: a step that takes long says how far it is, and one of which nothing
// may be told does not.
func TestALongStepSaysHowFarItIs(t *testing.T) {
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		return &slow{fake: fake{steps: 1}, shares: []float64{0.25, 0, 0.5}}, nil
	})
	p.send(Train, 1, `{"config":{"data":"digits"}}`)
	for _, want := range []float64{0.25, 0.5} {
		var w run.Within
		m := p.next(WithinType, DoneType)
		if err := json.Unmarshal([]byte(m.Text), &w); err != nil || m.Type != WithinType || m.ID != 1 || float64(w.Share) != want {
			t.Fatalf("%s of run %d says %s, want %v, %v", m.Type, m.ID, m.Text, want, err)
		}
	}
	if m := p.next(WithinType, DoneType, FailedType); m.Type != DoneType {
		t.Fatalf("%s says %s", m.Type, m.Text)
	}
}
