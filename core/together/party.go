package together

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clipscope/core/privacy"
	"clipscope/core/together/wire"
)

// Guest has all that a party brings to a room.
type Guest struct {
	Secret    Secret
	Agreement Agreement
	Name      string
	// What the run's plan says: how many numbers a step's sum has, and how many steps there are.
	Words, Steps int
	// Keep stores what the party needs in order to come back, and returns once that lasts: it is called before
	// each answer leaves. A party without it does not come back.
	Keep func(Seat) error
}

// Seat is what a party keeps in order to come back: with its checkpoint after Round steps, as together they are
// all that it needs. Nothing of it opens or unmasks anything; its token and signer are the party's own.
type Seat struct {
	Token    [wire.TokenSize]byte
	Signer   ed25519.PrivateKey
	Seat     int
	Entries  uint32
	Round    uint32 // that is over
	Answered uint32 // the last that was answered
	Root     [32]byte
	Log      [32]byte
	Cards    []Card // by seat; without a public key where nobody is there
}

// Party is one of those that train a model together. It is the exchange of a run of package train. Its methods
// are called by one goroutine.
type Party struct {
	guest     Guest
	agreement [32]byte
	key       Key
	own       Card
	card      []byte // own, sealed
	seat      Seat
	masks     *masks
	line      *line

	listed bool // the log has the card of this life

	// What this life has answered last.
	answered uint32
	present  wire.Seats
	answer   wire.Frame

	asked wire.Seats // in the last round that is over
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
	made := time.Now().UnixMicro()
	if back != nil {
		p.seat = *back
		p.seat.Cards = slices.Clone(back.Cards)
		if at := back.Seat; at < len(back.Cards) {
			made = max(made, back.Cards[at].Made+1)
		}
	} else if _, err := rand.Read(p.seat.Token[:]); err != nil {
		return nil, fmt.Errorf("together: no randomness for a seat: %w", err)
	} else if _, p.seat.Signer, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return nil, fmt.Errorf("together: no randomness for a signer: %w", err)
	} else {
		p.seat.Log = sha256.Sum256(append([]byte("clipscope together 1: log"), p.agreement[:]...))
	}
	if len(p.seat.Signer) != ed25519.PrivateKeySize {
		return nil, errors.New("together: a seat without its signer")
	}
	p.own = newCard(p.key, p.seat.Signer, g.Name, made, p.agreement)
	if p.card, err = p.own.seal(g.Secret, p.agreement); err != nil {
		return nil, err
	}
	if back != nil {
		p.meetAll()
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
	p.seat.Seat = int(w.Seat)
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

// Present lists the seats that the last round was asked of which this life has seen the end of; none before.
func (p *Party) Present() []int { return p.asked.All() }

// Transcript returns a hash of everything that all parties were told, in its order.
func (p *Party) Transcript() string { return hex.EncodeToString(p.seat.Log[:]) }

// Fingerprint is the beginning of the run as people compare it, by telephone: the same for all who see the
// same agreement and the same keys. Where it is the same, nobody stands between them.
func (p *Party) Fingerprint() string {
	var groups []string
	for pair := range slices.Chunk(p.seat.Root[:16], 2) {
		groups = append(groups, hex.EncodeToString(pair))
	}
	return strings.Join(groups, " ")
}

// Close ends the connection. The seat stays.
func (p *Party) Close() { p.line.close() }

// Leave gives the seat up for good.
func (p *Party) Leave(ctx context.Context) {
	p.line.send(ctx, wire.Leave{})
	p.line.close()
}

// Start begins the run with those who are there. Only the first of them may.
func (p *Party) Start(ctx context.Context) { p.line.send(ctx, wire.Start{}) }

// Wait waits for the start. show, which may be nil, is told who is there.
func (p *Party) Wait(ctx context.Context, show func([]Card)) error {
	if p.seat.Entries > 0 {
		return nil
	}
	there := []Card{}
	sit := func(at int, c Card) {
		if at >= p.guest.Agreement.Config.Together.Parties {
			return
		}
		for len(there) <= at {
			there = append(there, Card{})
		}
		there[at] = c
		if show != nil {
			show(slices.Clone(there))
		}
	}
	sit(p.seat.Seat, p.own)
	for {
		f, err := p.line.next(ctx)
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case wire.Welcome: // the line was broken, and what was shown is shown again
			if err = p.greet(f); err == nil {
				clear(there)
				sit(p.seat.Seat, p.own)
			}
		case wire.Card:
			if len(f.Card) == 0 { // the seat is empty
				sit(int(f.Seat), Card{})
			} else if c, bad := openCard(p.guest.Secret, p.agreement, f.Card); bad == nil { // or it is no party's
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

// begin takes in who the parties are. A card that is no party's leaves its seat empty.
func (p *Party) begin(f wire.Roster) error {
	g := p.guest.Agreement.Config.Together
	if len(f.Cards) > g.Parties {
		return fmt.Errorf("together: the room begins with %d seats of %d", len(f.Cards), g.Parties)
	}
	n := 0
	p.seat.Cards = make([]Card, len(f.Cards))
	for i, sealed := range f.Cards {
		c, err := openCard(p.guest.Secret, p.agreement, sealed)
		if err != nil || p.known(c, i) {
			continue
		}
		p.seat.Cards[i] = c
		n++
	}
	at := p.seat.Seat
	if at >= len(f.Cards) || !bytes.Equal(p.seat.Cards[at].Signer, p.own.Signer) {
		return errors.New("together: the room begins without this party")
	}
	if n < g.Quorum {
		return fmt.Errorf("together: the room begins with %d parties, and %d were agreed on at least", n, g.Quorum)
	}
	p.listed = bytes.Equal(f.Cards[at], p.card)
	p.enter(f)
	p.seat.Root = p.seat.Log
	p.meetAll()
	return nil
}

// known reports whether a key of a card is another seat's.
func (p *Party) known(c Card, at int) bool {
	signs := slices.ContainsFunc(p.seat.Cards[:at], func(o Card) bool { return bytes.Equal(o.Signer, c.Signer) })
	return signs || p.taken(c.Public, at)
}

// taken reports whether another seat has a public key.
func (p *Party) taken(public []byte, at int) bool {
	for i, o := range p.seat.Cards {
		if i != at && bytes.Equal(o.Public, public) {
			return true
		}
	}
	return false
}

// meetAll agrees with everybody on masks.
func (p *Party) meetAll() {
	p.masks = newMasks(p.key, p.seat.Root)
	for i := range p.seat.Cards {
		p.meet(i)
	}
}

// meet agrees on masks with who has a seat. Where that cannot be, nobody has it.
func (p *Party) meet(at int) {
	c := &p.seat.Cards[at]
	if at != p.seat.Seat && len(c.Public) > 0 && p.masks.meet(at, c.Public) != nil {
		c.Public = nil
	}
}

// enter takes an entry of the log in.
func (p *Party) enter(f wire.Frame) {
	of := sha256.Sum256(f.Append(nil))
	p.seat.Log = sha256.Sum256(append(p.seat.Log[:], of[:]...))
	p.seat.Entries++
}

// ready says what the party has taken in. The room sends more where there is more.
func (p *Party) ready(ctx context.Context) {
	if p.seat.Entries == 0 || int(p.seat.Round) == p.guest.Steps { // it has not begun, or has ended
		return
	}
	p.line.send(ctx, wire.Ready{Entries: p.seat.Entries, Proof: prove(p.seat.Signer, p.seat.Entries, p.seat.Log)})
}

// Common is the key that first parameters are drawn from: of the agreement and all parties' keys, so
// that nobody chooses it.
func (p *Party) Common() privacy.Key {
	return privacy.KeyFrom(sha256.Sum256(append([]byte("clipscope together 1: first parameters"), p.seat.Root[:]...)))
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
			p.replace(f)
			p.ready(ctx)
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
	var sum []uint32
	switch f := f.(type) {
	case wire.Sum:
		if sum = f.Words; len(sum) != p.guest.Words {
			return nil, fmt.Errorf("together: a sum of %d numbers, not of %d", len(sum), p.guest.Words)
		}
		p.asked = f.Present
	case wire.Void:
		p.asked = f.Present
	}
	p.seat.Round++
	p.enter(f)
	p.ready(ctx)
	return sum, nil
}

// replace takes in the card of a party that has come back. Until one comes that is right, its seat is empty:
// that is no party's fault but who sent it.
func (p *Party) replace(f wire.Card) {
	p.enter(f)
	at := int(f.Seat)
	if at >= len(p.seat.Cards) || len(p.seat.Cards[at].Signer) == 0 {
		return
	}
	was := &p.seat.Cards[at]
	c, err := openCard(p.guest.Secret, p.agreement, f.Card)
	if err != nil || !bytes.Equal(c.Signer, was.Signer) || c.Made <= was.Made || p.taken(c.Public, at) {
		was.Public = nil
		return
	}
	*was = c
	if at == p.seat.Seat {
		p.listed = bytes.Equal(f.Card, p.card)
		return
	}
	p.meet(at)
}

// reply answers a round with masked words, or with what is wrong with it. Whatever it sends, it sends for
// the round alone, and no life of the party answers the round again.
func (p *Party) reply(ctx context.Context, f wire.Round, words []uint32) error {
	switch {
	case f.Round != p.seat.Round+1:
		return fmt.Errorf("together: the room asks for round %d after round %d", f.Round, p.seat.Round)
	case f.Round == p.answered && slices.Equal(f.Present, p.present):
		p.line.send(ctx, p.answer) // the line was broken
		return nil
	case f.Round <= p.seat.Answered:
		return fmt.Errorf("together: the room asks again for round %d, which was answered otherwise", f.Round)
	case !p.listed:
		return errors.New("together: the room asks for words before it has told the others who has come back")
	case len(f.Present.All()) < p.guest.Agreement.Config.Together.Quorum || !f.Present.Has(p.seat.Seat):
		return fmt.Errorf("together: the room asks for round %d with too few parties", f.Round)
	}
	bad, told := p.judge(f)
	var answer wire.Frame = wire.Dispute{Round: f.Round, Seats: bad}
	if len(bad) == 0 {
		masked := slices.Clone(words)
		if err := p.masks.add(masked, f.Round, f.Present, p.seat.Seat); err != nil {
			return err
		}
		answer = wire.Words{Round: f.Round, Words: masked}
	}
	p.seat.Answered = f.Round
	if p.guest.Keep != nil {
		if err := p.guest.Keep(p.Seat()); err != nil {
			return fmt.Errorf("together: what the party needs in order to come back: %w", err)
		}
	}
	p.answered, p.present, p.answer = f.Round, f.Present, answer
	p.line.send(ctx, answer)
	if told {
		return ErrTold
	}
	return nil
}

// judge returns those who were told something else than this party, or whom it does not know, and whether it is most
// of the others who were told something else. A seat that is empty tells nothing of the room, and neither does one other
// of several: that one may lie.
func (p *Party) judge(f wire.Round) (bad wire.Seats, told bool) {
	differ, others := 0, 0
	for i, at := range f.Present.All() {
		if at == p.seat.Seat {
			continue
		}
		others++
		switch {
		case at >= len(p.seat.Cards) || len(p.seat.Cards[at].Public) == 0:
			bad = bad.With(at)
		case !p.seat.Cards[at].proves(p.seat.Entries, p.seat.Log, f.Proofs[i]):
			bad = bad.With(at)
			differ++
		}
	}
	return bad, 2*differ > others && (others > 1 || len(p.seat.Cards) == 2)
}

func unexpected(f wire.Frame) error {
	if over, ok := f.(wire.Over); ok {
		return &OverError{over.Why}
	}
	return fmt.Errorf("together: the room says %T out of turn", f)
}
