//go:build !js

package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"clipscope/app/headers"
	"clipscope/ui/pages"
)

// fixManifest sets the scope, which go-app has fixed at the root.
func (s Site) fixManifest(out string) error {
	name := filepath.Join(out, "manifest.webmanifest")
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	m["scope"] = s.Prefix + "/"
	m["start_url"] = s.Prefix + "/"
	if b, err = json.MarshalIndent(m, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}

// writeHostFiles writes what static hosts look for: the headers (Cloudflare,
// Netlify), the page for unknown addresses, and a note for GitHub Pages not to
// run a generator of its own.
func (s Site) writeHostFiles(out string) error {
	var sent strings.Builder
	fmt.Fprintf(&sent, "%s/*\n", s.Prefix)
	for _, h := range headers.For(s.Frames) {
		fmt.Fprintf(&sent, "  %s: %s\n", h[0], h[1])
	}
	sent.WriteString("  Cache-Control: no-cache\n")
	notFound := alone{title: "No such page", at: "404.html", main: s.notFound()}
	return errors.Join(
		os.WriteFile(filepath.Join(out, "_headers"), []byte(sent.String()), 0o644),
		os.WriteFile(filepath.Join(out, "404.html"), notFound.html(s.Prefix), 0o644),
		os.WriteFile(filepath.Join(out, ".nojekyll"), nil, 0o644),
	)
}

// notFound says which pages there are, in HTML.
func (s Site) notFound() string {
	var links []string
	for _, p := range pages.All {
		if !p.Draft {
			links = append(links, fmt.Sprintf(`<a href="%s%s">%s</a>`, s.Prefix, p.Folder(), p.Word))
		}
	}
	last := len(links) - 1
	return fmt.Sprintf(`<h1>There is no such page</h1>
<p>Clipscope has %d: %s and %s; and there are <a href="%s/guides/">guides</a>.</p>
`, len(links), strings.Join(links[:last], ", "), links[last], s.Prefix)
}
