// Package sha1 replaces Go's crypto/sha1 in the page's program. Nothing there takes such a sum: go-app's handler and
// identifiers made of names do, and neither runs in a page. web/overlay.mjs puts this one in its place.
package sha1

import "hash"

// New has no hash to return.
func New() hash.Hash { panic("sha1: the page has SHA-256 alone") }

// Sum returns no sum.
func Sum([]byte) [20]byte { panic("sha1: the page has SHA-256 alone") }
