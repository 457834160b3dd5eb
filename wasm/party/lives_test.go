package party

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/together/room/roomtest"
	"clipscope/core/together/wire"
	"clipscope/wasm/worker"
)

// spy hears a party's answers, and may lose them.
type spy struct {
	*host
	mu      sync.Mutex
	answers map[uint32][]string
}

func (s *spy) Dial(ctx context.Context, _ string) (together.Link, error) {
	c, err := s.house.Dial(ctx)
	return &heard{c, s}, err
}

type heard struct {
	*roomtest.Cable
	s *spy
}

func (h *heard) Send(ctx context.Context, b []byte) error {
	f, _ := wire.Parse(b)
	h.s.mu.Lock()
	switch f := f.(type) {
	case wire.Words:
		h.s.answers[f.Round] = append(h.s.answers[f.Round], string(b))
	case wire.Dispute:
		h.s.answers[f.Round] = append(h.s.answers[f.Round], string(b))
	}
	h.s.mu.Unlock()
	return h.Cable.Send(ctx, b)
}

// TestNoLifeAnswersARoundAgain: a party crashes between keeping and sending, and comes back from states of all ages.
func TestNoLifeAnswersARoundAgain(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { lives(t, seed) })
	}
}

// lives has one of three parties live many times.
func lives(t *testing.T, seed uint64) {
	const steps = 40
	rnd := rand.New(rand.NewPCG(seed, 1))
	h, in, plans, rows := threeOf(t, steps, run.Together{Parties: 3, Tolerance: 1, Quorum: 2})
	s := &spy{host: h, answers: map[uint32][]string{}}
	var told [3]seen
	results := make([]run.Result, 3)
	meet(t, in, told[:], func(i int, m worker.Meeting) {
		var at together.Host = h
		if i == 2 {
			at = s
		}
		journal, crash := 0, -1
		died := errors.New("a crash")
		if i == 2 {
			crash = 3
			m.Keep = func(step int) error {
				journal = step
				if crash >= 0 && step >= crash {
					return died
				}
				return nil
			}
		}
		r, err := Join(t.Context(), at, plans[i], rows, purego.New(), m)
		if err != nil {
			t.Error(err)
			return
		}
		var state []byte
		number := 0
		for {
			var failed error
			for e, err := range r.Steps(t.Context()) {
				if err != nil {
					failed = err
					break
				}
				if i == 2 && (state == nil || rnd.IntN(4) == 0) {
					b, step, err := r.Checkpoint(t.Context())
					if err != nil {
						t.Error(err)
					}
					if step > 0 {
						state = b
					}
				}
				if i == 2 && rnd.IntN(9) == 0 && number < 8 && e.Step < steps {
					failed = died
					break
				}
			}
			if failed == nil {
				break
			}
			if !errors.Is(failed, died) {
				t.Errorf("party %d: %v", i, failed)
				return
			}
			number++
			r.Close()
			if rnd.IntN(2) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			crash = -1
			if number < 8 && rnd.IntN(2) == 0 {
				crash = journal + 1 + rnd.IntN(5)
			}
			if r, err = Rejoin(t.Context(), at, plans[i], rows, purego.New(), worker.Meeting{Show: told[i].show, Keep: m.Keep}, state, journal); err != nil {
				t.Error(err)
				return
			}
		}
		if results[i], err = r.Result(t.Context()); err != nil {
			t.Error(err)
		}
		if i == 2 {
			t.Logf("%d lives, %d notes", number+1, len(results[i].Notes))
		}
		r.Close()
	})
	for round, list := range s.answers {
		if len(slices.Compact(list)) != 1 {
			t.Errorf("round %d has %d answers", round, len(list))
		}
	}
	for i, r := range results {
		if r.Steps != steps || !slices.Equal(r.Released.Parameters, results[0].Released.Parameters) {
			t.Errorf("party %d: %d steps, %v", i, r.Steps, r.Notes)
		}
	}
}
