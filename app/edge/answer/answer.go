// Package answer has the requests, answers and refusals that the services of the Worker share.
// It is plain Go, so that all of it is tested without a host.
package answer

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
	"unicode/utf8"

	"clipscope/app/headers"
)

// mostUnread bytes of a body are waited for though they are of no use: in some 65 pieces,
// as a host may give a request no more than 10 ms of computing.
const mostUnread = 4 << 20

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

// Fault is an error in words for a person.
type Fault struct {
	Status int
	Text   string
	Header [][2]string
}

func (f *Fault) Error() string { return f.Text }

// Response is the answer that says it.
func (f *Fault) Response() Response {
	return Response{f.Status, append(f.Header, plain), f.Text + "\n"}
}

// Refuse returns a fault.
func Refuse(status int, format string, args ...any) *Fault {
	return &Fault{Status: status, Text: fmt.Sprintf(format, args...)}
}

// Finish adds what every answer has, and reads what is left of the request.
func Finish(r *Request, to Response) Response {
	to.Header = append(to.Header, headers.All...)
	to.Header = append(to.Header, [2]string{"Cache-Control", "no-store"})
	if r.Method == "HEAD" {
		to.Body = ""
	}
	// A connection on which a body is left unread is broken off, and the answer to this
	// request or to the next may be lost.
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, mostUnread)
	}
	return to
}

// Other answers what is asked by any other method than these.
func Other(method string, methods ...string) (answer Response, done bool) {
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

// Serve answers by route, whose errors that are no [Fault] are said by words with a %v. It never fails: what
// goes wrong is the answer.
func Serve(r *Request, route func(*Request) (Response, error), words string) Response {
	response, err := route(r)
	if err != nil {
		f := (*Fault)(nil)
		if !errors.As(err, &f) {
			f = Refuse(503, words, err)
		}
		response = f.Response()
	}
	return Finish(r, response)
}

// Door takes bodies, and says whose and which it does not.
type Door struct {
	Limiter Limiter
	Most    int64 // bytes of a body
	// What is said to another site's page, of a body of more bytes, and to whoever sends too often.
	Strange, Long, Often string
}

// Admit refuses what need not be read: what another site's page sends, what is no JSON, what is
// too long, and whoever sends too often.
func (d *Door) Admit(r *Request) error {
	origin, fetched := r.Header("Origin"), r.Header("Sec-Fetch-Site")
	if origin != "" && origin != r.URL.Scheme+"://"+r.URL.Host || fetched != "" && fetched != "same-origin" && fetched != "none" {
		return Refuse(403, "%s", d.Strange)
	}
	kind, parameter, _ := strings.Cut(strings.ToLower(r.Header("Content-Type")), ";")
	if charset := strings.TrimSpace(parameter); strings.TrimSpace(kind) != "application/json" || charset != "" && charset != "charset=utf-8" || r.Header("Content-Encoding") != "" {
		return Refuse(415, "The body has to be JSON, with Content-Type: application/json.")
	}
	if length, err := strconv.ParseUint(r.Header("Content-Length"), 10, 64); length > uint64(d.Most) && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return Refuse(413, "%s", d.Long)
	}
	allowed, err := d.Limiter.Allow(client(r.Header("CF-Connecting-IP")))
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	if !allowed {
		return &Fault{429, d.Often, [][2]string{{"Retry-After", "60"}}}
	}
	return nil
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

// Text returns the text of a body of one field, as {"link": "/#…"}: it is named, shown by an example, and
// described where the body is another.
func (d *Door) Text(r *Request, field, example, described string) (string, error) {
	form := fmt.Sprintf(`The body has to be {%q: %q}, %s`, field, example, described)
	if r.Body == nil {
		return "", Refuse(400, "%s, and there is none.", form)
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, d.Most+1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", Refuse(408, "The body did not come in time. Send it again.")
	} else if err != nil {
		return "", Refuse(400, "The body did not come whole.")
	}
	if int64(len(b)) > d.Most {
		return "", Refuse(413, "%s", d.Long)
	}
	if !utf8.Valid(b) {
		return "", Refuse(400, "%s, in UTF-8.", form)
	}
	text, wrong := given(b, field)
	if wrong != "" {
		return "", Refuse(400, "%s; this one %s.", form, wrong)
	}
	return text, nil
}

// given returns the field of a body; wrong says what is not as it has to be. Names are taken as
// they are written, and once: package json would take LINK for link, and the last of two.
func given(b []byte, field string) (value, wrong string) {
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
		if err != nil || name != field {
			return "", fmt.Sprintf("has a field %q", Clip(fmt.Sprint(name)))
		}
		if found {
			return "", "has more than one " + field
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return "", "is no JSON"
		}
		if err := json.Unmarshal(raw, &text); err != nil || text == nil {
			return "", "has a " + field + " that is no text"
		}
	}
	if text == nil {
		return "", "has no " + field
	}
	return *text, ""
}

// Clip is a name that a message can show.
func Clip(s string) string {
	const long = 40
	if len(s) > long {
		return strings.ToValidUTF8(s[:long], "") + "…"
	}
	return s
}
