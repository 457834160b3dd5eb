package worker

import (
	"context"
	"slices"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/run"
)

// planner plans runs on the open data.
type planner struct {
	data    *openData
	backend func(run.Config) (Backend, error)
	plan    func(run.Config, data.Meta) (Planned, error)
}

func (p *planner) info(q run.TrainRequest) (run.PlanInfo, error) {
	ready, err := p.prepare(q.Config)
	if err != nil {
		return run.PlanInfo{}, err
	}
	return ready.info(), nil
}

func (p *planner) prepare(c run.Config) (ready prepared, err error) {
	ready.config = c
	if ready.ds, err = p.data.of(c); err != nil {
		return ready, err
	}
	if ready.on, err = p.backend(c); err != nil {
		return ready, &run.ConfigError{Field: "backend", Message: err.Error()}
	}
	ready.plan, err = p.plan(c, ready.ds.Meta())
	return ready, err
}

// prepared is a plan with its data and its back end, ready to start.
type prepared struct {
	config run.Config // as it was given
	plan   Planned
	ds     *data.Dataset
	on     Backend
	from   *keptRun // the kept run that it continues; nil: it starts anew

	meeting *Meeting // of a run of several parties
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
