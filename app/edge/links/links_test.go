package links

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"clipscope/app/edge/answer"
	"clipscope/app/headers"
	"clipscope/ui/link"
)

// memory is a store.
type memory struct {
	kept  map[string]string
	until map[string]time.Duration
	puts  int
	fault error
}

func (m *memory) Get(name string) (string, bool, error) {
	v, ok := m.kept[name]
	return v, ok, m.fault
}

func (m *memory) Put(name, value string, kept time.Duration) error {
	if m.fault != nil {
		return m.fault
	}
	m.puts++
	m.kept[name], m.until[name] = value, kept
	return nil
}

// bucket allows each client so many requests.
type bucket struct {
	most  int
	asked map[string]int
}

func (b *bucket) Allow(client string) (bool, error) {
	b.asked[client]++
	return b.asked[client] <= b.most, nil
}

// newService is a service, its store, and its clock, which stands still.
func newService() (*Service, *memory, *time.Time) {
	m := &memory{kept: map[string]string{}, until: map[string]time.Duration{}}
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	return &Service{Store: m, Limiter: &bucket{math.MaxInt, map[string]int{}}, Now: func() time.Time { return now }}, m, &now
}

// asks is a request; headers are pairs.
func asks(method, path, body string, headers ...string) *answer.Request {
	u, err := url.Parse("https://clipscope.example" + path)
	if err != nil {
		panic(err)
	}
	r := &answer.Request{Method: method, URL: u, Header: func(name string) string {
		for i := 0; i+1 < len(headers); i += 2 {
			if headers[i] == name {
				return headers[i+1]
			}
		}
		if name == "Content-Type" && method == "POST" {
			return "application/json"
		}
		return ""
	}}
	if body != "" {
		r.Body = strings.NewReader(body)
	}
	return r
}

func posts(address string) *answer.Request {
	b, err := json.Marshal(map[string]string{"link": address})
	if err != nil {
		panic(err)
	}
	return asks("POST", "/api/links", string(b))
}

func header(r answer.Response, name string) string {
	for _, h := range r.Header {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// made is the path of a short link to an address.
func made(t *testing.T, s *Service, address string) string {
	t.Helper()
	r := s.Answer(posts(address))
	var got struct{ Path string }
	if err := json.Unmarshal([]byte(r.Body), &got); r.Status != 201 || err != nil || got.Path != header(r, "Location") {
		t.Fatalf("%d %s, %v", r.Status, r.Body, err)
	}
	return got.Path
}

func TestALinkLeadsWhereItWasMade(t *testing.T) {
	s, m, _ := newService()
	names := map[string]string{}
	for _, address := range []string{"/#data=moons&seed=1", "/#data=moons&seed=2", "/lab/#lesson=u", "/#note=a+%C3%A9"} {
		path := made(t, s, address)
		if again := made(t, s, address); again != path {
			t.Errorf("%s is %s, and then %s", address, path, again)
		}
		if other, taken := names[path]; taken {
			t.Errorf("%s and %s are both %s", address, other, path)
		}
		names[path] = address
		for _, method := range []string{"GET", "HEAD"} {
			r := s.Answer(asks(method, path, ""))
			if r.Status != 302 || header(r, "Location") != address || r.Body != "" {
				t.Errorf("%s: %d to %s, want %s", path, r.Status, header(r, "Location"), address)
			}
			for _, h := range headers.All {
				if header(r, h[0]) != h[1] {
					t.Errorf("%s is %q", h[0], header(r, h[0]))
				}
			}
		}
	}
	if made(t, s, "/#seed=1&data=moons") != made(t, s, "/#data=moons&seed=1") {
		t.Error("the order of settings matters")
	}
	if m.puts != len(names) {
		t.Errorf("%d are kept, and %d written", len(names), m.puts)
	}
}

// A link is there for a year after it was last followed, and is not written each time.
func TestALinkIsKeptWhileUsed(t *testing.T) {
	s, m, now := newService()
	path := made(t, s, "/#seed=1")
	name := strings.TrimPrefix(path, "/x/")
	written := *now
	for range 3 * 365 {
		*now = now.Add(day)
		was := m.puts
		if r := s.Answer(asks("GET", path, "")); r.Status != 302 {
			t.Fatalf("%v: %d", now, r.Status)
		}
		if m.puts > was {
			written = *now
		}
		if ends := written.Add(m.until[name]); ends.Before(now.Add(365 * day)) {
			t.Fatalf("followed on %v, it ends on %v", now, ends)
		}
	}
	if most := 3*365/30 + 1; m.puts > most {
		t.Errorf("written %d times in three years, want at most %d", m.puts, most)
	}
	m.fault = errors.New("full")
	if r := s.Answer(asks("GET", path, "")); r.Status != 503 {
		t.Errorf("without a store: %d", r.Status)
	}
}

// Whose name it is keeps it.
func TestNoLinkIsOverwritten(t *testing.T) {
	s, m, _ := newService()
	const address = "/#seed=1"
	m.kept[id(address, 0)] = "2026-11-01 /#seed=2"
	m.kept[id(address, 1)] = "something else"
	if path := made(t, s, address); path != "/x/"+id(address, 2) {
		t.Errorf("it became %s", path)
	}
	if m.kept[id(address, 0)] != "2026-11-01 /#seed=2" || m.kept[id(address, 1)] != "something else" {
		t.Errorf("%v", m.kept)
	}
	for try := range byte(tries) {
		m.kept[id(address, try)] = "2026-11-01 /#seed=2"
	}
	if r := s.Answer(posts(address)); r.Status != 503 {
		t.Errorf("all names taken: %d %s", r.Status, r.Body)
	}
}

func TestWhatIsNoRequestForALinkIsRefused(t *testing.T) {
	const good = `{"link": "/#seed=1"}`
	for _, c := range []struct {
		r      *answer.Request
		status int
	}{
		{asks("GET", "/api/links", ""), 405},
		{asks("HEAD", "/api/links", ""), 405},
		{asks("PUT", "/api/links", good), 405},
		{asks("OPTIONS", "/api/links", ""), 204},
		{asks("POST", "/x/bababa-bababa-bababa", good), 405},
		{asks("DELETE", "/x/bababa-bababa-bababa", ""), 405},
		{asks("GET", "/x/bababa-bababa-bababa", ""), 404},
		{asks("GET", "/x/", ""), 404},
		{asks("POST", "/api/other", good), 404},
		{asks("POST", "/api/links", ""), 400},
		{asks("POST", "/api/links", good, "Content-Type", "text/plain"), 415},
		{asks("POST", "/api/links", good, "Content-Type", ""), 415},
		{asks("POST", "/api/links", good, "Content-Encoding", "gzip"), 415},
		{asks("POST", "/api/links", good, "Content-Type", "Application/JSON ; charset=UTF-8"), 201},
		{asks("POST", "/api/links", good, "Content-Length", "100000000"), 413},
		{asks("POST", "/api/links", good, "Content-Length", "99999999999999999999999"), 413},
		{asks("POST", "/api/links", good, "Content-Length", "18446744073709551615"), 413},
		{asks("POST", "/api/links", good, "Content-Length", "-1"), 201},
		{asks("POST", "/api/links", strings.Repeat(" ", mostBytes+1)), 413},
		{asks("POST", "/api/links", strings.Repeat(" ", mostBytes)), 400},
		{asks("POST", "/api/links", good, "Origin", "https://evil.example"), 403},
		{asks("POST", "/api/links", good, "Origin", "https://clipscope.example"), 201},
		{asks("POST", "/api/links", good, "Sec-Fetch-Site", "cross-site"), 403},
		{asks("POST", "/api/links", good, "Sec-Fetch-Site", "same-origin"), 201},
		{asks("POST", "/api/links", good+good), 400},
		{asks("POST", "/api/links", `{"link": "/#seed=1", "id": "bababa-bababa-bababa"}`), 400},
		{asks("POST", "/api/links", "{\"link\": \"/#note=\xff\"}"), 400},
		{posts("//evil.example/#seed=1"), 400},
		{posts("/#wrong=x"), 400},
		{posts("/#note=" + strings.Repeat("n", link.Longest)), 413},
	} {
		s, m, _ := newService()
		r := s.Answer(c.r)
		if r.Status != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.r.Method, c.r.URL, r.Status, r.Body, c.status)
		}
		if r.Status == 405 && header(r, "Allow") == "" || r.Status >= 400 && len(r.Body) < 20 && c.r.Method != "HEAD" {
			t.Errorf("%s %s: %d says %q, allow %q", c.r.Method, c.r.URL, r.Status, r.Body, header(r, "Allow"))
		}
		if r.Status != 201 && m.puts > 0 {
			t.Errorf("%s %s: %d, and is kept", c.r.Method, c.r.URL, r.Status)
		}
	}
}

func TestAHouseholdMakesNoMoreThanItsLimit(t *testing.T) {
	s, _, _ := newService()
	b := &bucket{2, map[string]int{}}
	s.Limiter = b
	from := func(address string) answer.Response {
		return s.Answer(asks("POST", "/api/links", `{"link": "/#seed=1"}`, "CF-Connecting-IP", address))
	}
	for i, want := range []int{201, 201, 429, 429} {
		if r := from("2001:db8::" + string(rune('1'+i))); r.Status != want || want == 429 && header(r, "Retry-After") == "" {
			t.Errorf("request %d of one household: %d", i, r.Status)
		}
	}
	if from("192.0.2.1").Status != 201 || from("::ffff:192.0.2.1").Status != 201 || from("192.0.2.1").Status != 429 {
		t.Errorf("%v", b.asked)
	}
	if from("").Status != 201 || from("x").Status != 201 || from("<script>").Status != 429 {
		t.Errorf("who does not say where from: %v", b.asked)
	}
	s.Limiter = broken{}
	if r := from("192.0.2.2"); r.Status != 503 {
		t.Errorf("without a limit: %d", r.Status)
	}
}

type broken struct{}

func (broken) Allow(string) (bool, error) { return true, errors.New("no limit is bound") }

// Names are told apart as the odds say: of 20,000, none of which is like another unless one
// of 170,000 such tests is false, each syllable is as frequent as the others.
func TestNamesAreToldApart(t *testing.T) {
	seen := map[string]bool{}
	counts := map[string]int{}
	const n = 20_000
	for i := range n {
		name := id("/#seed="+string(rune(i+1)), 0)
		if seen[name] {
			t.Fatalf("%s twice", name)
		}
		seen[name] = true
		if got, ok := parse(name); !ok || got != name {
			t.Fatalf("%s is read as %s, %v", name, got, ok)
		}
		for k := 0; k < len(name); k += 2 {
			if name[k] == '-' {
				k--
				continue
			}
			counts[name[k:k+2]]++
		}
	}
	// 9n syllables of 32 kinds: a deviation is √(9n/32·31/32) = 74; six of them are as rare
	// as 32 in 500 million.
	if bits != 45 || len(counts) != 32 {
		t.Fatalf("%d bits, %d syllables", bits, len(counts))
	}
	for s, c := range counts {
		if math.Abs(float64(c)-9*n/32.) > 6*74 {
			t.Errorf("%s comes %d times", s, c)
		}
	}
}

func TestNamesAreReadAsTheyAreHeard(t *testing.T) {
	const name = "bakitu-fonisa-rulabo"
	for text, want := range map[string]string{
		name: name, "BAKITU-FONISA-RULABO": name, "bakitufonisarulabo": name, "bakitu fonisa rulabo": name, "paqedu-vomeza-rulapo": name, "Bakitu_Fonisa.Rulabo": name, "bacitu-fonysa-rulabo": name,
		"ba\u212aitu-fonisa-rulabo": "", "BA\u212aITU-FONISA-RULABO": "", "bak\u0130tu-fonisa-rulabo": "",
		"": "", "bakitu-fonisa": "", name + "a": "", "bakitu-fonisa-rulabx": "", "abikut-ofinas-urulab": "", "бakitu-fonisa-rulabo": "", strings.Repeat("ba", 100): "",
	} {
		if got, ok := parse(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %q, %v", text, got, ok)
		}
	}
}

func FuzzID(f *testing.F) {
	f.Add("bakitu-fonisa-rulabo")
	f.Add("../../etc")
	f.Fuzz(func(t *testing.T, text string) {
		name, ok := parse(text)
		if !ok {
			return
		}
		if again, ok := parse(name); !ok || again != name || len(name) != 20 {
			t.Fatalf("%q is %q, and that is %q, %v", text, name, again, ok)
		}
	})
}

// Whatever a body holds, what is kept of it leads to a page of this site.
func FuzzBody(f *testing.F) {
	for _, body := range []string{`{"link": "/#seed=1"}`, `{"link": "/lab/#lab.c=1"}`, `{"link": "//e/#seed=1"}`, `[[[[`, `{"link": "/#note=\u000d\u000a"}`, "{\"link\": \"/#note=\xff\"}"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, m, _ := newService()
		r := s.Answer(asks("POST", "/api/links", string(body)))
		switch {
		case r.Status == 201 && len(m.kept) == 1:
			if got := s.Answer(asks("GET", header(r, "Location"), "")); got.Status != 302 || !link.Leads(header(got, "Location")) {
				t.Fatalf("%q leads to %q", body, header(got, "Location"))
			}
		case r.Status != 400 && r.Status != 413 || len(m.kept) > 0:
			t.Fatalf("%q: %d, %d kept", body, r.Status, len(m.kept))
		}
	})
}

// What is left of a body is read, up to a bound.
func TestBodiesAreNotLeft(t *testing.T) {
	s, _, _ := newService()
	r := asks("DELETE", "/api/links", strings.Repeat("x", 1000))
	s.Answer(r)
	if rest, _ := io.ReadAll(r.Body); len(rest) > 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
	r = asks("DELETE", "/api/links", strings.Repeat("x", 3*(4<<20)))
	s.Answer(r)
	if rest, _ := io.ReadAll(r.Body); len(rest) != 2*(4<<20) {
		t.Errorf("%d bytes are left", len(rest))
	}
}

// late is a body of which some comes, and then nothing in time.
type late struct{ sent string }

func (l *late) Read(p []byte) (int, error) {
	n := copy(p, l.sent)
	l.sent = l.sent[n:]
	if n == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}

// TestALateBodyIsAnsweredWithTheReason: who sends half a body is told so, and who is refused all
// the same is told why.
func TestALateBodyIsAnsweredWithTheReason(t *testing.T) {
	for status, headers := range map[int][]string{408: nil, 415: {"Content-Type", "text/plain"}, 403: {"Origin", "https://evil.example"}} {
		s, m, _ := newService()
		r := asks("POST", "/api/links", "", headers...)
		r.Body = &late{`{"link": "/#seed=1"}`}
		if a := s.Answer(r); a.Status != status || len(m.kept) > 0 {
			t.Errorf("%d %s, want %d", a.Status, a.Body, status)
		}
	}
}

// What is wrong with a body is said in words of who sent it, and names are no others for
// being written alike.
func TestABodyIsRefusedInWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"LINK": "/#seed=1"}`:                          `has a field "LINK"`,
		`{"link": "/#seed=1", "Link": ""}`:              `has a field "Link"`,
		`{"link": "/#seed=1", "link": ""}`:              "has more than one link",
		`{"lin\u006b": "/#seed=1", "link": "/#seed=1"}`: "has more than one link",
		`{"link": "/#seed=1", "link": 7}`:               "has more than one link",
		`{"` + strings.Repeat("x", 5000) + `": 1}`:      `has a field "` + strings.Repeat("x", 40) + `…"`,
		`{"link": 7}`:            "has a link that is no text",
		`{"link": null}`:         "has a link that is no text",
		`{}`:                     "has no link",
		`null`:                   "is no object",
		`["/#seed=1"]`:           "is no object",
		`link=/#seed=1`:          "is no JSON",
		`{"link": "/#seed=1"}{}`: "more than one piece",
	} {
		s, m, _ := newService()
		r := s.Answer(asks("POST", "/api/links", body))
		if r.Status != 400 || !strings.Contains(r.Body, want) || len(m.kept) > 0 {
			t.Errorf("%s: %d, %s", body, r.Status, r.Body)
		}
		for _, foreign := range []string{"Go ", "struct", "json:", "unmarshal"} {
			if strings.Contains(r.Body, foreign) {
				t.Errorf("%s: it is refused with %s", body, r.Body)
			}
		}
	}
}
