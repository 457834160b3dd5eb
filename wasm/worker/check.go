package worker

import (
	"errors"
	"strings"

	"clipscope/core/check"
	"clipscope/core/data"
)

// examine checks the file beside the request.
func examine(r Request) (any, error) {
	if len(r.TrainFiles) != 1 {
		return nil, errors.New("worker: one file is what this request takes")
	}
	f := r.TrainFiles[0]
	b, err := whole(f)
	if err != nil {
		return nil, err
	}
	v, err := check.Check(f.Name(), b)
	if err != nil {
		return nil, &data.Error{File: f.Name(), Got: strings.TrimPrefix(err.Error(), "check: "), Fix: "Choose the file as the page saved it: a model, a run, a privacy statement or a ledger."}
	}
	return v, nil
}
