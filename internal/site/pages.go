//go:build !js

package site

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"clipscope/app/headers"
	"clipscope/ui"
	"clipscope/ui/pages"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// page describes the page to go-app.
func page() *app.Handler {
	return &app.Handler{
		Name:            "Clipscope",
		ShortName:       "Clipscope",
		Title:           "Clipscope",
		Description:     "Train with differential privacy in the browser: data never leaves the device, and every step of clipping can be watched.",
		Keywords:        []string{"differential privacy", "DP-SGD", "gradient clipping", "WebAssembly"},
		Lang:            "en",
		BackgroundColor: "#ffffff",
		ThemeColor:      "#ffffff",
		Icon: app.Icon{
			Default:  "/web/assets/icon-192.png",
			Large:    "/web/assets/icon-512.png",
			Maskable: "/web/assets/icon-maskable-512.png",
			SVG:      "/web/assets/icon.svg",
		},
		Styles: []string{"/web/uplot.css"},
		// The policy in the head ends the browser's looking ahead: whatever need not run
		// before the page is drawn is deferred, or one would be fetched after the other.
		Scripts: []string{"/web/guard.js", "/web/early.js", "/web/page.js defer"},
	}
}

// writePages has go-app write one page for every route, and its own files.
func (s Site) writePages(out string) error {
	ui.Register()
	version, err := s.version(out)
	if err != nil {
		return err
	}
	worker, err := s.workerTemplate()
	if err != nil {
		return err
	}
	h := page()
	h.Version = version
	h.ServiceWorkerTemplate = worker
	h.Resources = app.PrefixedLocation(s.Prefix)
	if len(s.Frames) > 0 {
		h.Scripts = append(h.Scripts, "/web/"+framed+" defer")
	}
	if err := s.cacheable(out, h); err != nil {
		return err
	}
	if err := app.GenerateStaticWebsite(out, h); err != nil {
		return err
	}
	// load.js loads the program, and has the service worker installed once that runs.
	for _, call := range []string{"goappInitWebAssembly();", "goappInitServiceWorker();"} {
		if err := replaceIn(filepath.Join(out, "app.js"), call, ""); err != nil {
			return err
		}
	}
	// These are no pages of the program, which else answers every link of its own site.
	alone := `"GOAPP_INTERNAL_URLS":JSON.stringify(["` + s.Prefix + "/" + guides + `","` + s.Prefix + `/verify.html"].map((path) => location.origin + path))`
	if err := replaceIn(filepath.Join(out, "app.js"), `"GOAPP_INTERNAL_URLS":"null"`, alone); err != nil {
		return err
	}
	// Large icons are for installing the page, which has a network.
	for _, icon := range []string{h.Icon.Large, h.Icon.Maskable} {
		if err := replaceIn(filepath.Join(out, "app-worker.js"), `"`+s.Prefix+icon+`",`, ""); err != nil {
			return err
		}
	}
	return nil
}

// loading is the end of a page: load.js says there how much of the program, of so
// many bytes, is there.
const loading = `<aside id="loading" data-bytes="%d">
      <progress aria-label="Loading" value="0"></progress>
      <span class="word">Loading</span>
      <span class="size"></span>
      <noscript>Clipscope needs JavaScript.</noscript>
    </aside>
  </body>
</html>
`

// finishPages makes the pages what they are until the program runs, and puts each
// where it is found at its address, with a slash and without, on every host.
func (s Site) finishPages(out string) error {
	program, err := os.Stat(filepath.Join(out, "web", "app.wasm"))
	if err != nil {
		return err
	}
	version, err := s.version(out)
	if err != nil {
		return err
	}
	return walkFiles(out, func(rel, name string) error {
		page, isPage := strings.CutSuffix(rel, ".html")
		if !isPage {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		b = bytes.ReplaceAll(b, []byte(ui.NoVersion), []byte(shown(version)))
		drawn, _, found := bytes.Cut(b, []byte("<aside ")) // go-app's loader, which would cover the page
		if !found {
			return fmt.Errorf("%s does not say where it loads", rel)
		}
		if err := os.Remove(name); err != nil || pages.Find(page).Draft && !s.Stories {
			return err
		}
		if page != "index" {
			name = filepath.Join(out, page, "index.html")
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, inOrder(s.withPolicy(fmt.Appendf(s.asleep(drawn), loading, program.Size()))), 0o644)
	})
}

// never matches an attribute that is there or not, and go-app writes although it
// is not; control matches what is of no use before the program runs.
var (
	never   = regexp.MustCompile(`\s(hidden|selected|disabled|checked|open)="false"`)
	control = regexp.MustCompile(`^<(button|input|select|textarea)\s`)
)

// asleep makes of a page what it is before its program runs: its controls are
// disabled, but for the files, which are kept until then, and its links lead where
// they say, for go-app leaves the slash of the start page out, and has links within
// a page lead there.
func (s Site) asleep(html []byte) []byte {
	return opening.ReplaceAllFunc(html, func(t []byte) []byte {
		t = never.ReplaceAll(t, nil)
		t = bytes.Replace(t, []byte(` href="`+s.Prefix+`"`), []byte(` href="`+s.Prefix+`/"`), 1)
		t = bytes.Replace(t, []byte(` href="`+s.Prefix+`#`), []byte(` href="#`), 1)
		if control.Match(t) && !bytes.Contains(t, []byte(` type="file"`)) && !bytes.Contains(t, []byte(" disabled")) {
			t = append(bytes.Clone(t), " disabled"...)
		}
		return t
	})
}

// withPolicy begins the head of a page with the policy, which holds for what comes after it,
// with the word that no link's host is looked up before somebody clicks, and with where
// the host keeps short links and rooms, if it does, and who may frame the page: it need not ask.
func (s Site) withPolicy(html []byte) []byte {
	head := `<head>
    <meta http-equiv="Content-Security-Policy" content="` + headers.Policy + `">
    <meta http-equiv="x-dns-prefetch-control" content="off">`
	if s.Links {
		head += `
    <meta name="clipscope-links" content="/api/links">
    <meta name="clipscope-rooms" content="/api/rooms">`
	}
	if len(s.Frames) > 0 {
		head += `
    <meta name="clipscope-frames" content="` + strings.Join(s.Frames, " ") + `">`
	}
	return bytes.Replace(html, []byte("<head>"), []byte(head), 1)
}

// opening matches an element's start with its attributes; go-app quotes all values and
// escapes quotes in them.
var (
	opening   = regexp.MustCompile(`<[a-z][a-z0-9-]*(?:\s+[^\s=<>"/]+(?:="[^"]*")?)+`)
	attribute = regexp.MustCompile(`\s+[^\s=<>"/]+(?:="[^"]*")?`)
)

// inOrder sorts the attributes of every element, which come in the order of a map:
// the same sources make the same site.
func inOrder(html []byte) []byte {
	return opening.ReplaceAllFunc(html, func(t []byte) []byte {
		all := attribute.FindAll(t, -1)
		name := t[:len(t)-len(bytes.Join(all, nil))]
		for i, a := range all {
			all[i] = bytes.TrimSpace(a)
		}
		slices.SortFunc(all, bytes.Compare)
		return bytes.Join(append([][]byte{bytes.Clone(name)}, all...), []byte(" "))
	})
}
