// Package rooms opens rooms in which several parties train together, and names them.
// It is plain Go; what a room runs on, and the limit, are given.
//
//	POST /api/rooms          opens one: {"welcome": "…"}, a welcome of package wire in base64, with the terms
//	                         and the sealed agreement; the answer names it
//	GET  /api/rooms/<name>   is that welcome, for who has the link
//	GET  /api/rooms/<name>   with Upgrade: websocket, is the room itself, which the host answers
//
// Guarantee: nothing of who asks is kept. A name has 79 random bits, so that nobody finds a room without
// its link, and who finds one has not the secret of its agreement.
package rooms

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"clipscope/app/edge/answer"
	"clipscope/core/together/wire"
)

// mostBody bounds the body that opens a room: an agreement in base64, and what is around it.
const mostBody = wire.MostSealed/3*4 + 256

// Host has the rooms. Get of a name that no room has returns nil.
type Host interface {
	Open(name string, welcome []byte) error
	Get(name string) (welcome []byte, err error)
}

// Service answers.
type Service struct {
	Host    Host
	Limiter answer.Limiter
}

// Asks reports whether a request is for the service.
func Asks(path string) bool { return path == wire.Path || strings.HasPrefix(path, wire.Path+"/") }

// letters have no two that look alike.
const letters = "abcdefghjkmnpqrstuvwxyz23456789"

const nameLength = 16

var form = regexp.MustCompile(`^[` + letters + `]{16}$`)

// newName draws the name of a room.
func newName() (string, error) {
	var name strings.Builder
	var b [1]byte
	for name.Len() < nameLength {
		if _, err := rand.Read(b[:]); err != nil {
			return "", fmt.Errorf("rooms: no randomness for a name: %w", err)
		}
		if int(b[0]) < 256-256%len(letters) { // so that all letters are equally likely
			name.WriteByte(letters[int(b[0])%len(letters)])
		}
	}
	return name.String(), nil
}

// NameOf returns the room that an address is of; false where it is of none.
func NameOf(path string) (string, bool) {
	name, inside := strings.CutPrefix(path, wire.Path+"/")
	return name, inside && form.MatchString(name)
}

// Answer never fails: what goes wrong is the answer.
func (s *Service) Answer(r *answer.Request) answer.Response {
	return answer.Serve(r, s.route, "Rooms cannot be opened or found now (%v).")
}

func (s *Service) route(r *answer.Request) (answer.Response, error) {
	if r.URL.Path == wire.Path {
		if other, done := answer.Other(r.Method, "POST"); done {
			return other, nil
		}
		return s.open(r)
	}
	if other, done := answer.Other(r.Method, "GET"); done {
		return other, nil
	}
	name, ok := NameOf(r.URL.Path)
	if !ok {
		return answer.Response{}, unknown
	}
	welcome, err := s.Host.Get(name)
	switch {
	case err != nil:
		return answer.Response{}, err
	case welcome == nil:
		return answer.Response{}, unknown
	}
	return said(200, map[string]string{"welcome": base64.StdEncoding.EncodeToString(welcome)})
}

var unknown = answer.Refuse(404, "There is no such room. It may be over: rooms are deleted a day after they end.")

func said(status int, v map[string]string) (answer.Response, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return answer.Response{}, fmt.Errorf("rooms: %w", err)
	}
	return answer.Response{Status: status, Header: [][2]string{{"Content-Type", "application/json"}}, Body: string(b)}, nil
}

// open opens a room.
func (s *Service) open(r *answer.Request) (answer.Response, error) {
	door := answer.Door{
		Limiter: s.Limiter, Most: mostBody,
		Strange: "Rooms are opened by this site's own pages.",
		Long:    fmt.Sprintf("An agreement can have at most %d bytes.", wire.MostSealed),
		Often:   "Too many requests from one place. Wait a minute.",
	}
	if err := door.Admit(r); err != nil {
		return answer.Response{}, err
	}
	text, err := door.Text(r, "welcome", "…", "the room's terms and the sealed agreement, in base64")
	if err != nil {
		return answer.Response{}, err
	}
	welcome, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil {
		_, _, err = Opening(welcome)
	}
	if err != nil {
		return answer.Response{}, answer.Refuse(400, "%v.", err)
	}
	name, err := newName()
	if err == nil {
		err = s.Host.Open(name, welcome)
	}
	if err != nil {
		return answer.Response{}, err
	}
	return said(201, map[string]string{"name": name})
}

// Opening reads the welcome that opens a room.
func Opening(b []byte) (wire.Terms, []byte, error) {
	f, err := wire.Parse(b)
	w, ok := f.(wire.Welcome)
	if err != nil || !ok || w.Seat != 0 || w.Entries != 0 || len(w.Sealed) == 0 {
		return wire.Terms{}, nil, errors.New("a room is opened by its terms and its sealed agreement, as this version writes them")
	}
	return w.Terms, w.Sealed, nil
}
