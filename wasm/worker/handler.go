package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"clipscope/core/data/source"
	"clipscope/core/run"
)

// Request is a message to the worker with its files.
type Request struct {
	run.Message
	TrainFiles, TestFiles []source.File

	ctx context.Context // ends with [Cancel]
}

// handler answers a type of request. It is called while work is held.
type handler func(Request) (any, error)

// plain returns a handler of a request without a body, which f cannot refuse.
func plain[A any](f func() A) handler {
	return func(Request) (any, error) { return f(), nil }
}

// question returns a handler of a request whose body is all that it needs.
func question[Q, A any](f func(Q) (A, error)) handler {
	return request(func(_ Request, q Q) (A, error) { return f(q) })
}

// request returns a handler of a request that has a body, and an id or files beside it.
func request[Q, A any](f func(Request, Q) (A, error)) handler {
	return func(r Request) (any, error) {
		var q Q
		if err := read(r.Text, &q); err != nil {
			return nil, err
		}
		return f(r, q)
	}
}

// sure returns f as a function that may fail.
func sure[Q, A any](f func(Q) A) func(Q) (A, error) {
	return func(q Q) (A, error) { return f(q), nil }
}

// read fills a request, and returns the error of its Check. It is apart from
// [request], which is compiled anew for every type.
func read(text string, request any) error {
	if err := json.Unmarshal([]byte(text), request); err != nil {
		if ce := (*run.ConfigError)(nil); errors.As(err, &ce) {
			return ce
		}
		if te := (*json.UnmarshalTypeError)(nil); errors.As(err, &te) && te.Field != "" {
			return &run.ConfigError{Field: key(te.Field), Message: fmt.Sprintf("%s is not what goes here: give %s", te.Value, run.KindName(te.Type))}
		}
		return fmt.Errorf("worker: request: %w", err)
	}
	if c, ok := request.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// key returns the path of a JSON value without the names of embedded Go types, which
// encoding/json puts there too: keys of ours begin with a small letter.
func key(path string) string {
	parts := strings.Split(path, ".")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p != "" && unicode.IsUpper(rune(p[0])) }), ".")
}
