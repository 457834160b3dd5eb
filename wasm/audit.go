//go:build js && wasm

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"clipscope/core/run"
	"clipscope/core/train"
)

// audit runs a one-run audit of the trainer.
func audit(config json.RawMessage, progress func(step, steps int) error) (any, error) {
	var c train.AuditConfig
	if err := json.Unmarshal(config, &c); err != nil {
		if ce := (*run.ConfigError)(nil); errors.As(err, &ce) {
			return nil, ce
		}
		return nil, fmt.Errorf("audit: %w", err)
	}
	be, _, err := openBackend(c.Run.Backend)
	if err != nil {
		return nil, err
	}
	defer be.Close()
	a, err := train.NewAudit(c, be)
	if err != nil {
		return nil, err
	}
	return a.Run(context.Background(), progress)
}
