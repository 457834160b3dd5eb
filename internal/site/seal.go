//go:build !js

package site

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// sumBytes is the number of bytes of a file's SHA-256 that the service worker compares: it is to notice
// two versions, and collisions at 2⁶⁴ tries are no way to mix them.
const sumBytes = 16

// keptList, laterList and guideList match what the service worker keeps, as the site says it.
var (
	keptList  = regexp.MustCompile(`const RESOURCES = (\[.*?\])`)
	laterList = regexp.MustCompile(`const LATER = (\[.*?\])`)
	guideList = regexp.MustCompile(`const GUIDES = (\[.*?\])`)
)

// seal writes the sums of all that the service worker keeps into it, and a name of the
// cache made of them, when every file is as it will be served.
//
// Guarantee: a worker that was sealed keeps, and sends from what it keeps, no file but
// those of this site.
func (s Site) seal(out string) error {
	name := filepath.Join(out, "app-worker.js")
	script, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for _, list := range []*regexp.Regexp{keptList, laterList, guideList} {
		m := list.FindSubmatch(script)
		if m == nil {
			return fmt.Errorf("%s has no list %v", name, list)
		}
		var paths []string
		if err := json.Unmarshal(m[1], &paths); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range paths {
			rel := strings.TrimPrefix(strings.TrimPrefix(p, s.Prefix), "/")
			file := filepath.Join(out, filepath.FromSlash(rel))
			if rel == "" || strings.HasSuffix(rel, "/") {
				file = filepath.Join(file, "index.html")
			}
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(b)
			sums[s.Prefix+"/"+rel] = hex.EncodeToString(sum[:sumBytes])
		}
	}
	list, err := json.Marshal(sums) // in the order of the names
	if err != nil {
		return err
	}
	if err := replaceIn(name, "__SUMS__", string(list)); err != nil {
		return err
	}
	return replaceIn(name, "__CACHE__", fmt.Sprintf("%x", sha256.Sum256(list))[:20])
}
