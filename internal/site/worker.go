//go:build !js

package site

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"

	"clipscope/app/headers"
	"clipscope/ui/pages"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// workerTemplate is the service worker with the headers it must add, and what it keeps
// when that was asked for: the runtime, and guides.
func (s Site) workerTemplate() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.Source, "web", "app-worker.tmpl.js"))
	if err != nil {
		return "", err
	}
	added := map[string]string{}
	for _, h := range headers.For(s.Frames) {
		added[h[0]] = h[1]
	}
	text, err := json.MarshalIndent(added, "", "  ")
	if err != nil {
		return "", err
	}
	var asked []string
	for _, p := range published {
		if later(p.to) {
			asked = append(asked, "web/"+p.to)
		}
	}
	list, err := json.Marshal(asked)
	if err != nil {
		return "", err
	}
	read, err := json.Marshal(s.guideAddresses())
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("{{.Headers}}", string(text), "{{.Later}}", string(list), "{{.Guides}}", string(read)).Replace(string(b)), nil
}

// cacheable has every page and every file under /web/ kept for offline use, but for
// those that come later, and the stylesheets used.
func (s Site) cacheable(out string, h *app.Handler) error {
	h.CacheableResources = []string{"/404.html", "/verify.html"}
	for _, p := range pages.All {
		if p.Name != "train" && !p.Draft { // go-app keeps the start page itself
			h.CacheableResources = append(h.CacheableResources, p.Folder())
		}
	}
	return walkFiles(filepath.Join(out, "web"), func(rel, name string) error {
		if later(rel) {
			return nil
		}
		url := path.Join("/web", rel)
		h.CacheableResources = append(h.CacheableResources, url)
		if strings.HasPrefix(rel, "css/") {
			h.Styles = append(h.Styles, url)
		}
		return nil
	})
}
