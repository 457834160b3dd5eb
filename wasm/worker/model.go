package worker

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// models loads a saved model, and asks it for answers.
type models struct {
	opener
	backend func(run.Config) (Backend, error)
	files   load.Loader
	blob    func() Blob
	loaded  *predictor // nil until there is one
}

// predictor is a model with the back end that it is on, and what makes its features where it reads texts.
type predictor struct {
	*model.Predictor
	be     compute.Backend
	reader *textReader // nil: none
}

func (p *predictor) close() {
	if p != nil {
		p.Close()
		p.be.Close()
		p.reader.close()
	}
}

// load replaces the loaded model, and only when it succeeds. Behind the model's file there may be those of what makes its features.
func (s *models) load(r Request) (any, error) {
	var beside []source.File
	if len(r.TrainFiles) > 1 {
		r.TrainFiles, beside = r.TrainFiles[:1], r.TrainFiles[1:]
	}
	f, b, err := wholeFile(r, modelSize)
	if err != nil {
		return nil, err
	}
	file, err := model.Read(b)
	if err != nil {
		return nil, noModel(f, err)
	}
	reader, err := s.readerFor(r, file.Apply, beside)
	if err != nil {
		return nil, err
	}
	kept := false // a panic leaves it behind, too
	defer func() {
		if !kept {
			reader.close()
		}
	}()
	p, err := s.open(f, file)
	if err != nil {
		return nil, err
	}
	if p.reader = reader; reader != nil {
		p.Features = reader
	}
	s.loaded.close()
	s.loaded, kept = p, true
	return p.Info(), nil
}

// open brings a model onto a back end.
func (s *models) open(f source.File, file *model.File) (*predictor, error) {
	// The time that a GPU takes to be ready is longer than most answers take.
	on, err := s.backend(run.Config{Backend: "simd"})
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
	p.Files = s.files
	breath := s.mail.throttle(yieldEvery)
	p.Yield = func() {
		if breath.open() {
			s.mail.yield()
		}
	}
	return &predictor{Predictor: p, be: be}, nil
}

// savedModel says what is chosen where a model is to be opened.
const savedModel = "Choose a model that this page has saved: its zip, its JSON or its safetensors file"

// noModel tells its owner that a file is no model.
func noModel(f source.File, err error) error {
	return &data.Error{File: f.Name(), Got: modelFault(err), Fix: savedModel + "."}
}

// modelFault writes an error of package model as a [data.Error] has it.
func modelFault(err error) string {
	return strings.TrimSuffix(strings.TrimPrefix(err.Error(), "model: "), ".")
}

// modelSize refuses a model that is too large to be read.
func modelSize(f source.File, _ []byte) error {
	if f.Size() > model.MaxBytes {
		return noModel(f, fmt.Errorf("%d MB, more than the %d that a browser tab can hold", f.Size()>>20, model.MaxBytes>>20))
	}
	return nil
}

// wholeFile reads the one file beside a request, unless refuse has an error for its first bytes.
func wholeFile(r Request, refuse func(f source.File, head []byte) error) (f source.File, b []byte, err error) {
	if len(r.TrainFiles) != 1 {
		return nil, nil, errors.New("worker: one file is what this request takes")
	}
	f = r.TrainFiles[0]
	in, err := f.Open()
	if err != nil {
		return nil, nil, &data.Error{File: f.Name(), Got: "the file could not be opened", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
	}
	defer in.Close()
	head := make([]byte, min(16, f.Size()))
	if _, err = io.ReadFull(in, head); err == nil {
		if err := refuse(f, head); err != nil {
			return nil, nil, err
		}
		b = make([]byte, f.Size())
		_, err = io.ReadFull(in, b[copy(b, head):])
	}
	if err != nil {
		return nil, nil, &data.Error{File: f.Name(), Got: "the file could not be read", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
	}
	return f, b, nil
}

var errNoModel = errors.New("worker: no model is open here: send one first")

func (s *models) predict(r Request, q run.PredictRequest) (any, error) {
	if s.loaded == nil {
		return nil, errNoModel
	}
	s.loaded.reader.asked(r.ID)
	if err := s.loaded.Draw(q.Line); err != nil {
		return nil, err
	}
	switch {
	case len(r.TrainFiles) == 0:
		return s.loaded.Predict(r.ctx, q.Rows)
	case len(q.Rows) > 0:
		return nil, errors.New("worker: rows, or one file or more, are what this request takes")
	}
	out := s.blob()
	reply, err := s.answer(r, out)
	if err != nil {
		return nil, err
	}
	return blobbed{reply, out}, nil
}

// answer writes the answers to a table, or to pictures.
func (s *models) answer(r Request, out Blob) (*run.PredictReply, error) {
	if len(s.loaded.Info().Columns) == 0 {
		return s.loaded.AnswerPictures(r.ctx, r.TrainFiles, out, s.mail.progress(r.ID))
	}
	if len(r.TrainFiles) > 1 {
		return nil, errors.New("worker: rows, or one table, are what this model takes")
	}
	return s.loaded.Answer(r.ctx, r.TrainFiles[0], out, s.mail.progress(r.ID))
}

func (s *models) picture(r Request, q run.PictureRequest) (any, error) {
	switch {
	case s.loaded == nil:
		return nil, errNoModel
	case len(r.TrainFiles) != 1:
		return nil, errors.New("worker: one picture is what this request takes")
	}
	return s.loaded.Picture(r.ctx, r.TrainFiles[0], q.Inverted)
}

func (s *models) evaluate(r Request) (any, error) {
	if s.loaded == nil {
		return nil, errNoModel
	}
	s.loaded.reader.asked(r.ID)
	return s.loaded.Evaluate(r.ctx, append(r.TrainFiles, r.TestFiles...), s.mail.progress(r.ID))
}
