package client

import (
	"clipscope/core/run"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// Rooms reports whether the page's host has rooms in which several parties can train together.
func (JS) Rooms() bool {
	if !app.IsClient || !api().Truthy() {
		return false
	}
	together := api().Get("together")
	return together.Truthy() && together.Get("rooms").Bool()
}

// OpenRoom opens a room for a run of several parties.
func (JS) OpenRoom(cfg run.Config, d Handle, done func(run.Invitation, error)) {
	await(api().Get("together").Call("open", toJS(cfg), jsOf(d)), func(v app.Value, err error) {
		var in run.Invitation
		if err == nil {
			err = decode(v, &in)
		}
		done(in, err)
	})
}

// Invited asks what a room is for, and where cfg is not nil how that differs on d.
func (JS) Invited(in run.Invitation, cfg *run.Config, d Handle, done func(run.Agreed, error)) {
	compared := any(app.Undefined())
	if cfg != nil {
		compared = toJS(cfg)
	}
	await(api().Get("together").Call("invited", toJS(in), compared, jsOf(d)), func(v app.Value, err error) {
		var a run.Agreed
		if err == nil {
			err = decode(v, &a)
		}
		done(a, err)
	})
}

// TrainTogether is Train of a run that meets others in a room, anyway as [JS.TrainAnyway].
func (JS) TrainTogether(cfg run.Config, d Handle, join run.Joining, anyway bool, started func(Run, error)) {
	startRun(cfg, d, map[string]any{"ask": !anyway, "anyway": anyway, "together": toJS(join)}, started)
}
