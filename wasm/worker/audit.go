package worker

import (
	"errors"
	"time"

	"clipscope/core/run"
)

// progressEvery is the time between two progress messages of an audit.
const progressEvery = 50 * time.Millisecond

// audit returns the handler of an audit.
func audit(m mail, do func(run.AuditRequest, func(step, steps int) error) (run.AuditReport, error)) handler {
	return request(func(r Request, q run.AuditRequest) (run.AuditReport, error) {
		if do == nil {
			return run.AuditReport{}, errors.New("worker: this program has no audit")
		}
		progress := m.throttle(progressEvery)
		return do(q, func(step, steps int) error {
			if progress.open() || step == steps {
				m.send(ProgressType, r.ID, run.AuditProgress{Step: step, Steps: steps})
				m.yield()
			}
			return nil
		})
	})
}
