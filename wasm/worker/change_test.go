package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// changing is a fake that notes what it is told. While it takes a step it must not be told
// anything.
type changing struct {
	fake
	at    []int
	busy  bool
	lacks bool // there is no state of it once it was changed
}

func (c *changing) Change(to run.Change) (run.ChangeReply, error) {
	if c.busy {
		panic("changed amid a step")
	}
	if to["max_grad_norm"] < 0 {
		return run.ChangeReply{}, &run.ConfigError{Field: "max_grad_norm", Message: "too small"}
	}
	c.at = append(c.at, c.done)
	return run.ChangeReply{Changes: []run.Changed{{Step: c.done + 1, Field: "max_grad_norm", From: 1, To: to["max_grad_norm"]}}, Steps: c.steps}, nil
}

func (c *changing) Start(context.Context, *data.Dataset, compute.Backend) (Trainer, error) {
	return c, nil
}

func (c *changing) Checkpoint(ctx context.Context) ([]byte, int, error) {
	if len(c.at) > 0 && c.lacks {
		return nil, 0, errors.New("it was changed")
	}
	return c.fake.Checkpoint(ctx)
}

func TestChangesAreAnsweredWithTheirStep(t *testing.T) {
	c := &changing{}
	c.fake = fake{steps: 1 << 40, before: func(int) error {
		c.busy = true
		time.Sleep(100 * time.Microsecond)
		c.busy = false
		return nil
	}}
	p := newPage(t, func(run.Config, data.Meta) (Planned, error) { return c, nil })
	refused := func(id int, text, says string) {
		t.Helper()
		p.send(Change, id, text)
		if m := p.next(ErrorType); m.ID != id || !strings.Contains(m.Text, says) {
			t.Errorf("%s was answered by %s", text, m.Text)
		}
	}
	refused(1, `{"run":2,"change":{"max_grad_norm":3}}`, "has ended") // nothing runs
	p.send(Train, 2, `{"config":{"data":"digits"},"paused":true}`)
	p.state(Paused)
	refused(3, `{"run":2,"change":{"max_grad_norm":3}}`, "first step") // it has not begun
	refused(4, `{"run":1,"change":{"max_grad_norm":3}}`, "has ended")
	p.send(Step, 2, "")
	p.next(EventsType)
	p.send(Change, 5, `{"run":2,"change":{"max_grad_norm":3}}`)
	if r := decode[run.ChangeReply](t, p.next(ReplyType)); r.Changes[0].Step != 2 { // while it is paused
		t.Errorf("the change holds from step %d on, want 2", r.Changes[0].Step)
	}
	refused(6, `{"run":2,"change":{"max_grad_norm":-3}}`, `"field":"max_grad_norm"`)
	refused(7, `{"run":2,"change":{"max_grad_norm":"wide"}}`, `give a number`)
	refused(8, `{"run":2,"change":[]}`, `change`)
	refused(8, `{"run":2,"change":{"max_grad_norm":null}}`, `"field":"max_grad_norm"`)
	for _, value := range []string{`"wide"`, `{}`, `{"$numberDouble":"NaN"}`, `{"$numberDouble":"-Infinity"}`} { // as the page writes them
		refused(8, `{"run":2,"change":{"learning_rate":0.1,"max_grad_norm":`+value+`}}`, `"field":"max_grad_norm"`)
	}
	p.send(Resume, 2, "")
	p.state(Running)
	for id := 9; id < 30; id++ { // while it goes on
		p.send(Change, id, `{"run":2,"change":{"max_grad_norm":5}}`)
		if m := p.next(ReplyType); m.ID != id {
			t.Fatalf("a reply to %d, want %d", m.ID, id)
		}
	}
	p.send(Pace, 2, "0.001")
	p.send(Change, 30, `{"run":2,"change":{"max_grad_norm":7}}`) // while it waits for its turn
	p.next(ReplyType)
	p.send(Pace, 2, "nonsense")
	p.send(Stop, 2, "")
	p.next(DoneType)
	refused(31, `{"run":2,"change":{"max_grad_norm":3}}`, "has ended")
	if len(c.at) != 23 {
		t.Errorf("%d changes were made, want 23", len(c.at))
	}
}

// What cannot be changed says so by name, such as several runs that are tried.
func TestImpossibleChangesAreRefusedByName(t *testing.T) {
	p := newPage(t, steps(1<<40))
	p.send(Train, 1, anyRun)
	p.next(EventsType)
	p.send(Change, 2, `{"run":1,"change":{"max_grad_norm":3}}`)
	if m := p.next(ErrorType); !strings.Contains(m.Text, `"field":"tuning"`) {
		t.Errorf("it was answered by %s", m.Text)
	}
	p.send(Stop, 1, "")
	p.next(DoneType)
}

// Of a run that was changed nothing is stored any more, as what goes on from it would not
// know; and the result says so.
func TestChangedRunsAreNotKept(t *testing.T) {
	c := &changing{fake: fake{steps: 100}, lacks: true}
	v := newMemStore()
	p := storing(t, v, func(run.Config, data.Meta) (Planned, error) { return c, nil })
	p.send(Train, 1, keptRequest)
	p.state(Paused)
	p.send(Step, 1, "")
	v.stored(t, anyID, 1)
	p.send(Change, 2, `{"run":1,"change":{"max_grad_norm":3}}`)
	p.next(ReplyType)
	if n := v.size(); n != 0 {
		t.Errorf("after a change %d runs are stored", n)
	}
	p.send(Resume, 1, "")
	r := decode[run.Result](t, p.next(DoneType))
	if text, _ := json.Marshal(r.Notes); !strings.Contains(string(text), "it was changed") {
		t.Errorf("the notes are %s", text)
	}
}
