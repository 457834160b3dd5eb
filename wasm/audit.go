//go:build js && wasm

package wasm

import (
	"context"

	"clipscope/core/run"
	"clipscope/core/train"
)

// audit runs an audit of the trainer.
func audit(q run.AuditRequest, progress func(step, steps int) error) (run.AuditReport, error) {
	found, err := backend(q.Run)
	if err != nil {
		return run.AuditReport{}, err
	}
	be, _, err := found.Open()
	if err != nil {
		return run.AuditReport{}, err
	}
	defer be.Close()
	a, err := train.NewAudit(q, be)
	if err != nil {
		return run.AuditReport{}, err
	}
	return a.Run(context.Background(), progress)
}
