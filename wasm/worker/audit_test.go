package worker

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

func TestAuditReportsProgress(t *testing.T) {
	var sent []Message
	now := time.Unix(0, 0)
	yields := 0
	s := NewSession(Host{
		Post: func(m Message) { sent = append(sent, m) }, Now: func() time.Time { return now }, Yield: func() { yields++ },
		Audit: func(config json.RawMessage, progress func(int, int) error) (any, error) {
			if string(config) == `{"canaries":1}` {
				return nil, errors.New("too few")
			}
			for step := 1; step <= 10; step++ {
				now = now.Add(20 * time.Millisecond)
				if err := progress(step, 10); err != nil {
					return nil, err
				}
			}
			return "report", nil
		},
	})
	reply, err := s.answer(Request{Message: Message{Type: Audit, ID: 4}})
	if err != nil || reply != "report" {
		t.Fatalf("%v, %v", reply, err)
	}
	// Every third step, and the last.
	if len(sent) != 4 || yields != 4 || sent[0].Type != ProgressType || sent[0].ID != 4 || sent[3].Text != `{"step":10,"steps":10}` {
		t.Errorf("progress %+v", sent)
	}
	if _, err := s.answer(Request{Message: Message{Type: Audit, ID: 5, Text: `{"canaries":1}`}}); err == nil {
		t.Error("no error")
	}
	if _, err := NewSession(Host{}).answer(Request{Message: Message{Type: Audit, ID: 1}}); err == nil {
		t.Error("no error without an audit")
	}
}
