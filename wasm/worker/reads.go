package worker

import (
	"context"
	"errors"
	"slices"

	"clipscope/core/backbone"
	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// textReader makes features of texts for a saved model, as another model or a tokenizer did in its training: a [data.Extractor].
type textReader struct {
	*backbone.Extractor
	opener *opener
	files  backboneFiles
	by     *run.Backbone
	width  int
	on     *attended
}

// readerFor opens what makes a model's features, in files of the visitor's; nil where there are none. The error names a file that is another
// than the model was trained with.
func (x *opener) readerFor(r Request, a *run.Application, files []source.File) (*textReader, error) {
	b := a.FeaturesOf
	switch {
	case len(files) == 0:
		return nil, nil
	case x.backbones == nil:
		return nil, errNoBackbones
	case b == nil || b.Column == "":
		return nil, &data.Error{File: files[0].Name(), Expected: "a model alone, as this one reads no texts through another", Got: "a file beside it", Fix: "Choose the model by itself."}
	}
	i := slices.IndexFunc(files, func(f source.File) bool { return !run.IsTokenizer(f.Name()) })
	if b.Tokens > 0 && i >= 0 {
		return nil, &data.Error{File: files[i].Name(), Expected: "the tokenizer that the model was trained with, tokenizer.json or vocab.txt", Got: "another kind of file", Fix: "Choose the tokenizer first, and a table once the model has it."}
	}
	f, err := x.backboneFiles(r.ID, files)
	if err == nil {
		err = f.check(b)
	}
	if err != nil {
		return nil, err
	}
	t := &textReader{opener: x, files: f, by: b, width: a.Features}
	if err := t.open(r.ctx, r.ID); err != nil {
		return nil, err
	}
	return t, nil
}

// open runs what makes the features, and tries it. Where that fails all stays as it is.
func (t *textReader) open(ctx context.Context, id int) error {
	b := t.by
	on, err := t.opener.openBackbone(id, t.files, b.Batch)
	if err != nil {
		return err
	}
	meta := data.Meta{Columns: []data.Column{{Name: b.Column, Kind: data.Text}}}
	if b.Second != "" {
		meta.Columns = append(meta.Columns, data.Column{Name: b.Second, Kind: data.Text})
	}
	e, err := backbone.New(ctx, on, meta, run.BackboneRequest{Output: b.Output, Batch: b.Batch})
	if err == nil && (e.Width() != t.width || e.Made().Tokens != b.Tokens || e.Made().Types != b.Types) {
		err = errors.New("it makes other features than in training")
	}
	if err != nil {
		on.Close()
		return inFile(t.files, err)
	}
	if t.on != nil {
		t.on.Close()
	}
	t.Extractor, t.on = e, on
	return nil
}

// check refuses files that are others than a model was trained with.
func (f *backboneFiles) check(b *run.Backbone) error {
	switch {
	case f.tokenizer == nil && b.Tokenizer != "":
		return &data.Error{File: f.Name(), Expected: b.Files(), Got: "one file", Fix: "Choose both together."}
	case f.tokenizer != nil && b.Tokenizer == "":
		return &data.Error{File: f.Name(), Expected: b.Files() + " alone", Got: "two files", Fix: "Choose this one by itself."}
	}
	for _, c := range []struct {
		file      source.File
		have, sum string
	}{{f.File, f.sum, b.SHA256}, {f.tokenizer, f.tokenizerSum, b.Tokenizer}} {
		if c.have != c.sum {
			return &data.Error{File: c.file.Name(), Expected: "the file that the model was trained with, of the SHA-256 " + c.sum, Got: "one of " + c.have, Fix: "Choose the same file as in training: another reads texts in another way."}
		}
	}
	return nil
}

// asked has progress go to a request.
func (t *textReader) asked(id int) {
	if t != nil {
		t.on.id, t.on.p = id, source.Progress{Phase: phaseFeatures, File: t.files.Name()}
	}
}

// Extract implements [data.Extractor], and tells the page how many rows of a request are done. What was given up at the last call is
// opened again.
func (t *textReader) Extract(ctx context.Context, rows data.Split, dst []float32) error {
	if id := t.on.id; t.on.dead {
		if err := t.open(ctx, id); err != nil {
			return err
		}
		t.asked(id)
	}
	if err := t.Extractor.Extract(ctx, rows, dst); err != nil {
		return inFile(t.files, err)
	}
	t.on.p.Done += int64(rows.N)
	t.on.mail.send(ProgressType, t.on.id, t.on.p)
	return nil
}

func (t *textReader) close() {
	if t != nil {
		t.on.Close()
	}
}
