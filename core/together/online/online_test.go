package online

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/together/wire"
)

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestPartiesMeetOnline has parties that are simulated meet in a room of the host that ROOMS names; the tests of the
// Worker start one. With DROP some go for good at random, with TWICE some answer a second time, and with LATE
// some answer later than the room waits.
func TestPartiesMeetOnline(t *testing.T) {
	at := Site(os.Getenv("ROOMS"))
	if at == "" {
		t.Skip("no host of rooms is named")
	}
	parties, words, steps := number("PARTIES", 5), number("WORDS", 1000), number("STEPS", 10)
	drop, twice, late := number("DROP", 0), number("TWICE", 0), number("LATE", 0) // per cent
	tolerance := parties * (drop + late + 10) / 100
	a := together.NewAgreement(run.Config{Method: "constant", Together: run.Together{Parties: parties, Tolerance: tolerance, Quorum: parties - tolerance}}, data.Meta{Features: 1, Outputs: 2}, nil, [32]byte{3})
	secret, err := together.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := together.SealAgreement(secret, &a)
	if err != nil {
		t.Fatal(err)
	}
	terms := wire.Terms{Parties: uint16(parties), Quorum: uint16(parties - tolerance), Words: uint32(words), Rounds: uint32(steps), AnswerSeconds: uint16(number("SECONDS", 30))}
	name, err := together.OpenRoom(t.Context(), at, terms, sealed)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := together.FindRoom(t.Context(), at, name); err != nil || got != terms {
		t.Fatalf("the room is for %+v: %v", got, err)
	}
	enter := func(ctx context.Context, i int) *together.Party {
		p, err := together.Enter(ctx, repeating(together.DialRoom(at, name), i, twice), together.Guest{Secret: secret, Agreement: a, Name: fmt.Sprint("party ", i), Words: words, Steps: steps}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all := []*together.Party{enter(t.Context(), 0)} // who opens a room comes first
	ctxs, leave := make([]context.Context, parties), make([]context.CancelFunc, parties)
	all = append(all, make([]*together.Party, parties-1)...)
	var joining sync.WaitGroup
	for i := 1; i < parties; i++ {
		ctxs[i], leave[i] = context.WithCancel(t.Context())
		defer leave[i]()
		joining.Go(func() { all[i] = enter(ctxs[i], i) })
		if i%50 == 0 {
			joining.Wait()
		}
	}
	joining.Wait()
	all[0].Start(t.Context())
	began := time.Now()
	sums := make([][]uint32, steps)
	var mu sync.Mutex
	var gone, void, ended atomic.Int32
	var done sync.WaitGroup
	for i, p := range all {
		done.Go(func() {
			ctx, rng := t.Context(), rand.New(rand.NewPCG(uint64(i), 1))
			if i > 0 {
				ctx = ctxs[i]
			}
			if err := p.Wait(ctx, nil); err != nil {
				t.Error(err)
				return
			}
			leaves := i > 0 && rng.IntN(100) < drop
			for step := range steps {
				if leaves && rng.IntN(steps) == 0 {
					gone.Add(1)
					leave[i]()
					return
				}
				if i > 0 && rng.IntN(100) < late {
					time.Sleep(time.Duration(terms.AnswerSeconds)*time.Second + time.Second)
				}
				time.Sleep(time.Duration(number("SLOW", 0)) * time.Millisecond)
				w := make([]uint32, words)
				for k := range w {
					w[k] = uint32(i + k)
				}
				sum, err := p.Sum(ctx, step, w)
				if err != nil {
					over := (*together.OverError)(nil)
					if i == 0 || !errors.As(err, &over) {
						t.Errorf("party %d, step %d: %v", i, step, err)
					}
					ended.Add(1)
					return
				}
				if sum == nil && i == 0 {
					void.Add(1)
				}
				mu.Lock()
				if sums[step] == nil {
					sums[step] = sum
				} else if sum != nil && !slices.Equal(sums[step], sum) {
					t.Errorf("step %d: party %d has another sum", step, i)
				}
				mu.Unlock()
			}
		})
	}
	done.Wait()
	took := time.Since(began)
	for step, sum := range sums {
		// Words of a step differ from number to number by how many parties were present.
		if len(sum) > 1 {
			if present := sum[1] - sum[0]; int(present) > parties || int(present) < parties-tolerance {
				t.Errorf("step %d: the sum is of %d parties", step, present)
			}
		}
	}
	sent, received := all[0].Moved()
	t.Logf("%d parties, %d numbers: %d rounds in %.1f s, %.1f a second, %d void; %d parties gone; a party sent %d bytes and received %d",
		parties, words, steps, took.Seconds(), float64(steps)/took.Seconds(), void.Load(), gone.Load(), sent, received)
}

// repeating dials links that send so many per cent of their frames of words twice.
func repeating(dial together.Dial, seed, percent int) together.Dial {
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	return func(ctx context.Context) (together.Link, error) {
		l, err := dial(ctx)
		return echo{l, func() bool { return rng.IntN(100) < percent }}, err
	}
}

type echo struct {
	together.Link
	again func() bool
}

func (e echo) Send(ctx context.Context, b []byte) error {
	if b[0] == byte(wire.KindWords) && e.again() {
		if err := e.Link.Send(ctx, b); err != nil {
			return err
		}
	}
	return e.Link.Send(ctx, b)
}

// TestManyMeetOnline has parties that say what the room expects of them, without keys and masks, which a room
// cannot tell from others: so many that one machine could not agree on masks for all pairs.
func TestManyMeetOnline(t *testing.T) {
	at := Site(os.Getenv("ROOMS"))
	if at == "" {
		t.Skip("no host of rooms is named")
	}
	parties, words, steps := number("PARTIES", 100), number("WORDS", 1000), number("STEPS", 3)
	terms := wire.Terms{Parties: uint16(parties), Quorum: uint16(parties), Words: uint32(words), Rounds: uint32(steps), AnswerSeconds: uint16(number("SECONDS", 120))}
	name, err := together.OpenRoom(t.Context(), at, terms, []byte("sealed"))
	if err != nil {
		t.Fatal(err)
	}
	links := make([]together.Link, parties)
	join := func(i int) {
		var err error
		if links[i], err = together.DialRoom(at, name)(t.Context()); err != nil {
			t.Error(err)
			return
		}
		h := wire.Hello{Card: []byte("card")}
		h.Token[0], h.Token[1] = byte(i), byte(i>>8)
		if err := links[i].Send(t.Context(), h.Append(nil)); err != nil {
			t.Error(err)
		}
	}
	// wait returns the next frame that is not a card.
	wait := func(i int) (wire.Frame, error) {
		for {
			b, err := links[i].Receive(t.Context())
			if err != nil {
				return nil, err
			}
			if f, err := wire.Parse(b); err != nil {
				return nil, err
			} else if _, card := f.(wire.Card); !card {
				return f, nil
			}
		}
	}
	join(0)
	if _, err := wait(0); err != nil { // the welcome
		t.Fatal(err)
	}
	var did sync.WaitGroup
	var began time.Time
	all := make(chan struct{})
	var joined atomic.Int32
	for i := range parties {
		did.Go(func() {
			if i > 0 {
				join(i)
				if _, err := wait(i); err != nil {
					t.Errorf("party %d: %v", i, err)
					return
				}
			}
			if int(joined.Add(1)) == parties {
				close(all)
			}
			if i == 0 {
				<-all
				began = time.Now()
				_ = links[0].Send(t.Context(), wire.Start{}.Append(nil))
			}
			for entries := uint32(0); ; {
				f, err := wait(i)
				if err != nil {
					t.Errorf("party %d: %v", i, err)
					return
				}
				var say wire.Frame
				switch f := f.(type) {
				case wire.Roster, wire.Sum:
					entries++
					say = wire.Ready{Entries: entries}
				case wire.Round:
					w := make([]uint32, words)
					w[0] = 1
					say = wire.Words{Round: f.Round, Words: w}
				case wire.Over:
					if f.Why != wire.Finished {
						t.Errorf("party %d: %v", i, f.Why)
					}
					return
				default:
					t.Errorf("party %d: %T", i, f)
					return
				}
				if s, ok := f.(wire.Sum); ok && int(s.Words[0]) != parties {
					t.Errorf("a sum of %d parties", s.Words[0])
				}
				if err := links[i].Send(t.Context(), say.Append(nil)); err != nil {
					return // over
				}
			}
		})
		if i%100 == 99 {
			for int(joined.Load()) < i { // in rows, as a host takes only so many at once
				time.Sleep(10 * time.Millisecond)
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
	did.Wait()
	took := time.Since(began).Seconds()
	t.Logf("%d parties, %d numbers: %d rounds in %.1f s, %.2f a second", parties, words, steps, took, float64(steps)/took)
}
