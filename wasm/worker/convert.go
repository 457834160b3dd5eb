package worker

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"clipscope/core/data/source"
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

// Restorer writes a model, a safetensors file of ours, as the checkpoint in files that it was trained from, or as an adapter to it
// (peft): it calls add for each file that it makes, whose bytes next gives until io.EOF.
type Restorer func(ctx context.Context, to string, model []byte, files []source.File, add func(name string, next func() ([]byte, error)) error) error

// convert returns a handler that writes the model in the file beside the request in another
// form. As a checkpoint it takes the place of the one whose files are there as well, and as an adapter it is one to that.
func convert(m mail, blob func() Blob, restore Restorer) handler {
	return request(func(r Request, q run.ConvertRequest) (any, error) {
		write, ok := forms[q.To]
		home := q.To == "checkpoint" || q.To == "peft"
		switch {
		case home && (restore == nil || len(r.TestFiles) == 0):
			return nil, &run.ConfigError{Field: "files", Message: "the checkpoint that the run started from is not open here: give its files, config.json and those of its tensors"}
		case home:
			write = func(f *model.File, w io.Writer) error { return writeRestored(r.ctx, q.To, f, r.TestFiles, restore, w) }
		case !ok:
			return nil, &run.ConfigError{Field: "to", Message: fmt.Sprintf("there is no form %q; choose zip, onnx, safetensors, json, checkpoint or peft", brief(q.To, 40))}
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

// writeRestored writes what restore makes of a model into a zip.
func writeRestored(ctx context.Context, to string, f *model.File, files []source.File, restore Restorer, w io.Writer) error {
	var ours bytes.Buffer
	if err := f.Safetensors(&ours); err != nil {
		return err
	}
	out := zip.NewWriter(w)
	err := restore(ctx, to, ours.Bytes(), files, func(name string, next func() ([]byte, error)) error {
		in, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		for err == nil {
			var piece []byte
			if piece, err = next(); err == nil {
				_, err = in.Write(piece)
			}
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	})
	return errors.Join(err, out.Close())
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
