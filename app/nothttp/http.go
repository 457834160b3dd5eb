// Package http replaces Go's net/http in the page's program. go-app's handler, which
// generates the site, is linked there and never runs. The real package would bring HTTP's
// client and server and TLS, an eighth of the bytes that a visitor fetches. The Makefile
// puts this one in its place; it has the names that go-app uses.
package http

import (
	"io"
	"net/url"
)

const none = "http: the page has no server and no client"

// The statuses that go-app names.
const (
	StatusOK                  = 200
	StatusNotModified         = 304
	StatusNotFound            = 404
	StatusInternalServerError = 500
)

// Handler would answer requests.
type Handler interface {
	ServeHTTP(ResponseWriter, *Request)
}

// ResponseWriter would take an answer.
type ResponseWriter interface {
	Header() Header
	Write([]byte) (int, error)
	WriteHeader(int)
}

// Request is a request that nobody sends.
type Request struct {
	URL    *url.URL
	Header Header
	Host   string
	TLS    *struct{}
}

// Response is a response that nobody gets.
type Response struct {
	StatusCode int
	Header     Header
	Body       io.ReadCloser
}

// Header would hold a message's.
type Header map[string][]string

// Get panics.
func (Header) Get(string) string { panic(none) }

// Set panics.
func (Header) Set(string, string) { panic(none) }

// Dir would be a folder to serve.
type Dir string

// FileServer returns no handler.
func FileServer(Dir) Handler { return nil }

// Get panics.
func Get(string) (*Response, error) { panic(none) }

// NotFound panics.
func NotFound(ResponseWriter, *Request) { panic(none) }
