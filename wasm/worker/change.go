package worker

import (
	"context"
	"errors"

	"clipscope/core/run"
)

// Changer is a Trainer whose numbers can be changed between two steps, where its run is for
// teaching.
type Changer interface {
	Change(run.Change) (run.ChangeReply, error)
}

var errEnded = errors.New("the run has not taken its first step, or has ended: there is nothing to change")

// change changes the run in progress between two steps, and deletes its checkpoint: a run
// that went on from that would not know of the change.
func (s *runs) change(q run.ChangeRequest) (reply run.ChangeReply, _ error) {
	r := s.find(q.Run)
	if r == nil {
		return reply, errEnded
	}
	err, done := errEnded, make(chan struct{})
	ok := r.gate.between(func() {
		defer close(done)
		reply, err = r.change(q.Numbers())
	})
	if !ok {
		return reply, errEnded
	}
	<-done
	return reply, err
}

func (r *running) change(c run.Change) (run.ChangeReply, error) {
	if r.trainer == nil {
		return run.ChangeReply{}, errEnded
	}
	t, ok := r.trainer.(Changer)
	if !ok {
		return run.ChangeReply{}, &run.ConfigError{Field: "tuning", Message: "several runs are tried here, each with numbers of its own, which were fixed beforehand; a single run can be changed"}
	}
	reply, err := t.Change(c)
	if err != nil || len(reply.Changes) == 0 {
		return reply, err
	}
	r.checkpoints.storeSoon() // it finds that there is no state any more
	if err := r.checkpoints.storeIfDue(context.Background(), r.trainer, false); err != nil {
		r.stop()
		return reply, err
	}
	return reply, nil
}
