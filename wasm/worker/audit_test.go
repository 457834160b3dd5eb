package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"clipscope/core/run"
)

func TestAuditReportsProgress(t *testing.T) {
	var sent []run.Message
	now := time.Unix(0, 0)
	yields := 0
	s := NewSession(Host{
		Post: func(m run.Message) { sent = append(sent, m) }, Now: func() time.Time { return now }, Yield: func() { yields++ },
		Audit: func(q run.AuditRequest, progress func(int, int) error) (run.AuditReport, error) {
			if q.Canaries == 1 {
				return run.AuditReport{}, errors.New("too few")
			}
			for step := 1; step <= 10; step++ {
				now = now.Add(20 * time.Millisecond)
				if err := progress(step, 10); err != nil {
					return run.AuditReport{}, err
				}
			}
			return run.AuditReport{Steps: 10}, nil
		},
	})
	reply, err := s.answer(context.Background(), Request{Message: run.Message{Type: Audit, ID: 4, Text: `{"canaries":2}`}})
	if r, ok := reply.(run.AuditReport); err != nil || !ok || r.Steps != 10 {
		t.Fatalf("%v, %v", reply, err)
	}
	// Every third step, and the last.
	if len(sent) != 4 || yields != 4 || sent[0].Type != ProgressType || sent[0].ID != 4 || sent[3].Text != `{"step":10,"steps":10}` {
		t.Errorf("progress %+v", sent)
	}
	if _, err := s.answer(context.Background(), Request{Message: run.Message{Type: Audit, ID: 5, Text: `{"canaries":1}`}}); err == nil {
		t.Error("no error")
	}
	if _, err := NewSession(Host{}).answer(context.Background(), Request{Message: run.Message{Type: Audit, ID: 1, Text: "{}"}}); err == nil {
		t.Error("no error without an audit")
	}
}
