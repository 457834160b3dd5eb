// Package model reads, writes and applies trained models, apart from their runs. It has
// the file of a model, its answers, and the forms that other programs take it in.
// docs/applying.md describes the file.
package model

import (
	"encoding/json"

	"clipscope/core/run"
)

// Format and Version are what a file says of itself. A reader takes files of its own
// version and of those before it; files that say neither are of version 0.
const (
	Format  = "clipscope-model"
	Version = 1
)

// File is a saved model.
//
// Guarantee: as [run.Released]: a file holds nothing of the training rows but what was
// released, what counts as public and what was declared.
type File struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Program string `json:"program,omitempty"` // what wrote it, and which version and hash of it

	Config     run.Config `json:"config"`
	Guarantee  string     `json:"guarantee"`           // the promise in one sentence
	Statement  string     `json:"statement,omitempty"` // the whole of it in words
	Epsilon    run.Number `json:"epsilon"`
	Delta      float64    `json:"delta"`
	Accountant string     `json:"accountant"`
	Steps      int        `json:"steps"`
	// Planned is how many steps ε is charged for, and Events is what it was worked out from,
	// in the form of privacy.MarshalEvent. Earlier versions wrote neither.
	Planned int               `json:"planned_steps,omitempty"`
	Events  []json.RawMessage `json:"events,omitempty"`
	Apply   *run.Application  `json:"apply"`
	// Parameters are those of one layer after the other, see [run.AppliedLayer].
	Parameters []float32 `json:"parameters"`
}
