package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// planner plans runs on the open data.
type planner struct {
	data    *openData
	backend func(run.Config) (Backend, error)
	plan    func(run.Config, data.Meta, *model.Weights) (Planned, error)
	weights *model.Weights // that a run may start from; nil: none were given
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
	f, b, err := wholeFile(r, modelSize)
	if err != nil {
		return run.StartInfo{}, err
	}
	w, err := model.ReadWeights(f.Name(), b)
	if err != nil {
		return run.StartInfo{}, noModel(f, err)
	}
	if q.SHA256 != "" && w.Info.SHA256 != q.SHA256 {
		return run.StartInfo{}, &data.Error{File: f.Name(), Got: "other weights than when it was chosen", Fix: "Choose the file again; it has been changed since."}
	}
	p.weights = w
	return w.Info, nil
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
	ready.plan, err = p.plan(c, ready.ds.Meta(), start)
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
