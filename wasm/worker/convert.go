package worker

import (
	"fmt"
	"io"
	"time"

	"clipscope/core/model"
	"clipscope/core/run"
	"clipscope/web"
)

// forms has a writer for each form of a model.
var forms = map[string]func(*model.File, io.Writer) error{
	"json":        (*model.File).JSON,
	"safetensors": (*model.File).Safetensors,
	"onnx":        (*model.File).ONNX,
	"zip":         func(f *model.File, w io.Writer) error { return f.Bundle(w, web.Scripts()) },
}

// convert returns a handler that writes the model in the file beside the request in another
// form.
func convert(m mail, blob func() Blob) handler {
	return request(func(r Request, q run.ConvertRequest) (any, error) {
		write, ok := forms[q.To]
		if !ok {
			return nil, &run.ConfigError{Field: "to", Message: fmt.Sprintf("there is no form %q; choose zip, onnx, safetensors or json", brief(q.To, 40))}
		}
		_, b, err := wholeFile(r, modelSize)
		if err != nil {
			return nil, err
		}
		f, err := model.Read(b)
		if err != nil {
			return nil, err
		}
		out := &watched{Blob: blob(), mail: m, id: r.ID, progress: throttle{now: m.now, every: tellEvery}}
		if err := write(f, out); err != nil {
			return nil, err
		}
		return blobbed{run.ConvertProgress{Bytes: out.bytes}, out}, nil
	})
}

// watched is a blob that tells the page how much of it is written.
type watched struct {
	Blob
	mail     mail
	id       int
	bytes    int64
	progress throttle
}

// tellEvery is the time between two messages: more than four a second cannot be read.
const tellEvery = 250 * time.Millisecond

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Blob.Write(b)
	w.bytes += int64(n)
	if w.progress.open() {
		w.mail.send(ProgressType, w.id, run.ConvertProgress{Bytes: w.bytes})
	}
	return n, err
}
