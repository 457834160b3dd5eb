package room

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"clipscope/core/together/wire"
)

type shelf map[string][]byte

func (s shelf) Get(key string) ([]byte, error)     { return s[key], nil }
func (s shelf) Put(key string, value []byte) error { s[key] = slices.Clone(value); return nil }

var begun = time.Unix(1e9, 0)

// table is a room with connections that keep what they were sent.
type table struct {
	*testing.T
	store shelf
	room  *Room
	now   time.Time
	got   map[Conn][]wire.Frame
	ended map[Conn]bool
}

func newTable(t *testing.T, terms wire.Terms) *table {
	t.Helper()
	s := shelf{}
	r, err := New(s, terms, []byte("sealed"), begun)
	if err != nil {
		t.Fatal(err)
	}
	return &table{t, s, r, begun, map[Conn][]wire.Frame{}, map[Conn]bool{}}
}

func (b *table) take(sends []Send, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range sends {
		if s.Frame != nil {
			f, err := wire.Parse(s.Frame)
			if err != nil {
				b.Fatalf("the room sends %x", s.Frame)
			}
			b.got[s.To] = append(b.got[s.To], f)
		}
		b.ended[s.To] = b.ended[s.To] || s.Close
	}
}

func (b *table) says(c Conn, f wire.Frame) { b.raw(c, f.Append(nil)) }
func (b *table) raw(c Conn, frame []byte)  { b.take(b.room.Receive(b.now, c, frame)) }
func (b *table) tick(after time.Duration) {
	b.now = b.now.Add(after)
	b.take(b.room.Tick(b.now))
}

// reopen loses the room's memory, and returns the room as it is stored.
func (b *table) reopen() *Room {
	b.Helper()
	r, err := Open(b.store)
	if err != nil {
		b.Fatal(err)
	}
	b.room = r
	return r
}

func token(c Conn) (t [wire.TokenSize]byte) {
	binary.LittleEndian.PutUint64(t[:], uint64(c))
	return t
}

func (b *table) join(c Conn) {
	b.says(c, wire.Hello{Token: token(c), Card: []byte(fmt.Sprint("card ", c))})
}

func (b *table) ready(c Conn) { b.says(c, wire.Ready{Entries: b.room.state.Entries}) }

// last is what a connection was sent last.
func (b *table) last(c Conn) wire.Frame {
	if n := len(b.got[c]); n > 0 {
		return b.got[c][n-1]
	}
	return nil
}

func (b *table) wants(c Conn, want wire.Frame, what string) {
	b.Helper()
	if got := b.last(c); got == nil || !slices.Equal(got.Append(nil), want.Append(nil)) {
		b.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

var three = wire.Terms{Parties: 3, Quorum: 2, Words: 2, Rounds: 4, AnswerSeconds: 10}

// started is a room whose parties 1 … n have begun and are in their first round.
func started(t *testing.T, terms wire.Terms, n Conn) *table {
	t.Helper()
	b := newTable(t, terms)
	for c := Conn(1); c <= n; c++ {
		b.join(c)
	}
	b.says(1, wire.Start{})
	for c := Conn(1); c <= n; c++ {
		b.ready(c)
	}
	if r, ok := b.last(1).(wire.Round); !ok || r.Round != 1 {
		t.Fatalf("no round begins: %+v", b.last(1))
	}
	return b
}

func TestARoomAddsUp(t *testing.T) {
	b := started(t, three, 3)
	all := wire.Seats{}.With(0).With(1).With(2)
	for round := uint32(1); round <= 4; round++ {
		for c := Conn(1); c <= 3; c++ {
			b.says(c, wire.Words{Round: round, Words: []uint32{uint32(c), 1<<32 - 1}})
			b.says(c, wire.Words{Round: round, Words: []uint32{100, 100}}) // a second answer
		}
		at := len(b.got[1]) - 1
		if round == 4 {
			b.wants(2, wire.Over{Why: wire.Finished}, "the end")
			at--
		}
		if got, want := b.got[1][at], (wire.Sum{Round: round, Present: all, Words: []uint32{6, 1<<32 - 3}}); !slices.Equal(got.Append(nil), want.Append(nil)) {
			t.Errorf("round %d: %+v, want %+v", round, got, want)
		}
		for c := Conn(1); c <= 3; c++ {
			b.ready(c)
		}
	}
	if b.room.Over() != wire.Finished || !b.room.Next().IsZero() || !b.ended[1] || !b.ended[3] {
		t.Error("the room is not over")
	}
	b.join(9)
	b.wants(9, wire.Over{Why: wire.Finished}, "who comes too late")
}

// TestWhoIsRefused lists what gets no seat, and what loses the connection.
func TestWhoIsRefused(t *testing.T) {
	b := newTable(t, three)
	b.says(9, wire.Start{})
	b.wants(9, wire.Over{Why: wire.Refused}, "a frame before the hello")
	b.says(8, wire.Hello{Token: token(8)})
	b.wants(8, wire.Over{Why: wire.Refused}, "a hello without a card")
	b.says(7, wire.Hello{Token: token(7), Card: []byte("x"), Entries: 1})
	b.wants(7, wire.Over{Why: wire.Refused}, "a hello that knows what is not")
	b.raw(6, []byte{255, 1})
	b.wants(6, wire.Over{Why: wire.Refused}, "no frame")
	b.join(1)
	b.says(1, wire.Start{})
	if _, ok := b.last(1).(wire.Welcome); !ok {
		t.Errorf("one party begins alone: %+v", b.last(1))
	}
	b.join(2)
	b.says(2, wire.Start{})
	if len(b.got[1]) != 2 {
		t.Errorf("the second seat begins: %+v", b.got[1])
	}
	b.join(3)
	b.join(4)
	b.wants(4, wire.Over{Why: wire.Full}, "a fourth")
	b.join(3)
	b.wants(3, wire.Over{Why: wire.Refused}, "a second hello")
	b.says(1, wire.Start{})
	b.join(5)
	b.wants(5, wire.Over{Why: wire.Begun}, "after the start")
	b.says(2, wire.Sum{})
	b.wants(2, wire.Over{Why: wire.Refused}, "a frame of the room's")
	if b.room.SeatOf(2) != -1 || b.room.SeatOf(1) != 0 {
		t.Error("connections and seats are mixed up")
	}
}

// TestIdleFramesEnd: a connection that sends what changes nothing, again and again, is ended.
func TestIdleFramesEnd(t *testing.T) {
	b := started(t, three, 3)
	for range mostIdle {
		b.says(2, wire.Words{Round: 7, Words: []uint32{1, 2}})
	}
	if b.ended[2] {
		t.Fatal("it ended too soon")
	}
	b.says(2, wire.Words{Round: 1, Words: []uint32{1, 2}}) // which is of use
	for range mostIdle + 1 {
		b.says(2, wire.Words{Round: 1, Words: []uint32{1, 2}})
	}
	if !b.ended[2] {
		t.Error("it never ends")
	}
}

// TestSilenceIsVoid: who does not answer in time is missing, and not waited for until it is ready again.
func TestSilenceIsVoid(t *testing.T) {
	b := started(t, three, 3)
	b.says(1, wire.Words{Round: 1, Words: []uint32{1, 2}})
	b.says(2, wire.Words{Round: 1, Words: []uint32{1, 2}})
	b.tick(9 * time.Second)
	if _, waits := b.last(1).(wire.Round); !waits {
		t.Fatalf("it ended before its time: %+v", b.last(1))
	}
	b.tick(time.Second)
	void := wire.Void{Round: 1, Present: wire.Seats{}.With(0).With(1).With(2), Missing: wire.Seats{}.With(2)}
	b.wants(1, void, "the void round")
	b.wants(3, void, "the void round, to the silent")
	b.says(3, wire.Words{Round: 1, Words: []uint32{5, 5}}) // late
	b.ready(1)
	b.ready(2)
	if r, ok := b.last(2).(wire.Round); !ok || r.Round != 2 || r.Present.Has(2) {
		t.Fatalf("the silent one is waited for: %+v", b.last(2))
	}
	b.ready(3) // now it is there again
	b.says(1, wire.Words{Round: 2, Words: []uint32{1, 2}})
	b.says(2, wire.Words{Round: 2, Words: []uint32{1, 2}})
	b.ready(1)
	b.ready(2)
	if _, waits := b.last(1).(wire.Sum); !waits {
		t.Errorf("who is back is not waited for: %+v", b.last(1))
	}
	b.ready(3)
	if r, ok := b.last(3).(wire.Round); !ok || !r.Present.Has(2) {
		t.Errorf("who is back is not asked: %+v", b.last(3))
	}
}

// TestWhoIsDisputedByMostIsOut, and who alone disputes another.
func TestWhoIsDisputedByMostIsOut(t *testing.T) {
	terms := wire.Terms{Parties: 5, Quorum: 3, Words: 1, Rounds: 9, AnswerSeconds: 10}
	b := started(t, terms, 5)
	third := wire.Seats{}.With(2)
	b.says(1, wire.Dispute{Round: 1, Seats: third})
	for c := Conn(2); c <= 5; c++ {
		b.says(c, wire.Words{Round: 1, Words: []uint32{1}})
	}
	b.wants(1, wire.Over{Why: wire.Disputed}, "who alone disputes")
	if _, void := b.last(3).(wire.Void); !void || b.ended[3] {
		t.Fatalf("one dispute: %+v", b.last(3))
	}
	for c := Conn(2); c <= 5; c++ {
		b.ready(c)
	}
	for _, c := range []Conn{2, 4, 5} {
		b.says(c, wire.Dispute{Round: 2, Seats: third})
	}
	b.says(3, wire.Words{Round: 2, Words: []uint32{1}})
	b.wants(3, wire.Over{Why: wire.Disputed}, "who is disputed by three")
	for _, c := range []Conn{2, 4, 5} {
		b.ready(c)
	}
	if r, ok := b.last(4).(wire.Round); !ok || r.Present.Has(2) {
		t.Errorf("the others do not go on: %+v", b.last(4))
	}
	b.says(3, wire.Hello{Token: token(3)})
	b.wants(3, wire.Over{Why: wire.Begun}, "who comes back and is out")
}

// TestOfTwoThatAreTornNeitherIsOut: the room waits for a third, through a loss of its memory too, and ends where none
// can come.
func TestOfTwoThatAreTornNeitherIsOut(t *testing.T) {
	words := func(round uint32) wire.Words { return wire.Words{Round: round, Words: []uint32{1, 1}} }
	torn := func() *table {
		b := started(t, three, 3)
		for c := Conn(1); c <= 3; c++ {
			b.says(c, words(1))
		}
		b.take(b.room.Lost(b.now, 3))
		b.ready(1)
		b.ready(2)
		b.says(1, wire.Dispute{Round: 2, Seats: wire.Seats{}.With(1)})
		b.says(2, words(2))
		b.ready(1)
		b.ready(2)
		if _, void := b.last(1).(wire.Void); !void || b.ended[1] || b.ended[2] {
			t.Fatalf("two are torn: %+v", b.last(1))
		}
		return b
	}
	b := torn()
	b.reopen()
	b.room.Attach(1, 0)
	b.room.Attach(2, 1)
	b.tick(20 * time.Second)
	if _, void := b.last(2).(wire.Void); !void || b.room.Over() != 0 {
		t.Fatalf("the room does not wait: %+v", b.last(2))
	}
	b.says(4, wire.Hello{Token: token(3), Entries: b.room.state.Entries})
	b.ready(4)
	if r, ok := b.last(2).(wire.Round); !ok || len(r.Present.All()) != 3 {
		t.Fatalf("a third is there: %+v", b.last(2))
	}
	second := wire.Seats{}.With(1)
	b.says(1, wire.Dispute{Round: 3, Seats: second})
	b.says(4, wire.Dispute{Round: 3, Seats: second})
	b.says(2, words(3))
	b.wants(2, wire.Over{Why: wire.Disputed}, "who is disputed by two of three")

	b = torn()
	b.says(4, wire.Hello{Token: token(3), Entries: b.room.state.Entries})
	b.says(4, wire.Leave{})
	b.wants(1, wire.Over{Why: wire.BelowQuorum}, "no third can come")

	b = torn()
	for range 100 {
		b.tick(10 * time.Second)
	}
	b.wants(1, wire.Over{Why: wire.BelowQuorum}, "no third comes")
}

// TestSeatsBeforeTheStart are free again when their parties leave, or when others want them and their connections have
// ended. The first of those who are there starts the run.
func TestSeatsBeforeTheStart(t *testing.T) {
	b := newTable(t, three)
	for c := Conn(1); c <= 3; c++ {
		b.join(c)
	}
	b.says(2, wire.Leave{})
	b.wants(3, wire.Card{Seat: 1}, "who is shown that a seat is empty")
	b.join(4)
	b.wants(3, wire.Card{Seat: 1, Card: []byte("card 4")}, "who is shown the next")
	b.join(5)
	b.wants(5, wire.Over{Why: wire.Full}, "a fourth of three")
	b.take(b.room.Lost(b.now, 3))
	b.wants(4, wire.Card{Seat: 2}, "who is shown that a connection has ended")
	b.join(6)
	if w, ok := b.got[6][0].(wire.Welcome); !ok || w.Seat != 2 {
		t.Errorf("who takes the seat of one who is gone: %+v", b.got[6])
	}
	b.says(7, wire.Hello{Token: token(3), Card: []byte("card 3")})
	b.wants(7, wire.Over{Why: wire.Full}, "who comes back too late")
	b.take(b.room.Lost(b.now, 1))
	b.says(6, wire.Start{})
	if b.room.state.Phase != lobby {
		t.Error("the run was started by the last of those who are there")
	}
	b.join(8)
	b.take(b.room.Lost(b.now, 4))
	b.says(8, wire.Start{})
	roster, ok := b.last(8).(wire.Roster)
	if want := [][]byte{[]byte("card 8"), nil, []byte("card 6")}; !ok || !slices.EqualFunc(roster.Cards, want, slices.Equal) {
		t.Errorf("the run begins with %q", roster.Cards)
	}
	b.says(10, wire.Hello{Token: token(4), Entries: 0})
	b.wants(10, wire.Over{Why: wire.Begun}, "who was not there at the start")

	b = newTable(t, three)
	b.join(1)
	b.join(2)
	b.says(1, wire.Leave{})
	b.wants(2, wire.Card{Seat: 0}, "who stays where the opener leaves")
	b.join(3)
	b.says(3, wire.Start{})
	if b.room.state.Phase == lobby {
		t.Error("nobody can start a room whose opener has left")
	}
	b = newTable(t, three)
	b.join(1)
	b.join(2)
	b.take(b.room.Lost(b.now, 2))
	b.says(1, wire.Start{})
	if b.room.Over() != 0 || b.room.state.Phase != lobby {
		t.Error("a run begins with one who is there of a quorum of two")
	}
}

// TestARoomExpires: without a start after a day, and without a quorum after a quarter of an hour.
func TestARoomExpires(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	b.tick(LobbyLife)
	b.wants(1, wire.Over{Why: wire.Expired}, "a lobby")
	b = started(t, three, 3)
	b.take(b.room.Lost(b.now, 2))
	b.take(b.room.Lost(b.now, 3))
	for range 200 {
		if b.room.Over() == 0 {
			b.now = b.room.Next()
			b.tick(0)
		}
	}
	b.wants(1, wire.Over{Why: wire.BelowQuorum}, "a round without parties")
	if d := b.now.Sub(begun); d < IdleLife || d > IdleLife+time.Minute {
		t.Errorf("it waited %v", d)
	}
}

// TestTermsAreBound: rooms that would take too much are not opened.
func TestTermsAreBound(t *testing.T) {
	for _, c := range []struct {
		terms  wire.Terms
		sealed int
	}{
		{wire.Terms{}, 5}, {three, 0}, {three, wire.MostSealed + 1},
		{wire.Terms{Parties: 3, Quorum: 2, Words: 1 << 22, Rounds: 1 << 10, AnswerSeconds: 1}, 5},
		{wire.Terms{Parties: 3, Quorum: 4, Words: 1, Rounds: 1, AnswerSeconds: 1}, 5},
		{wire.Terms{Parties: 5000, Quorum: 4, Words: 1, Rounds: 1, AnswerSeconds: 1}, 5},
	} {
		if _, err := New(shelf{}, c.terms, make([]byte, c.sealed), begun); err == nil {
			t.Errorf("%+v with %d bytes", c.terms, c.sealed)
		}
	}
}

// TestAStoreThatFailsIsSaid: nothing is sent then.
func TestAStoreThatFailsIsSaid(t *testing.T) {
	s := &full{shelf{}, 3}
	r, err := New(s, three, []byte("sealed"), begun)
	if err != nil {
		t.Fatal(err)
	}
	for c := Conn(1); c <= 3; c++ {
		sends, err := r.Receive(begun, c, wire.Hello{Token: token(c), Card: []byte("x")}.Append(nil))
		if err != nil {
			if len(sends) > 0 {
				t.Error("what is not stored is told")
			}
			return
		}
	}
	t.Error("nothing fails")
}

type full struct {
	shelf
	left int
}

func (f *full) Put(key string, value []byte) error {
	if f.left--; f.left < 0 {
		return errors.New("full")
	}
	return f.shelf.Put(key, value)
}

// TestHostileFrames: 2,000 frames of every kind, with sizes, rounds and tokens that are wrong, cut short,
// repeated and out of turn, from connections with and without seats, do no harm: three parties go on
// beside them to the end, with their sums.
func TestHostileFrames(t *testing.T) {
	terms := wire.Terms{Parties: 4, Quorum: 3, Words: 2, Rounds: 40, AnswerSeconds: 10}
	b := started(t, terms, 4)
	rng := rand.New(rand.NewPCG(1, 2))
	next := Conn(100)
	hostile := func(c Conn) {
		var f wire.Frame
		words := make([]uint32, rng.IntN(4))
		seats := wire.Seats{}.With(rng.IntN(60))
		switch rng.IntN(14) {
		case 0:
			f = wire.Hello{Token: token(Conn(rng.IntN(9) + 4)), Entries: rng.Uint32N(90), Card: make([]byte, rng.IntN(5))}
		case 1:
			f = wire.Start{}
		case 2:
			f = wire.Ready{Entries: rng.Uint32N(90)}
		case 3:
			f = wire.Words{Round: rng.Uint32N(60), Words: words}
		case 4:
			f = wire.Dispute{Round: b.room.state.Round, Seats: seats.With(0).With(1)}
		case 5:
			f = wire.Words{Round: b.room.state.Round, Words: make([]uint32, 2)}
		case 6:
			f = wire.Sum{Round: 1, Words: words}
		case 7:
			f = wire.Void{Round: 1, Present: seats}
		case 8:
			f = wire.Over{Why: wire.Finished}
		case 9:
			f = wire.Roster{Cards: make([][]byte, rng.IntN(4000))}
		case 10:
			f = wire.Card{Seat: uint16(rng.Uint32N(1 << 16))}
		case 11:
			f = wire.Round{Round: b.room.state.Round}
		case 12:
			f = wire.Welcome{Terms: terms}
		default:
			raw := make([]byte, rng.IntN(60))
			for i := range raw {
				raw[i] = byte(rng.Uint32())
			}
			b.raw(c, raw)
			return
		}
		frame := f.Append(nil)
		if rng.IntN(4) == 0 {
			frame = frame[:rng.IntN(len(frame)+1)]
		}
		b.raw(c, frame)
	}
	sums := 0
	for b.room.Over() == 0 && sums < 10_000 {
		for range 50 {
			hostile(4)
			if b.room.SeatOf(4) < 0 { // its page is opened anew
				b.says(4, wire.Hello{Token: token(4), Card: []byte("again")})
			}
			hostile(next)
			next++
		}
		for c := Conn(1); c <= 3; c++ {
			b.ready(c)
		}
		if b.room.state.Phase == gathering {
			b.now = b.room.Next()
			b.tick(0)
		}
		for c := Conn(1); c <= 3; c++ {
			b.says(c, wire.Words{Round: b.room.state.Round, Words: []uint32{1, 1}})
		}
		if b.room.state.Phase == summing {
			b.now = b.room.Next()
			b.tick(0)
		}
		sums++
	}
	whole := 0
	for _, f := range b.got[1] {
		if s, ok := f.(wire.Sum); ok {
			whole++
			if s.Words[0] != 3 {
				t.Errorf("round %d: the sum is %v, of %v", s.Round, s.Words, s.Present.All())
			}
		}
	}
	if b.room.Over() != wire.Finished || whole < 5 || next < 1100 {
		t.Errorf("over: %v; %d sums beside %d hostile connections", b.room.Over(), whole, next-100)
	}
}

// FuzzARoom: whatever connections say, in whatever order, a room does not panic, sends only frames, and is
// the same when it is opened from its store.
func FuzzARoom(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Add([]byte{0, 0, 1, 0, 2, 0, 0, 1, 0, 2, 1, 2, 2, 2, 0, 3, 1, 3, 2, 3, 9, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		b := newTable(t, three)
		for len(script) >= 2 && b.room.Over() == 0 {
			c, what := Conn(script[0]%5+1), script[1]
			script = script[2:]
			switch what % 12 {
			case 0:
				b.join(c)
			case 1:
				b.says(c, wire.Start{})
			case 2:
				b.ready(c)
			case 3:
				b.says(c, wire.Words{Round: b.room.state.Round, Words: []uint32{1, 2}})
			case 4:
				b.take(b.room.Lost(b.now, c))
			case 5:
				b.says(c, wire.Dispute{Round: b.room.state.Round, Seats: wire.Seats{what >> 4}})
			case 6:
				b.says(c, wire.Leave{})
			case 7:
				if n := b.room.Next(); !n.IsZero() {
					b.now = n
				}
				b.tick(0)
			case 8:
				b.says(c, wire.Hello{Token: token(c), Card: []byte{what}})
			case 9:
				old := b.room
				for k, r := Conn(1), b.reopen(); k <= 5; k++ {
					if s := old.SeatOf(k); s >= 0 {
						r.Attach(k, s)
					}
				}
				b.tick(0)
			case 10:
				b.says(c, wire.Hello{Token: token(c), Entries: uint32(what >> 5)})
			default:
				b.raw(c, script)
			}
			entries := 0
			for k := range b.store {
				if len(k) > 4 && k[:4] == "log/" {
					entries++
				}
			}
			if entries != int(b.room.state.Entries) || b.room.state.Round > three.Rounds {
				t.Fatalf("%d entries are stored, and %d counted; round %d", entries, b.room.state.Entries, b.room.state.Round)
			}
		}
	})
}
