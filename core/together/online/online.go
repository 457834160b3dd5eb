// Package online reaches rooms over the network: it opens them, finds them, and connects to them.
// It is the same in a browser, where both the request and the socket are the browser's.
package online

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"

	"clipscope/core/together"
	"clipscope/core/together/wire"
)

// Rooms names a host of rooms by the address of its site, as https://clipscope.example.
type Rooms string

// mostAnswer bounds what is read of an answer.
const mostAnswer = 2 * wire.MostSealed

// Open opens a room for a run, and returns its name.
func (at Rooms) Open(ctx context.Context, terms wire.Terms, sealed []byte) (string, error) {
	body, err := json.Marshal(struct {
		Welcome []byte `json:"welcome"`
	}{wire.Welcome{Terms: terms, Sealed: sealed}.Append(nil)})
	if err != nil {
		return "", fmt.Errorf("online: %w", err)
	}
	var made struct {
		Name string `json:"name"`
	}
	if err := at.ask(ctx, "POST", wire.Path, body, &made); err != nil {
		return "", err
	}
	if made.Name == "" {
		return "", errors.New("online: the host names no room")
	}
	return made.Name, nil
}

// Find returns what a room is for.
func (at Rooms) Find(ctx context.Context, name string) (terms wire.Terms, sealed []byte, err error) {
	var found struct {
		Welcome []byte `json:"welcome"`
	}
	if err := at.ask(ctx, "GET", wire.Path+"/"+url.PathEscape(name), nil, &found); err != nil {
		return terms, nil, err
	}
	f, err := wire.Parse(found.Welcome)
	w, ok := f.(wire.Welcome)
	if err != nil || !ok {
		return terms, nil, errors.New("online: the host has no welcome of this version: parties have to use the same version of the page")
	}
	return w.Terms, w.Sealed, nil
}

// ask sends a request, and reads its answer into to. What a host refuses it says in words.
func (at Rooms) ask(ctx context.Context, method, path string, body []byte, to any) error {
	r, err := http.NewRequestWithContext(ctx, method, string(at)+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("online: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("online: the host of rooms does not answer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("online: the host of rooms: %w", err)
	case answer.StatusCode >= 300:
		return fmt.Errorf("online: the host of rooms says (%d): %s", answer.StatusCode, strings.TrimSpace(string(b)))
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("online: the host of rooms: %w", err)
	}
	return nil
}

// Dial returns how to connect to a room.
func (at Rooms) Dial(name string) together.Dial {
	address := "ws" + strings.TrimPrefix(string(at), "http") + wire.Path + "/" + url.PathEscape(name)
	return func(ctx context.Context) (together.Link, error) {
		c, _, err := websocket.Dial(ctx, address, nil)
		if err != nil {
			return nil, fmt.Errorf("online: %w", err)
		}
		c.SetReadLimit(4*wire.MostWords + 1<<16)
		return link{c}, nil
	}
}

// link is a web socket: a frame is a message.
type link struct{ *websocket.Conn }

func (l link) Send(ctx context.Context, frame []byte) error {
	return l.Write(ctx, websocket.MessageBinary, frame)
}

func (l link) Receive(ctx context.Context) ([]byte, error) {
	_, b, err := l.Read(ctx)
	return b, err
}

func (l link) Close() error { return l.Conn.Close(websocket.StatusNormalClosure, "") }
