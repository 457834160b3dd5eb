//go:build !js

package site

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/app/headers"
	listed "clipscope/ui/pages"
)

func TestAttributesAreInOrder(t *testing.T) {
	for in, want := range map[string]string{
		`<a href="/x" class="b c">text <b>not="an" attribute</b></a>`:        `<a class="b c" href="/x">text <b>not="an" attribute</b></a>`,
		`<script src="s.js" defer></script>`:                                 `<script defer src="s.js"></script>`,
		`<meta name="a &#34;quoted&#34; > value" content="x=&#34;1&#34; y">`: `<meta content="x=&#34;1&#34; y" name="a &#34;quoted&#34; > value">`,
		"<p>2 < 3 and a=\"b\"</p>":                                           "<p>2 < 3 and a=\"b\"</p>",
		`<br>`:                                                               `<br>`,
		"<input\n  value=\"1\" id=\"f\" aria-describedby=\"f-help\" type=\"text\">": `<input aria-describedby="f-help" id="f" type="text" value="1">`,
	} {
		if got := string(inOrder([]byte(in))); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
}

// built generates a site from the sources, with a program of no use, and returns
// its folder.
func built(t *testing.T, s Site) string {
	t.Helper()
	s = stub(t, s)
	if err := s.Generate(); err != nil {
		t.Fatal(err)
	}
	return s.Out
}

// stub is a site to generate from the sources, with a program of no use.
func stub(t *testing.T, s Site) Site {
	t.Helper()
	if _, err := os.Stat("web/node_modules/uplot"); err != nil {
		t.Skip("make fetches what the site is made of")
	}
	s.Source, s.Wasm, s.Out = ".", t.TempDir(), filepath.Join(t.TempDir(), "site")
	for _, name := range append(slices.Clone(compiled), framed) {
		content := []byte("\x00asm\x01\x00\x00\x00")
		if slices.Contains(stamped, name) {
			content = []byte(`const VERSION = "__VERSION__";`)
		}
		if err := os.WriteFile(filepath.Join(s.Wasm, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestOthersFilesStay: a site and a release replace what they were before, and nothing else.
func TestOthersFilesStay(t *testing.T) {
	s, own := stub(t, Site{}), t.TempDir()
	file := filepath.Join(own, "thesis.txt")
	if err := errors.Join(os.WriteFile(filepath.Join(s.Wasm, "sbom.json"), nil, 0o644), os.WriteFile(file, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for what, write := range map[string]func(folder string) error{
		"site":    func(folder string) error { s.Out = folder; return s.Generate() },
		"release": func(folder string) error { return s.Publish(folder) },
	} {
		if err := write(own); err == nil || !strings.Contains(err.Error(), "has other files") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		empty := t.TempDir()
		for range 2 {
			if err := write(empty); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestTwoBuildsAreEqual: the same sources make the same site, wherever it is put.
func TestTwoBuildsAreEqual(t *testing.T) {
	var outs []string
	for range 3 {
		outs = append(outs, built(t, Site{Prefix: "/repo"}))
	}
	files := 0
	err := walkFiles(outs[0], func(rel, name string) error {
		files++
		first, err := os.ReadFile(name)
		for _, other := range outs[1:] {
			if second, _ := os.ReadFile(filepath.Join(other, rel)); !bytes.Equal(first, second) {
				t.Errorf("%s differs from one build to the next", rel)
			}
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestASiteHasThePagesOfItsList: a site has the pages of this list and no other. Each but the
// stories is kept for offline use, and the page for unknown addresses leads to it.
func TestASiteHasThePagesOfItsList(t *testing.T) {
	for _, s := range []Site{{}, {Prefix: "/repo"}, {Stories: true}} {
		out := built(t, s)
		var pages []string
		err := walkFiles(out, func(rel, name string) error {
			if filepath.Ext(rel) != ".html" {
				return nil
			}
			pages = append(pages, rel)
			b, err := os.ReadFile(name)
			checkPage(t, s.Prefix, rel, string(b))
			return err
		})
		want := append([]string{"404.html", "verify.html"}, guidePages(t)...)
		for _, p := range listed.All {
			if s.Stories || !p.Draft {
				want = append(want, strings.TrimPrefix(p.Folder(), "/")+"index.html")
			}
		}
		slices.Sort(want) // as the files are walked
		if err != nil || !slices.Equal(pages, want) {
			t.Errorf("the site %+v has the pages %q, %v", s, pages, err)
		}
		kept, err := os.ReadFile(filepath.Join(out, "app-worker.js"))
		unknown, err2 := os.ReadFile(filepath.Join(out, "404.html"))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for _, rel := range pages {
			folder, isPage := strings.CutSuffix(rel, "index.html")
			if !isPage || listed.Find(strings.TrimSuffix(folder, "/")).Draft || strings.HasPrefix(folder, guides) {
				continue
			}
			if address := s.Prefix + "/" + folder; folder != "" && !bytes.Contains(kept, []byte(`"`+address+`"`)) {
				t.Errorf("the site %+v keeps no %s for offline use", s, address)
			} else if !bytes.Contains(unknown, []byte(`href="`+address+`"`)) {
				t.Errorf("the page for unknown addresses of the site %+v does not lead to %s", s, address)
			}
		}
	}
}

// TestPagesSayWhereShortLinksAreKept: a page says where its host keeps short links, or nothing of
// them.
func TestPagesSayWhereShortLinksAreKept(t *testing.T) {
	for _, links := range []bool{false, true} {
		out := built(t, Site{Links: links})
		for _, page := range []string{"index.html", "lab/index.html"} {
			b, err := os.ReadFile(filepath.Join(out, page))
			if err != nil || bytes.Contains(b, []byte("clipscope-links")) != links {
				t.Errorf("%s, links %v: %v", page, links, err)
			}
		}
	}
}

// TestASiteSaysWhoMayFrameIt: a site says who may frame it, to the guard and to hosts, and has the
// script that speaks with them; one that nobody may says nothing of it.
func TestASiteSaysWhoMayFrameIt(t *testing.T) {
	for _, frames := range [][]string{nil, {headers.Self, "https://a.example"}} {
		out := built(t, Site{Prefix: "/repo", Frames: frames})
		some := len(frames) > 0
		meta := []byte(`<meta content="'self' https://a.example" name="clipscope-frames">`)
		for _, page := range []string{"index.html", "help/index.html", "lab/index.html"} {
			b, err := os.ReadFile(filepath.Join(out, page))
			script := bytes.Contains(b, []byte(`<script defer src="/repo/web/embed.js"></script>`))
			if err != nil || bytes.Contains(b, meta) != some || script != some || bytes.Contains(b, []byte("clipscope-frames")) != some {
				t.Errorf("%s, frames %q: %v", page, frames, err)
			}
			if before, _, _ := bytes.Cut(b, []byte("guard.js")); bytes.Contains(before, meta) != some {
				t.Errorf("%s: the guard does not see it", page)
			}
		}
		worker, err := os.ReadFile(filepath.Join(out, "app-worker.js"))
		sent, err2 := os.ReadFile(filepath.Join(out, "_headers"))
		for _, file := range [][]byte{worker, sent} {
			if bytes.Contains(file, []byte("frame-ancestors 'self' https://a.example;")) != some || bytes.Contains(file, []byte("X-Frame-Options")) == some {
				t.Errorf("frames %q: %v, %v, %.600s", frames, err, err2, file)
			}
		}
		if bytes.Contains(worker, []byte("/web/embed.js")) != some {
			t.Errorf("frames %q: what is kept for offline use", frames)
		}
	}
}

// TestSitesOfOtherOptionsHaveOtherVersions: a browser that has a site of some options notices one
// of others, and each says which release has its files.
func TestSitesOfOtherOptionsHaveOtherVersions(t *testing.T) {
	seen := map[string]string{}
	for made, s := range map[string]Site{
		"make release":                   {},
		"make release PREFIX=/some/repo": {Prefix: "/some/repo"},
		"make release FRAME_ANCESTORS=&#34;https://a.example&#34;":                   {Frames: []string{"https://a.example"}},
		"make release FRAME_ANCESTORS=&#34;https://b.example https://c.example&#34;": {Frames: []string{"https://b.example", "https://c.example"}},
		"make release LINKS=yes": {Links: true},
		"make release PREFIX=/a FRAME_ANCESTORS=&#34;https://a.example&#34; LINKS=yes": {Prefix: "/a", Frames: []string{"https://a.example"}, Links: true},
	} {
		b, err := os.ReadFile(filepath.Join(built(t, s), "verify.html"))
		v := regexp.MustCompile(`id="version">[^<]*`).FindString(string(b))
		if err != nil || v == "" || seen[v] != "" {
			t.Errorf("%q: %q, as for %q, %v", made, v, seen[v], err)
		}
		seen[v] = made
		if !bytes.Contains(b, []byte(`<code id="made">`+made+`</code>`)) {
			t.Errorf("it does not say %s", made)
		}
	}
}

// checkPage holds what is true of a page before its program runs.
func checkPage(t *testing.T, prefix, name, html string) {
	t.Helper()
	for _, link := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if at := link[1]; !strings.HasPrefix(at, "#") && !strings.HasPrefix(at, prefix+"/") {
			t.Errorf("%s, prefix %q: a link leads to %q", name, prefix, at)
		}
	}
	for _, c := range regexp.MustCompile(`<(?:button|input|select|textarea)\b[^>]*>`).FindAllString(html, -1) {
		if alive := !strings.Contains(c, " disabled"); alive != strings.Contains(c, `type="file"`) {
			t.Errorf("%s: alive is %v of %s", name, alive, c)
		}
	}
	if lie := regexp.MustCompile(`\s(hidden|selected|disabled|checked|open)="false"`).FindString(html); lie != "" {
		t.Errorf("%s has%s, which a browser takes for true", name, lie)
	}
	alone := name == "404.html" || name == "verify.html" || strings.HasPrefix(name, guides) // without the program
	if !alone && (strings.Count(html, "<aside ") != 1 || !strings.Contains(html, `<aside data-bytes="8" id="loading">`)) {
		t.Errorf("%s does not show how far it is loaded, or covers the page", name)
	}
	// A policy holds for what comes after it; the guard runs before all other scripts, which wait or come later.
	before, after, _ := strings.Cut(html, `content="`+headers.Policy+`"`)
	if strings.Contains(before, "<script") || strings.Contains(before, "<link") {
		t.Errorf("%s has no policy, or has it late: %.300s", name, html)
	}
	if first := regexp.MustCompile(`<script src="([^"]*)"`).FindStringSubmatch(after); !alone && (first == nil || first[1] != prefix+"/web/guard.js") {
		t.Errorf("%s: before the guard runs %q", name, first)
	}
}

// TestProgramLeavesGuides: go-app, which answers clicks on links itself, is told of pages
// that are not the program's.
func TestProgramLeavesGuides(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(built(t, Site{Prefix: "/repo"}), "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	env := regexp.MustCompile(`(?m)^const goappEnv = .*$`).Find(b)
	program := "const location = { origin: 'https://example.org' };\n" + string(env) + "\nconsole.log(goappEnv.GOAPP_INTERNAL_URLS)"
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("node", "-e", program).CombinedOutput()
	if want := `["https://example.org/repo/guides/","https://example.org/repo/verify.html"]`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("it leaves %s, %v, want %s", out, err, want)
	}
}

// TestAppScriptWaits: go-app's own script neither loads the program nor installs
// the service worker before that.
func TestAppScriptWaits(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(built(t, Site{}), "app.js"))
	if err != nil || bytes.Contains(b, []byte("goappInitWebAssembly();")) || bytes.Contains(b, []byte("goappInitServiceWorker();")) {
		t.Errorf("app.js does: %v", err)
	}
	if !bytes.Contains(b, []byte("function goappInitServiceWorker()")) {
		t.Error("app.js has no function for the service worker")
	}
}

func TestCleanPrefixGivesOneForm(t *testing.T) {
	for in, want := range map[string]string{"": "", "/": "", "repo": "/repo", "/repo/": "/repo", "/a/b": "/a/b"} {
		if got := CleanPrefix(in); got != want {
			t.Errorf("CleanPrefix(%q) = %q, want %q", in, got, want)
		}
	}
}
