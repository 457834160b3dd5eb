//go:build !js

package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/app/headers"
	"clipscope/core/clip"
	"clipscope/core/run"
)

// guideFiles are the guides' sources.
func guideFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	if err != nil || len(files) < 6 {
		t.Fatalf("docs has %q, %v", files, err)
	}
	return files
}

// guidePages are the guides' files in a site, in the order of their names.
func guidePages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, file := range guideFiles(t) {
		pages = append(pages, guideAddress(strings.TrimSuffix(filepath.Base(file), ".md"))+"index.html")
	}
	slices.Sort(pages)
	return pages
}

// TestGuidesLeadToWhatIsThere: every page of a guide leads to what is there, whatever the site's
// prefix, has no style and no script of its own but the one that sets the theme, and is read with
// its own contents.
func TestGuidesLeadToWhatIsThere(t *testing.T) {
	for _, prefix := range []string{"", "/repo"} {
		of := Site{Source: ".", Prefix: prefix}
		all, err := of.renderGuides()
		if err != nil {
			t.Fatal(err)
		}
		if next := followed(all, prefix); len(next) != len(all) {
			t.Errorf("from one to the next one reads %q of %d guides", next, len(all))
		}
		all = append(all, guide{address: "verify.html", html: of.verifyPage("1.2.3")})
		ids := map[string][]string{}
		for _, g := range all {
			for _, id := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllSubmatch(g.html, -1) {
				if slices.Contains(ids[g.address], string(id[1])) {
					t.Errorf("%s has two %q", g.address, id[1])
				}
				ids[g.address] = append(ids[g.address], string(id[1]))
			}
		}
		pages := []string{"", "help/"}
		for _, g := range all {
			pages = append(pages, g.address)
		}
		for _, g := range all {
			checkPage(t, prefix, g.address, string(g.html))
			theme := fmt.Appendf(nil, "<script src=\"%s/web/theme.js\"></script>\n", prefix)
			if rest := bytes.Replace(g.html, theme, nil, 1); len(rest) == len(g.html) {
				t.Errorf("%s does not have the theme that was chosen", g.address)
			} else if bad := regexp.MustCompile(`<script|\sstyle=|\son[a-z]+=|raw HTML omitted`).Find(rest); bad != nil {
				t.Errorf("%s has %s", g.address, bad)
			}
			for _, link := range regexp.MustCompile(`<a [^>]*href="([^"]*)"`).FindAllSubmatch(g.html, -1) {
				to, anchor, _ := strings.Cut(html.UnescapeString(string(link[1])), "#")
				to = strings.TrimPrefix(to, prefix+"/")
				if strings.HasPrefix(string(link[1]), "#") {
					to = g.address
				}
				isConfiguration := to == "" && anchor != "" // see checkConfig
				if !slices.Contains(pages, to) || anchor != "" && !isConfiguration && !slices.Contains(ids[to], anchor) {
					t.Errorf("%s leads to %s, which is not there", g.address, link[1])
				}
			}
		}
	}
}

// followed are the guides that one comes to from the index by what each says is next.
func followed(all []guide, prefix string) []string {
	found := []string{guides}
	for {
		i := slices.IndexFunc(all, func(g guide) bool { return g.address == found[len(found)-1] })
		next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindSubmatch(all[i].html)
		if next == nil || len(found) > len(all) {
			return found
		}
		found = append(found, strings.TrimPrefix(string(next[1]), prefix+"/"))
	}
}

// TestDocsLinksLeadToFilesAndHeadings: where the sources are read, a link leads to a file that is
// there, and to a heading of it.
func TestDocsLinksLeadToFilesAndHeadings(t *testing.T) {
	headings := func(name string) anchors {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := anchors{}
		for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(b, -1) {
			found.Generate(h[1], 0)
		}
		return found
	}
	for _, file := range append(guideFiles(t), "README.md", "RATIONALE.md", "core/RATIONALE.md", "core/compute/RATIONALE.md", "core/data/RATIONALE.md", "web/RATIONALE.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllSubmatch(b, -1) {
			to, anchor, _ := strings.Cut(string(link[1]), "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := file
			if to != "" {
				target = path.Join(path.Dir(file), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if anchor != "" && !headings(target)[anchor] {
				t.Errorf("%s leads to %s, which has no such heading", file, link[1])
			}
		}
	}
}

// TestIndexNamesAllGuides: no guide is there without being found.
func TestIndexNamesAllGuides(t *testing.T) {
	b, err := os.ReadFile("docs/index.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range guideFiles(t) {
		if name := filepath.Base(file); name != "index.md" && !bytes.Contains(b, []byte("]("+name+")")) {
			t.Errorf("index.md does not lead to %s", name)
		}
	}
}

// block is a piece of code in a guide.
type block struct{ at, language, text string }

// blocks are all pieces of code of all guides; what is written is in fences, which say
// the language.
func blocks(t *testing.T) []block {
	t.Helper()
	var all []block
	for _, file := range guideFiles(t) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var open *block
		for i, line := range strings.Split(string(b), "\n") {
			mark, isFence := strings.CutPrefix(line, "```")
			switch {
			case isFence && open == nil:
				open = &block{at: fmt.Sprintf("%s:%d", file, i+1), language: mark}
			case isFence:
				all = append(all, *open)
				open = nil
			case open != nil:
				open.text += line + "\n"
			case strings.HasPrefix(line, "    ") && i > 0 && strings.TrimSpace(strings.Split(string(b), "\n")[i-1]) == "":
				t.Errorf("%s:%d: code is in a fence, which says its language", file, i+1)
			}
		}
		if open != nil {
			t.Errorf("%s is not closed", open.at)
		}
	}
	return all
}

// TestGuideCodeIsWhatItIsSaidToBe: code of a guide is what it is said to be.
func TestGuideCodeIsWhatItIsSaidToBe(t *testing.T) {
	checks := map[string]func(*testing.T, string){
		"sh": checkShell, "js": checkJavaScript, "json": checkJSON, "config": checkConfig, "python": checkPython,
		"nginx": nil, "caddy": nil, // see TestHostsSendTheHeaders
		"yaml": nil, "text": nil,
	}
	for _, b := range blocks(t) {
		t.Run(b.at, func(t *testing.T) {
			check, known := checks[b.language]
			if !known {
				t.Fatalf("what is %q?", b.language)
			}
			if check != nil {
				check(t, b.text)
			}
		})
	}
}

// tool runs a program that reads from its input, if it is here.
func tool(t *testing.T, input, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

var (
	made     = regexp.MustCompile(`(?m)\bmake((?: +[A-Za-z_=./:0-9-]+)*)`)
	target   = regexp.MustCompile(`(?m)^([a-z-]+):([^=]|$)`)
	variable = regexp.MustCompile(`(?m)^([A-Z_]+) *[?:]?= *`)
)

// checkShell: a shell reads it, and what is made can be made.
func checkShell(t *testing.T, text string) {
	tool(t, text, "bash", "-n")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	has := func(what *regexp.Regexp, name string) bool {
		return slices.ContainsFunc(what.FindAllSubmatch(makefile, -1), func(m [][]byte) bool { return string(m[1]) == name })
	}
	for _, m := range made.FindAllStringSubmatch(regexp.MustCompile(`#.*`).ReplaceAllString(text, ""), -1) {
		for _, word := range strings.Fields(m[1]) {
			name, _, isVariable := strings.Cut(word, "=")
			if isVariable && !has(variable, name) || !isVariable && !has(target, name) {
				t.Errorf("the Makefile has no %s", name)
			}
		}
	}
}

func checkJavaScript(t *testing.T, text string) {
	name := filepath.Join(t.TempDir(), "block.mjs")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tool(t, "", "node", "--check", name)
}

func checkPython(t *testing.T, text string) {
	tool(t, text, "python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())")
}

func checkJSON(t *testing.T, text string) {
	if !json.Valid([]byte(text)) {
		t.Error("this is no JSON")
	}
}

// checkConfig: an address's part after # is all understood.
func checkConfig(t *testing.T, text string) {
	for line := range strings.Lines(text) {
		address, found := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !found {
			t.Errorf("%q is no address's part after #", line)
		}
		c, dropped := run.ReadHash(address)
		if len(dropped.Keys) > 0 {
			t.Errorf("of %s the page leaves out %v", address, dropped.Keys)
		}
		_, err := clip.New(clip.Choice{Method: cmp.Or(c.Method, "constant"), Weight: c.Weight, Threshold: c.Threshold, Grouping: c.Grouping},
			clip.Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 100, ExpectedBatchSize: 256, Dim: 1000, Params: c.Params})
		if err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestHostsSendTheHeaders: what the guide has for nginx and Caddy sends each header as it
// is, and no other, whoever may frame the site that has the guide.
func TestHostsSendTheHeaders(t *testing.T) {
	for _, s := range []Site{{}, {Frames: []string{headers.Self, "https://a.example"}}} {
		sendsTheHeaders(t, s)
	}
}

func sendsTheHeaders(t *testing.T, s Site) {
	t.Helper()
	want := headers.For(s.Frames)
	for language, header := range map[string]*regexp.Regexp{
		"nginx": regexp.MustCompile(`(?m)^\s*add_header (\S+) "(.*)" always;$`),
		"caddy": regexp.MustCompile("(?m)^\t\t([A-Z]\\S+) (?:\"(.*)\"|`(.*)`)$"),
	} {
		seen := false
		for _, b := range blocks(t) {
			if b.language != language {
				continue
			}
			seen = true
			sent := [][2]string{}
			for _, m := range header.FindAllStringSubmatch(string(s.configured([]byte(b.text))), -1) {
				if m[1] != "Cache-Control" {
					sent = append(sent, [2]string{m[1], strings.Join(m[2:], "")})
				}
			}
			if !slices.Equal(sent, want) {
				t.Errorf("%s sends\n%q\nwant\n%q", b.at, sent, want)
			}
			if strings.Count(b.text, "{") != strings.Count(b.text, "}") {
				t.Errorf("%s: a brace is open", b.at)
			}
		}
		if !seen {
			t.Errorf("no guide is for %s", language)
		}
	}
}
