//go:build !js

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/compute"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/ui/form"

	_ "clipscope/core/compute/webgpu" // and so all packages of kernels
)

// TestDocsMapHasEveryPackage: the map of CONTRIBUTING.md has every package, with the first
// sentence of its comment. A comment begins with the package's name and a verb, and is short
// enough to be read in a table.
func TestDocsMapHasEveryPackage(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| folder | |\n| --- | --- |\n")
	docs := packageDocs(t)
	for _, folder := range slices.Sorted(maps.Keys(docs)) {
		said := regexp.MustCompile(`^(?:Package|Command) \S+ ([a-z].*)\.$`).FindStringSubmatch(docs[folder])
		switch {
		case said == nil:
			t.Errorf("%s: the package's comment does not begin with a sentence “Package x does …”: %q", folder, docs[folder])
			continue
		case len([]rune(said[1])) > 120:
			t.Errorf("%s: the first sentence of the package's comment has %d characters, more than 120", folder, len([]rune(said[1])))
		case regexp.MustCompile(`^(is|has|holds) (what|that|how|who|where)\b`).MatchString(said[1]):
			t.Errorf("%s: the first sentence of the package's comment has a clause where a noun belongs: %q", folder, said[1])
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", cmp.Or(folder, "."), strings.NewReplacer("[", "", "]", "", "|", `\|`).Replace(said[1]))
	}
	between(t, "CONTRIBUTING.md", "map", strings.TrimSuffix(rows.String(), "\n"))
}

// packageDocs returns the first sentences of all packages' comments, by folder; of a package
// that one target alone builds, that target's.
func packageDocs(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, target := range [][]string{nil, {"GOOS=js", "GOARCH=wasm"}} {
		cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
		cmd.Env = append(os.Environ(), target...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			pkg, doc, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			folder := strings.TrimPrefix(strings.TrimPrefix(pkg, "clipscope"), "/")
			docs[folder] = cmp.Or(docs[folder], doc)
		}
	}
	if len(docs) < 40 {
		t.Fatalf("go list found %d packages", len(docs))
	}
	return docs
}

// TestDocsRationaleIndexHasEveryQuestion: the index has every question of the four parts.
func TestDocsRationaleIndexHasEveryQuestion(t *testing.T) {
	var index strings.Builder
	for _, part := range []string{"core/RATIONALE.md", "core/compute/RATIONALE.md", "core/data/RATIONALE.md", "web/RATIONALE.md"} {
		text := read(t, part)
		if strings.Contains(text, "| attacker sees |") {
			t.Errorf("%s has a table of threats of its own; docs/threats.md has it", part)
		}
		title, found := strings.CutPrefix(text[:strings.Index(text, "\n")], "# Rationale: ")
		if !found {
			t.Errorf("%s does not begin with its title, # Rationale: …", part)
			continue
		}
		fmt.Fprintf(&index, "## [%s%s](%s)\n\n", strings.ToUpper(title[:1]), title[1:], part)
		questions := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(text, -1)
		if len(questions) < 5 {
			t.Errorf("%s has %d questions", part, len(questions))
		}
		for _, q := range questions {
			if !strings.HasSuffix(q[1], "?") {
				t.Errorf("%s: %q is no question", part, q[1])
			}
			fmt.Fprintf(&index, "* %s\n", q[1])
		}
		index.WriteString("\n")
	}
	between(t, "RATIONALE.md", "index", strings.TrimSuffix(index.String(), "\n\n"))
}

// TestDocumentsAreShort: the README is read before anything else, and what a release changed
// while somebody waits for it.
func TestDocumentsAreShort(t *testing.T) {
	if n := len(read(t, "README.md")); n > 8000 {
		t.Errorf("README.md has %d bytes, more than 8000", n)
	}
	releases := regexp.MustCompile(`(?m)^## \[`).Split(read(t, "CHANGELOG.md"), -1)[1:]
	if len(releases) < 3 {
		t.Fatalf("CHANGELOG.md has %d releases", len(releases))
	}
	for _, r := range releases {
		version, _, _ := strings.Cut(r, "]")
		most := 10
		if version == "Unreleased" {
			most = 16
		}
		if n := len(regexp.MustCompile(`(?m)^\* `).FindAllString(r, -1)); n == 0 || n > most {
			t.Errorf("CHANGELOG.md has %d items for %s, want 1 to %d", n, version, most)
		}
	}
}

// TestEveryKernelHasItsFiles: a kernel has a Go, a .ts and a .wgsl file of its name, and no
// such file has no kernel. Every package of kernels is known to the back end that has their
// shaders and to the suite.
func TestEveryKernelHasItsFiles(t *testing.T) {
	const root = "core/compute/kernel"
	files := map[string][]string{} // by name
	for _, pattern := range []string{"*.*", "*/*.*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			name, kind, _ := strings.Cut(filepath.Base(file), ".")
			files[name] = append(files[name], kind)
		}
	}
	kernels := map[string]bool{}
	for _, k := range compute.Kernels() {
		name := strings.ToLower(k.Name)
		kernels[name] = true
		if got := slices.Sorted(slices.Values(files[name])); !slices.Equal(got, []string{"go", "ts", "wgsl"}) {
			t.Errorf("the kernel %s has %q beside each other in %s, want %s.go, .ts and .wgsl", k.Name, got, root, name)
		}
	}
	if len(kernels) < 30 {
		t.Errorf("there are %d kernels", len(kernels))
	}
	for name, kinds := range files {
		if !kernels[name] && (slices.Contains(kinds, "ts") || slices.Contains(kinds, "wgsl")) {
			t.Errorf("%s has %s with %q and no kernel of that name", root, name, kinds)
		}
	}
	all := imports(t)
	for _, user := range []string{"clipscope/core/compute/webgpu", "clipscope/core/compute/computetest"} {
		for pkg := range all {
			if below(pkg, root) && !slices.Contains(all[user], pkg) {
				t.Errorf("%s does not import %s: its kernels have no shaders there, or no part of the suite", user, pkg)
			}
		}
	}
}

// TestEveryMethodHasItsPlaces: a clipping method has its file, its choice on the card, its
// section in the guide, and its name in the statement of a private run.
func TestEveryMethodHasItsPlaces(t *testing.T) {
	guide := read(t, "docs/methods.md")
	meta := data.Meta{Name: "points", Task: data.Classification, Features: 6, Outputs: 3, TrainRows: 5000, TestRows: 500, FeatureBytes: 4}
	for _, m := range clip.Methods() {
		file := "core/clip/" + strings.ReplaceAll(m.Name, "-", "") + ".go"
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), fmt.Sprintf("%q", m.Name)) {
			t.Errorf("%s is not registered in %s: %v", m.Name, file, err)
		}
		if !slices.ContainsFunc(form.Find("method").Options, func(o form.Option) bool { return o.Value == m.Name && o.Text == m.Title }) {
			t.Errorf("%s is not offered on its card as %q", m.Name, m.Title)
		}
		if !strings.Contains(guide, "\n### "+heading(m)+"\n") {
			t.Errorf("docs/methods.md has no section for %s", m.Name)
		}
		if !m.Private {
			continue
		}
		sigma := 4.0
		cfg := run.Config{Data: "files", Method: m.Name, Model: run.Model{Kind: "softmax"}, NoiseMultiplier: &sigma, TargetDelta: 1e-5, ExpectedBatchSize: 256, Steps: 1, Accountant: "rdp"}
		cfg.Scaling.Kind = "none"
		if text := planned(t, cfg, meta, 0).Text(); !strings.Contains(text, "\nClipping: "+m.Name+", ") {
			t.Errorf("the statement of a run with %s does not name it:\n%s", m.Name, text)
		}
	}
}

// TestEveryNoiseHasItsPlaces: a noise mode has its choice on the card, its name in the references
// of the configuration and of the statement, and in the statement of a run that has it.
func TestEveryNoiseHasItsPlaces(t *testing.T) {
	meta := data.Meta{Name: "points", Task: data.Classification, Features: 6, Outputs: 3, TrainRows: 5000, TestRows: 500, FeatureBytes: 4}
	for _, mode := range plan.NoiseModes() {
		if !slices.ContainsFunc(form.Find("noise_mode").Options, func(o form.Option) bool { return o.Value == mode }) {
			t.Errorf("ui/form/fields.go does not offer %s as a noise_mode", mode)
		}
		for _, file := range []string{"docs/scripting.md", "docs/privacy-statement.md"} {
			if row := regexp.MustCompile("(?m)^\\| `noise_mode` \\|.*$").FindString(read(t, file)); !strings.Contains(row, "`"+mode+"`") {
				t.Errorf("the row of noise_mode in %s does not name %s: %q", file, mode, row)
			}
		}
		sigma := 4.0
		cfg := run.Config{Data: "files", Method: "constant", NoiseMode: mode, Model: run.Model{Kind: "softmax"}, NoiseMultiplier: &sigma, TargetDelta: 1e-5, ExpectedBatchSize: 256, Steps: 1, Accountant: "rdp"}
		cfg.Scaling.Kind = "none"
		var said run.Statement
		if text, err := json.Marshal(planned(t, cfg, meta, 0)); err != nil || json.Unmarshal(text, &said) != nil || said.Noise != mode {
			t.Errorf("the statement of a run with %s noise calls it %q (core/privacy/statement.go), %v", mode, said.Noise, err)
		}
	}
}

// TestEveryFieldIsInTheReference: the table of the configuration names each field, and the
// reference somewhere each field of the objects in it.
func TestEveryFieldIsInTheReference(t *testing.T) {
	reference := read(t, "docs/scripting.md")
	_, section, _ := strings.Cut(reference, "\n## The configuration\n")
	_, table, found := strings.Cut(section, "\n| field | |\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("docs/scripting.md has no table of fields")
	}
	names := func(of reflect.Type) (all []reflect.StructField) {
		for i := range of.NumField() {
			if f := of.Field(i); f.Tag.Get("json") != "-" {
				all = append(all, f)
			}
		}
		return all
	}
	for _, f := range names(reflect.TypeFor[run.Config]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !strings.Contains(table, "`"+name+"`") && !strings.Contains(table, "`"+name+":") {
			t.Errorf("the table of fields in docs/scripting.md lacks %s", name)
		}
		if f.Type.Kind() != reflect.Struct {
			continue
		}
		for _, inner := range names(f.Type) {
			word, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(reference) {
				t.Errorf("docs/scripting.md does not name %s.%s", name, word)
			}
		}
	}
}

// TestGlossaryNamesWhatIsThere: each word of the glossary stands once, in order, and its type or
// function is declared.
func TestGlossaryNamesWhatIsThere(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| ([^|]+) \\| [^|]+ \\| `([a-z/]+)\\.([A-Z]\\w+)` \\|$").FindAllStringSubmatch(read(t, "docs/glossary.md"), -1)
	if len(rows) < 40 {
		t.Fatalf("the glossary has %d rows", len(rows))
	}
	for i, row := range rows {
		if i > 0 && strings.ToLower(rows[i-1][1]) >= strings.ToLower(row[1]) {
			t.Errorf("%q stands behind %q", row[1], rows[i-1][1])
		}
		declared := regexp.MustCompile(`(?m)^(type|func) ` + row[3] + `\b`)
		files, err := filepath.Glob(row[2] + "/*.go")
		if err != nil || !slices.ContainsFunc(files, func(file string) bool { return declared.MatchString(read(t, file)) }) {
			t.Errorf("%q: there is no %s.%s, %v", row[1], row[2], row[3], err)
		}
	}
}
