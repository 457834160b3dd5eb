//go:build !js

// Package site writes the static site: its pages, guides, integrity and releases.
package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"clipscope/app/headers"
	"clipscope/ui"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// release is the version of the scripting API and the page.
const release = "0.2.0"

// Site is a static site to generate.
type Site struct {
	Source  string // folder with web/ and assets/
	Wasm    string // folder with the built .wasm files and scripts, and the terms of what they are made of
	Out     string
	Prefix  string   // "" or "/repo"
	Stories bool     // with /stories, which is for developing
	Links   bool     // for a host that keeps short links
	Frames  []string // origins whose pages may show it in a frame, as [headers.ParseFrames] gives them

	guides []guide // what docs/ has, once it is rendered
}

// published are the files of the sources that are served, by their place under
// /web/. Of folders, everything is taken but Go files
// and the README's picture.
var published = []struct{ from, to string }{
	{"web/guard.js", "guard.js"},
	{"web/theme.js", "theme.js"},
	{"web/texts.js", "texts.js"},
	{"web/load.js", "load.js"},
	{"web/update.js", "update.js"},
	{"web/wire.js", "wire.js"},
	{"web/store.js", "store.js"},
	{"web/runs.js", "runs.js"},
	{"web/ledger.js", "ledger.js"},
	{"web/clipscope.js", "clipscope.js"},
	{"web/trainer-worker.js", "trainer-worker.js"},
	{"web/kernels.js", "kernels.js"},
	{"web/gpu.js", "gpu.js"},
	{"web/backbone.js", "backbone.js"},
	{"web/charts.js", "charts.js"},
	{"web/use.js", "use.js"},
	{"web/lab.js", "lab.js"},
	{"web/save.mjs", "save.js"},
	{"web/predict.mjs", "predict.mjs"},
	{"web/css", "css"},
	{"assets", "assets"},
	{"web/node_modules/uplot/dist/uPlot.iife.min.js", "uplot.js"},
	{"web/node_modules/uplot/dist/uPlot.min.css", "uplot.css"},
	{"web/node_modules/onnxruntime-web/dist/ort.wasm.bundle.min.mjs", runtime + "ort.js"},
	{"web/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm", runtime + "ort.wasm"},
}

// runtime is the folder of what few visitors need, and many bytes: a visitor's browser
// fetches and keeps it once it was asked for.
const runtime = "ort/"

// Generate writes the site, replacing what was there. It is built beside its
// place and moved, so that a server of the old one never sees half a site.
func (s Site) Generate() error {
	s.Prefix = CleanPrefix(s.Prefix)
	if err := replaceable(s.Out, "app-worker.js"); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	next := s.Out + ".next"
	if err := errors.Join(os.RemoveAll(next), os.MkdirAll(filepath.Join(next, "web"), 0o755)); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	var err error
	if s.guides, err = s.renderGuides(); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	for _, step := range []func(string) error{s.copyFiles, s.writePages, s.finishPages, s.writeGuides, s.fixManifest, s.writeHostFiles, s.writeVerify, s.seal} {
		if err := step(next); err != nil {
			return fmt.Errorf("generate: %w", err)
		}
	}
	if err := errors.Join(os.RemoveAll(s.Out), os.Rename(next, s.Out)); err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	return nil
}

// replaceable is nil for a folder that is not there or empty, and for one with a file that
// tells what was written before: whatever else it has is somebody's.
func replaceable(folder, mark string) error {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil
	}
	if _, missing := os.Stat(filepath.Join(folder, mark)); err == nil && missing != nil {
		err = fmt.Errorf("the folder %s has other files, which would be deleted: name a new one, or empty it", folder)
	}
	return err
}

func CleanPrefix(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return ""
	}
	return "/" + p
}

// copyFiles fills out/web.
func (s Site) copyFiles(out string) error {
	web := filepath.Join(out, "web")
	for _, p := range published {
		if err := copyTree(filepath.Join(s.Source, p.from), filepath.Join(web, p.to)); err != nil {
			return err
		}
	}
	if err := s.writeEarly(web); err != nil {
		return err
	}
	for _, name := range []string{"app.wasm", "kernels.wasm", "kernels-threads.wasm", "kernels-relaxed.wasm", "kernels-relaxed-threads.wasm", "parquet.js", "qr.js", "licenses.txt"} {
		if err := copyFile(filepath.Join(s.Wasm, name), filepath.Join(web, name)); err != nil {
			return fmt.Errorf("run make: %w", err)
		}
	}
	if len(s.Frames) > 0 {
		if err := copyFile(filepath.Join(s.Source, "web", "embed.js"), filepath.Join(web, "embed.js")); err != nil {
			return err
		}
	}
	version, err := s.version(out)
	if err != nil {
		return err
	}
	for _, name := range stamped {
		if err := replaceIn(filepath.Join(web, name), "__VERSION__", shown(version)); err != nil {
			return err
		}
	}
	return nil
}

// writeEarly joins the theme and what else a page of the program runs before it is drawn:
// they would be fetched one after the other, while a guide needs the first alone.
func (s Site) writeEarly(web string) error {
	var early []byte
	for _, name := range []string{"theme.js", "early.js"} {
		b, err := os.ReadFile(filepath.Join(s.Source, "web", name))
		if err != nil {
			return err
		}
		early = append(early, b...)
	}
	return os.WriteFile(filepath.Join(web, "early.js"), early, 0o644)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		if d.IsDir() || filepath.Ext(p) == ".go" || d.Name() == "screenshot.png" {
			return nil
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return copyFile(p, target)
	})
}

func copyFile(from, to string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}

func replaceIn(name, old, with string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !strings.Contains(string(b), old) {
		return fmt.Errorf("%s has no %s", name, old)
	}
	return os.WriteFile(name, []byte(strings.ReplaceAll(string(b), old, with)), 0o644)
}

// stamped are the scripts below /web/ that say the version: the page's and its workers',
// which are to be of one.
var stamped = []string{"clipscope.js", "trainer-worker.js"}

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
			b, err = os.ReadFile(filepath.Join(s.Source, "web", rel))
		}
		add(rel, b)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:20], err
}

// walkFiles calls f for every file below dir, in lexical order, with its
// slash-separated path below dir.
func walkFiles(dir string, f func(rel, name string) error) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel), p)
	})
}

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
	var later []string
	for _, p := range published {
		if strings.HasPrefix(p.to, runtime) {
			later = append(later, "web/"+p.to)
		}
	}
	list, err := json.Marshal(later)
	if err != nil {
		return "", err
	}
	read, err := json.Marshal(s.guideAddresses())
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("{{.Headers}}", string(text), "{{.Later}}", string(list), "{{.Guides}}", string(read)).Replace(string(b)), nil
}

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
		Scripts: []string{"/web/guard.js", "/web/early.js", "/web/texts.js defer", "/web/load.js defer", "/web/uplot.js defer", "/web/update.js defer", "/web/wire.js defer", "/web/charts.js defer",
			"/web/store.js defer", "/web/runs.js defer", "/web/ledger.js defer", "/web/clipscope.js defer", "/web/use.js defer", "/web/lab.js defer"},
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
		h.Scripts = append(h.Scripts, "/web/embed.js defer")
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
		if err := os.Remove(name); err != nil || page == "stories" && !s.Stories {
			return err
		}
		if page != "index" {
			name = filepath.Join(out, page, "index.html")
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, inOrder(s.begun(fmt.Appendf(s.asleep(drawn), loading, program.Size()))), 0o644)
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

// begun begins the head of a page with the policy, which holds for what comes after it,
// with the word that no link's host is looked up before somebody clicks, and with where
// the host keeps short links, if it does, and who may frame the page: it need not ask.
func (s Site) begun(html []byte) []byte {
	head := `<head>
    <meta http-equiv="Content-Security-Policy" content="` + headers.Policy + `">
    <meta http-equiv="x-dns-prefetch-control" content="off">`
	if s.Links {
		head += `
    <meta name="clipscope-links" content="/api/links">`
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

// cacheable has every page and every file under /web/ kept for offline use, but for the
// runtime, and the stylesheets used.
func (s Site) cacheable(out string, h *app.Handler) error {
	h.CacheableResources = []string{"/use/", "/check/", "/lab/", "/calculator/", "/help/", "/404.html", "/verify.html"}
	return walkFiles(filepath.Join(out, "web"), func(rel, name string) error {
		if strings.HasPrefix(rel, runtime) {
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
	notFound := alone{title: "No such page", at: "404.html", main: fmt.Sprintf(notFoundHTML, s.Prefix)}
	return errors.Join(
		os.WriteFile(filepath.Join(out, "_headers"), []byte(sent.String()), 0o644),
		os.WriteFile(filepath.Join(out, "404.html"), notFound.html(s.Prefix), 0o644),
		os.WriteFile(filepath.Join(out, ".nojekyll"), nil, 0o644),
	)
}

const notFoundHTML = `<h1>There is no such page</h1>
<p>Clipscope has six: <a href="%[1]s/">Train</a>, <a href="%[1]s/use/">Use</a>, <a href="%[1]s/check/">Check</a>, <a href="%[1]s/lab/">Lab</a>, <a href="%[1]s/calculator/">Calculator</a> and <a href="%[1]s/help/">Help</a>; and there are <a href="%[1]s/guides/">guides</a>.</p>
`
