//go:build !js

// Command clipscope generates the static site and serves it on this machine. A static host
// is given the same files, byte for byte.
//
//	clipscope -wasm bin/web -out dist -generate        write the site and end
//	clipscope -out dist -addr 127.0.0.1:8080           serve it
//	clipscope -wasm bin/web -release release           write a release and end
//
// With -frame-ancestors, which is given to each of these, pages of others may show it. With
// -hosts it answers under other names than this machine's own.
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
	"net/netip"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
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
	flag.BoolVar(&s.Links, "links", false, "with short links and rooms, for a host that has them: app/edge")
	flag.Func("frame-ancestors", "`origins`, parted by spaces, whose pages may show the site in a frame, such as \"https://example.org http://localhost:8000\"; none by default", func(text string) (err error) {
		s.Frames, err = headers.ParseFrames(text)
		return err
	})
	generate := flag.Bool("generate", false, "write the site and end")
	to := flag.String("release", "", "write a release, of the site for -prefix, into this `folder` and end")
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to serve on")
	names := flag.String("hosts", "", "`names`, parted by spaces, under which it is served beside localhost and the address, such as \"box.lan\"")
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
		err = serve(ctx, *addr, strings.Fields(*names), s, folder(s.Out))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers until ctx ends, with the files of a site that was generated, to who asks for
// this machine, for addr or for one of the names.
func serve(ctx context.Context, addr string, names []string, s site.Site, files fs.FS) error {
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return fmt.Errorf("no site to serve, run make: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve: %w (make serve ADDR=127.0.0.1:9000 takes another port)", err)
	}
	prefix := site.CleanPrefix(s.Prefix)
	fmt.Printf("Clipscope is at http://%s%s/\n", l.Addr(), prefix)
	hosts := hostsFor(addr, names)
	srv := newServer(&server{site: files, prefix: prefix, hosts: &hosts, headers: headers.For(s.Frames), tags: map[string]tag{}}, patience)
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// limits bounds how long a server waits for a client: for a whole request, for the next request
// on a connection, and for room to send more of a response.
type limits struct{ request, idle, stall time.Duration }

var patience = limits{request: 10 * time.Second, idle: 2 * time.Minute, stall: time.Minute}

const (
	// mostHeader bounds a request's header, in bytes. Browsers send the cookies of everything
	// that was ever served at localhost.
	mostHeader = 64 << 10
	// sendBuffer is the size of the socket's buffer, in bytes. Linux reports progress once a
	// third of it is free, so that a client that takes 2 kB/s is waited for.
	sendBuffer = 256 << 10
)

// newServer returns a server of h that bounds how long each client may take. A response may
// take as long as it goes on.
func newServer(h http.Handler, l limits) *http.Server {
	return &http.Server{
		Handler:           progressing(h, l.stall),
		ReadHeaderTimeout: l.request,
		ReadTimeout:       l.request,
		IdleTimeout:       l.idle,
		MaxHeaderBytes:    mostHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(sendBuffer) // else as the system has it
			}
			return ctx
		},
	}
}

// progressing returns h with a deadline for each piece of a response instead of one for all.
func progressing(h http.Handler, stall time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &progress{w, http.NewResponseController(w), stall}
		p.extend() // for a response without a body
		h.ServeHTTP(p, r)
	})
}

// progress is a ResponseWriter whose connection is closed when the client takes nothing for
// the time stall.
type progress struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

func (p *progress) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(p.stall)) }

// Write expects pieces smaller than the socket's buffer. io.Copy writes 32 kB at a time.
func (p *progress) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

// hosts is the set of names and addresses for which a server answers. By DNS rebinding, a page
// of another site can have its own name resolve to this machine and read the answers as its own
// origin's. Its requests name that host.
type hosts struct {
	names []string // in lower case
	any   bool     // addresses: the server listens on all of this machine's
}

// hostsFor returns the hosts of a server that listens on addr, with names beside.
func hostsFor(addr string, names []string) hosts {
	var h hosts
	host, _, err := net.SplitHostPort(addr)
	if a, _ := netip.ParseAddr(host); err != nil || host == "" || a.IsUnspecified() {
		h.any = true
	} else {
		names = append([]string{host}, names...)
	}
	for _, name := range names {
		h.names = append(h.names, plainHost(name))
	}
	return h
}

// plainHost returns the host of a Host header in the one form in which it is compared.
func plainHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.WithZone("").Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// answer reports whether a request for host is this server's.
func (h *hosts) answer(host string) bool {
	host = plainHost(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(h.names, host) {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (h.any || a.IsLoopback())
}

// folder is a file system that contains no file to which a link leads out of the folder.
type folder string

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenInRoot(string(f), name)
}

// Stat opens the folder anew, since make replaces it as a whole.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(name)
}

// server serves a folder the way a static host does: /x and /x/ are x/index.html,
// what does not exist is 404.html, and where there is x.br or x.gz beside x, a
// browser that can unpack it gets that. Browsers ask again before they use what
// they have, so that a rebuild is seen at once.
type server struct {
	site    fs.FS
	prefix  string // before every path, without its last slash
	hosts   *hosts // nil answers for every host
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
	if s.hosts != nil && !s.hosts.answer(r.Host) {
		http.Error(w, fmt.Sprintf("This server does not answer for %.100q: ask for localhost, or start it with -hosts and that name.", plainHost(r.Host)), http.StatusMisdirectedRequest)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	at, below := strings.CutPrefix(path.Clean("/"+r.URL.Path), s.prefix)
	name, found := s.find(at)
	found = found && below && (at == "" || at[0] == '/')
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
	http.ServeFileFS(w, plainRequest(r), s.site, name)
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

// quality returns how much an Accept-Encoding header likes a coding, from 0, which
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

// plainRequest keeps ServeFileFS, which is told the file, from redirecting /index.html to ./,
// from refusing a path with dots, and from sending many parts.
func plainRequest(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.URL.Path = "/"
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // the heads of many small parts would be longer than the file
	}
	return r
}

// find maps the path of a URL, which is clean, to a file.
func (s *server) find(urlPath string) (name string, found bool) {
	name = strings.Trim(urlPath, "/")
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
