package worker

import (
	"context"
	"iter"
	"time"

	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// Host connects a session to its surroundings.
type Host struct {
	// Post sends a message to the page.
	Post func(run.Message)
	// Yield lets waiting messages be handled.
	Yield func()
	// Now returns the time for the outbox and the yields.
	Now func() time.Time
	// Backend finds the back end that a configuration names, without opening it.
	Backend func(run.Config) (Backend, error)
	// New plans a run, with the files that its configuration names.
	New func(run.Config, data.Meta, Given) (Planned, error)
	// Load reads files.
	Load func(ctx context.Context, train, test []source.File, opt run.CSV, progress func(source.Progress)) (*data.Dataset, *data.Report, error)
	// Files reads the files that a model is to answer, and public rows.
	Files load.Loader
	// Builtin makes built-in data.
	Builtin func(name string, seed uint64) (*data.Dataset, error)
	// Blob returns a new one, for a reply with bytes.
	Blob func() Blob
	// Checkpoints stores the checkpoints of runs.
	Checkpoints CheckpointStore
	// Backbones runs models that make features, and Features stores these; nil: nothing does.
	Backbones Backbones
	Features  Features
	// Transformer makes one file of weights of the files of a transformer's checkpoint, and returns those that it is made of,
	// config.json and those of its tensors, in the order of their names; nil: nothing does.
	Transformer func(ctx context.Context, files []source.File) (weights []byte, of []source.File, err error)
	// Restore is what models go home with as checkpoints; nil: nothing does.
	Restore Restorer
	// Agreement returns what the parties of a room have agreed on.
	Agreement func(context.Context, run.Invitation) (run.Agreed, error)
	// Audit audits the trainer, calling progress after every step.
	Audit func(q run.AuditRequest, progress func(step, steps int) error) (run.AuditReport, error)
}

// Given holds what the files hold that a configuration names beside its data; nil: it names none.
type Given struct {
	Start  *model.Weights
	Public *model.PublicRows
}

// Planned is a run whose parts agree: a plan of package plan, or a tuning.
type Planned interface {
	Info() run.PlanInfo
	// Unstarted returns the result of a run that was stopped before it began.
	Unstarted() run.Result
	Start(context.Context, *data.Dataset, compute.Backend) (Trainer, error)
	// StepTime measures a step on a back end, on rows that are made up.
	StepTime(context.Context, compute.Backend) (time.Duration, error)
}

// Trainer is a plan under way.
type Trainer interface {
	Steps(ctx context.Context) iter.Seq2[run.Event, error]
	Result(ctx context.Context) (run.Result, error)
	// Continue moves the rest of the run to another back end, where its own is lost.
	Continue(context.Context, compute.Backend) (Trainer, error)
	Close()
}

// Resumable is a Planned whose runs, each a [Checkpointer], can go on from a checkpoint that
// one of them stored. A tuning is not.
type Resumable interface {
	Planned
	// Fits returns the reason for which a run of this plan cannot go on from a checkpoint,
	// if there is one.
	Fits(state []byte) error
	// Resume starts a run from a checkpoint, where so many steps may have been seen.
	Resume(ctx context.Context, ds *data.Dataset, be compute.Backend, state []byte, released int) (Trainer, error)
}

// Shareable is a Planned that several parties run together, each with a plan of its own.
type Shareable interface {
	Resumable
	// Invite opens a room for the run.
	Invite(ctx context.Context, classes []string) (run.Invitation, error)
	// Compare lists where the agreement of a room and the plan differ.
	Compare(ctx context.Context, in run.Invitation, classes []string) ([]run.Difference, error)
	// Join meets the others in a room, and starts the run once it is started there.
	Join(ctx context.Context, ds *data.Dataset, be compute.Backend, m Meeting) (Trainer, error)
	// Rejoin comes back to the room of a checkpoint, where so many steps may have been answered.
	Rejoin(ctx context.Context, ds *data.Dataset, be compute.Backend, m Meeting, state []byte, released int) (Trainer, error)
}

// Meeting is the side of a room that a party's page has.
type Meeting struct {
	run.Joining // but where a checkpoint has it
	// Begin has one each time that the page starts the run for all.
	Begin <-chan struct{}
	// Show tells the page how it stands. It returns soon.
	Show func(run.PartyState)
	// Keep returns once it lasts that a step was answered; nil: nothing lasts.
	Keep func(step int) error
}

// Checkpointer is a Trainer that can be stored.
type Checkpointer interface {
	// Checkpoint returns a state that another life of the run can go on from, no earlier
	// than the last event, and its step; 0 where there is none.
	Checkpoint(context.Context) (state []byte, step int, err error)
}

// Backend is a back end that can be opened.
type Backend struct {
	Name     string
	Warnings []run.Warning // to the owner, where another back end was asked for
	// Open opens it. The note, if there is one, is a warning that nobody could give
	// before.
	Open func() (be compute.Backend, note string, err error)
	// Instead takes over a run where the memory of this one is lost; nil where nothing can.
	Instead *Backend
	// Find returns the reason for which it cannot be had, where that is known without
	// opening it; nil: it is there.
	Find func() error
	// Rival is tried against this one before a run for which that is worth its while,
	// and taken where it is faster. Its Instead is this one. Nil: there is none.
	Rival *Backend
}
