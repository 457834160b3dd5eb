package worker

import (
	"fmt"
	"strings"

	"clipscope/core/check"
	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// examine checks the file beside the request, or only recognises it.
func examine(r Request, q run.CheckRequest) (any, error) {
	do, most := check.Check, check.MaxBytes
	if q.Recognise {
		do = check.Recognise
		most = func(head []byte) int64 { return min(check.MaxBytes(head), check.MostRecognised) }
	}
	f, b, err := wholeFile(r, func(f source.File, head []byte) error {
		if most := most(head); f.Size() > most {
			return notSaved(f, fmt.Sprintf("%d MB, more than the %d that are read of such a file", f.Size()>>20, most>>20))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v, err := do(f.Name(), b)
	if err != nil {
		return nil, notSaved(f, strings.TrimPrefix(err.Error(), "check: "))
	}
	return v, nil
}

// notSaved tells its owner that a file is none that the page saves.
func notSaved(f source.File, why string) error {
	return &data.Error{File: f.Name(), Got: why, Fix: "Choose the file as the page saved it: a model, a run, a privacy statement or a ledger."}
}
