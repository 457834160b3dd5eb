package worker

import (
	"fmt"
	"time"

	"clipscope/core/run"
)

// progressEvery is how often an audit says how far it is.
const progressEvery = 50 * time.Millisecond

func (s *Session) audit(id int, q run.AuditRequest) (any, error) {
	if s.host.Audit == nil {
		return nil, fmt.Errorf("worker: this program has no audit")
	}
	told := s.host.Now()
	return s.host.Audit(q, func(step, steps int) error {
		if now := s.host.Now(); now.Sub(told) >= progressEvery || step == steps {
			told = now
			s.post(ProgressType, id, run.AuditProgress{Step: step, Steps: steps})
			s.host.Yield()
		}
		return nil
	})
}
