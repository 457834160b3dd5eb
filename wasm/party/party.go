// Package party runs a plan of several parties for one of them, who meets the others in a room.
package party

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/together"
	"clipscope/core/together/wire"
	"clipscope/core/train"
	"clipscope/wasm/worker"
)

// answerSeconds bounds the wait of a room for a party in a round: a first step, for which kernels are compiled, takes some
// seconds on a phone.
const answerSeconds = 60

// Invite opens a room for a run of a plan, whose data has these classes.
func Invite(ctx context.Context, h together.Host, p *plan.Plan, classes []string) (run.Invitation, error) {
	info, terms := p.Info(), p.Terms()
	if info.Together == nil {
		return run.Invitation{}, plan.Fault("together.parties", "one party alone needs no room; write how many there are")
	}
	secret, err := together.NewSecret()
	if err != nil {
		return run.Invitation{}, fmt.Errorf("party: %w", err)
	}
	seed, err := together.NewSecret() // drawn alike, and told to everybody
	if err != nil {
		return run.Invitation{}, fmt.Errorf("party: %w", err)
	}
	a := together.NewAgreement(terms.Config, terms.Meta, classes, seed)
	sealed, err := together.SealAgreement(secret, &a)
	if err != nil {
		return run.Invitation{}, fmt.Errorf("party: %w", err)
	}
	g := terms.Config.Together
	name, err := together.OpenRoom(ctx, h, wire.Terms{
		Parties: uint16(g.Parties), Quorum: uint16(g.Quorum), Words: uint32(info.Together.StepBytes / 4), Rounds: uint32(terms.Steps), AnswerSeconds: answerSeconds,
	}, sealed)
	if err != nil {
		return run.Invitation{}, fmt.Errorf("party: %w", err)
	}
	return run.Invitation{Room: name, Secret: base64.RawURLEncoding.EncodeToString(secret[:])}, nil
}

// Find returns the agreement of the parties who meet in a room.
func Find(ctx context.Context, h together.Host, in run.Invitation) (together.Agreement, error) {
	secret, err := secretOf(in)
	if err != nil {
		return together.Agreement{}, err
	}
	_, sealed, err := together.FindRoom(ctx, h, in.Room)
	if err != nil {
		return together.Agreement{}, fmt.Errorf("party: %w", err)
	}
	a, err := together.OpenAgreement(secret, sealed)
	if err != nil {
		return a, fmt.Errorf("party: the link is not whole, or not to this room: %w", err)
	}
	return a, nil
}

func secretOf(in run.Invitation) (together.Secret, error) {
	b, err := base64.RawURLEncoding.DecodeString(in.Secret)
	if err != nil || len(b) != len(together.Secret{}) {
		return together.Secret{}, errors.New("party: the link is not whole: copy all of it")
	}
	return together.Secret(b), nil
}

// own makes the agreement that a plan's owner would make, with the seed of another.
func own(p *plan.Plan, classes []string, seed []byte) (together.Agreement, error) {
	if len(seed) != 32 {
		return together.Agreement{}, errors.New("party: an agreement without its seed")
	}
	terms := p.Terms()
	return together.NewAgreement(terms.Config, terms.Meta, classes, [32]byte(seed)), nil
}

// Compare lists where an agreement and a plan, on data with these classes, differ.
func Compare(theirs *together.Agreement, p *plan.Plan, classes []string) ([]run.Difference, error) {
	yours, err := own(p, classes, theirs.Seed)
	if err != nil {
		return nil, err
	}
	all, err := together.Differences(theirs, &yours)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return all, nil
}

// differ is the error of a plan that differs from an agreement.
func differ(all []run.Difference) error {
	const most = 5
	var said []string
	for i, d := range all {
		if i == most {
			said = append(said, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		said = append(said, fmt.Sprintf("%s (%s there, %s here)", d.Path, cmp.Or(d.Theirs, "nothing"), cmp.Or(d.Yours, "nothing")))
	}
	return plan.Fault("together.parties", "the parties of this room have agreed on something else: %s", strings.Join(said, ", "))
}

// Trainer is a run that has met its others.
type Trainer struct {
	*train.Run
	party *together.Party
	room  *exchange
	kept  kept
	price run.Number          // ε of the plan
	cut   context.CancelFunc  // of the connection
	ended bool                // it has its result, and will not come back
	over  *together.OverError // the room ended it; nil: it did not
}

// kept holds what a checkpoint has beside the state of the run.
type kept struct {
	Joining run.Joining   `json:"joining"`
	Seed    []byte        `json:"seed"`
	Seat    together.Seat `json:"seat"`
}

// exchange has a page told of a party's exchange.
type exchange struct {
	*together.Party
	meeting worker.Meeting
	state   run.PartyState
}

// noticeable is the wait for others of which somebody who watches is told: in every step they take a little.
const noticeable = 2 * time.Second

// Sum hands words in and returns the sum, as [train.Exchange] says.
func (e *exchange) Sum(ctx context.Context, step int, words []uint32) ([]uint32, error) {
	waiting := e.state
	waiting.Waiting = true
	late := time.AfterFunc(noticeable, func() { e.meeting.Show(waiting) })
	sum, err := e.Party.Sum(ctx, step, words)
	late.Stop()
	if err == nil && sum == nil {
		e.state.Void++
	}
	if present := e.Party.Present(); err == nil {
		e.state.Present, e.state.Seats = len(present), slices.Clone(e.state.Seats)
		for i := range e.state.Seats {
			s := &e.state.Seats[i]
			s.Away = s.Name != "" && !slices.Contains(present, i)
		}
	}
	e.tell(false)
	return sum, err
}

func (e *exchange) tell(waiting bool) {
	e.state.Waiting = waiting
	e.state.Sent, e.state.Received = e.Moved()
	e.meeting.Show(e.state)
}

// Join meets the others in a room, and begins the run once it is started there.
//
// Guarantee: that of package together. Nothing of the rows has left before Join returns.
func Join(ctx context.Context, h together.Host, p *plan.Plan, ds *data.Dataset, be compute.Backend, m worker.Meeting) (*Trainer, error) {
	theirs, err := Find(ctx, h, m.Invitation)
	if err != nil {
		return nil, err
	}
	all, err := Compare(&theirs, p, ds.Classes)
	switch {
	case err != nil:
		return nil, err
	case len(all) > 0:
		return nil, differ(all)
	}
	t, err := enter(ctx, h, p, ds, m, kept{Joining: m.Joining, Seed: theirs.Seed}, nil)
	if err != nil {
		return nil, err
	}
	if err = t.wait(ctx); err == nil {
		t.Run, err = train.Join(ctx, p, ds, be, t.room)
	}
	if err != nil {
		t.ended = true
		t.leave()
		return nil, fmt.Errorf("party: %w", err)
	}
	return t, nil
}

// Rejoin comes back to a room in which the run goes on, from what Checkpoint returned. Released is how many
// rounds this party has answered.
//
// Guarantee: as [train.Rejoin]'s.
func Rejoin(ctx context.Context, h together.Host, p *plan.Plan, ds *data.Dataset, be compute.Backend, m worker.Meeting, state []byte, released int) (*Trainer, error) {
	k, c, err := read(state)
	if err != nil {
		return nil, err
	}
	back := k.Seat
	back.Answered = max(back.Answered, uint32(released))
	m.Joining = k.Joining
	t, err := enter(ctx, h, p, ds, m, k, &back)
	if err != nil {
		return nil, err
	}
	t.room.seated(back.Cards)
	t.room.state.Fingerprint = t.party.Fingerprint()
	if t.Run, err = train.Rejoin(ctx, p, ds, be, t.room, c); err != nil {
		t.leave()
		return nil, err
	}
	return t, nil
}

// Fits returns why a run of a plan cannot go on from a checkpoint, if there is a reason.
func Fits(p *plan.Plan, state []byte) error {
	_, c, err := read(state)
	if err != nil {
		return err
	}
	return c.Fits(p)
}

func enter(until context.Context, h together.Host, p *plan.Plan, ds *data.Dataset, m worker.Meeting, k kept, back *together.Seat) (*Trainer, error) {
	secret, err := secretOf(m.Invitation)
	if err != nil {
		return nil, err
	}
	a, err := own(p, ds.Classes, k.Seed)
	if err != nil {
		return nil, err
	}
	info := p.Info()
	g := together.Guest{Secret: secret, Agreement: a, Name: m.Name, Words: info.Together.StepBytes / 4, Steps: info.Steps}
	if m.Keep != nil {
		g.Keep = func(s together.Seat) error { return m.Keep(int(s.Answered)) }
	}
	// The connection outlasts a stop, so that the others can be told.
	ctx, cut := context.WithCancel(context.Background())
	abort := context.AfterFunc(until, cut) // a room that does not answer is waited for until then
	party, err := together.Enter(ctx, together.DialRoom(h, m.Room), g, back)
	if !abort() && err == nil {
		party.Close()
		err = until.Err()
	}
	if err != nil {
		cut()
		return nil, fmt.Errorf("party: %w", err)
	}
	return &Trainer{party: party, room: &exchange{Party: party, meeting: m}, kept: k, price: info.Epsilon, cut: cut}, nil
}

// wait waits for the start, and starts the run where the page says so.
func (t *Trainer) wait(ctx context.Context) error {
	e, started := t.room, make(chan struct{})
	defer close(started)
	go func() {
		for {
			select {
			case <-e.meeting.Begin: // again, where too few had come, or the connection was broken
				t.party.Start(ctx)
			case <-started:
				return
			}
		}
	}()
	err := t.party.Wait(ctx, func(cards []together.Card) {
		e.seated(cards)
		e.tell(true)
	})
	if err != nil {
		return err
	}
	e.seated(t.party.Seat().Cards)
	e.state.Fingerprint = t.party.Fingerprint()
	e.tell(false)
	return nil
}

// seated notes who is there.
func (e *exchange) seated(cards []together.Card) {
	own := e.Seat().Seat
	e.state.Seats = nil
	for i, c := range cards {
		e.state.Seats = append(e.state.Seats, run.PartySeat{Name: c.Name, You: i == own})
	}
}

var _ worker.Trainer = (*Trainer)(nil)

// Continue is of [worker.Trainer]. It returns an error: the others go on, and do not take steps back.
func (t *Trainer) Continue(ctx context.Context, be compute.Backend) (worker.Trainer, error) {
	_, err := t.Run.Continue(ctx, be)
	return nil, err
}

// Steps is of [worker.Trainer]. Where the room ends the run, as with too few parties, they end as after a stop.
func (t *Trainer) Steps(ctx context.Context) iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		for e, err := range t.Run.Steps(ctx) {
			if errors.As(err, &t.over) || !yield(e, err) {
				return
			}
		}
	}
}

// Result is of [worker.Trainer].
//
// Guarantee: where this party has answered a step, the result says that the run is charged.
func (t *Trainer) Result(ctx context.Context) (run.Result, error) {
	r, err := t.Run.Result(ctx)
	t.ended = err == nil // or the run can go on from its state
	charge := "It is charged in full, as planned."
	switch {
	case r.Steps > 0:
	case t.party.Seat().Answered > 0: // the others may have its words, and their sum
		r.Charged, r.Epsilon, r.EpsilonAtStep = true, t.price, t.price
		r.Guarantee = "This party had answered the first step when the run ended here: its sum may have been released, and all of the run is charged."
	default:
		charge = "Nothing had left this page, and nothing is charged."
	}
	if t.over != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("The room ended the run before its last step: %v. %s", t.over.Why, charge))
	}
	return r, err
}

// Close ends the run. Where it has its result the seat is given up, and otherwise it can be come back to.
func (t *Trainer) Close() {
	t.Run.Close()
	t.leave()
}

func (t *Trainer) leave() {
	if t.ended {
		t.party.Leave(context.Background())
	} else {
		t.party.Close()
	}
	t.cut()
}

// Checkpoint returns a state that [Rejoin] can go on from, and its step; 0 where there is none.
func (t *Trainer) Checkpoint(ctx context.Context) ([]byte, int, error) {
	c, err := t.Run.Checkpoint(ctx)
	if err != nil || c == nil {
		return nil, 0, err
	}
	k := t.kept
	k.Seat = t.party.Seat()
	if int(k.Seat.Round) != c.Step() {
		return nil, 0, nil // in the midst of a step
	}
	head, err := json.Marshal(k)
	if err != nil {
		return nil, 0, fmt.Errorf("party: %w", err)
	}
	return c.Append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...)), c.Step(), nil
}

func read(state []byte) (k kept, c *train.Checkpoint, err error) {
	if len(state) < 4 || uint64(binary.LittleEndian.Uint32(state)) > uint64(len(state)-4) {
		return k, nil, errors.New("party: no state of a run of several parties")
	}
	end := 4 + int(binary.LittleEndian.Uint32(state))
	if err := json.Unmarshal(state[4:end], &k); err != nil {
		return k, nil, fmt.Errorf("party: the state of a run of several parties: %w", err)
	}
	c, err = train.ReadCheckpoint(state[end:])
	return k, c, err
}
