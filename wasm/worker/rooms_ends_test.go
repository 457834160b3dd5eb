package worker

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// member is a party of a room that never starts.
type member struct {
	party
	join func(context.Context, Meeting) (Trainer, error)
}

func (m *member) Join(ctx context.Context, _ *data.Dataset, _ compute.Backend, at Meeting) (Trainer, error) {
	return m.join(ctx, at)
}

const anyParty = `{"config":{"data":"digits","together":{"parties":3}},"together":{"room":"r","secret":"s","name":"n"}}`

// TestARoomThatNeverStartsIsNotCharged: it ended while somebody waited there.
func TestARoomThatNeverStartsIsNotCharged(t *testing.T) {
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		return &member{party: party{fake: &fake{steps: 3}}, join: func(context.Context, Meeting) (Trainer, error) {
			return nil, errors.New("nothing happened for too long")
		}}, nil
	})
	p.send(Train, 1, anyParty)
	m := p.next(FailedType)
	f := decode[run.Failure](t, m)
	if !f.Unreleased {
		t.Errorf("the page is told %s", m.Text)
	}
}

// TestAPartyThatFailsAfterTheStartIsCharged.
func TestAPartyThatFailsAfterTheStartIsCharged(t *testing.T) {
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		return &member{party: party{fake: &fake{steps: 3}}, join: func(context.Context, Meeting) (Trainer, error) {
			return &fake{steps: 3, before: func(int) error { return errors.New("the line is broken") }}, nil
		}}, nil
	})
	p.send(Train, 1, anyParty)
	if f := decode[run.Failure](t, p.next(FailedType)); f.Unreleased {
		t.Error("the page is told that nothing was released")
	}
}

// TestARunCanBeStartedAgain: where too few had come when it was first tried.
func TestARunCanBeStartedAgain(t *testing.T) {
	in := make(chan Meeting)
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		return &member{party: party{fake: &fake{steps: 3}}, join: func(_ context.Context, at Meeting) (Trainer, error) {
			in <- at
			<-at.Begin
			<-at.Begin
			return &fake{steps: 3}, nil
		}}, nil
	})
	p.send(Train, 1, anyParty)
	at := <-in
	p.send(Begin, 1, "")
	for len(at.Begin) > 0 {
		time.Sleep(time.Millisecond)
	}
	p.send(Begin, 1, "")
	p.state(Done)
	p.send(Begin, 1, "") // of a run that has ended
	at.Show(run.PartyState{Sent: 7})
	time.Sleep(2 * trialEvery)
	for {
		select {
		case m := <-p.got:
			if m.Type == PartyType {
				t.Error("a party's message follows the end")
			}
			continue
		default:
		}
		break
	}
}

// TestFeaturesOfBuiltinDataAreNotShared: what a backbone made cannot be drawn again.
func TestFeaturesOfBuiltinDataAreRefused(t *testing.T) {
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) {
		return &member{party: party{fake: &fake{steps: 3}}}, nil
	})
	p.send(Open, 1, `{"data":"digits"}`)
	p.next(ReplyType)
	made := *openRows(p.s)
	made.Features, made.Backbone = 512, &run.Backbone{SHA256: "x"}
	open := p.s.runs.plans.data
	open.rows = &made
	c := run.Config{}
	_ = json.Unmarshal([]byte(`{"data":"digits","together":{"parties":3}}`), &c)
	ready, err := p.s.runs.plans.prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	if ds, err := open.apart(ready); err == nil && ds.Features != ready.ds.Features {
		t.Errorf("a plan on %d features has rows of %d", ready.ds.Features, ds.Features)
	}
}
