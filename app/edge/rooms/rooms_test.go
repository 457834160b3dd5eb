package rooms

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"clipscope/app/edge/answer"
	"clipscope/core/together/wire"
)

type hosts map[string][]byte

func (h hosts) Open(name string, b []byte) error {
	if h == nil {
		return errors.New("no storage")
	}
	h[name] = b
	return nil
}
func (h hosts) Get(name string) ([]byte, error) { return h[name], nil }

type allows bool

func (a allows) Allow(string) (bool, error) { return bool(a), nil }

func asks(method, path, body string, headers ...string) *answer.Request {
	r := &answer.Request{Method: method, URL: &url.URL{Scheme: "https", Host: "clipscope.example", Path: path}, Header: func(name string) string {
		if i := slices.Index(headers, name); i >= 0 {
			return headers[i+1]
		}
		return ""
	}}
	if body != "" {
		r.Body = strings.NewReader(body)
	}
	return r
}

var good = wire.Welcome{Terms: wire.Terms{Parties: 3, Quorum: 2, Words: 10, Rounds: 5, AnswerSeconds: 30}, Sealed: []byte("x")}

func written(w wire.Frame) string {
	return `{"welcome": "` + base64.StdEncoding.EncodeToString(w.Append(nil)) + `"}`
}

const jsonType = "application/json"

func TestRoomsAreOpenedAndFound(t *testing.T) {
	h := hosts{}
	s := &Service{h, allows(true)}
	r := s.Answer(asks("POST", wire.Path, written(good), "Content-Type", jsonType))
	var made struct{ Name string }
	if err := json.Unmarshal([]byte(r.Body), &made); err != nil || r.Status != 201 || !form.MatchString(made.Name) || len(h) != 1 {
		t.Fatalf("%+v: %v", r, err)
	}
	r = s.Answer(asks("GET", wire.Path+"/"+made.Name, ""))
	var found struct{ Welcome []byte }
	if err := json.Unmarshal([]byte(r.Body), &found); err != nil || !slices.Equal(found.Welcome, good.Append(nil)) {
		t.Errorf("%+v: %v", r, err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	seated, logged, bare, wide := good, good, good, good
	seated.Seat, logged.Entries, bare.Sealed, wide.Terms.Parties = 1, 1, nil, 9999
	for name, c := range map[string]struct {
		r      *answer.Request
		status int
	}{
		"another method":   {asks("PUT", wire.Path, written(good), "Content-Type", jsonType), 405},
		"no JSON":          {asks("POST", wire.Path, written(good)), 415},
		"another site":     {asks("POST", wire.Path, written(good), "Content-Type", jsonType, "Origin", "https://other.example"), 403},
		"nothing":          {asks("POST", wire.Path, "", "Content-Type", jsonType), 400},
		"another field":    {asks("POST", wire.Path, `{"link": "/"}`, "Content-Type", jsonType), 400},
		"no base64":        {asks("POST", wire.Path, `{"welcome": "?"}`, "Content-Type", jsonType), 400},
		"another frame":    {asks("POST", wire.Path, written(wire.Start{}), "Content-Type", jsonType), 400},
		"a seat":           {asks("POST", wire.Path, written(seated), "Content-Type", jsonType), 400},
		"a log":            {asks("POST", wire.Path, written(logged), "Content-Type", jsonType), 400},
		"no agreement":     {asks("POST", wire.Path, written(bare), "Content-Type", jsonType), 400},
		"too many parties": {asks("POST", wire.Path, written(wide), "Content-Type", jsonType), 400},
		"too long":         {asks("POST", wire.Path, `{"welcome": "`+strings.Repeat("A", mostBody)+`"}`, "Content-Type", jsonType), 413},
		"no such room":     {asks("GET", wire.Path+"/abcdefghjkmnpqrs", ""), 404},
		"no name":          {asks("GET", wire.Path+"/abc", ""), 404},
		"post to a room":   {asks("POST", wire.Path+"/abcdefghjkmnpqrs", ""), 405},
	} {
		h := hosts{}
		if r := (&Service{h, allows(true)}).Answer(c.r); r.Status != c.status || len(h) > 0 {
			t.Errorf("%s: %d, want %d: %s", name, r.Status, c.status, r.Body)
		}
	}
	if r := (&Service{hosts{}, allows(false)}).Answer(asks("POST", wire.Path, written(good), "Content-Type", jsonType)); r.Status != 429 {
		t.Errorf("too often: %d", r.Status)
	}
	if r := (&Service{hosts(nil), allows(true)}).Answer(asks("POST", wire.Path, written(good), "Content-Type", jsonType)); r.Status != 503 {
		t.Errorf("without storage: %d", r.Status)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		name, err := newName()
		if err != nil || seen[name] {
			t.Fatalf("%q: %v", name, err)
		}
		seen[name] = true
		if got, ok := NameOf(wire.Path + "/" + name); !ok || got != name {
			t.Errorf("%q is no name", name)
		}
	}
	for _, path := range []string{"", "/", wire.Path, wire.Path + "/", wire.Path + "/short", "/api/room/abcdefghjkmnpqrs", wire.Path + "/abcdefghjkmnpqrl", wire.Path + "/abcdefghjkmnpqrs/x", wire.Path + "/ABCDEFGHJKMNPQRS", wire.Path + "/abcdefghjkmnpqrs\n"} {
		if name, ok := NameOf(path); ok {
			t.Errorf("%q is the room %q", path, name)
		}
	}
}
