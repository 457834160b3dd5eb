package together

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"clipscope/core/together/wire"
)

// Host is a host of rooms, as a party reaches it.
type Host interface {
	// Ask sends a request to a path of the host's, with JSON where there is a body, and returns the answer. What
	// the host refuses is an error that has the host's words.
	Ask(ctx context.Context, method, path string, body []byte) ([]byte, error)
	// Dial connects to a path.
	Dial(ctx context.Context, path string) (Link, error)
}

// OpenRoom opens a room for a run, and returns its name.
func OpenRoom(ctx context.Context, h Host, terms wire.Terms, sealed []byte) (string, error) {
	body, err := json.Marshal(struct {
		Welcome []byte `json:"welcome"`
	}{wire.Welcome{Terms: terms, Sealed: sealed}.Append(nil)})
	if err != nil {
		return "", fmt.Errorf("together: %w", err)
	}
	var made struct {
		Name string `json:"name"`
	}
	if err := ask(ctx, h, "POST", wire.Path, body, &made); err != nil {
		return "", err
	}
	if made.Name == "" {
		return "", errors.New("together: the host names no room")
	}
	return made.Name, nil
}

// FindRoom returns what a room is for, and its agreement, sealed.
func FindRoom(ctx context.Context, h Host, name string) (terms wire.Terms, sealed []byte, err error) {
	var found struct {
		Welcome []byte `json:"welcome"`
	}
	if err := ask(ctx, h, "GET", pathOf(name), nil, &found); err != nil {
		return terms, nil, err
	}
	f, err := wire.Parse(found.Welcome)
	w, ok := f.(wire.Welcome)
	if err != nil || !ok {
		return terms, nil, errors.New("together: the host has no welcome of this version: parties have to use the same version of the page")
	}
	return w.Terms, w.Sealed, nil
}

func ask(ctx context.Context, h Host, method, path string, body []byte, to any) error {
	b, err := h.Ask(ctx, method, path, body)
	if err != nil {
		return fmt.Errorf("together: the host of rooms: %w", err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("together: the host of rooms: %w", err)
	}
	return nil
}

// DialRoom returns how to connect to a room of a host.
func DialRoom(h Host, name string) Dial {
	return func(ctx context.Context) (Link, error) { return h.Dial(ctx, pathOf(name)) }
}

func pathOf(name string) string { return wire.Path + "/" + url.PathEscape(name) }
