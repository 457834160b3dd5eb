package together

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"clipscope/core/privacy"
	"clipscope/core/together/wire"
)

// Guest is what a party brings to a room.
type Guest struct {
	Secret    Secret
	Agreement Agreement
	Name      string
	// What the run's plan says: how many numbers a step's sum has, and how many steps there are.
	Words, Steps int
}

// Seat is what a party keeps in order to come back: with its checkpoint of the same step, as together they are
// all that it needs. It has no key; its token is the party's own.
type Seat struct {
	Token   [wire.TokenSize]byte
	Seat    int
	Times   int // that it has come back
	Entries uint32
	Round   uint32
	Root    [32]byte
	Log     [32]byte
	Cards   []Card // by seat
}

// Party is one of those that train a model together. It is the exchange of a run of package train. Its methods
// are called by one goroutine.
type Party struct {
	guest     Guest
	agreement [32]byte
	key       Key
	card      []byte // sealed
	seat      Seat
	masks     *masks
	line      *line
	behind    uint32 // entries of the log that the room had when it last said so

	answered uint32     // the last round that was answered
	present  wire.Seats // in it
	answer   wire.Frame
}

// OverError says why a room has ended, or has no place for the party.
type OverError struct{ Why wire.Reason }

func (e *OverError) Error() string { return "together: " + e.Why.String() }

// ErrTold says that the room has told most others something else.
var ErrTold = errors.New("together: the room has told other parties something else than this one; what was released stays covered, and the run cannot go on")

// Enter takes a seat in a room, or comes back to the one that back says; nil takes a new one. The party
// keeps its connection until ctx is done.
func Enter(ctx context.Context, dial Dial, g Guest, back *Seat) (*Party, error) {
	p := &Party{guest: g}
	var err error
	if p.agreement, err = g.Agreement.Hash(); err != nil {
		return nil, err
	}
	if p.key, err = NewKey(); err != nil {
		return nil, err
	}
	if back != nil {
		p.seat = *back
		p.seat.Times++
	} else if _, err := rand.Read(p.seat.Token[:]); err != nil {
		return nil, fmt.Errorf("together: no randomness for a seat: %w", err)
	} else {
		p.seat.Log = sha256.Sum256(append([]byte("clipscope together 1: log"), p.agreement[:]...))
	}
	own := p.key.Card(g.Name, p.seat.Times)
	if p.card, err = own.seal(g.Secret, p.agreement); err != nil {
		return nil, err
	}
	if back != nil {
		if err := p.meetAll(); err != nil {
			return nil, err
		}
	}
	p.line, err = open(ctx, dial, p.seat.Entries, func(entries uint32) wire.Hello {
		return wire.Hello{Token: p.seat.Token, Entries: entries, Card: p.card}
	})
	if err != nil {
		return nil, err
	}
	f, err := p.line.next(ctx)
	if err == nil {
		err = p.greet(f)
	}
	if err != nil {
		p.line.close()
		return nil, err
	}
	p.ready(ctx)
	return p, nil
}

// greet takes in the room's welcome.
func (p *Party) greet(f wire.Frame) error {
	w, ok := f.(wire.Welcome)
	if !ok {
		return unexpected(f)
	}
	g := p.guest.Agreement.Config.Together
	if t := w.Terms; int(t.Parties) != g.Parties || int(t.Quorum) != g.Quorum || int(t.Words) != p.guest.Words || int(t.Rounds) != p.guest.Steps {
		return errors.New("together: the room is for another run than the one that was agreed on")
	}
	b, err := p.guest.Secret.open("agreements", nil, w.Sealed)
	if err != nil {
		return err
	}
	if sha256.Sum256(b) != p.agreement {
		return errors.New("together: the room has another agreement than this party's")
	}
	if p.seat.Entries > 0 && int(w.Seat) != p.seat.Seat {
		return errors.New("together: the room has given this party's seat away")
	}
	p.seat.Seat, p.behind = int(w.Seat), w.Entries
	return nil
}

// SealAgreement returns the agreement as a room keeps it.
func SealAgreement(s Secret, a *Agreement) ([]byte, error) {
	b, err := a.encode()
	if err != nil {
		return nil, err
	}
	return s.seal("agreements", nil, b)
}

// OpenAgreement reads what [SealAgreement] returned.
func OpenAgreement(s Secret, sealed []byte) (Agreement, error) {
	b, err := s.open("agreements", nil, sealed)
	if err != nil {
		return Agreement{}, err
	}
	return ReadAgreement(b)
}

// Seat returns what the party keeps in order to come back, as it is after the last sum.
func (p *Party) Seat() Seat {
	s := p.seat
	s.Cards = slices.Clone(s.Cards)
	return s
}

// Moved returns the bytes that the party has sent to the room, and received.
func (p *Party) Moved() (sent, received int64) { return p.line.moved() }

// Transcript returns a hash of everything that all parties were told, in its order.
func (p *Party) Transcript() string { return hex.EncodeToString(p.seat.Log[:]) }

// Fingerprint is the beginning of the run as people compare it: the same for all who see the same
// agreement and the same keys.
func (p *Party) Fingerprint() string {
	b := hex.EncodeToString(p.seat.Root[:8])
	return b[:4] + " " + b[4:8] + " " + b[8:12] + " " + b[12:]
}

// Close ends the connection. The seat stays.
func (p *Party) Close() { p.line.close() }

// Leave gives the seat up for good.
func (p *Party) Leave(ctx context.Context) {
	p.line.send(ctx, wire.Leave{})
	p.line.close()
}

// Start begins the run with those who are there. Only who opened the room may.
func (p *Party) Start(ctx context.Context) { p.line.send(ctx, wire.Start{}) }

// Wait waits for the start. show, which may be nil, is told who is there.
func (p *Party) Wait(ctx context.Context, show func([]Card)) error {
	if p.seat.Entries > 0 {
		return nil
	}
	own := p.key.Card(p.guest.Name, p.seat.Times)
	there := []Card{}
	sit := func(at int, c Card) {
		for len(there) <= at {
			there = append(there, Card{})
		}
		there[at] = c
		if show != nil {
			show(slices.Clone(there))
		}
	}
	sit(p.seat.Seat, own)
	for {
		f, err := p.line.next(ctx)
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case wire.Welcome:
			err = p.greet(f)
		case wire.Card:
			var c Card
			if c, err = openCard(p.guest.Secret, p.agreement, f.Card); err == nil {
				sit(int(f.Seat), c)
			}
		case wire.Roster:
			if err = p.begin(f); err == nil {
				p.ready(ctx)
				return nil
			}
		default:
			err = unexpected(f)
		}
		if err != nil {
			return err
		}
	}
}

// begin takes in who the parties are.
func (p *Party) begin(f wire.Roster) error {
	g := p.guest.Agreement.Config.Together
	if len(f.Cards) > g.Parties || p.seat.Seat >= len(f.Cards) || !bytes.Equal(f.Cards[p.seat.Seat], p.card) {
		return errors.New("together: the room begins without this party")
	}
	seen, n := map[string]bool{}, 0
	p.seat.Cards = make([]Card, len(f.Cards))
	for i, sealed := range f.Cards {
		if len(sealed) == 0 {
			continue
		}
		c, err := openCard(p.guest.Secret, p.agreement, sealed)
		if err != nil {
			return err
		}
		if seen[string(c.Public)] {
			return errors.New("together: two parties have the same key")
		}
		seen[string(c.Public)], p.seat.Cards[i] = true, c
		n++
	}
	if n < g.Quorum {
		return fmt.Errorf("together: the room begins with %d parties, and %d were agreed on at least", n, g.Quorum)
	}
	p.enter(f)
	p.seat.Root = p.seat.Log
	return p.meetAll()
}

// meetAll agrees with everybody on masks.
func (p *Party) meetAll() error {
	p.masks = newMasks(p.key, p.seat.Root)
	for i, c := range p.seat.Cards {
		if c.Name == "" || i == p.seat.Seat {
			continue
		}
		if err := p.masks.meet(i, c.Public); err != nil {
			return err
		}
	}
	return nil
}

// enter takes an entry of the log in.
func (p *Party) enter(f wire.Frame) {
	of := sha256.Sum256(f.Append(nil))
	p.seat.Log = sha256.Sum256(append(p.seat.Log[:], of[:]...))
	p.seat.Entries++
}

// ready says what the party has taken in, once it is all that the room has.
func (p *Party) ready(ctx context.Context) {
	if p.seat.Entries == 0 || p.seat.Entries < p.behind {
		return
	}
	proof, err := p.guest.Secret.prove(p.seat.Seat, p.seat.Entries, p.seat.Log)
	if err == nil {
		p.line.send(ctx, wire.Ready{Entries: p.seat.Entries, Proof: proof})
	}
}

// Common is the key that first parameters are drawn from: of the agreement and all parties' keys, so
// that nobody chooses it.
func (p *Party) Common() privacy.Key {
	h := sha256.Sum256(append([]byte("clipscope together 1: first parameters"), p.seat.Root[:]...))
	var k privacy.Key
	for i := range k {
		k[i] = uint32(h[4*i]) | uint32(h[4*i+1])<<8 | uint32(h[4*i+2])<<16 | uint32(h[4*i+3])<<24
	}
	return k
}

// Settled reports whether a step's sum is there already, so that nothing of this party will be in it.
func (p *Party) Settled(step int) bool {
	return p.line.holds(func(f wire.Frame) bool { return outcomeOf(f) == uint32(step)+1 })
}

// outcomeOf returns the round that a frame ends; 0 of other frames.
func outcomeOf(f wire.Frame) uint32 {
	switch f := f.(type) {
	case wire.Sum:
		return f.Round
	case wire.Void:
		return f.Round
	}
	return 0
}

// Sum answers the round of a step and returns its sum; nil where it is void.
func (p *Party) Sum(ctx context.Context, step int, words []uint32) ([]uint32, error) {
	if round := uint32(step) + 1; round != p.seat.Round+1 || len(words) != p.guest.Words {
		return nil, fmt.Errorf("together: step %d with %d words follows round %d with %d", step, len(words), p.seat.Round, p.guest.Words)
	}
	for {
		f, err := p.line.next(ctx)
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case wire.Welcome: // the line was broken
			if err = p.greet(f); err == nil {
				p.ready(ctx)
			}
		case wire.Card:
			if err = p.replace(f); err == nil {
				p.ready(ctx)
			}
		case wire.Round:
			err = p.reply(ctx, f, words)
		case wire.Sum, wire.Void:
			return p.settle(ctx, f)
		default:
			err = unexpected(f)
		}
		if err != nil {
			return nil, err
		}
	}
}

// settle takes in the end of a round.
func (p *Party) settle(ctx context.Context, f wire.Frame) ([]uint32, error) {
	if outcomeOf(f) != p.seat.Round+1 {
		return nil, fmt.Errorf("together: the room ends round %d after round %d", outcomeOf(f), p.seat.Round)
	}
	sum, whole := f.(wire.Sum)
	if whole && len(sum.Words) != p.guest.Words {
		return nil, fmt.Errorf("together: a sum of %d numbers, not of %d", len(sum.Words), p.guest.Words)
	}
	p.seat.Round++
	p.enter(f)
	p.ready(ctx)
	return sum.Words, nil
}

// replace takes in the card of a party that has come back.
func (p *Party) replace(f wire.Card) error {
	at := int(f.Seat)
	if at >= len(p.seat.Cards) || p.seat.Cards[at].Name == "" {
		return fmt.Errorf("together: a card for seat %d, which nobody had", at)
	}
	c, err := openCard(p.guest.Secret, p.agreement, f.Card)
	if err != nil {
		return err
	}
	own := at == p.seat.Seat
	if own && !bytes.Equal(f.Card, p.card) || c.Times <= p.seat.Cards[at].Times {
		return fmt.Errorf("together: an old card of %s", c.Name)
	}
	p.seat.Cards[at] = c
	p.enter(f)
	if own {
		return nil
	}
	return p.masks.meet(at, c.Public)
}

// reply answers a round with masked words, or with what is wrong with it. Whatever it sends, it sends for
// the round alone.
func (p *Party) reply(ctx context.Context, f wire.Round, words []uint32) error {
	switch {
	case f.Round != p.seat.Round+1:
		return fmt.Errorf("together: the room asks for round %d after round %d", f.Round, p.seat.Round)
	case f.Round == p.answered && slices.Equal(f.Present, p.present):
		p.line.send(ctx, p.answer) // the line was broken
		return nil
	case f.Round == p.answered:
		return fmt.Errorf("together: the room asks for round %d again, with other parties", f.Round)
	case len(f.Present.All()) < p.guest.Agreement.Config.Together.Quorum || !f.Present.Has(p.seat.Seat):
		return fmt.Errorf("together: the room asks for round %d with too few parties", f.Round)
	}
	bad, others, err := p.judge(f)
	if err != nil {
		return err
	}
	p.answered, p.present = f.Round, f.Present
	if len(bad) > 0 {
		p.answer = wire.Dispute{Round: f.Round, Seats: bad}
		p.line.send(ctx, p.answer)
		if 2*len(bad.All()) > others {
			return ErrTold
		}
		return nil
	}
	masked := slices.Clone(words)
	if err := p.masks.add(masked, f.Round, f.Present, p.seat.Seat); err != nil {
		return err
	}
	p.answer = wire.Words{Round: f.Round, Words: masked}
	p.line.send(ctx, p.answer)
	return nil
}

// judge returns those who were told something else than this party.
func (p *Party) judge(f wire.Round) (bad wire.Seats, others int, err error) {
	for i, at := range f.Present.All() {
		if at == p.seat.Seat {
			continue
		}
		if at >= len(p.seat.Cards) || p.seat.Cards[at].Name == "" {
			return nil, 0, fmt.Errorf("together: seat %d is asked for words, and nobody has taken it", at)
		}
		want, err := p.guest.Secret.prove(at, p.seat.Entries, p.seat.Log)
		if err != nil {
			return nil, 0, err
		}
		if f.Proofs[i] != want {
			bad = bad.With(at)
		}
		others++
	}
	return bad, others, nil
}

func unexpected(f wire.Frame) error {
	if over, ok := f.(wire.Over); ok {
		return &OverError{over.Why}
	}
	return fmt.Errorf("together: the room says %T out of turn", f)
}

// Repeat sends the last answer once more, as a connection may: it changes nothing.
func (p *Party) Repeat(ctx context.Context) {
	if p.answer != nil {
		p.line.send(ctx, p.answer)
	}
}
