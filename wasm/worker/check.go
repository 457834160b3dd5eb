package worker

import (
	"strings"

	"clipscope/core/check"
	"clipscope/core/data"
)

// examine checks the file beside the request.
func examine(r Request) (any, error) {
	f, b, err := wholeFile(r)
	if err != nil {
		return nil, err
	}
	v, err := check.Check(f.Name(), b)
	if err != nil {
		return nil, &data.Error{File: f.Name(), Got: strings.TrimPrefix(err.Error(), "check: "), Fix: "Choose the file as the page saved it: a model, a run, a privacy statement or a ledger."}
	}
	return v, nil
}
