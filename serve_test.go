//go:build !js

package main

import (
	"cmp"
	"net/http"
	"net/http/httptest"
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

func TestServer(t *testing.T) {
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
		{"POST", "/", 405, "text/plain"},
	}
	s := &server{site: testSite(), headers: headers.All, tags: map[string]tag{}}
	for _, tt := range tests {
		r := get(t, s, tt.method, tt.target, "")
		if r.StatusCode != tt.status || !strings.HasPrefix(r.Header.Get("Content-Type"), tt.kind) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.target, r.StatusCode, r.Header.Get("Content-Type"), tt.status, tt.kind)
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

func TestServeNeedsASite(t *testing.T) {
	if err := serve(t.Context(), "127.0.0.1:0", site.Site{}, fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make") {
		t.Errorf("serving nothing: %v", err)
	}
}
