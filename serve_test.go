//go:build !js

package main

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"clipscope/app/headers"
	"clipscope/internal/site"
)

func get(t *testing.T, h http.Handler, method, target, etag string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func testSite() fstest.MapFS {
	return fstest.MapFS{
		"index.html":      {Data: []byte("start")},
		"help/index.html": {Data: []byte("help")},
		"404.html":        {Data: []byte("nothing here")},
		"web/app.wasm":    {Data: []byte("\x00asm")},
		"web/css/all.css": {Data: []byte("body{}")},
	}
}

func TestServerSendsTheSiteAlone(t *testing.T) {
	tests := []struct {
		method, target string
		status         int
		kind           string // prefix of the Content-Type
	}{
		{"GET", "/", 200, "text/html"},
		{"GET", "/index.html", 200, "text/html"},
		{"GET", "/help", 200, "text/html"},
		{"GET", "/help/", 200, "text/html"},
		{"GET", "/help/index.html", 200, "text/html"},
		{"HEAD", "/help", 200, "text/html"},
		{"GET", "/web/app.wasm", 200, "application/wasm"},
		{"GET", "/web/css/all.css", 200, "text/css"},
		{"GET", "/web/css", 404, "text/html"}, // a folder is not listed
		{"GET", "/nowhere", 404, "text/html"},
		{"GET", "/../serve.go", 404, "text/html"},
		{"GET", "/%00", 404, "text/html"},
		{"GET", "/web/app.wasm%00.html", 404, "text/html"},
		{"GET", "/web%2fapp.wasm", 200, "application/wasm"},
		{"GET", "/web%5capp.wasm", 404, "text/html"},
		{"GET", "//web//app.wasm", 200, "application/wasm"},
		{"GET", "/%2e%2e/%2e%2e/etc/passwd", 404, "text/html"},
		{"GET", "/web/.", 404, "text/html"},
		{"POST", "/", 405, "text/plain"},
		{"OPTIONS", "/", 405, "text/plain"},
		{"TRACE", "/", 405, "text/plain"},
		{"get", "/", 405, "text/plain"},
		{"PROPFIND", "/web/", 405, "text/plain"},
	}
	s := &server{site: testSite(), headers: headers.All, tags: map[string]tag{}}
	for _, tt := range tests {
		r := get(t, s, tt.method, tt.target, "")
		if r.StatusCode != tt.status || !strings.HasPrefix(r.Header.Get("Content-Type"), tt.kind) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.target, r.StatusCode, r.Header.Get("Content-Type"), tt.status, tt.kind)
		}
		if allow := r.Header.Get("Allow"); (allow != "") != (tt.status == 405) {
			t.Errorf("%s %s: Allow is %q", tt.method, tt.target, allow)
		}
		for _, h := range headers.All {
			if r.Header.Get(h[0]) != h[1] {
				t.Errorf("%s %s: %s is %q", tt.method, tt.target, h[0], r.Header.Get(h[0]))
			}
		}
	}
}

// TestServerSaysWhoMayFrame: what the server was started for is in every response.
func TestServerSaysWhoMayFrame(t *testing.T) {
	s := &server{site: testSite(), headers: headers.For([]string{"https://a.example"}), tags: map[string]tag{}}
	for _, at := range []string{"/", "/web/app.wasm", "/nowhere"} {
		h := get(t, s, "GET", at, "").Header
		if !strings.Contains(h.Get("Content-Security-Policy"), "; frame-ancestors https://a.example; ") || h.Get("X-Frame-Options") != "" {
			t.Errorf("%s: %q", at, h)
		}
	}
}

func TestServerSeesARebuild(t *testing.T) {
	site := testSite()
	s := &server{site: site, tags: map[string]tag{}}
	first := get(t, s, "GET", "/web/app.wasm", "")
	etag := first.Header.Get("ETag")
	if etag == "" || first.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("ETag %q, Cache-Control %q", etag, first.Header.Get("Cache-Control"))
	}
	if r := get(t, s, "GET", "/web/app.wasm", etag); r.StatusCode != http.StatusNotModified {
		t.Errorf("unchanged: %d", r.StatusCode)
	}
	site["web/app.wasm"] = &fstest.MapFile{Data: []byte("\x00ASM"), ModTime: time.Unix(1, 0)}
	if r := get(t, s, "GET", "/web/app.wasm", etag); r.StatusCode != http.StatusOK || r.Header.Get("ETag") == etag {
		t.Errorf("changed: %d with ETag %s", r.StatusCode, r.Header.Get("ETag"))
	}
}

func TestServerSendsWhatIsPacked(t *testing.T) {
	now := time.Unix(1000, 0)
	site := fstest.MapFS{
		"index.html":         {Data: []byte("start"), ModTime: now},
		"index.html.br":      {Data: []byte("of another"), ModTime: now.Add(-time.Second)},
		"web/app.wasm":       {Data: []byte("\x00asm, whole"), ModTime: now},
		"web/app.wasm.br":    {Data: []byte("brotli"), ModTime: now},
		"web/app.wasm.gz":    {Data: []byte("gzip it"), ModTime: now},
		"web/kernels.js":     {Data: []byte("kernels"), ModTime: now},
		"web/kernels.js.gz":  {Data: []byte("gzip"), ModTime: now},
		"help/index.html":    {Data: []byte("help"), ModTime: now},
		"help/index.html.br": {Data: []byte("b"), ModTime: now.Add(time.Second)},
	}
	tests := []struct{ target, accept, coding, body string }{
		{"/web/app.wasm", "", "", "\x00asm, whole"},
		{"/web/app.wasm", "gzip, deflate, br, zstd", "br", "brotli"},
		{"/web/app.wasm", "BR", "br", "brotli"},
		{"/web/app.wasm", "gzip", "gzip", "gzip it"},
		{"/web/app.wasm", "*", "br", "brotli"},
		{"/web/app.wasm", "br;q=0, *", "gzip", "gzip it"},
		{"/web/app.wasm", "br; q=0.2, gzip; q=0.8", "gzip", "gzip it"},
		{"/web/app.wasm", "br;q=0.5, gzip;q=0.5", "br", "brotli"},
		{"/web/app.wasm", "br;q=0, gzip;q=0.000", "", "\x00asm, whole"},
		{"/web/app.wasm", "gzip;q=0.5, identity", "", "\x00asm, whole"},
		{"/web/app.wasm", "identity;q=0.5, gzip;q=0.7", "gzip", "gzip it"},
		{"/web/app.wasm", "deflate, brotli", "", "\x00asm, whole"},
		{"/web/app.wasm", "br;q=much", "", "\x00asm, whole"},
		{"/web/kernels.js", "br, gzip;q=0.1", "gzip", "gzip"},
		{"/", "br", "", "start"},
		{"/help", "br", "br", "b"},
	}
	kinds := map[string]string{"/web/app.wasm": "application/wasm", "/web/kernels.js": "text/javascript; charset=utf-8"}
	s := &server{site: site, tags: map[string]tag{}}
	forms := map[string]string{} // of app.wasm, by their ETags
	for _, tt := range tests {
		for _, method := range []string{"GET", "HEAD"} {
			r := httptest.NewRequest(method, tt.target, nil)
			if tt.accept != "" {
				r.Header.Set("Accept-Encoding", tt.accept)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			h := w.Result().Header
			if got := w.Body.String(); w.Code != 200 || h.Get("Content-Encoding") != tt.coding || method == "GET" && got != tt.body {
				t.Errorf("%s %s for %q: %d, %q, %q", method, tt.target, tt.accept, w.Code, h.Get("Content-Encoding"), got)
			}
			kind := cmp.Or(kinds[tt.target], "text/html; charset=utf-8")
			if h.Get("Vary") != "Accept-Encoding" || h.Get("Content-Length") != strconv.Itoa(len(tt.body)) || h.Get("Content-Type") != kind {
				t.Errorf("%s %s for %q: headers %v", method, tt.target, tt.accept, h)
			}
			if tt.target != "/web/app.wasm" {
				continue
			}
			if other, known := forms[h.Get("ETag")]; known && other != tt.coding {
				t.Errorf("%q and %q have the same ETag", other, tt.coding)
			}
			forms[h.Get("ETag")] = tt.coding
			r.Header.Set("If-None-Match", h.Get("ETag"))
			w = httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusNotModified || w.Body.Len() > 0 {
				t.Errorf("%s for %q again: %d", tt.target, tt.accept, w.Code)
			}
		}
	}
	if len(forms) != 3 {
		t.Errorf("%d forms were sent", len(forms))
	}
}

// The policy names no origin but the page's own.
func TestPolicyIsClosed(t *testing.T) {
	more := map[string][]string{
		"script-src": {"'wasm-unsafe-eval'"}, "img-src": {"data:"}, "worker-src": {"blob:"},
		"require-trusted-types-for": {"'script'"}, "trusted-types": {"default"},
	}
	for directive := range strings.SplitSeq(headers.Policy, "; ") {
		name, sources, _ := strings.Cut(directive, " ")
		for source := range strings.FieldsSeq(sources) {
			if source != "'self'" && source != "'none'" && !slices.Contains(more[name], source) {
				t.Errorf("%s allows %s", name, source)
			}
		}
	}
	if !strings.HasPrefix(headers.Policy, "default-src 'none'") {
		t.Error("what is not named must be refused")
	}
}

// TestServerAnswersItsHosts: a page whose own name leads to this machine reads nothing here.
func TestServerAnswersItsHosts(t *testing.T) {
	for _, tt := range []struct {
		addr     string
		names    []string
		yes, not []string
	}{
		{"127.0.0.1:8080", nil,
			[]string{"127.0.0.1:8080", "127.0.0.1", "localhost:8080", "LOCALHOST.", "localhost:9000", "a.localhost", "[::1]:8080", "[0:0:0:0:0:0:0:1]", "127.9.9.9:1"},
			[]string{"", ":", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "xlocalhost", "192.168.1.5", "10.0.0.1:8080", "[fe80::1]", "0.0.0.0", "127.1", "2130706433", "127.0.0.1@evil.example", "evil.example#localhost", "[::1", "localhost,evil.example", "box.lan"}},
		{"192.168.1.5:80", nil, []string{"192.168.1.5", "[::ffff:192.168.1.5]:80", "localhost"}, []string{"192.168.1.6", "evil.example"}},
		{"[2001:DB8::1]:80", nil, []string{"[2001:db8:0::1]:80"}, []string{"[2001:db8::2]"}},
		{"0.0.0.0:8080", nil, []string{"192.168.1.5:8080", "[2001:db8::1]", "localhost"}, []string{"evil.example", ""}},
		{":8080", nil, []string{"10.1.2.3"}, []string{"evil.example"}},
		{"box.lan:80", nil, []string{"box.lan", "Box.LAN.:80"}, []string{"box.lan.evil.example", "192.168.1.5"}},
		{"127.0.0.1:0", []string{"Box.lan", "b.example."}, []string{"box.lan:1", "b.example", "localhost"}, []string{"c.example", "a.box.lan"}},
	} {
		h := hostsFor(tt.addr, tt.names)
		s := &server{site: testSite(), hosts: &h, headers: headers.All, tags: map[string]tag{}}
		for want, list := range map[int][]string{200: tt.yes, 421: tt.not} {
			for _, host := range list {
				r := httptest.NewRequest("GET", "/", nil)
				r.Host = host
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if w.Code != want || want == 421 && (!strings.Contains(w.Body.String(), "-hosts") || w.Body.Len() > 300) || w.Header().Get("Content-Security-Policy") == "" {
					t.Errorf("at %s with %q, asked for %q: %d %s", tt.addr, tt.names, host, w.Code, w.Body)
				}
			}
		}
	}
}

// TestServerAnswersOnlyBelowItsPrefix: what does not begin with the whole prefix is not there, and
// is answered with all headers.
func TestServerAnswersOnlyBelowItsPrefix(t *testing.T) {
	s := &server{site: testSite(), prefix: "/repo", headers: headers.All, tags: map[string]tag{}}
	for target, status := range map[string]int{"/repo/": 200, "/repo": 200, "/repo/help": 200, "/": 404, "/help": 404, "/repohelp": 404, "/repo/../help": 404, "/repository": 404, "/Repo/": 404} {
		r := get(t, s, "GET", target, "")
		if r.StatusCode != status || r.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %d, want %d; headers %v", target, r.StatusCode, status, r.Header)
		}
	}
}

// TestRangesAreOfThePackedForm: a part of what is packed is a part of the packed form, and many
// parts are the whole.
func TestRangesAreOfThePackedForm(t *testing.T) {
	now := time.Unix(1000, 0)
	plain, packed := strings.Repeat("plain", 100), "0123456789"
	site := fstest.MapFS{"index.html": {Data: []byte(plain), ModTime: now}, "index.html.br": {Data: []byte(packed), ModTime: now}}
	s := &server{site: site, tags: map[string]tag{}}
	for _, tt := range []struct {
		bytes, accept string
		status        int
		body          string
	}{
		{"bytes=2-4", "br", 206, "234"},
		{"bytes=2-4", "", 206, "ain"},
		{"bytes=-3", "br", 206, "789"},
		{"bytes=8-400", "br", 206, "89"},
		{"bytes=10-", "br", 416, ""},
		{"bytes=0-0,2-2", "br", 200, packed},
		{"bytes=" + strings.Repeat("0-0,", 10_000) + "0-0", "", 200, plain},
		{"bytes=5-2", "br", 416, ""},
		{"bytes=99999999999999999999-", "br", 416, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Range", tt.bytes)
		r.Header.Set("Accept-Encoding", tt.accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.status || tt.status < 400 && w.Body.String() != tt.body {
			t.Errorf("%.40s of %q: %d %.60s", tt.bytes, tt.accept, w.Code, w.Body)
		}
		if length := w.Header().Get("Content-Length"); tt.status < 400 && length != strconv.Itoa(len(tt.body)) {
			t.Errorf("%.40s of %q: %s bytes are said", tt.bytes, tt.accept, length)
		}
		if coding := w.Header().Get("Content-Encoding"); (coding == "br") != (tt.accept == "br" && tt.status < 400) {
			t.Errorf("%.40s of %q: %d is said to be %q", tt.bytes, tt.accept, tt.status, coding)
		}
	}
}

// TestFolderHasNoWayOut: a link to what is not of the site is as if nothing were there; a
// folder that was replaced is the new one.
func TestFolderHasNoWayOut(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.txt", "secret")
	write("site/index.html", "one")
	write("site/web/a.txt", "a")
	for name, to := range map[string]string{"out.txt": "../secret.txt", "abs.txt": filepath.Join(dir, "secret.txt"), "up": "..", "in.txt": "web/a.txt", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, "site", name)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	s := &server{site: folder(filepath.Join(dir, "site")), tags: map[string]tag{}}
	for target, status := range map[string]int{"/": 200, "/in.txt": 200, "/out.txt": 404, "/abs.txt": 404, "/up/secret.txt": 404, "/up/site/index.html": 404, "/loop": 404, "/web": 404} {
		r := get(t, s, "GET", target, "")
		body, _ := io.ReadAll(r.Body)
		if r.StatusCode != status || strings.Contains(string(body), "secret") {
			t.Errorf("%s: %d %s", target, r.StatusCode, body)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "site")); err != nil {
		t.Fatal(err)
	}
	write("site/index.html", "two")
	if body, _ := io.ReadAll(get(t, s, "GET", "/", "").Body); string(body) != "two" {
		t.Errorf("after it was replaced, the site is %q", body)
	}
}

// deadlines is a response whose deadlines are kept.
type deadlines struct {
	*httptest.ResponseRecorder
	set     []time.Time
	longest int // piece
}

func (d *deadlines) SetWriteDeadline(t time.Time) error { d.set = append(d.set, t); return nil }
func (d *deadlines) Write(b []byte) (int, error) {
	d.longest = max(d.longest, len(b))
	return d.ResponseRecorder.Write(b)
}

// TestDeadlinesGoWithProgress: a response has as many deadlines as pieces, so that a slow
// client is waited for, and an answer without a body has one.
func TestDeadlinesGoWithProgress(t *testing.T) {
	site := testSite()
	site["web/big.wasm"] = &fstest.MapFile{Data: make([]byte, 4<<20)}
	h := newServer(&server{site: site, tags: map[string]tag{}}, patience).Handler
	for target, least := range map[string]int{"/web/big.wasm": 64, "/": 1, "/nowhere": 1} {
		for _, method := range []string{"GET", "HEAD"} {
			d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(d, httptest.NewRequest(method, target, nil))
			if method == "HEAD" {
				least = 1
			}
			if len(d.set) < least || d.longest > sendBuffer/2 {
				t.Errorf("%s %s: %d deadlines, pieces of up to %d bytes", method, target, len(d.set), d.longest)
			}
			if !slices.IsSortedFunc(d.set, time.Time.Compare) {
				t.Errorf("%s %s: deadlines go back", method, target)
			}
		}
	}
}

// TestIdleClientsAreLeft: who sends no request, half of one, none after the first, or takes
// nothing of a response, loses the connection.
func TestIdleClientsAreLeft(t *testing.T) {
	site := testSite()
	site["web/big.wasm"] = &fstest.MapFile{Data: make([]byte, 32<<20)}
	const short = 50 * time.Millisecond
	srv := newServer(&server{site: site, tags: map[string]tag{}}, limits{short, short, short})
	if srv.MaxHeaderBytes != mostHeader {
		t.Errorf("headers of %d bytes are read", srv.MaxHeaderBytes)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan string, 8)
	srv.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- c.RemoteAddr().String()
		}
	}
	go srv.Serve(l)
	defer srv.Close()
	open := map[string]string{}
	for what, sent := range map[string]string{
		"nothing":            "",
		"half a request":     "GET / HTTP/1.1\r\nHost: localhost\r\n",
		"one request":        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a body that stalls": "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx",
		"nothing read":       "GET /web/big.wasm HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, sent); err != nil {
			t.Fatal(err)
		}
		open[c.LocalAddr().String()] = what
	}
	for limit := time.After(time.Minute); len(open) > 0; {
		select {
		case address := <-closed:
			delete(open, address)
		case <-limit: // of the test, for a server that waits for ever
			t.Fatalf("still open: %v", open)
		}
	}
}

func TestServeNeedsASite(t *testing.T) {
	if err := serve(t.Context(), "127.0.0.1:0", nil, site.Site{}, fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make") {
		t.Errorf("serving nothing: %v", err)
	}
}
