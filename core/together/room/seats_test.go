package room

import (
	"testing"
	"time"

	"clipscope/core/together/wire"
)

// TestALobbyThatBeganAnewShowsWhoIsGone: a connection that ended while the room's memory was lost.
func TestALobbyThatBeganAnewShowsWhoIsGone(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	b.join(2)
	b.join(3)
	r := b.reopen()
	r.Attach(1, 0)
	r.Attach(2, 1)
	b.tick(0)
	b.wants(1, wire.Card{Seat: 2}, "who is gone")
}

// TestTwoConnectionsOfASeatAreOneParty: after a restart the host may have an old connection still.
func TestTwoConnectionsOfASeatAreOneParty(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	r := b.reopen()
	r.Attach(2, 0)
	r.Attach(1, 0)
	if r.SeatOf(2) != 0 || r.SeatOf(1) != -1 {
		t.Errorf("the connections have the seats %d and %d", r.SeatOf(1), r.SeatOf(2))
	}
	b.says(2, wire.Start{})
	if r.state.Phase != lobby {
		t.Errorf("a run has begun with one party of %d", three.Quorum)
	}
}

// TestWhoIsRefusedBeforeTheStartIsGone: the others are shown an empty seat.
func TestWhoIsRefusedBeforeTheStartIsGone(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	b.join(2)
	b.raw(2, []byte{99})
	b.wants(1, wire.Card{Seat: 1}, "who was refused")
	b.says(1, wire.Start{})
	if b.room.state.Phase != lobby {
		t.Error("a run begins with one")
	}
}

// TestWhoIsAwayAtTheStartIsTold that the run has begun.
func TestWhoIsAwayAtTheStartIsTold(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	b.join(2)
	b.join(3)
	b.take(b.room.Lost(b.now, 3))
	b.says(1, wire.Start{})
	b.says(4, wire.Hello{Token: token(3), Card: []byte("card 3")})
	b.wants(4, wire.Over{Why: wire.Begun}, "who was away at the start")
}

// TestSeatsThatChangeHandsTakeNoStorage: whoever joins and leaves over and over.
func TestSeatsThatChangeHandsTakeNoStorage(t *testing.T) {
	b := newTable(t, three)
	b.join(1)
	for c := Conn(2); c < 1000; c++ {
		b.join(c)
		switch c % 3 {
		case 0:
			b.says(c, wire.Leave{})
		case 1:
			b.take(b.room.Lost(b.now, c))
		default:
			b.take(b.room.Lost(b.now, c))
			b.says(c+10000, wire.Hello{Token: token(c), Card: []byte("x")})
			b.says(c+10000, wire.Leave{})
		}
	}
	if len(b.store) > 2+3 || len(b.room.seats) > 3 || b.room.seats[0].conn != 1 {
		t.Errorf("%d values are stored of %d seats", len(b.store), len(b.room.seats))
	}
}

// TestWhoComesBackIsSentTheLogInWindows: no more at once than a host has memory for, in order, with what was added meanwhile,
// and to its end in a room that is over.
func TestWhoComesBackIsSentTheLogInWindows(t *testing.T) {
	terms := wire.Terms{Parties: 3, Quorum: 2, Words: window / 16, Rounds: 24, AnswerSeconds: 10} // four sums are a window
	b := started(t, terms, 3)
	b.take(b.room.Lost(b.now, 3))
	round := func() {
		n := b.room.state.Round
		for c := Conn(1); c <= 2; c++ {
			b.says(c, wire.Words{Round: n, Words: make([]uint32, terms.Words)})
		}
		if b.room.sum != nil { // the third is waited for
			b.tick(10 * time.Second)
		}
		for c := Conn(1); c <= 2; c++ {
			b.ready(c)
		}
	}
	for range 10 {
		round()
	}
	b.says(9, wire.Hello{Token: token(3), Entries: 1, Card: []byte("card 3 again")})
	taken, most := uint32(1), 0
	for step := 0; taken < b.room.state.Entries || b.room.Over() == 0; step++ {
		bytes, came := 0, b.got[9]
		b.got[9] = nil
		for _, f := range came {
			switch f := f.(type) {
			case wire.Sum, wire.Void, wire.Card:
				if s, ok := f.(wire.Sum); ok {
					bytes += 4 * len(s.Words)
				}
				taken++
				b.says(9, wire.Ready{Entries: taken})
			}
		}
		most = max(most, bytes)
		if b.room.Over() == 0 && step%2 == 0 {
			round()
		}
		if step > 200 {
			t.Fatalf("after %d entries of %d nothing more comes", taken, b.room.state.Entries)
		}
	}
	if most > 2*window {
		t.Errorf("%d bytes were sent at once", most)
	}
	if got := b.room.Over(); got != wire.Finished || taken != b.room.state.Entries {
		t.Errorf("the room is over as %v, with %d entries taken of %d", got, taken, b.room.state.Entries)
	}
}

// TestWhoseConnectionEndsIsWaitedForBriefly: others do not wait for a tab that was closed as long as for a slow one.
func TestWhoseConnectionEndsIsWaitedForBriefly(t *testing.T) {
	terms := three
	terms.AnswerSeconds = 60
	b := started(t, terms, 3)
	b.says(1, wire.Words{Round: 1, Words: make([]uint32, 2)})
	b.take(b.room.Lost(b.now, 1)) // it has answered
	if d := b.room.Next().Sub(b.now); d != time.Minute {
		t.Errorf("the others are waited for %v", d)
	}
	b.take(b.room.Lost(b.now, 3))
	if d := b.room.Next().Sub(b.now); d != Grace {
		t.Errorf("who is gone is waited for %v", d)
	}
	b.says(9, wire.Hello{Token: token(3), Entries: b.room.state.Entries})
	if r, ok := b.last(9).(wire.Round); !ok || r.Round != 1 {
		t.Errorf("who is back in time is asked again: %+v", b.last(9))
	}
	b.tick(Grace)
	if v, ok := b.last(2).(wire.Void); !ok || v.Round != 1 {
		t.Errorf("the round is not over: %+v", b.last(2))
	}
}
