package run

import "context"

type pauses struct{}

// WithPauses has what a run does under the context call f within a step that takes long,
// between its physical batches: whoever runs it can listen to others there. A step into which
// the context's end breaks releases nothing.
func WithPauses(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, pauses{}, f)
}

// Pause calls what [WithPauses] was given, if anything.
func Pause(ctx context.Context) {
	if f, ok := ctx.Value(pauses{}).(func()); ok {
		f()
	}
}
