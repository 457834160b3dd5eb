// Package room gives seats to the parties of a run, adds their masked words, and forwards what all must know.
// A [Room] is a machine without a clock, a network or a disk of its own, which a host moves by events.
//
// # What a room can do
//
// Nothing here has to be trusted for the privacy of a row. A room sees sealed cards and an agreement that
// it cannot read, masked words of each party, and their sums, which are noised. One that lies can have
// parties take other steps than they should, or none: they compare proofs of what they were told
// (package together), and what they have agreed to release is charged in any case.
//
// # Log
//
// What all parties have to take in, in one order, is the log: the roster that begins the run, cards of
// those who come back, and of each round its sum or that it was void. Who comes back is told what is
// missing. A sum that is not complete is lost with the room's memory: its round is then void.
package room

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"clipscope/core/together/wire"
)

// Store keeps what has to outlast the room's memory.
type Store interface {
	// Get returns a value; nil where there is none.
	Get(key string) ([]byte, error)
	Put(key string, value []byte) error
}

// Conn is a connection, as the host counts them.
type Conn uint64

// Send is what the host has to send: a frame, the end of a connection, or both, in that order.
type Send struct {
	To    Conn
	Frame []byte
	Close bool
}

// How long a room waits.
const (
	LobbyLife = 24 * time.Hour   // for the start
	IdleLife  = 15 * time.Minute // for enough parties to go on with
	Grace     = 10 * time.Second // at most, for the answer of a party whose connection has ended
)

// mostIdle bounds the frames of a connection, one after the other, that change nothing: late answers
// and second ones are a few.
const mostIdle = 64

// mostTimes bounds how often a party comes back with another card: each is in the log.
const mostTimes = 256

// mostLog bounds the bytes of all sums.
const mostLog = 8 << 30

type phase int

const (
	lobby     phase = iota // parties join
	gathering              // they say that they are ready
	summing                // they answer a round
	over
)

// Room is one run's. It is not safe for concurrent use.
type Room struct {
	store Store
	state state
	seats []seat
	conns map[Conn]*conn
	sends []Send
	dirty bool // of state

	sum      []uint32
	disputes map[int]wire.Seats // by who disputes
}

// state is what is stored of the room itself.
type state struct {
	Terms    wire.Terms
	Phase    phase
	Entries  uint32 // of the log
	Seats    int
	Gone     wire.Seats // for good
	Back     wire.Seats // with another card, which the log has when the round is over
	Round    uint32
	Present  wire.Seats // in the round
	Answered wire.Seats
	Torn     wire.Seats // two of whom one disputes the other: nobody can tell who is right until a third is present
	Deadline int64      // Unix milliseconds; of the phase
	Since    int64      // when the phase began
	Why      wire.Reason
}

// seat is a party's place.
type seat struct {
	Token   [sha256.Size]byte // hashed
	Card    []byte
	Entries uint32 // of the log that it says it knows, with
	Proof   [wire.ProofSize]byte
	Times   int  // that it has come back with another card
	Slow    bool // it was waited for in vain, and is not waited for until it is ready

	conn Conn // 0: none
}

type conn struct {
	seat int
	idle int
	sent uint32 // entries of the log
	took uint32 // of those, while there are more to send
}

// window bounds the bytes of the log that a party which comes back is sent at once, beside one entry: more follows when it
// has taken these in.
const window = 4 << 20

// New makes a room in an empty store, with the agreement of those who will join.
func New(store Store, terms wire.Terms, sealed []byte, now time.Time) (*Room, error) {
	if err := terms.Check(); err != nil {
		return nil, err
	}
	switch {
	case len(sealed) == 0 || len(sealed) > wire.MostSealed:
		return nil, fmt.Errorf("room: an agreement of %d bytes; 1 … %d can be kept", len(sealed), wire.MostSealed)
	case 4*uint64(terms.Words)*uint64(terms.Rounds) > mostLog:
		return nil, fmt.Errorf("room: %d rounds of %d numbers are more than the %d GB that can be kept", terms.Rounds, terms.Words, mostLog>>30)
	}
	r := &Room{store: store, state: state{Terms: terms}, conns: map[Conn]*conn{}}
	r.turn(lobby, now, LobbyLife)
	if err := store.Put("agreement", sealed); err != nil {
		return nil, fmt.Errorf("room: %w", err)
	}
	return r, r.save()
}

// Open returns the room of a store, as it was when its memory was lost; nil where there is none. The
// host calls Attach for every connection that still is, and then Tick.
func Open(store Store) (*Room, error) {
	b, err := store.Get("room")
	if err != nil || b == nil {
		return nil, err
	}
	r := &Room{store: store, conns: map[Conn]*conn{}}
	if err := json.Unmarshal(b, &r.state); err != nil {
		return nil, fmt.Errorf("room: what is stored: %w", err)
	}
	r.seats = make([]seat, r.state.Seats)
	for i := range r.seats {
		b, err := store.Get(seatKey(i))
		if err == nil {
			err = json.Unmarshal(b, &r.seats[i])
		}
		if err != nil {
			return nil, fmt.Errorf("room: seat %d as it is stored: %w", i, err)
		}
	}
	return r, nil
}

// Attach tells a room that was opened whose connection one is. Of two of one seat the later holds: the earlier is about
// to end. So is one of which it is not known any more how much of the log it was sent.
func (r *Room) Attach(c Conn, seat int) {
	if seat < 0 || seat >= len(r.seats) || r.seats[seat].conn > c {
		return
	}
	r.seat(c, seat, r.state.Entries)
	if r.seats[seat].Entries+1 < r.state.Entries {
		r.sends = append(r.sends, Send{To: c, Close: true})
		r.drop(c)
	}
}

// seat gives a connection its seat, which was sent so many entries.
func (r *Room) seat(c Conn, at int, sent uint32) {
	delete(r.conns, r.seats[at].conn)
	r.conns[c], r.seats[at].conn = &conn{seat: at, sent: sent}, c
}

// SeatOf returns the seat of a connection; −1 of one that has none.
func (r *Room) SeatOf(c Conn) int {
	if k := r.conns[c]; k != nil {
		return k.seat
	}
	return -1
}

// Next is when the host has to call Tick; zero where it never has to.
func (r *Room) Next() time.Time {
	if r.state.Phase == over {
		return time.Time{}
	}
	return time.UnixMilli(r.state.Deadline)
}

// Welcome is what opened the room: its terms and the sealed agreement.
func (r *Room) Welcome() ([]byte, error) { return r.welcome(0, 0) }

// welcome returns that for a seat, when the log has so many entries.
func (r *Room) welcome(seat int, entries uint32) ([]byte, error) {
	sealed, err := r.store.Get("agreement")
	if err != nil {
		return nil, fmt.Errorf("room: the agreement: %w", err)
	}
	return wire.Welcome{Seat: uint16(seat), Terms: r.state.Terms, Entries: entries, Sealed: sealed}.Append(nil), nil
}

// Busy reports whether a sum is being added up, which is in memory alone.
func (r *Room) Busy() bool { return r.sum != nil }

// Over returns why the room is over; 0 while it is not.
func (r *Room) Over() wire.Reason { return r.state.Why }

// Receive takes in a frame. An error is the store's: nothing that came of the frame may be sent then.
func (r *Room) Receive(now time.Time, c Conn, frame []byte) ([]Send, error) {
	f, malformed := wire.Parse(frame)
	k := r.conns[c]
	hello, joins := f.(wire.Hello)
	switch {
	case malformed != nil || joins == (k != nil):
		r.refuse(c, wire.Refused)
		return r.flush(r.gather(now, false))
	case joins:
		return r.flush(r.join(now, c, hello))
	}
	return r.flush(r.take(now, k, f))
}

// Lost tells that a connection has ended. Before the start its seat is empty until who had it, or another, comes.
func (r *Room) Lost(now time.Time, c Conn) ([]Send, error) {
	at := r.SeatOf(c)
	r.drop(c)
	if at >= 0 && r.state.Phase == lobby {
		r.showEmpty(at)
	}
	if s := &r.state; at >= 0 && r.awaits(at, s.Round) {
		s.Deadline, r.dirty = min(s.Deadline, now.Add(Grace).UnixMilli()), true
	}
	return r.flush(r.gather(now, false))
}

// Tick tells the time. The host calls it when Next has come, and after Open.
func (r *Room) Tick(now time.Time) ([]Send, error) {
	var err error
	late := now.UnixMilli() >= r.state.Deadline
	switch {
	case r.state.Phase == lobby && late:
		r.end(wire.Expired)
	case r.state.Phase == lobby: // opened anew: connections may have ended meanwhile
		for i := range r.seats {
			if r.seats[i].conn == 0 {
				r.showEmpty(i)
			}
		}
	case r.state.Phase == gathering:
		err = r.gather(now, late)
	case r.state.Phase == summing && (late || r.sum == nil):
		err = r.void(now)
	}
	return r.flush(err)
}

// take takes in a frame of a party that has a seat. One that changes nothing counts as idle.
func (r *Room) take(now time.Time, k *conn, f wire.Frame) error {
	s := &r.state
	idle := k.idle
	k.idle = 0
	switch f := f.(type) {
	case wire.Start:
		if s.Phase == lobby && k.seat == r.first() && len(r.conns) >= int(s.Terms.Quorum) {
			return r.start(now)
		}
	case wire.Ready:
		if more := k.sent < s.Entries; more && f.Entries == k.sent {
			return r.goOn(r.seats[k.seat].conn)
		} else if more && f.Entries > k.took && f.Entries < k.sent {
			k.took = f.Entries
			return nil
		}
		if s.Phase != lobby && s.Phase != over && f.Entries == s.Entries {
			p := &r.seats[k.seat]
			p.Entries, p.Proof, p.Slow = f.Entries, f.Proof, false
			if err := r.saveSeat(k.seat); err != nil {
				return err
			}
			return r.gather(now, false)
		}
	case wire.Words:
		if r.awaits(k.seat, f.Round) && len(f.Words) == int(s.Terms.Words) {
			for i, w := range f.Words {
				r.sum[i] += w
			}
			return r.answered(now, k.seat)
		}
	case wire.Dispute:
		if r.awaits(k.seat, f.Round) {
			r.disputes[k.seat] = f.Seats
			return r.answered(now, k.seat)
		}
	case wire.Leave:
		return r.leave(now, k.seat, wire.Finished)
	default:
		r.refuse(r.seats[k.seat].conn, wire.Refused)
		return nil
	}
	if k.idle = idle + 1; k.idle > mostIdle {
		r.refuse(r.seats[k.seat].conn, wire.Refused)
	}
	return nil
}

// join gives a party a seat, or the one that it has.
func (r *Room) join(now time.Time, c Conn, h wire.Hello) error {
	token := sha256.Sum256(h.Token[:])
	at := slices.IndexFunc(r.seats, func(s seat) bool { return s.Token == token })
	s := &r.state
	switch {
	case at >= 0 && s.Gone.Has(at) && s.Phase != lobby && s.Phase != over: // it was away when the run began, or has left
		r.refuse(c, wire.Begun)
		return nil
	case at >= 0 && (s.Gone.Has(at) || h.Entries > s.Entries || r.seats[at].Times >= mostTimes):
		r.refuse(c, wire.Refused)
		return nil
	case at >= 0:
		return r.comeBack(now, c, at, h)
	case s.Phase == over:
		r.refuse(c, s.Why)
		return nil
	case s.Phase != lobby:
		r.refuse(c, wire.Begun)
		return nil
	case len(h.Card) == 0 || h.Entries > 0:
		r.refuse(c, wire.Refused)
		return nil
	}
	if at = r.free(); at < 0 {
		r.refuse(c, wire.Full)
		return nil
	}
	if at == s.Seats {
		r.seats = append(r.seats, seat{})
		s.Seats++
	}
	r.seats[at] = seat{Token: token, Card: h.Card}
	s.Gone, r.dirty = s.Gone.Without(at), true
	if err := r.saveSeat(at); err != nil {
		return err
	}
	if err := r.sit(c, at, 0); err != nil {
		return err
	}
	r.showCards(c, at)
	return nil
}

// first returns the first seat of those who are there: it starts the run.
func (r *Room) first() int {
	return slices.IndexFunc(r.seats, func(p seat) bool { return p.conn != 0 })
}

// free returns a seat that nobody has, or that of a party whose connection has ended; −1 where there is none.
func (r *Room) free() int {
	s := &r.state
	if gone := s.Gone.All(); len(gone) > 0 {
		return gone[0]
	}
	if s.Seats < int(s.Terms.Parties) {
		return s.Seats
	}
	return slices.IndexFunc(r.seats, func(p seat) bool { return p.conn == 0 })
}

// comeBack has a party take up its seat again.
func (r *Room) comeBack(now time.Time, c Conn, at int, h wire.Hello) error {
	p := &r.seats[at]
	if old := p.conn; old != 0 {
		r.drop(old)
		r.sends = append(r.sends, Send{To: old, Close: true})
	}
	if err := r.sit(c, at, h.Entries); err != nil {
		return err
	}
	fresh := len(h.Card) > 0 && !slices.Equal(h.Card, p.Card)
	if fresh {
		p.Card = h.Card
		p.Times++
	}
	s := &r.state
	if s.Phase == lobby {
		r.showCards(c, at)
		return r.saveSeat(at)
	}
	p.Entries = 0
	if err := r.saveSeat(at); err != nil {
		return err
	}
	if err := r.goOn(c); err != nil {
		return err
	}
	switch {
	case s.Phase == over:
		return nil
	case fresh:
		s.Back, r.dirty = s.Back.With(at), true
		if r.awaits(at, s.Round) { // with a key that it has no more
			return r.void(now)
		}
		if s.Phase == gathering {
			return r.recordCards()
		}
	case r.awaits(at, s.Round) && r.conns[c].sent == s.Entries:
		r.sends = append(r.sends, Send{To: c, Frame: r.round().Append(nil)})
	}
	return nil
}

// goOn sends a party that has come back more of what it has missed, and in a room that is over at last why.
func (r *Room) goOn(c Conn) error {
	k, s := r.conns[c], &r.state
	for bytes := 0; k.sent < s.Entries && bytes < window; k.sent++ {
		b, err := r.store.Get(logKey(k.sent))
		if err != nil {
			return fmt.Errorf("room: entry %d of the log: %w", k.sent, err)
		}
		r.sends = append(r.sends, Send{To: c, Frame: b})
		bytes += len(b)
	}
	if s.Phase == over && k.sent == s.Entries {
		r.sends = append(r.sends, Send{To: c, Frame: wire.Over{Why: s.Why}.Append(nil), Close: true})
		r.drop(c)
	}
	return nil
}

// sit gives a connection its seat, and welcomes it. It knows so many entries of the log.
func (r *Room) sit(c Conn, at int, entries uint32) error {
	r.seat(c, at, entries)
	b, err := r.welcome(at, r.state.Entries)
	if err == nil {
		r.sends = append(r.sends, Send{To: c, Frame: b})
	}
	return err
}

// showCards shows those who wait for the start to one who joins, and the other way round.
func (r *Room) showCards(c Conn, at int) {
	own := wire.Card{Seat: uint16(at), Card: r.seats[at].Card}.Append(nil)
	for i := range r.seats {
		if i == at || r.seats[i].conn == 0 {
			continue
		}
		r.sends = append(r.sends, Send{To: c, Frame: wire.Card{Seat: uint16(i), Card: r.seats[i].Card}.Append(nil)})
		r.sends = append(r.sends, Send{To: r.seats[i].conn, Frame: own})
	}
}

// showEmpty shows those who wait for the start a seat that is empty.
func (r *Room) showEmpty(at int) {
	r.tell(wire.Card{Seat: uint16(at)}.Append(nil))
}

// start begins the run with those who are there.
func (r *Room) start(now time.Time) error {
	f := wire.Roster{Cards: make([][]byte, len(r.seats))}
	for i, s := range r.seats {
		if s.conn == 0 {
			r.state.Gone = r.state.Gone.With(i)
		} else {
			f.Cards[i] = s.Card
		}
	}
	r.turn(gathering, now, r.answerTime())
	return r.record(f)
}

// record adds an entry to the log and sends it to all.
func (r *Room) record(f wire.Frame) error {
	b := f.Append(nil)
	if err := r.store.Put(logKey(r.state.Entries), b); err != nil {
		return fmt.Errorf("room: %w", err)
	}
	r.state.Entries++
	r.dirty = true
	for i := range r.seats {
		k := r.conns[r.seats[i].conn]
		if k != nil && k.sent == r.state.Entries-1 { // others are sent it in their turn
			r.sends = append(r.sends, Send{To: r.seats[i].conn, Frame: b})
			k.sent++
		}
	}
	return nil
}

// recordCards adds the cards of those who have come back.
func (r *Room) recordCards() error {
	back := r.state.Back
	r.state.Back = nil
	for _, i := range back.All() {
		if err := r.record(wire.Card{Seat: uint16(i), Card: r.seats[i].Card}); err != nil {
			return err
		}
	}
	return nil
}

// tell sends a frame to all who are here.
func (r *Room) tell(b []byte) {
	for i := range r.seats {
		if to := r.seats[i].conn; to != 0 {
			r.sends = append(r.sends, Send{To: to, Frame: b})
		}
	}
}

// gather begins a round once all are ready who are waited for, or when the time for it is over and enough
// are.
func (r *Room) gather(now time.Time, late bool) error {
	s := &r.state
	if s.Phase != gathering {
		return nil
	}
	var ready wire.Seats
	n, waits := 0, false
	for i := range r.seats {
		switch p := &r.seats[i]; {
		case s.Gone.Has(i) || p.conn == 0:
		case p.Entries == s.Entries:
			ready = ready.With(i)
			n++
		case late:
			p.Slow = true
		default:
			waits = waits || !p.Slow
		}
	}
	torn := slices.Equal(ready, s.Torn)
	enough := n >= int(s.Terms.Quorum) && !torn
	switch {
	case torn && n > 0 && s.Seats-len(s.Gone.All()) == n: // no third will come
		r.end(wire.BelowQuorum)
	case enough && !waits:
		s.Round, s.Present, s.Answered, s.Torn = s.Round+1, ready, nil, nil
		r.sum, r.disputes = make([]uint32, s.Terms.Words), map[int]wire.Seats{}
		r.turn(summing, now, r.answerTime())
		b := r.round().Append(nil)
		for _, i := range ready.All() {
			r.sends = append(r.sends, Send{To: r.seats[i].conn, Frame: b})
		}
	case late && now.UnixMilli()-s.Since >= IdleLife.Milliseconds():
		r.end(wire.BelowQuorum)
	case late:
		s.Deadline, r.dirty = now.Add(r.answerTime()).UnixMilli(), true
	}
	return nil
}

// round is the question of the present round.
func (r *Room) round() wire.Round {
	f := wire.Round{Round: r.state.Round, Present: r.state.Present}
	for _, i := range f.Present.All() {
		f.Proofs = append(f.Proofs, r.seats[i].Proof)
	}
	return f
}

// awaits reports whether the answer of a seat to a round is still to come.
func (r *Room) awaits(seat int, round uint32) bool {
	s := &r.state
	return s.Phase == summing && r.sum != nil && round == s.Round && s.Present.Has(seat) && !s.Answered.Has(seat)
}

// answered takes note of an answer, and ends the round with the last.
func (r *Room) answered(now time.Time, seat int) error {
	s := &r.state
	s.Answered = s.Answered.With(seat)
	for _, i := range s.Present.All() {
		if !s.Answered.Has(i) {
			return nil
		}
	}
	if len(r.disputes) > 0 {
		return r.void(now)
	}
	f := wire.Sum{Round: s.Round, Present: s.Present, Words: r.sum}
	if err := r.closeRound(now, f); err != nil {
		return err
	}
	r.finish()
	return nil
}

// closeRound adds what came of a round to the log, and has parties get ready for the next.
func (r *Room) closeRound(now time.Time, f wire.Frame) error {
	r.sum = nil
	r.turn(gathering, now, r.answerTime())
	if err := r.record(f); err != nil {
		return err
	}
	return r.recordCards()
}

// finish ends the run after its last round.
func (r *Room) finish() {
	if s := &r.state; s.Round == s.Terms.Rounds {
		r.end(wire.Finished)
	}
}

// void ends a round without a sum. Whom more than half of those present dispute is out, and so is who disputes
// nobody of those: it was told something else, or says so. Of two that are torn, neither is out while a third may come.
func (r *Room) void(now time.Time) error {
	s := &r.state
	f := wire.Void{Round: s.Round, Present: s.Present}
	votes := map[int]int{}
	for _, i := range s.Present.All() {
		if of, disputes := r.disputes[i]; disputes || !s.Answered.Has(i) {
			f.Missing = f.Missing.With(i)
			r.seats[i].Slow = !disputes
			for _, j := range of.All() {
				votes[j]++
			}
		}
	}
	if err := r.closeRound(now, f); err != nil {
		return err
	}
	present := s.Present.All()
	torn := len(present) == 2 && len(r.disputes) > 0
	if torn {
		s.Torn = s.Present
	}
	most := func(i int) bool { return 2*votes[i] > len(present) }
	for _, i := range present {
		of, disputes := r.disputes[i]
		if !torn && (most(i) || disputes && !slices.ContainsFunc(of.All(), most)) {
			if err := r.leave(now, i, wire.Disputed); err != nil {
				return err
			}
		}
	}
	if s.Phase != over {
		r.finish()
	}
	return nil
}

// leave gives a seat up for good.
func (r *Room) leave(now time.Time, at int, why wire.Reason) error {
	s := &r.state
	awaited := r.awaits(at, s.Round)
	s.Gone, r.dirty = s.Gone.With(at), true
	if c := r.seats[at].conn; c != 0 {
		r.refuse(c, why)
	}
	switch left := s.Seats - len(s.Gone.All()); {
	case s.Phase == over:
		return nil
	case s.Phase == lobby && left > 0:
		return nil
	case left < int(s.Terms.Quorum):
		r.end(wire.BelowQuorum)
		return nil
	case awaited:
		return r.void(now)
	}
	return r.gather(now, false)
}

// refuse ends a connection, and says why. Before the start its seat is empty then.
func (r *Room) refuse(c Conn, why wire.Reason) {
	r.sends = append(r.sends, Send{To: c, Frame: wire.Over{Why: why}.Append(nil), Close: true})
	at := r.SeatOf(c)
	r.drop(c)
	if at >= 0 && r.state.Phase == lobby {
		r.showEmpty(at)
	}
}

// drop forgets a connection.
func (r *Room) drop(c Conn) {
	if k := r.conns[c]; k != nil {
		delete(r.conns, c)
		if p := &r.seats[k.seat]; p.conn == c {
			p.conn = 0
		}
	}
}

// end ends everything.
func (r *Room) end(why wire.Reason) {
	r.state.Phase, r.state.Why, r.sum, r.dirty = over, why, nil, true
	b := wire.Over{Why: why}.Append(nil)
	for i := range r.seats {
		if c := r.seats[i].conn; c != 0 && r.conns[c].sent == r.state.Entries { // others hear it when they have all that they have missed
			r.sends = append(r.sends, Send{To: c, Frame: b, Close: true})
			r.drop(c)
		}
	}
}

func (r *Room) answerTime() time.Duration {
	return time.Duration(r.state.Terms.AnswerSeconds) * time.Second
}

// turn begins a phase, which lasts so long unless something happens.
func (r *Room) turn(to phase, now time.Time, lasts time.Duration) {
	r.state.Phase, r.state.Since, r.state.Deadline, r.dirty = to, now.UnixMilli(), now.Add(lasts).UnixMilli(), true
}

// flush returns what is to be sent, once everything is stored that it tells.
func (r *Room) flush(err error) ([]Send, error) {
	sends := r.sends
	r.sends = nil
	if err == nil && r.dirty {
		err = r.save()
	}
	if err != nil {
		return nil, err
	}
	return sends, nil
}

func (r *Room) save() error {
	b, err := json.Marshal(r.state)
	if err == nil {
		err = r.store.Put("room", b)
	}
	if err != nil {
		return fmt.Errorf("room: %w", err)
	}
	r.dirty = false
	return nil
}

func (r *Room) saveSeat(at int) error {
	b, err := json.Marshal(r.seats[at])
	if err == nil {
		err = r.store.Put(seatKey(at), b)
	}
	if err != nil {
		return fmt.Errorf("room: seat %d: %w", at, err)
	}
	return nil
}

func seatKey(at int) string   { return "seat/" + strconv.Itoa(at) }
func logKey(at uint32) string { return "log/" + strconv.FormatUint(uint64(at), 10) }
