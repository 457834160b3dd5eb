//go:build !js

package site

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"clipscope/app/headers"
)

// stamped are the scripts below /web/ that say the version: the page's and its workers',
// which are to be of one.
var stamped = []string{"page.js", "trainer-worker.js"}

// shown is the version as people and scripts see it.
func shown(version string) string { return release + "+" + version[:8] }

// version is a hash of everything that a browser may keep: an installed page
// updates exactly when it changes.
func (s Site) version(out string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %s %s %t\n", release, s.Prefix, headers.Policy, s.Frames, s.Links)
	add := func(name string, b []byte) { fmt.Fprintf(h, "%s %d\n%s", name, len(b), b) }
	worker, err := s.workerTemplate()
	if err != nil {
		return "", err
	}
	add("service worker", []byte(worker))
	add("verify.html", s.verifyPage(""))
	for _, g := range s.guides {
		add(g.address, g.html)
	}
	err = walkFiles(filepath.Join(out, "web"), func(rel, name string) error {
		b, err := os.ReadFile(name)
		// The version is written into these files, so it cannot depend on that.
		if slices.Contains(stamped, rel) {
			b, err = os.ReadFile(filepath.Join(s.Wasm, rel))
		}
		add(rel, b)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:20], err
}
