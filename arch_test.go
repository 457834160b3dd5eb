//go:build !js

package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports maps every package of the module, as built for the browser, to what it
// imports itself.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	m := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		m[fields[0]] = fields[1:]
	}
	return m
}

func below(pkg string, dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return pkg == "clipscope/"+d || strings.HasPrefix(pkg, "clipscope/"+d+"/")
	})
}

// TestImportsFollowTheArrows holds who may import whom.
func TestImportsFollowTheArrows(t *testing.T) {
	all := imports(t)
	if len(all) < 10 || all["clipscope/core/train"] == nil || all["clipscope/wasm"] == nil {
		t.Fatalf("go list found %d packages", len(all))
	}
	for pkg, list := range all {
		for _, dep := range list {
			switch {
			case below(pkg, "core") && (below(dep, "ui", "app", "wasm", "web") || strings.Contains(dep, "go-app")):
				t.Errorf("%s imports %s: core knows nothing of the page", pkg, dep)
			case dep == "syscall/js" && !below(pkg, "wasm", "app", "ui", "core/compute/simd", "core/compute/webgpu"):
				t.Errorf("%s imports syscall/js: only the rim may", pkg)
			case below(pkg, "wasm") && below(dep, "ui", "app"):
				t.Errorf("%s imports %s: the trainer knows nothing of the page", pkg, dep)
			case below(pkg, "wasm/worker") && dep == "syscall/js":
				t.Errorf("%s imports syscall/js: the protocol is plain Go", pkg)
			case below(dep, "wasm") && !below(pkg, "wasm", "app"):
				t.Errorf("%s imports %s: only the program knows both page and trainer", pkg, dep)
			case below(pkg, "ui") && below(dep, "core/plan", "core/train", "core/tune", "core/audit", "core/nn", "core/optim", "core/compute"):
				t.Errorf("%s imports %s: the page computes nothing", pkg, dep)
			case below(pkg, "core/privacy") && below(dep, "core/compute"):
				t.Errorf("%s imports %s: what a run costs depends on no machine", pkg, dep)
			case strings.Contains(dep, "goldmark"):
				t.Errorf("%s imports %s: guides are rendered when the site is generated", pkg, dep)
			case below(dep, "core/train") && !below(pkg, "core/train", "core/tune", "core/audit", "wasm"):
				t.Errorf("%s imports %s: only the trainer runs plans", pkg, dep)
			case below(dep, "core/tune") && !below(pkg, "wasm"), dep == "clipscope/core/audit" && !below(pkg, "wasm"):
				t.Errorf("%s imports %s: only the trainer tunes and audits", pkg, dep)
			case below(dep, "core/plan") && !below(pkg, "core/train", "core/tune", "core/audit", "wasm"):
				t.Errorf("%s imports %s: only the trainer plans", pkg, dep)
			case below(pkg, "core/plan") && (below(dep, "core/train", "core/optim") || below(dep, "core/compute") && dep != "clipscope/core/compute" && dep != "clipscope/core/compute/kernel"):
				t.Errorf("%s imports %s: a plan runs nothing", pkg, dep)
			}
		}
	}
}

// rooms are the packages of the page and which of the others each may know. What
// is plain stands first: it may not even know of go-app.
var rooms = []struct {
	name  string
	plain bool
	knows string
}{
	{"pages", true, ""},
	{"words", true, ""},
	{"form", true, ""},
	{"lesson", true, ""},
	{"link", true, "form lesson"},
	{"script", true, "form"},
	{"series", true, "words"},
	{"export", true, "series"},
	{"results", true, "form words"},
	{"preset", false, ""},
	{"browser", false, ""},
	{"client", false, "browser"},
	{"widget", false, "browser form pages words"},
	{"chart", false, "browser form preset series widget words"},
	{"motion", false, "form series widget words"},
	{"scores", false, "chart widget words"},
	{"ledger", false, "browser client form widget words"},
	{"cards", false, "browser form ledger preset script widget words"},
	{"calculator", false, "browser chart client form widget words"},
	{"check", false, "browser client widget"},
	{"spent", false, "widget words"},
	{"use", false, "browser chart client form scores widget words"},
	{"lab", false, "browser chart client form lesson link motion scores series widget words"},
	{"train", false, "browser cards chart client export form ledger link motion preset results scores series widget words"},
}

// TestPagesDoNotImportEachOther holds who may import whom within the page: widgets know of no run,
// charts of no trainer, the pages not of each other; ui itself composes them.
func TestPagesDoNotImportEachOther(t *testing.T) {
	all := imports(t)
	known := map[string]bool{"clipscope/ui": true}
	for _, r := range rooms {
		known["clipscope/ui/"+r.name] = true
		for _, dep := range all["clipscope/ui/"+r.name] {
			other, inside := strings.CutPrefix(dep, "clipscope/ui/")
			switch {
			case dep == "clipscope/ui" || inside && !slices.Contains(strings.Fields(r.knows), other):
				t.Errorf("ui/%s imports %s", r.name, dep)
			case r.plain && strings.Contains(dep, "go-app"):
				t.Errorf("ui/%s imports %s: it is plain Go", r.name, dep)
			}
		}
	}
	for pkg := range all {
		if below(pkg, "ui") && !known[pkg] {
			t.Errorf("%s has no place in the table", pkg)
		}
	}
	for pkg := range known {
		if all[pkg] == nil {
			t.Errorf("there is no %s", pkg)
		}
	}
}

// dataRooms are the packages that make data sets, and which of the others each may know: what
// training and page know stands first, what knows all formats last. What is for tests has no
// other package for a reader.
var dataRooms = []struct{ name, knows string }{
	{"data", ""},
	{"data/builtin", "data"},
	{"data/source", "data"},
	{"data/table", "data data/source"},
	{"data/format", "data data/source data/table"},
	{"data/load", "data data/source data/table data/format"},
	{"data/datatest", "data data/source"},
	{"data/loadtest", "data data/source data/load data/datatest"},
}

// TestArrowsBetweenDataRoomsRunOneWay holds who may import whom below core/data: arrows run one way. Formats are
// known to package load alone, and tests' packages to no program.
func TestArrowsBetweenDataRoomsRunOneWay(t *testing.T) {
	all := imports(t)
	known := map[string]string{}
	for _, r := range dataRooms {
		known["clipscope/core/"+r.name] = r.knows
		if all["clipscope/core/"+r.name] == nil {
			t.Errorf("there is no core/%s", r.name)
		}
	}
	for pkg, list := range all {
		knows, room := known[pkg]
		if below(pkg, "core/data") && !room {
			t.Errorf("%s has no place in the table", pkg)
		}
		for _, dep := range list {
			other := strings.TrimPrefix(dep, "clipscope/core/")
			switch {
			case room && below(dep, "core/data") && !slices.Contains(strings.Fields(knows), other):
				t.Errorf("%s imports %s", pkg, dep)
			case !room && (below(dep, "core/data/datatest", "core/data/loadtest")):
				t.Errorf("%s imports %s, which is for tests", pkg, dep)
			case !room && below(dep, "core/data/format"):
				t.Errorf("%s imports %s: files are read through core/data/load", pkg, dep)
			}
		}
	}
}
