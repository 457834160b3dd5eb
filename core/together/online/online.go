// Package online reaches hosts of rooms from a program that has Go's network. A browser's is in package wasm.
package online

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"clipscope/core/together"
	"clipscope/core/together/wire"
)

// Site is the address of a host's site, as https://clipscope.example.
type Site string

var _ together.Host = Site("")

// mostAnswer bounds what is read of an answer.
const mostAnswer = 2 * wire.MostSealed

// Ask is of [together.Host].
func (at Site) Ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, string(at)+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("online: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("online: it does not answer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("online: %w", err)
	case answer.StatusCode >= 300:
		return nil, fmt.Errorf("online: it says (%d): %s", answer.StatusCode, strings.TrimSpace(string(b)))
	}
	return b, nil
}

// Dial is of [together.Host].
func (at Site) Dial(ctx context.Context, path string) (together.Link, error) {
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(string(at), "http")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("online: %w", err)
	}
	c.SetReadLimit(4*wire.MostWords + 1<<16)
	return link{c}, nil
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
