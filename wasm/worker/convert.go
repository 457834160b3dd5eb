package worker

import (
	"errors"
	"fmt"
	"io"
	"time"

	"clipscope/core/model"
	"clipscope/core/run"
	"clipscope/web"
)

// forms are those that a model can be written in.
var forms = map[string]func(*model.File, io.Writer) error{
	"json":        (*model.File).JSON,
	"safetensors": (*model.File).Safetensors,
	"onnx":        (*model.File).ONNX,
	"zip":         func(f *model.File, w io.Writer) error { return f.Bundle(w, web.Scripts()) },
}

// convert writes the model in the file beside the request in another form.
func (s *Session) convert(r Request, q run.ConvertRequest) (any, error) {
	write, ok := forms[q.To]
	if !ok {
		return nil, &run.ConfigError{Field: "to", Message: fmt.Sprintf("there is no form %q; choose zip, onnx, safetensors or json", brief(q.To, 40))}
	}
	if len(r.TrainFiles) != 1 {
		return nil, errors.New("worker: one file of a model is what this request takes")
	}
	b, err := whole(r.TrainFiles[0])
	if err != nil {
		return nil, err
	}
	f, err := model.Read(b)
	if err != nil {
		return nil, err
	}
	out := &watched{Blob: s.host.Blob(), s: s, id: r.ID}
	if err := write(f, out); err != nil {
		return nil, err
	}
	return blobbed{run.ConvertProgress{Bytes: out.bytes}, out}, nil
}

// watched is a blob while it is written: the page hears how far that is.
type watched struct {
	Blob
	s     *Session
	id    int
	bytes int64
	told  time.Time
}

// tellEvery is how often: more than four times a second cannot be read.
const tellEvery = 250 * time.Millisecond

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Blob.Write(b)
	w.bytes += int64(n)
	if now := w.s.host.Now(); now.Sub(w.told) >= tellEvery {
		w.told = now
		w.s.post(ProgressType, w.id, run.ConvertProgress{Bytes: w.bytes})
	}
	return n, err
}
