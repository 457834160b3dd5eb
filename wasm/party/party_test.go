package party

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/together/room/roomtest"
	"clipscope/core/together/wire"
	"clipscope/wasm/worker"
)

// host has one room, in memory.
type host struct {
	t       *testing.T
	house   *roomtest.House
	welcome []byte
}

func (h *host) Ask(_ context.Context, method, path string, body []byte) ([]byte, error) {
	switch {
	case method == "POST" && path == wire.Path:
		var asked struct{ Welcome []byte }
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		f, err := wire.Parse(asked.Welcome)
		if err != nil {
			return nil, err
		}
		w := f.(wire.Welcome)
		h.welcome, h.house = asked.Welcome, roomtest.NewHouse(h.t, w.Terms, w.Sealed, time.Minute)
		return []byte(`{"name": "here"}`), nil
	case path == wire.Path+"/here" && h.welcome != nil:
		return json.Marshal(map[string][]byte{"welcome": h.welcome})
	}
	return nil, errors.New("there is no such room")
}

func (h *host) Dial(ctx context.Context, _ string) (together.Link, error) { return h.house.Dial(ctx) }

// three returns a host with a room for three parties, and what each brings.
func three(t *testing.T, steps, tolerance int) (h *host, in run.Invitation, plans []*plan.Plan, rows *data.Dataset) {
	t.Helper()
	return threeOf(t, steps, run.Together{Parties: 3, Tolerance: tolerance})
}

// threeOf is three with a quorum.
func threeOf(t *testing.T, steps int, g run.Together) (h *host, in run.Invitation, plans []*plan.Plan, rows *data.Dataset) {
	t.Helper()
	rows, err := builtin.Make("moons", 1)
	if err != nil {
		t.Fatal(err)
	}
	eps := 3.0
	cfg := run.Config{
		Method: "constant", Accountant: "rdp", Model: run.Model{Kind: "softmax"}, TargetEpsilon: &eps, Steps: steps, ExpectedBatchSize: 100, NumExamples: 3 * rows.Train.N,
		Together: g,
	}
	for range 3 {
		p, err := plan.New(cfg, rows.Meta())
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	h = &host{t: t}
	if in, err = Invite(t.Context(), h, plans[0], rows.Classes); err != nil {
		t.Fatal(err)
	}
	return h, in, plans, rows
}

// seen keeps what a page was told.
type seen struct {
	mu     sync.Mutex
	states []run.PartyState
}

func (s *seen) show(p run.PartyState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Seats = slices.Clone(p.Seats)
	s.states = append(s.states, p)
}

func (s *seen) last() run.PartyState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.states) == 0 {
		return run.PartyState{}
	}
	return s.states[len(s.states)-1]
}

// meet has as many parties meet as are told of, one after the other, so that the first has the first seat and starts the
// run, and returns when all have done what do does.
func meet(t *testing.T, in run.Invitation, told []seen, do func(i int, m worker.Meeting)) {
	t.Helper()
	begin := make(chan struct{}, 1)
	var all sync.WaitGroup
	for i := range told {
		m := worker.Meeting{Joining: run.Joining{Invitation: in, Name: fmt.Sprint("hospital ", i+1)}, Show: told[i].show}
		if i == 0 {
			m.Begin = begin
		}
		all.Go(func() { do(i, m) })
		for len(told[i].last().Seats) == 0 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
	}
	for len(told[0].last().Seats) < len(told) && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	begin <- struct{}{}
	all.Wait()
}

// TestPartiesMeetAsPagesDo: three join, start, and one comes back from what it kept.
func TestPartiesMeetAsPagesDo(t *testing.T) {
	const steps = 30
	h, in, plans, rows := three(t, steps, 1)
	results, told := make([]run.Result, 3), make([]seen, 3)
	var kept sync.Map // by party: the last round that it may have answered
	meet(t, in, told, func(i int, m worker.Meeting) {
		m.Keep = func(step int) error { kept.Store(i, step); return nil }
		r, err := Join(t.Context(), h, plans[i], rows, purego.New(), m)
		if err != nil {
			t.Errorf("party %d: %v", i+1, err)
			return
		}
		for e, err := range r.Steps(t.Context()) {
			if err != nil {
				t.Errorf("party %d: %v", i+1, err)
				return
			}
			if i != 2 || e.Step != 10 {
				continue
			}
			state, step, err := r.Checkpoint(t.Context())
			if err != nil || step == 0 {
				t.Errorf("a state after step %d: %v", step, err)
				return
			}
			if err := Fits(plans[i], state); err != nil {
				t.Error(err)
			}
			r.Close() // as where a tab is closed: the seat stays
			answered, _ := kept.Load(i)
			if r, err = Rejoin(t.Context(), h, plans[i], rows, purego.New(), worker.Meeting{Show: told[i].show, Keep: m.Keep}, state, answered.(int)); err != nil {
				t.Error(err)
				return
			}
			break
		}
		for _, err := range r.Steps(t.Context()) {
			if err != nil {
				t.Errorf("party %d: %v", i+1, err)
			}
		}
		if results[i], err = r.Result(t.Context()); err != nil {
			t.Error(err)
		}
		r.Close()
	})
	if t.Failed() {
		return
	}
	for i, r := range results {
		if r.Steps != steps || !slices.Equal(r.Released.Parameters, results[0].Released.Parameters) {
			t.Errorf("party %d ends after %d steps, with the same parameters: %t", i+1, r.Steps, slices.Equal(r.Released.Parameters, results[0].Released.Parameters))
		}
		s := told[i].last()
		if s.Fingerprint == "" || s.Fingerprint != told[0].last().Fingerprint {
			t.Errorf("party %d has the fingerprint %q, the first %q", i+1, s.Fingerprint, told[0].last().Fingerprint)
		}
		if len(s.Seats) != 3 || !s.Seats[i].You || s.Seats[(i+1)%3].You || s.Seats[1].Name != "hospital 2" {
			t.Errorf("party %d is shown %+v", i+1, s.Seats)
		}
		if s.Seats[(i+1)%3].Away {
			t.Errorf("party %d is shown that the next is away", i+1)
		}
		if least := int64(plans[0].Info().Together.StepBytes * steps * 2 / 3); s.Sent < least || s.Received < least {
			t.Errorf("party %d has sent %d bytes and received %d", i+1, s.Sent, s.Received)
		}
	}
}

// TestWhoIsNotAsAgreedIsRefused, by name, before anything has left.
func TestWhoIsNotAsAgreedIsRefused(t *testing.T) {
	h, in, plans, rows := three(t, 10, 1)
	cfg := plans[1].Terms().Config
	cfg.LearningRate *= 2
	other, err := plan.New(cfg, rows.Meta())
	if err != nil {
		t.Fatal(err)
	}
	m := worker.Meeting{Joining: run.Joining{Invitation: in, Name: "x"}, Show: func(run.PartyState) { t.Error("it is in the room") }}
	var refused *run.ConfigError
	if _, err := Join(t.Context(), h, other, rows, purego.New(), m); !errors.As(err, &refused) || !strings.Contains(err.Error(), "config.learning_rate") {
		t.Errorf("another learning rate: %v", err)
	}
	renamed := *rows
	renamed.Classes = []string{"left", "right"}
	if _, err := Join(t.Context(), h, plans[1], &renamed, purego.New(), m); err == nil || !strings.Contains(err.Error(), "data.classes.1") {
		t.Errorf("other classes: %v", err)
	}
	for _, bad := range []run.Invitation{{Room: in.Room, Secret: in.Secret[:20]}, {Room: "there", Secret: in.Secret}, {Room: in.Room, Secret: strings.Repeat("A", 43)}, {}} {
		if _, err := Find(t.Context(), h, bad); err == nil {
			t.Errorf("%+v is found", bad)
		}
	}
}

// TestWhoStopsLeaves: before the start the seat is free again, and the room is told.
func TestWhoStopsLeaves(t *testing.T) {
	h, in, plans, rows := three(t, 10, 1)
	var first, second seen
	go func() {
		m := worker.Meeting{Joining: run.Joining{Invitation: in, Name: "first"}, Show: first.show}
		if _, err := Join(t.Context(), h, plans[0], rows, purego.New(), m); err == nil {
			t.Error("a run that nobody started has begun")
		}
	}()
	for len(first.last().Seats) == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for len(first.last().Seats) < 2 {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	m := worker.Meeting{Joining: run.Joining{Invitation: in, Name: "second"}, Show: second.show}
	if _, err := Join(ctx, h, plans[1], rows, purego.New(), m); !errors.Is(err, context.Canceled) {
		t.Errorf("who stops: %v", err)
	}
	for first.last().Seats[1].Name != "" {
		time.Sleep(time.Millisecond)
	}
}

// TestTooFewPartiesEndARun with a result that says so, as everything that was released stands.
func TestTooFewPartiesEndARun(t *testing.T) {
	h, in, plans, rows := three(t, 20, 0)
	var told [3]seen
	results := make([]run.Result, 3)
	meet(t, in, told[:], func(i int, m worker.Meeting) {
		r, err := Join(t.Context(), h, plans[i], rows, purego.New(), m)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for e, err := range r.Steps(ctx) {
			if i == 2 && e.Step == 5 {
				stop()
			}
			if err != nil && i != 2 {
				t.Errorf("party %d: %v", i, err)
			}
		}
		if results[i], err = r.Result(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for i, r := range results[:2] {
		said := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "too few parties") })
		if r.Steps < 5 || r.Steps >= 20 || !r.Stopped || !said || len(r.Released.Parameters) == 0 {
			t.Errorf("party %d has a result after %d steps, stopped: %t, %q", i, r.Steps, r.Stopped, r.Notes)
		}
	}
}

// TestStatesOfNothingAreRefused: whatever a file holds.
func TestStatesOfNothingAreRefused(t *testing.T) {
	_, _, plans, rows := three(t, 10, 1)
	for _, state := range [][]byte{nil, {1, 2}, {255, 255, 255, 255, 1}, {2, 0, 0, 0, '{', '}'}, {1, 0, 0, 0, '['}} {
		if err := Fits(plans[0], state); err == nil {
			t.Errorf("%v fits", state)
		}
		if _, err := Rejoin(t.Context(), &host{t: t}, plans[0], rows, purego.New(), worker.Meeting{}, state, 0); err == nil {
			t.Errorf("%v is come back from", state)
		}
	}
}
