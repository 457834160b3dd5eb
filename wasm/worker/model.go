package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// Blob is bytes on their way to the page, which the host keeps where it has room.
type Blob interface {
	io.Writer
	// Sent is what [run.Message] carries.
	Sent() any
}

// held is a model with the backend that it is on.
type held struct {
	*model.Predictor
	be compute.Backend
}

func (h *held) close() {
	if h != nil {
		h.Close()
		h.be.Close()
	}
}

// blobbed is a reply with bytes beside it.
type blobbed struct {
	reply any
	blob  Blob
}

// loadModel replaces the session's model, and only when it succeeds.
func (s *Session) loadModel(r Request) (any, error) {
	if len(r.TrainFiles) != 1 {
		return nil, errors.New("worker: one file of a model is what this request takes")
	}
	f := r.TrainFiles[0]
	h, err := s.openModel(f)
	if err != nil {
		return nil, err
	}
	s.model.close()
	s.model = h
	return h.Info(), nil
}

func (s *Session) openModel(f data.File) (*held, error) {
	b, err := whole(f)
	if err != nil {
		return nil, err
	}
	file, err := model.Read(b)
	if err != nil {
		return nil, noModel(f, err)
	}
	// The time that a GPU takes to be ready is longer than most answers take.
	on, err := s.host.Backend(run.Config{Backend: "simd"})
	if err != nil {
		return nil, err
	}
	be, _, err := on.Open()
	if err != nil {
		return nil, err
	}
	p, err := model.Open(file, be)
	if err != nil { // another file is no remedy
		be.Close()
		return nil, &data.Error{File: f.Name(), Got: modelFault(err)}
	}
	p.Files = s.host.Files
	return &held{p, be}, nil
}

// noModel is why a file is no model, for its owner.
func noModel(f data.File, err error) error {
	return &data.Error{File: f.Name(), Got: modelFault(err), Fix: "Choose a model that this page has saved: its zip, its JSON or its safetensors file."}
}

// modelFault is an error of package model as a [data.Error] takes it.
func modelFault(err error) string {
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), "model: "), ".")
}

// whole is all of a file.
func whole(f data.File) ([]byte, error) {
	if f.Size() > model.MaxBytes {
		return nil, noModel(f, fmt.Errorf("%d MB, more than the %d that a browser tab can hold", f.Size()>>20, model.MaxBytes>>20))
	}
	r, err := f.Open()
	if err != nil {
		return nil, &data.Error{File: f.Name(), Got: "the file could not be opened", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
	}
	defer r.Close()
	b := make([]byte, f.Size())
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, &data.Error{File: f.Name(), Got: "the file could not be read", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
	}
	return b, nil
}

var errNoModel = errors.New("worker: no model is open here: send one first")

func (s *Session) predict(r Request, q run.PredictRequest) (any, error) {
	switch {
	case s.model == nil:
		return nil, errNoModel
	case len(r.TrainFiles) == 0:
		return s.model.Predict(context.Background(), q.Rows)
	case len(r.TrainFiles) > 1 || len(q.Rows) > 0:
		return nil, errors.New("worker: rows, or one file, are what this request takes")
	}
	out := s.host.Blob()
	reply, err := s.model.Answer(context.Background(), r.TrainFiles[0], out, s.progress(r.ID))
	if err != nil {
		return nil, err
	}
	return blobbed{reply, out}, nil
}

func (s *Session) evaluate(r Request) (any, error) {
	if s.model == nil {
		return nil, errNoModel
	}
	return s.model.Evaluate(context.Background(), append(r.TrainFiles, r.TestFiles...), s.progress(r.ID))
}

// progress tells the page how far the reading of files is.
func (s *Session) progress(id int) func(data.Progress) {
	return func(p data.Progress) { s.post(ProgressType, id, p) }
}
