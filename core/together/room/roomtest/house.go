// Package roomtest is a host of a room in memory, for tests of those who meet there.
package roomtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clipscope/core/together/room"
	"clipscope/core/together/wire"
)

// Shelf is a store in memory.
type Shelf map[string][]byte

// Get is of package room's Store.
func (s Shelf) Get(key string) ([]byte, error) { return s[key], nil }

// Put is of package room's Store.
func (s Shelf) Put(key string, value []byte) error { s[key] = slices.Clone(value); return nil }

// House is a host of one room. Its clock stands still while frames come, and jumps to the room's next
// deadline when none has come for a while.
type House struct {
	mu       sync.Mutex
	Store    Shelf
	Room     *room.Room
	links    map[room.Conn]*Cable
	last     room.Conn
	now      time.Time
	busy     time.Time     // when the last frame came, truly
	patience time.Duration // nothing has to come for so long before the clock jumps

	// What a room that is not honest does to what it sends; nil leaves it.
	Bend func(to room.Conn, b []byte) []byte
	// Lose says whether the room loses its memory once it has a party's frame; nil is never.
	Lose func(wire.Frame) bool
	seen []wire.Frame // of parties
}

// Cable is a party's end of a connection.
type Cable struct {
	at   *House
	id   room.Conn
	in   chan []byte
	gone chan struct{}
	once sync.Once
}

// NewHouse opens a room and is its host until the test ends. Patience is how long it waits, truly, for who
// could answer.
func NewHouse(t *testing.T, terms wire.Terms, sealed []byte, patience time.Duration) *House {
	t.Helper()
	h := &House{Store: Shelf{}, links: map[room.Conn]*Cable{}, now: time.Unix(1e9, 0), busy: time.Now(), patience: patience}
	var err error
	if h.Room, err = room.New(h.Store, terms, sealed, h.now); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				h.idle()
			}
		}
	}()
	return h
}

// idle has time go on where nothing happens.
func (h *House) idle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if next := h.Room.Next(); !next.IsZero() && time.Since(h.busy) > h.patience && h.Room.Over() == 0 && len(h.links) > 0 {
		h.now = next
		h.send(h.Room.Tick(h.now))
		h.busy = time.Now()
	}
}

// restart loses the room's memory.
func (h *House) restart() {
	seats := map[room.Conn]int{}
	for c := range h.links {
		if s := h.Room.SeatOf(c); s >= 0 {
			seats[c] = s
		}
	}
	r, err := room.Open(h.Store)
	if err != nil || r == nil {
		panic(fmt.Sprint("there is no room any more: ", err))
	}
	h.Room = r
	for c, s := range seats {
		r.Attach(c, s)
	}
	h.send(r.Tick(h.now))
}

func (h *House) send(sends []room.Send, err error) {
	if err != nil {
		panic(err)
	}
	for _, s := range sends {
		c := h.links[s.To]
		if c == nil {
			continue
		}
		b := s.Frame
		if h.Bend != nil && b != nil {
			b = h.Bend(s.To, b)
		}
		if b != nil {
			select {
			case c.in <- b:
			default:
				panic("a party does not listen")
			}
		}
		if s.Close {
			delete(h.links, s.To)
			c.once.Do(func() { close(c.gone) })
		}
	}
}

// Dial connects to the room.
func (h *House) Dial(context.Context) (*Cable, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	c := &Cable{at: h, id: h.last, in: make(chan []byte, 4096), gone: make(chan struct{})}
	h.links[c.id] = c
	return c, nil
}

// Send is of package together's Link, as are the others.
func (c *Cable) Send(_ context.Context, b []byte) error {
	h := c.at
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.links[c.id] == nil {
		return errors.New("closed")
	}
	h.busy = time.Now()
	f, err := wire.Parse(b)
	if err == nil {
		h.seen = append(h.seen, f)
	}
	h.send(h.Room.Receive(h.now, c.id, slices.Clone(b)))
	if err == nil && h.Lose != nil && h.Room.Over() == 0 && h.Lose(f) {
		h.restart()
	}
	return nil
}

// Receive waits for a frame.
func (c *Cable) Receive(ctx context.Context) ([]byte, error) {
	select {
	case b := <-c.in:
		return b, nil
	default:
	}
	select {
	case b := <-c.in:
		return b, nil
	case <-c.gone:
		select {
		case b := <-c.in:
			return b, nil
		default:
		}
		return nil, errors.New("closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the connection.
func (c *Cable) Close() error {
	h := c.at
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.links[c.id] != nil {
		delete(h.links, c.id)
		h.send(h.Room.Lost(h.now, c.id))
	}
	c.once.Do(func() { close(c.gone) })
	return nil
}

// Cut breaks the connection of a seat.
func (h *House) Cut(seat int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c, k := range h.links {
		if h.Room.SeatOf(c) == seat {
			delete(h.links, c)
			h.send(h.Room.Lost(h.now, c))
			k.once.Do(func() { close(k.gone) })
			return
		}
	}
}

// Seen returns the frames that parties have sent.
func (h *House) Seen() []wire.Frame {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// Over returns why the room is over; 0 while it is not.
func (h *House) Over() wire.Reason {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Room.Over()
}

// Present lists by round who was present, from the room's log. A round that was void is not in it.
func (h *House) Present() map[int][]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[int][]int{}
	for k, b := range h.Store {
		f, err := wire.Parse(b)
		if sum, ok := f.(wire.Sum); ok && err == nil && strings.HasPrefix(k, "log/") {
			all[int(sum.Round)] = sum.Present.All()
		}
	}
	return all
}
