// Package links keeps short links to pages of the site. POST /api/links takes the address
// of a page with its settings and names it, and GET /x/<name> leads there. It is plain Go;
// what it runs on, the store and the clock, are given.
//
// Guarantee: nothing is kept but the settings of a run or of the laboratory, as
// link.Canonical writes them, with the day on which they were; nothing of who sent them.
package links

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"clipscope/app/headers"
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

// mostUnread bytes of a body are waited for though they are of no use: in some 65 pieces,
// as a host may give a request no more than 10 ms of computing.
const mostUnread = 4 << 20

// Store keeps texts by name.
type Store interface {
	// Get is what is kept, and whether anything is.
	Get(name string) (value string, found bool, err error)
	// Put keeps value for so long, in the place of what was kept.
	Put(name, value string, kept time.Duration) error
}

// Limiter says who has asked too often.
type Limiter interface {
	// Allow counts a request of a client, and is false if there were too many.
	Allow(client string) (bool, error)
}

// Request is a client's request.
type Request struct {
	Method string
	URL    *url.URL
	Header func(name string) string // "" where there is none
	Body   io.Reader                // nil without; os.ErrDeadlineExceeded is for one that does not come in time
}

// Response is the answer to a request.
type Response struct {
	Status int
	Header [][2]string
	Body   string
}

// Service answers.
type Service struct {
	Store   Store
	Limiter Limiter
	Now     func() time.Time
}

// fault is an error in words for a person.
type fault struct {
	status int
	text   string
	header [][2]string
}

func (f *fault) Error() string { return f.text }

func refuse(status int, format string, args ...any) *fault {
	return &fault{status: status, text: fmt.Sprintf(format, args...)}
}

// Answer never fails: what goes wrong is the answer.
func (s *Service) Answer(r *Request) Response {
	response, err := s.route(r)
	if err != nil {
		f := (*fault)(nil)
		if !errors.As(err, &f) {
			f = refuse(503, "Short links cannot be kept or looked up now (%v). The long link in the address bar always works.", err)
		}
		response = Response{f.status, append(f.header, plain), f.text + "\n"}
	}
	response.Header = append(response.Header, headers.All...)
	response.Header = append(response.Header, [2]string{"Cache-Control", "no-store"})
	if r.Method == "HEAD" {
		response.Body = ""
	}
	// A connection on which a body is left unread is broken off, and the answer to this
	// request or to the next may be lost.
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, mostUnread)
	}
	return response
}

func (s *Service) route(r *Request) (Response, error) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/x/"); ok {
		if answer, done := other(r.Method, "GET", "HEAD"); done {
			return answer, nil
		}
		return s.follow(strings.TrimSuffix(name, "/"))
	}
	if r.URL.Path != "/api/links" {
		return Response{}, refuse(404, "There is no such interface; short links are made at /api/links.")
	}
	if answer, done := other(r.Method, "POST"); done {
		return answer, nil
	}
	return s.storeAddress(r)
}

// other answers what is asked by any other method than these.
func other(method string, methods ...string) (answer Response, done bool) {
	if slices.Contains(methods, method) {
		return Response{}, false
	}
	allow := [2]string{"Allow", strings.Join(methods, ", ") + ", OPTIONS"}
	if method == "OPTIONS" {
		return Response{Status: 204, Header: [][2]string{allow}}, true
	}
	return Response{405, [][2]string{allow, plain}, "Only " + strings.Join(methods, " and ") + " can be used here.\n"}, true
}

var plain = [2]string{"Content-Type", "text/plain; charset=utf-8"}

// follow leads to what is kept.
func (s *Service) follow(text string) (Response, error) {
	unknown := refuse(404, "There is no short link %q. It may be misspelt, not be known everywhere in its first minute, or have ended: they are kept for a year after they were last used.", clip(text))
	name, ok := parse(text)
	if !ok {
		return Response{}, unknown
	}
	value, found, err := s.Store.Get(name)
	if err != nil {
		return Response{}, fmt.Errorf("links: %w", err)
	}
	address, since, ok := read(value)
	if !found || !ok {
		return Response{}, unknown
	}
	// Who follows a link gets there though it could not be renewed.
	_ = s.renew(name, address, since)
	return Response{Status: 302, Header: [][2]string{{"Location", address}}}, nil
}

// clip is a name that a message can show.
func clip(s string) string {
	const long = 40
	if len(s) > long {
		return strings.ToValidUTF8(s[:long], "") + "…"
	}
	return s
}

// storeAddress stores an address and returns its short link.
func (s *Service) storeAddress(r *Request) (Response, error) {
	if err := s.admit(r); err != nil {
		return Response{}, err
	}
	address, err := body(r)
	if err != nil {
		return Response{}, err
	}
	if address, err = link.Canonical(address); errors.Is(err, link.ErrLong) {
		return Response{}, tooLong()
	} else if err != nil {
		return Response{}, refuse(400, "Not the address of a page with its settings: %s.", strings.TrimPrefix(err.Error(), "link: "))
	}
	name, err := s.name(address)
	if err != nil {
		return Response{}, err
	}
	b, err := json.Marshal(struct {
		Path string `json:"path"`
	}{"/x/" + name})
	if err != nil {
		return Response{}, fmt.Errorf("links: %w", err)
	}
	return Response{201, [][2]string{{"Content-Type", "application/json"}, {"Location", "/x/" + name}}, string(b)}, nil
}

// admit refuses what need not be read: what another site's page sends, what is no JSON,
// what is too long, and whoever sends too often.
func (s *Service) admit(r *Request) error {
	origin, fetched := r.Header("Origin"), r.Header("Sec-Fetch-Site")
	if origin != "" && origin != r.URL.Scheme+"://"+r.URL.Host || fetched != "" && fetched != "same-origin" && fetched != "none" {
		return refuse(403, "Short links are made by this site's own pages.")
	}
	kind, parameter, _ := strings.Cut(strings.ToLower(r.Header("Content-Type")), ";")
	if charset := strings.TrimSpace(parameter); strings.TrimSpace(kind) != "application/json" || charset != "" && charset != "charset=utf-8" || r.Header("Content-Encoding") != "" {
		return refuse(415, "The body has to be JSON, with Content-Type: application/json.")
	}
	if length, err := strconv.ParseUint(r.Header("Content-Length"), 10, 64); length > mostBytes && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return tooLong()
	}
	allowed, err := s.Limiter.Allow(client(r.Header("CF-Connecting-IP")))
	if err != nil {
		return fmt.Errorf("links: %w", err)
	}
	if !allowed {
		return &fault{429, "Too many short links from one place. Wait a minute; the long link in the address bar works meanwhile.", [][2]string{{"Retry-After", "60"}}}
	}
	return nil
}

func tooLong() error {
	return refuse(413, "A short link can stand for at most %d bytes. Leave out the note, or fewer columns.", link.Longest)
}

// client is whom an address of the network stands for: of IPv6 the first half, as all the
// rest is one household's.
func client(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// body is the address that the body of a request has: {"link": "/#data=moons"} and nothing
// else.
func body(r *Request) (string, error) {
	const form = `The body has to be {"link": "/#…"}, the address of a page below the site's root`
	if r.Body == nil {
		return "", refuse(400, "%s, and there is none.", form)
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, mostBytes+1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", refuse(408, "The body did not come in time. Send it again.")
	} else if err != nil {
		return "", refuse(400, "The body did not come whole.")
	}
	if len(b) > mostBytes {
		return "", tooLong()
	}
	if !utf8.Valid(b) {
		return "", refuse(400, "%s, in UTF-8.", form)
	}
	link, wrong := given(b)
	if wrong != "" {
		return "", refuse(400, "%s; this one %s.", form, wrong)
	}
	return link, nil
}

// given returns the link of a body; wrong says what is not as it has to be. Names are taken as
// they are written, and once: package json would take LINK for link, and the last of two.
func given(b []byte) (link, wrong string) {
	if !json.Valid(b) {
		return "", "is no JSON, or more than one piece of it"
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", "is no object"
	}
	var text *string
	for found := false; d.More(); found = true {
		name, err := d.Token()
		if err != nil || name != "link" {
			return "", fmt.Sprintf("has a field %q", clip(fmt.Sprint(name)))
		}
		if found {
			return "", "has more than one link"
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", "is no JSON"
		}
		if err := json.Unmarshal(value, &text); err != nil || text == nil {
			return "", "has a link that is no text"
		}
	}
	if text == nil {
		return "", "has no link"
	}
	return *text, ""
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
