//go:build js && wasm

// Command edge is a Cloudflare Worker in front of the static site. The site
// needs no server: its assets are served by the host, with the headers of
// dist/_headers, and this program runs for /api/ alone, where it says that there
// is nothing. It is the place for what may once need a server.
package main

import (
	"net/http"

	"github.com/syumai/workers"
)

func main() {
	workers.Serve(http.HandlerFunc(api))
}

func api(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "Clipscope computes in the browser; there is no such interface.", http.StatusNotFound)
}
