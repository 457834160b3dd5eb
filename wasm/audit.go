//go:build js && wasm

package wasm

import (
	"context"

	auditing "clipscope/core/audit"
	"clipscope/core/run"
)

// audit runs an audit of the trainer.
func audit(q run.AuditRequest, progress func(step, steps int) error) (run.AuditReport, error) {
	found, err := backend(q.Run)
	if err != nil {
		return run.AuditReport{}, err
	}
	be, note, err := found.Open()
	if err != nil {
		return run.AuditReport{}, err
	}
	defer be.Close()
	if c := q.Run.Backend; c != "" && c != "auto" && c != be.Name() {
		for _, w := range found.Warnings {
			note = w.Message + " " + note
		}
		return run.AuditReport{}, &run.ConfigError{Field: "backend", Message: "an audit runs where it is asked for, or not at all: " + note}
	}
	a, err := auditing.New(q, be)
	if err != nil {
		return run.AuditReport{}, err
	}
	return a.Run(context.Background(), progress)
}
