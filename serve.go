//go:build !js

// Command clipscope generates the static site and serves it on this machine. A static host
// is given the same files, byte for byte.
//
//	clipscope -wasm bin/web -out dist -generate        write the site and end
//	clipscope -out dist -addr 127.0.0.1:8080           serve it
//	clipscope -wasm bin/web -release release           write a release and end
//
// With -frame-ancestors, which is given to each of these, pages of others may show it.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"clipscope/app/headers"
	"clipscope/internal/site"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("clipscope: ")
	var s site.Site
	flag.StringVar(&s.Source, "source", ".", "`folder` of the sources: web/ and assets/")
	flag.StringVar(&s.Wasm, "wasm", "bin/web", "`folder` of the built .wasm files")
	flag.StringVar(&s.Out, "out", "dist", "`folder` of the site")
	flag.StringVar(&s.Prefix, "prefix", "", "`path` under which the site is hosted, such as /repo")
	flag.BoolVar(&s.Stories, "stories", false, "with /stories, the components alone, for developing")
	flag.BoolVar(&s.Links, "links", false, "with a button for short links, for a host that keeps them: app/edge")
	flag.Func("frame-ancestors", "`origins`, parted by spaces, whose pages may show the site in a frame, such as \"https://example.org http://localhost:8000\"; none by default", func(text string) (err error) {
		s.Frames, err = headers.ParseFrames(text)
		return err
	})
	generate := flag.Bool("generate", false, "write the site and end")
	to := flag.String("release", "", "write a release, of the site for -prefix, into this `folder` and end")
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to serve on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *to != "":
		err = s.Publish(*to)
	case *generate:
		err = s.Generate()
	default:
		err = serve(ctx, *addr, s, os.DirFS(s.Out))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers until ctx ends, with the files of a site that was generated.
func serve(ctx context.Context, addr string, s site.Site, files fs.FS) error {
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return fmt.Errorf("no site to serve, run make: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve: %w (make serve ADDR=127.0.0.1:9000 takes another port)", err)
	}
	prefix := site.CleanPrefix(s.Prefix)
	fmt.Printf("Clipscope is at http://%s%s/\n", l.Addr(), prefix)
	srv := &http.Server{
		Handler:           http.StripPrefix(prefix, &server{site: files, headers: headers.For(s.Frames), tags: map[string]tag{}}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// server serves a folder the way a static host does: /x and /x/ are x/index.html,
// what does not exist is 404.html, and where there is x.br or x.gz beside x, a
// browser that can unpack it gets that. Browsers ask again before they use what
// they have, so that a rebuild is seen at once.
type server struct {
	site    fs.FS
	headers [][2]string
	mu      sync.Mutex
	tags    map[string]tag
}

// tag is the ETag of a file as it was.
type tag struct {
	modified time.Time
	size     int64
	etag     string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, h := range s.headers {
		w.Header().Set(h[0], h[1])
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name, found := s.find(r.URL.Path)
	if !found {
		s.notFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("Vary", "Accept-Encoding")
	if p, size := s.packed(name, strings.Join(r.Header.Values("Accept-Encoding"), ",")); size > 0 {
		name += p.suffix
		w.Header().Set("Content-Encoding", p.coding)
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	}
	etag, err := s.etag(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, withoutIndexRedirect(r), s.site, name)
}

// packings are the forms that may stand beside a file, the best first, and what
// they are called in HTTP.
var packings = []packing{{".br", "br"}, {".gz", "gzip"}}

type packing struct{ suffix, coding string }

// packed finds the form of a file that a request likes best, and its size, which
// is 0 where that is the file itself. A form older than its file is of another.
func (s *server) packed(name, accept string) (best packing, size int64) {
	file, err := fs.Stat(s.site, name)
	if err != nil {
		return best, 0
	}
	most := 0.0
	for _, p := range packings {
		form, err := fs.Stat(s.site, name+p.suffix)
		if q := quality(accept, p.coding); q > most && err == nil && !form.ModTime().Before(file.ModTime()) {
			best, size, most = p, form.Size(), q
		}
	}
	if quality(accept, "identity") > most {
		return packing{}, 0
	}
	return best, size
}

// quality is how much an Accept-Encoding header likes a coding, from 0, which
// refuses it, to 1. What is not mentioned, by * either, is 0.
func quality(accept, coding string) float64 {
	others := 0.0
	for part := range strings.SplitSeq(strings.ToLower(accept), ",") {
		name, parameter, _ := strings.Cut(part, ";")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64)
		}
		switch strings.TrimSpace(name) {
		case coding:
			return q
		case "*":
			others = q
		}
	}
	return others
}

// withoutIndexRedirect keeps ServeFileFS from redirecting /index.html to ./.
func withoutIndexRedirect(r *http.Request) *http.Request {
	if !strings.HasSuffix(r.URL.Path, "/index.html") {
		return r
	}
	r = r.Clone(r.Context())
	r.URL.Path = strings.TrimSuffix(r.URL.Path, "index.html")
	return r
}

// find maps the path of a URL to a file.
func (s *server) find(urlPath string) (name string, found bool) {
	name = strings.Trim(path.Clean("/"+urlPath), "/")
	if name == "" {
		name = "index.html"
	}
	for _, candidate := range []string{name, path.Join(name, "index.html")} {
		if info, err := fs.Stat(s.site, candidate); err == nil && info.Mode().IsRegular() {
			return candidate, true
		}
	}
	return "", false
}

func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	page, err := fs.ReadFile(s.site, "404.html")
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	w.Write(page)
}

// etag hashes a file's content, again only after it has changed.
func (s *server) etag(name string) (string, error) {
	info, err := fs.Stat(s.site, name)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tags[name]; t.modified.Equal(info.ModTime()) && t.size == info.Size() && t.etag != "" {
		return t.etag, nil
	}
	content, err := fs.ReadFile(s.site, name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	t := tag{info.ModTime(), info.Size(), `"` + hex.EncodeToString(sum[:12]) + `"`}
	s.tags[name] = t
	return t.etag, nil
}

// contentType does not depend on what the machine has in /etc/mime.types.
func contentType(name string) string {
	switch filepath.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".json":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".wasm":
		return "application/wasm"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".csv", ".txt", "":
		return "text/plain; charset=utf-8"
	default:
		return "application/octet-stream"
	}
}
