//go:build !js

package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
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
		"help.html":       {Data: []byte("help")},
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
		{"HEAD", "/help", 200, "text/html"},
		{"GET", "/web/app.wasm", 200, "application/wasm"},
		{"GET", "/web/css/all.css", 200, "text/css"},
		{"GET", "/web/css", 404, "text/html"}, // a folder is not listed
		{"GET", "/nowhere", 404, "text/html"},
		{"GET", "/../serve.go", 404, "text/html"},
		{"POST", "/", 405, "text/plain"},
	}
	s := &server{site: testSite(), tags: map[string]tag{}}
	for _, tt := range tests {
		r := get(t, s, tt.method, tt.target, "")
		if r.StatusCode != tt.status || !strings.HasPrefix(r.Header.Get("Content-Type"), tt.kind) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.target, r.StatusCode, r.Header.Get("Content-Type"), tt.status, tt.kind)
		}
		for _, h := range securityHeaders {
			if r.Header.Get(h[0]) != h[1] {
				t.Errorf("%s %s: %s is %q", tt.method, tt.target, h[0], r.Header.Get(h[0]))
			}
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

func TestCleanPrefix(t *testing.T) {
	for in, want := range map[string]string{"": "", "/": "", "repo": "/repo", "/repo/": "/repo", "/a/b": "/a/b"} {
		if got := cleanPrefix(in); got != want {
			t.Errorf("cleanPrefix(%q) = %q, want %q", in, got, want)
		}
	}
}

// The policy names no origin but the page's own.
func TestPolicyIsClosed(t *testing.T) {
	more := map[string][]string{
		"script-src": {"'wasm-unsafe-eval'"}, "img-src": {"data:"}, "worker-src": {"blob:"},
		"require-trusted-types-for": {"'script'"}, "trusted-types": {"default"},
	}
	for directive := range strings.SplitSeq(policy, "; ") {
		name, sources, _ := strings.Cut(directive, " ")
		for source := range strings.FieldsSeq(sources) {
			if source != "'self'" && source != "'none'" && !slices.Contains(more[name], source) {
				t.Errorf("%s allows %s", name, source)
			}
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") {
		t.Error("what is not named must be refused")
	}
}

func TestServeNeedsASite(t *testing.T) {
	if err := serve(t.Context(), "127.0.0.1:0", "", fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "make") {
		t.Errorf("serving nothing: %v", err)
	}
}
