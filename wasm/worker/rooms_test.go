package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// party is a run of several parties that meet when the page says so.
type party struct {
	*fake
	joined chan Meeting
	rows   chan *data.Dataset
	answer []byte // of a checkpoint that it came back from
}

func (p *party) Invite(context.Context, []string) (run.Invitation, error) {
	return run.Invitation{Room: "here", Secret: "s"}, nil
}

func (p *party) Compare(_ context.Context, in run.Invitation, _ []string) ([]run.Difference, error) {
	return []run.Difference{{Path: "config.steps", Theirs: in.Room}}, nil
}

func (p *party) Join(ctx context.Context, ds *data.Dataset, _ compute.Backend, m Meeting) (Trainer, error) {
	p.joined <- m
	p.rows <- ds
	select {
	case <-m.Begin:
		return p.fake, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *party) Rejoin(_ context.Context, _ *data.Dataset, _ compute.Backend, _ Meeting, state []byte, released int) (Trainer, error) {
	p.answer = append(state, byte(released))
	return p.fake, nil
}

// shared has a page whose runs are of several parties.
func shared(t *testing.T, steps int, changes ...func(*Host)) (*page, *party) {
	f := &party{fake: &fake{steps: steps}, joined: make(chan Meeting, 9), rows: make(chan *data.Dataset, 9)}
	changes = append(changes, func(h *Host) {
		h.Agreement = func(_ context.Context, in run.Invitation) (run.Agreed, error) {
			if in.Room != "here" {
				return run.Agreed{}, errors.New("there is no such room")
			}
			return run.Agreed{Config: run.Config{Method: "dc-e"}}, nil
		}
	})
	return newPage(t, func(run.Config, data.Meta) (Planned, error) { return f, nil }, changes...), f
}

const joining = `{"config":{"data":"digits","together":{"parties":2}},"together":{"room":"here","secret":"s","name":"me"}}`

// TestARoomIsAskedAbout: what it is for, how settings differ, and what opens one.
func TestARoomIsAskedAbout(t *testing.T) {
	p, _ := shared(t, 5)
	p.send(Invite, 1, `{"config":{"data":"digits","together":{"parties":2}}}`)
	if in := decode[run.Invitation](t, p.next(ReplyType)); in.Room != "here" {
		t.Errorf("an invitation to %q", in.Room)
	}
	p.send(Invited, 2, `{"room":"here","secret":"s"}`)
	if a := decode[run.Agreed](t, p.next(ReplyType)); a.Config.Method != "dc-e" || a.Differences != nil {
		t.Errorf("what was agreed on: %+v", a)
	}
	p.send(Invited, 3, `{"room":"here","secret":"s","config":{"data":"digits","together":{"parties":2}}}`)
	if a := decode[run.Agreed](t, p.next(ReplyType)); len(a.Differences) != 1 || a.Differences[0].Path != "config.steps" {
		t.Errorf("what differs: %+v", a)
	}
	for i, c := range []struct{ kind, text, want string }{
		{Invited, `{"room":"there"}`, "no such room"},
		{Invite, anyRun, "together.parties"},
		{Train, `{"config":{"data":"digits"},"together":{"room":"here"}}`, "together.parties"},
	} {
		p.send(c.kind, 4+i, c.text)
		if m := p.next(ErrorType); !strings.Contains(m.Text, c.want) {
			t.Errorf("%s %s: %s", c.kind, c.text, m.Text)
		}
	}
}

// TestAPartyMeetsOthers: it is told of as they come, starts when its page says so, once, and says nothing after its end.
func TestAPartyMeetsOthers(t *testing.T) {
	var seeds []uint64
	p, f := shared(t, 20, func(h *Host) {
		inner := h.Builtin
		h.Builtin = func(name string, seed uint64) (*data.Dataset, error) {
			seeds = append(seeds, seed)
			return inner(name, seed)
		}
	})
	p.send(Train, 1, joining)
	p.next(ReplyType)
	m := <-f.joined
	if m.Name != "me" || m.Room != "here" || m.Keep != nil {
		t.Errorf("it joins as %+v", m.Joining)
	}
	if len(seeds) != 2 || seeds[1] == seeds[0] {
		t.Errorf("its rows are drawn with %v", seeds)
	}
	m.Show(run.PartyState{Seats: []run.PartySeat{{Name: "me", You: true}}})
	if s := decode[run.PartyState](t, p.next(PartyType)); len(s.Seats) != 1 {
		t.Errorf("it is told of %+v", s.Seats)
	}
	p.send(Begin, 2, "") // another run's
	p.send(Begin, 1, "")
	p.send(Begin, 1, "")
	for i := range 500 {
		m.Show(run.PartyState{Fingerprint: "f", Sent: int64(i)})
	}
	told := 0
	for m := p.next(PartyType, DoneType); m.Type == PartyType; m = p.next(PartyType, DoneType) {
		told++
	}
	if told > 2 {
		t.Errorf("it was told %d times at once", told)
	}
	m.Show(run.PartyState{Sent: 1 << 40})
	p.send(Begin, 1, "")
	p.send(Memory, 3, "")
	for msg := range p.got {
		if msg.Type == PartyType {
			t.Errorf("it is told of after its end: %s", msg.Text)
		}
		if msg.Type == ReplyType {
			break
		}
	}
}

// TestAPartyThatStopsBeforeTheStart has a result of nothing, which is not charged.
func TestAPartyThatStopsBeforeTheStart(t *testing.T) {
	p, f := shared(t, 20)
	p.send(Train, 1, joining)
	p.next(ReplyType)
	<-f.joined
	p.send(Stop, 1, "")
	if r := decode[run.Result](t, p.next(DoneType)); r.Steps != 0 || r.Charged || !r.Stopped {
		t.Errorf("its result is %+v", r)
	}
}

// TestAPartyIsStoredExactly: what it may have answered is on disk before it answers, and no more than that.
func TestAPartyIsStoredExactly(t *testing.T) {
	clock := time.Now()
	k := newCheckpointWriter(&memStore{}, func() time.Time { return clock }, anyID, run.CheckpointInfo{Steps: 100, Config: run.Config{Together: run.Together{Parties: 2}}})
	if k.interval != 0 {
		t.Errorf("the first state is stored after %v", k.interval)
	}
	clock = clock.Add(time.Minute)
	for _, step := range []int{1, 2, 90} {
		if got := k.lastCovered(step); got != step {
			t.Errorf("step %d covers %d", step, got)
		}
	}
}
