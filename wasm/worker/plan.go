package worker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// planner plans runs on the open data.
type planner struct {
	data    *openData
	backend func(run.Config) (Backend, error)
	plan    func(run.Config, data.Meta, Given) (Planned, error)
	weights *model.Weights // that a run may start from; nil: none were given
	files   load.Loader
	public  publicFile // that a run may mix in

	transformer func(context.Context, []source.File) ([]byte, []source.File, error) // as [Host.Transformer]
}

// publicFile is a file of public rows. Its zero value is none.
type publicFile struct {
	file   source.File
	sha256 string
	rows   *model.PublicRows // its rows as those of a data set, the last that asked for them
	of     *data.Dataset
}

func (p *planner) info(q run.TrainRequest) (run.PlanInfo, error) {
	ready, err := p.prepare(q.Config)
	if err != nil {
		return run.PlanInfo{}, err
	}
	return ready.info(), nil
}

func (p *planner) prepare(c run.Config) (prepared, error) {
	start, err := p.startOf(c.Start)
	if err != nil {
		return prepared{}, err
	}
	return p.prepareFrom(c, start)
}

// startOf returns the weights that a configuration names; nil where it names none.
func (p *planner) startOf(s run.Start) (*model.Weights, error) {
	switch {
	case s.SHA256 == "":
		return nil, nil
	case p.weights == nil || p.weights.Info.SHA256 != s.SHA256:
		return nil, &run.ConfigError{Field: "start", Message: fmt.Sprintf("the run starts from the weights in %s (SHA-256 %.12s…), and they are not open here: choose that file, or start from random weights", cmp.Or(data.Shorten(s.File), "a file"), s.SHA256)}
	}
	return p.weights, nil
}

// readWeights takes the weights in a file in the place of those before.
func (p *planner) readWeights(r Request, q run.StartRequest) (run.StartInfo, error) {
	f, b, sum, err := p.weightsIn(r)
	if err != nil {
		return run.StartInfo{}, err
	}
	w, err := model.ReadWeights(f.Name(), b)
	if err != nil {
		return run.StartInfo{}, &data.Error{File: f.Name(), Got: modelFault(err), Fix: savedModel + "; or, of a transformer, config.json and its tensors together."}
	}
	if sum != "" {
		w.Info.SHA256 = sum
	}
	if err := unchanged(f, w.Info.SHA256, q.SHA256); err != nil {
		return run.StartInfo{}, err
	}
	p.weights = w
	return w.Info, nil
}

// weightsIn returns the bytes of a model's file, or of one that is made of several: then with the hash of those that it is
// made of, one after the other, and the last of them.
func (p *planner) weightsIn(r Request) (f source.File, b []byte, sum string, err error) {
	if len(r.TrainFiles) < 2 || p.transformer == nil {
		f, b, err = wholeFile(r, modelSize)
		return f, b, "", err
	}
	size := int64(0)
	for _, f := range r.TrainFiles {
		size += f.Size()
	}
	if size > model.MaxBytes {
		return nil, nil, "", noModel(r.TrainFiles[0], fmt.Errorf("%d MB, more than the %d that a browser tab can hold", size>>20, model.MaxBytes>>20))
	}
	b, of, err := p.transformer(r.ctx, r.TrainFiles)
	if err != nil {
		return nil, nil, "", err
	}
	h := sha256.New()
	for _, f := range of {
		in, err := f.Open()
		if err == nil {
			_, err = io.Copy(h, in)
			in.Close()
		}
		if err != nil {
			return nil, nil, "", &data.Error{File: f.Name(), Got: "the file could not be read", Err: err, Fix: "Choose the file again; it may have been moved or changed since."}
		}
	}
	return of[len(of)-1], b, hex.EncodeToString(h.Sum(nil)), nil
}

// unchanged refuses a file whose hash is not the one that it had when it was chosen; "": any is right.
func unchanged(f source.File, sum, want string) error {
	if want == "" || sum == want {
		return nil
	}
	return &data.Error{File: f.Name(), Got: "something else than when it was chosen", Fix: "Choose the file again; it has been changed since."}
}

// mostPublic bounds the bytes of a file of public rows.
const mostPublic = 256 << 20

// readPublic takes a file of public rows in the place of the one before. Its rows are read once a plan names it, as
// those of the data that is open then.
func (p *planner) readPublic(r Request) (any, error) {
	var q run.PublicRequest
	if err := read(r.Text, &q); err != nil {
		return nil, err
	}
	f, b, err := wholeFile(r, func(f source.File, _ []byte) error {
		if f.Size() > mostPublic {
			return &data.Error{File: f.Name(), Expected: "at most 256 MB of public rows", Got: "more", Fix: "Choose fewer rows."}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(b))
	if err := unchanged(f, sum, q.SHA256); err != nil {
		return nil, err
	}
	p.public = publicFile{file: f, sha256: sum}
	return run.PublicRows{File: f.Name(), SHA256: sum}, nil
}

// publicOf returns the public rows that a configuration names, as rows of ds; nil where it names none.
func (p *planner) publicOf(c run.PublicRows, ds *data.Dataset) (*model.PublicRows, error) {
	const field = "public_rows"
	f := &p.public
	switch {
	case c.SHA256 == "":
		return nil, nil
	case f.sha256 != c.SHA256:
		return nil, &run.ConfigError{Field: field, Message: fmt.Sprintf("the run mixes in the public rows of %s (SHA-256 %.12s…), and they are not open here: choose that file, or leave them out", cmp.Or(data.Shorten(c.File), "a file"), c.SHA256)}
	case f.of == ds:
		return f.rows, nil
	}
	rows, err := model.ReadPublic(context.Background(), p.files, f.file, ds, nil)
	if err != nil { // which speaks of a model where the data is meant
		said := strings.NewReplacer("which the model was trained on", "as your data has", "as the model was trained on", "with your data’s columns and classes",
			"the model was trained on", "your data has", "that the model can answer", "that fit your data", ", or ask for answers instead", "").Replace(err.Error())
		return nil, &run.ConfigError{Field: field, Message: said}
	}
	rows.Info.SHA256 = f.sha256
	f.rows, f.of = rows, ds
	return rows, nil
}

// prepareFrom is like prepare, with weights that the caller has.
func (p *planner) prepareFrom(c run.Config, start *model.Weights) (ready prepared, err error) {
	ready.config = c
	if start != nil {
		ready.weights = &start.Info
	}
	if ready.ds, err = p.data.of(c); err != nil {
		return ready, err
	}
	if ready.on, err = p.backend(c); err != nil {
		return ready, &run.ConfigError{Field: "backend", Message: err.Error()}
	}
	given := Given{Start: start}
	if given.Public, err = p.publicOf(c.PublicRows, ready.ds); err != nil {
		return ready, err
	}
	ready.plan, err = p.plan(c, ready.ds.Meta(), given)
	return ready, err
}

// prepared is a plan with its data and its back end, ready to start.
type prepared struct {
	config run.Config // as it was given
	plan   Planned
	ds     *data.Dataset
	on     Backend
	from   *keptRun // the kept run that it continues; nil: it starts anew

	weights *run.StartInfo // those that it starts from; nil: they are random
	meeting *Meeting       // of a run of several parties
}

func (p prepared) info() run.PlanInfo {
	info := p.plan.Info()
	info.Backend = p.on.Name
	info.Warnings = append(slices.Clone(p.on.Warnings), info.Warnings...)
	return info
}

// start starts the plan, or continues its kept run.
func (p prepared) start(ctx context.Context, be compute.Backend) (Trainer, error) {
	if m := p.meeting; m != nil && p.from == nil {
		return p.plan.(Shareable).Join(ctx, p.ds, be, *m)
	} else if m != nil {
		return p.plan.(Shareable).Rejoin(ctx, p.ds, be, *m, p.from.state.state, p.from.released)
	}
	if p.from == nil {
		return p.plan.Start(ctx, p.ds, be)
	}
	return p.plan.(Resumable).Resume(ctx, p.ds, be, p.from.state.state, p.from.released)
}

func (p prepared) unstarted() run.Result {
	result := p.plan.Unstarted()
	result.Backend = p.on.Name
	return result
}
