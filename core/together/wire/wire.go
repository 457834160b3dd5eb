// Package wire has the frames that the parties of a run and their room send each other. A frame is a byte that
// tells which it is, and fields in a fixed order, numbers with the least significant byte first. Nothing else
// crosses, and nothing in a frame is a row, a secret key or one party's numbers without a mask.
//
// Parsing takes no more memory than the frame does, and refuses what Append would not have written.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Path leads to the rooms of a host, below its site's address.
const Path = "/api/rooms"

// Version changes with the meaning of any frame.
const Version = 1

// Sizes that frames are bound to. A sum of the most words is 16 MiB, half of what a message may have.
const (
	MostParties = 1 << 12 // as [privacy.MostParties]
	MostWords   = 1 << 22
	MostSealed  = 1 << 18 // bytes of an agreement
	MostCard    = 1 << 10 // bytes of a card
	MostSteps   = 1 << 20
	TokenSize   = 16
	ProofSize   = 64
)

// Kind says which frame follows.
type Kind byte

// What a party sends.
const (
	KindHello Kind = iota + 1
	KindStart
	KindReady
	KindWords
	KindDispute
	KindLeave
)

// What the room sends.
const (
	KindWelcome Kind = iota + 33
	KindCard
	KindRoster
	KindRound
	KindSum
	KindVoid
	KindOver
)

// Frame is one of the types below.
type Frame interface {
	// Append appends the frame, its kind first.
	Append(b []byte) []byte
}

// Hello asks for a seat, or comes back to one. Token is the party's own: who has it has the seat.
type Hello struct {
	Token   [TokenSize]byte
	Entries uint32 // of the log that the party knows
	Card    []byte // sealed; empty where an earlier one holds
}

// Start ends the time in which parties join. Only the first seat may.
type Start struct{}

// Ready says that the party has taken in so many entries of the log, and proves which those are.
type Ready struct {
	Entries uint32
	Proof   [ProofSize]byte
}

// Words are a party's masked words of a round.
type Words struct {
	Round uint32
	Words []uint32
}

// Dispute answers a round whose proofs are not what they should be: of these seats.
type Dispute struct {
	Round uint32
	Seats Seats
}

// Leave gives the seat up for good.
type Leave struct{}

// Welcome is the room's answer to a hello.
type Welcome struct {
	Seat    uint16
	Terms   Terms
	Entries uint32 // that the log has
	Sealed  []byte // the agreement
}

// Terms are what a room knows of a run.
type Terms struct {
	Parties, Quorum uint16
	Words, Rounds   uint32
	AnswerSeconds   uint16 // that a party may take for a round
}

// Check refuses terms that no room has.
func (t Terms) Check() error {
	switch {
	case t.Parties < 2 || t.Parties > MostParties:
		return fmt.Errorf("wire: a room for %d parties; 2 … %d fit", t.Parties, MostParties)
	case t.Quorum < 1 || t.Quorum > t.Parties:
		return fmt.Errorf("wire: a quorum of %d of %d parties", t.Quorum, t.Parties)
	case t.Words < 1 || t.Words > MostWords:
		return fmt.Errorf("wire: sums of %d numbers; 1 … %d can be added up", t.Words, MostWords)
	case t.Rounds < 1 || t.Rounds > MostSteps:
		return fmt.Errorf("wire: a run of %d rounds; 1 … %d fit", t.Rounds, MostSteps)
	case t.AnswerSeconds < 1 || t.AnswerSeconds > 3600:
		return fmt.Errorf("wire: %d seconds for an answer; 1 … 3600 can be given", t.AnswerSeconds)
	}
	return nil
}

// Card is an entry of the log once the run has begun: who has taken or come back to a seat.
type Card struct {
	Seat uint16
	Card []byte
}

// Roster begins the run, and the log: nobody else joins.
type Roster struct{ Cards [][]byte }

// Round asks those that are present for their words.
type Round struct {
	Round   uint32
	Present Seats
	Proofs  [][ProofSize]byte // of those present, in their order
}

// Sum is an entry of the log: what those that were present in a round add up to.
type Sum struct {
	Round   uint32
	Present Seats
	Words   []uint32
}

// Void is an entry of the log: a round of which nothing comes, as some of those present did not answer.
type Void struct {
	Round            uint32
	Present, Missing Seats
}

// Over ends everything.
type Over struct{ Why Reason }

// Reason says why a room is over, or has no place for a party.
type Reason byte

// The reasons.
const (
	Finished Reason = iota + 1
	BelowQuorum
	Expired
	Full
	Begun
	Refused
	Disputed
	reasons
)

var said = [...]string{
	Finished:    "all rounds are done",
	BelowQuorum: "there are too few parties left to go on",
	Expired:     "nothing happened for too long",
	Full:        "all seats are taken: a room with more parties is needed",
	Begun:       "the run has begun, and nobody else can join: another room is needed",
	Refused:     "a message was not what this room takes",
	Disputed:    "most of the others say that this party was told something else",
}

func (r Reason) String() string {
	if r > 0 && r < reasons {
		return said[r]
	}
	return "for a reason that this version does not know"
}

// Seats is a set of seats: bit i%8 of byte i/8 is seat i. It has as many bytes as its last seat asks for.
type Seats []byte

// With returns the set with one seat more.
func (s Seats) With(seat int) Seats {
	for len(s) <= seat/8 {
		s = append(s, 0)
	}
	s[seat/8] |= 1 << (seat % 8)
	return s
}

// Without returns the set without a seat.
func (s Seats) Without(seat int) Seats {
	if s.Has(seat) {
		s[seat/8] &^= 1 << (seat % 8)
	}
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	return s
}

// Has reports whether a seat is in the set.
func (s Seats) Has(seat int) bool { return seat/8 < len(s) && s[seat/8]>>(seat%8)&1 == 1 }

// All lists the seats in rising order.
func (s Seats) All() []int {
	var all []int
	for i := range 8 * len(s) {
		if s.Has(i) {
			all = append(all, i)
		}
	}
	return all
}

func count(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }
func counted(b, of []byte) []byte  { return append(count(b, len(of)), of...) }
func words(b []byte, w []uint32) []byte {
	b = count(b, len(w))
	for _, x := range w {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func (f Hello) Append(b []byte) []byte {
	b = append(b, byte(KindHello), Version)
	b = append(b, f.Token[:]...)
	return counted(count(b, int(f.Entries)), f.Card)
}

func (Start) Append(b []byte) []byte { return append(b, byte(KindStart)) }

func (f Ready) Append(b []byte) []byte {
	return append(count(append(b, byte(KindReady)), int(f.Entries)), f.Proof[:]...)
}

func (f Words) Append(b []byte) []byte {
	return words(count(append(b, byte(KindWords)), int(f.Round)), f.Words)
}

func (f Dispute) Append(b []byte) []byte {
	return counted(count(append(b, byte(KindDispute)), int(f.Round)), f.Seats)
}

func (Leave) Append(b []byte) []byte { return append(b, byte(KindLeave)) }

func (f Welcome) Append(b []byte) []byte {
	b = append(b, byte(KindWelcome), Version)
	b = binary.LittleEndian.AppendUint16(b, f.Seat)
	return counted(count(f.Terms.append(b), int(f.Entries)), f.Sealed)
}

func (t Terms) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, t.Parties)
	b = binary.LittleEndian.AppendUint16(b, t.Quorum)
	b = binary.LittleEndian.AppendUint32(b, t.Words)
	b = binary.LittleEndian.AppendUint32(b, t.Rounds)
	return binary.LittleEndian.AppendUint16(b, t.AnswerSeconds)
}

func (f Card) Append(b []byte) []byte {
	return counted(binary.LittleEndian.AppendUint16(append(b, byte(KindCard)), f.Seat), f.Card)
}

func (f Roster) Append(b []byte) []byte {
	b = count(append(b, byte(KindRoster)), len(f.Cards))
	for _, c := range f.Cards {
		b = counted(b, c)
	}
	return b
}

func (f Round) Append(b []byte) []byte {
	b = counted(count(append(b, byte(KindRound)), int(f.Round)), f.Present)
	b = count(b, len(f.Proofs))
	for _, p := range f.Proofs {
		b = append(b, p[:]...)
	}
	return b
}

func (f Sum) Append(b []byte) []byte {
	return words(counted(count(append(b, byte(KindSum)), int(f.Round)), f.Present), f.Words)
}

func (f Void) Append(b []byte) []byte {
	return counted(counted(count(append(b, byte(KindVoid)), int(f.Round)), f.Present), f.Missing)
}

func (f Over) Append(b []byte) []byte { return append(b, byte(KindOver), byte(f.Why)) }

// ErrFrame says that bytes are no frame of this version.
var ErrFrame = errors.New("wire: no frame of this version")

// Parse reads what one Append wrote, and nothing else. What it returns shares no memory with b.
func Parse(b []byte) (Frame, error) {
	r := reader{rest: b, ok: len(b) > 0}
	f := r.frame(Kind(r.byte()))
	if !r.ok || f == nil || len(r.rest) > 0 {
		return nil, ErrFrame
	}
	return f, nil
}

func (r *reader) frame(k Kind) Frame {
	switch k {
	case KindHello:
		r.version()
		return Hello{[TokenSize]byte(r.fixed(TokenSize)), r.number(), r.list(MostCard)}
	case KindStart:
		return Start{}
	case KindReady:
		return Ready{r.number(), [ProofSize]byte(r.fixed(ProofSize))}
	case KindWords:
		return Words{r.number(), r.words()}
	case KindDispute:
		return Dispute{r.number(), r.seats()}
	case KindLeave:
		return Leave{}
	case KindWelcome:
		r.version()
		f := Welcome{r.short(), Terms{r.short(), r.short(), r.number(), r.number(), r.short()}, r.number(), r.list(MostSealed)}
		r.ok = r.ok && f.Terms.Check() == nil && f.Seat < f.Terms.Parties
		return f
	case KindCard:
		return Card{r.short(), r.list(MostCard)}
	case KindRoster:
		var f Roster
		for range r.count(4, MostParties) {
			f.Cards = append(f.Cards, r.list(MostCard))
		}
		return f
	case KindRound:
		f := Round{Round: r.number(), Present: r.seats()}
		for range r.count(ProofSize, MostParties) {
			f.Proofs = append(f.Proofs, [ProofSize]byte(r.fixed(ProofSize)))
		}
		r.ok = r.ok && len(f.Proofs) == len(f.Present.All())
		return f
	case KindSum:
		return Sum{r.number(), r.seats(), r.words()}
	case KindVoid:
		return Void{r.number(), r.seats(), r.seats()}
	case KindOver:
		why := Reason(r.byte())
		r.ok = r.ok && why > 0 && why < reasons
		return Over{why}
	}
	return nil
}

// reader takes a frame apart. Once something is amiss it is not ok, and all that it reads is nothing.
type reader struct {
	rest []byte
	ok   bool
}

// fixed is always of that length.
func (r *reader) fixed(n int) []byte {
	if r.ok = r.ok && n <= len(r.rest); !r.ok {
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte     { return r.fixed(1)[0] }
func (r *reader) version()       { r.ok = r.byte() == Version && r.ok }
func (r *reader) short() uint16  { return binary.LittleEndian.Uint16(r.fixed(2)) }
func (r *reader) number() uint32 { return binary.LittleEndian.Uint32(r.fixed(4)) }

// count is a number of things of so many bytes each at least, up to most.
func (r *reader) count(size, most int) int {
	n := int(r.number())
	if r.ok = r.ok && n <= most && n <= len(r.rest)/size; !r.ok {
		return 0
	}
	return n
}

func (r *reader) list(most int) []byte {
	b := r.fixed(r.count(1, most))
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}

// seats refuses a set with bytes behind its last seat, so that a set has one form.
func (r *reader) seats() Seats {
	s := Seats(r.list(MostParties / 8))
	r.ok = r.ok && (len(s) == 0 || s[len(s)-1] != 0)
	return s
}

func (r *reader) words() []uint32 {
	b := r.fixed(4 * r.count(4, MostWords))
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}
