// Package links keeps short links to pages of the site. POST /api/links takes the address
// of a page with its settings and names it, and GET /x/<name> leads there. It is plain Go;
// what it runs on, the store and the clock, are given.
//
// Guarantee: nothing is kept but the settings of a run or of the laboratory, as
// link.Canonical writes them, with the day on which they were; nothing of who sent them.
package links

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"clipscope/app/edge/answer"
	"clipscope/ui/link"
)

// A store allows few writes, so following a link has it kept anew only after so long; a
// link is there for a year after it was last followed, at least.
const (
	day     = 24 * time.Hour
	Renewed = 30 * day
	Kept    = 365*day + Renewed
)

// tries limits the names that are tried for a link, one after the other, where others have
// them: with 10⁶ links kept the first is taken once in 35 million times.
const tries = 4

// mostBytes of a body are read: a link and what JSON puts around it.
const mostBytes = link.Longest + 256

// Store keeps texts by name.
type Store interface {
	// Get is what is kept, and whether anything is.
	Get(name string) (value string, found bool, err error)
	// Put keeps value for so long, in the place of what was kept.
	Put(name, value string, kept time.Duration) error
}

// Service answers.
type Service struct {
	Store   Store
	Limiter answer.Limiter
	Now     func() time.Time
}

// Answer never fails: what goes wrong is the answer.
func (s *Service) Answer(r *answer.Request) answer.Response {
	return answer.Serve(r, s.route, "Short links cannot be kept or looked up now (%v). The long link in the address bar always works.")
}

func (s *Service) route(r *answer.Request) (answer.Response, error) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/x/"); ok {
		if other, done := answer.Other(r.Method, "GET", "HEAD"); done {
			return other, nil
		}
		return s.follow(strings.TrimSuffix(name, "/"))
	}
	if r.URL.Path != "/api/links" {
		return answer.Response{}, answer.Refuse(404, "There is no such interface; short links are made at /api/links.")
	}
	if other, done := answer.Other(r.Method, "POST"); done {
		return other, nil
	}
	return s.storeAddress(r)
}

// follow leads to what is kept.
func (s *Service) follow(text string) (answer.Response, error) {
	unknown := answer.Refuse(404, "There is no short link %q. It may be misspelt, not be known everywhere in its first minute, or have ended: they are kept for a year after they were last used.", answer.Clip(text))
	name, ok := parse(text)
	if !ok {
		return answer.Response{}, unknown
	}
	value, found, err := s.Store.Get(name)
	if err != nil {
		return answer.Response{}, fmt.Errorf("links: %w", err)
	}
	address, since, ok := read(value)
	if !found || !ok {
		return answer.Response{}, unknown
	}
	// Who follows a link gets there though it could not be renewed.
	_ = s.renew(name, address, since)
	return answer.Response{Status: 302, Header: [][2]string{{"Location", address}}}, nil
}

// storeAddress stores an address and returns its short link.
func (s *Service) storeAddress(r *answer.Request) (answer.Response, error) {
	door := s.door()
	if err := door.Admit(r); err != nil {
		return answer.Response{}, err
	}
	address, err := door.Text(r, "link", "/#…", "the address of a page below the site's root")
	if err != nil {
		return answer.Response{}, err
	}
	if address, err = link.Canonical(address); errors.Is(err, link.ErrLong) {
		return answer.Response{}, answer.Refuse(413, "%s", door.Long)
	} else if err != nil {
		return answer.Response{}, answer.Refuse(400, "Not the address of a page with its settings: %s.", strings.TrimPrefix(err.Error(), "link: "))
	}
	name, err := s.name(address)
	if err != nil {
		return answer.Response{}, err
	}
	b, err := json.Marshal(struct {
		Path string `json:"path"`
	}{"/x/" + name})
	if err != nil {
		return answer.Response{}, fmt.Errorf("links: %w", err)
	}
	return answer.Response{Status: 201, Header: [][2]string{{"Content-Type", "application/json"}, {"Location", "/x/" + name}}, Body: string(b)}, nil
}

// door takes the addresses that short links are to stand for.
func (s *Service) door() *answer.Door {
	return &answer.Door{
		Limiter: s.Limiter, Most: mostBytes,
		Strange: "Short links are made by this site's own pages.",
		Long:    fmt.Sprintf("A short link can stand for at most %d bytes. Leave out the note, or fewer columns.", link.Longest),
		Often:   "Too many short links from one place. Wait a minute; the long link in the address bar works meanwhile.",
	}
}

// name keeps an address, unless it is kept already, under the first of its names that no
// other address has. Two that come at once have the same names only if they are the same,
// or by a chance of one in 2⁴⁵.
func (s *Service) name(address string) (string, error) {
	for try := range byte(tries) {
		name := id(address, try)
		value, found, err := s.Store.Get(name)
		if err != nil {
			return "", fmt.Errorf("links: %w", err)
		}
		kept, since, ok := read(value)
		switch {
		case !found:
			since = time.Time{} // long ago
		case !ok || kept != address:
			continue // another's
		}
		return name, s.renew(name, address, since)
	}
	return "", errors.New("links: all names of this link are others'")
}

// renew keeps an address for another year, unless that was done not long ago.
func (s *Service) renew(name, address string, since time.Time) error {
	now := s.Now()
	if now.Sub(since) < Renewed {
		return nil
	}
	if err := s.Store.Put(name, write(address, now), Kept); err != nil {
		return fmt.Errorf("links: %w", err)
	}
	return nil
}

// write is an address as it is kept, with the day.
func write(address string, now time.Time) string {
	return now.UTC().Format(time.DateOnly) + " " + address
}

// read takes apart what write wrote. What another version of this wrote is for the page to
// understand; false is for what leads to no page of this site, whoever put it there.
func read(value string) (address string, since time.Time, ok bool) {
	date, address, _ := strings.Cut(value, " ")
	since, err := time.Parse(time.DateOnly, date)
	return address, since, err == nil && link.Leads(address)
}
