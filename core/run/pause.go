package run

import "context"

type pauses struct{}

// WithPauses has what a run does under the context call f within a step that takes long,
// between its physical batches: whoever runs it can listen to others there. A step into which
// the context's end breaks releases nothing. f is told the share of the batch that has been
// done, a diagnostic; 0 where diagnostics are not told.
func WithPauses(ctx context.Context, f func(share float64)) context.Context {
	return context.WithValue(ctx, pauses{}, f)
}

// Pause calls what [WithPauses] was given, if anything.
func Pause(ctx context.Context, share float64) {
	if f, ok := ctx.Value(pauses{}).(func(float64)); ok {
		f(share)
	}
}

// Within is the progress of a run within its present step, which takes long.
type Within struct {
	Share Number `json:"share"` // of the step's rows, 0 … 1: a diagnostic
}
