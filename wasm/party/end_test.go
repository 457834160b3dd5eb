package party

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/wasm/worker"
)

// TestWordsThatLeftAreCharged: whoever stops while the others answer the first round has released its words.
func TestWordsThatLeftAreCharged(t *testing.T) {
	h, in, plans, rows := threeOf(t, 20, run.Together{Parties: 3, Tolerance: 1, Quorum: 2})
	var told [3]seen
	results := make([]run.Result, 3)
	answered, stopped := make(chan struct{}), make(chan struct{})
	meet(t, in, told[:], func(i int, m worker.Meeting) {
		if i == 0 {
			m.Keep = func(step int) error { close(answered); return nil }
		}
		r, err := Join(t.Context(), h, plans[i], rows, purego.New(), m)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		if i != 0 {
			<-stopped
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if i == 0 {
			go func() { <-answered; time.Sleep(100 * time.Millisecond); stop() }()
		}
		for _, err := range r.Steps(ctx) {
			if err != nil && i != 0 {
				t.Errorf("party %d: %v", i, err)
			}
		}
		if results[i], err = r.Result(t.Context()); err != nil {
			t.Error(err)
		}
		if i == 0 {
			r.Close()
			close(stopped)
		}
	})
	if r := results[0]; r.Steps != 0 || !r.Charged || r.Epsilon != plans[0].Info().Epsilon {
		t.Errorf("after %d steps, charged %t, ε %g", r.Steps, r.Charged, r.Epsilon)
	}
	if r := results[1]; r.Steps != 20 {
		t.Errorf("the others end after %d steps", r.Steps)
	}
}

// TestAnEarlyEndSaysWhatIsCharged, as the ledger has it.
func TestAnEarlyEndSaysWhatIsCharged(t *testing.T) {
	h, in, plans, rows := three(t, 20, 0)
	var told [3]seen
	results := make([]run.Result, 3)
	var joined sync.WaitGroup
	joined.Add(3)
	meet(t, in, told[:], func(i int, m worker.Meeting) {
		r, err := Join(t.Context(), h, plans[i], rows, purego.New(), m)
		joined.Done()
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		joined.Wait()
		if i == 2 {
			r.ended = true
			return // and leaves
		}
		time.Sleep(100 * time.Millisecond)
		for range r.Steps(t.Context()) {
		}
		if results[i], err = r.Result(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for i, r := range results[:2] {
		if said := strings.Contains(fmt.Sprint(r.Notes), "charged in full"); said != (r.Charged || r.Steps > 0) {
			t.Errorf("party %d: charged %t, %q", i, r.Charged, r.Notes)
		}
	}
}

// silent is a host whose rooms take connections and say nothing.
type silent struct{ *host }

func (silent) Dial(context.Context, string) (together.Link, error) { return mute{}, nil }

type mute struct{}

func (mute) Send(context.Context, []byte) error { return nil }
func (mute) Close() error                       { return nil }
func (mute) Receive(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestARoomThatSaysNothingCanBeLeft by who presses Stop.
func TestARoomThatSaysNothingCanBeLeft(t *testing.T) {
	h, in, plans, rows := three(t, 10, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Join(ctx, silent{h}, plans[0], rows, purego.New(), worker.Meeting{Joining: run.Joining{Invitation: in, Name: "x"}, Show: func(run.PartyState) {}})
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	stop()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a run begins")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Stop does nothing")
	}
}
