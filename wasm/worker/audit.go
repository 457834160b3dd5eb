package worker

import (
	"encoding/json"
	"fmt"
	"time"
)

// Audit asks for a one-run audit of the trainer; its text is a
// train.AuditConfig.
//
//	audit → progress [AuditProgress]…, reply: a train.AuditReport
//
// It keeps the worker busy until it is over: a page starts a worker for it, and
// ends the worker to end the audit.
const Audit = "audit"

// AuditProgress says how far an audit is.
type AuditProgress struct {
	Step  int `json:"step"`
	Steps int `json:"steps"`
}

// progressEvery is how often an audit says how far it is.
const progressEvery = 50 * time.Millisecond

func (s *Session) audit(r Request) (any, error) {
	if s.host.Audit == nil {
		return nil, fmt.Errorf("worker: this program has no audit")
	}
	text := r.Text
	if text == "" {
		text = "{}"
	}
	told := s.host.Now()
	return s.host.Audit(json.RawMessage(text), func(step, steps int) error {
		if now := s.host.Now(); now.Sub(told) >= progressEvery || step == steps {
			told = now
			s.post(ProgressType, r.ID, AuditProgress{step, steps})
			s.host.Yield()
		}
		return nil
	})
}
