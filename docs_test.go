//go:build !js

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/clip"
	"clipscope/core/data"
	"clipscope/core/plan"
	"clipscope/core/privacy"
	"clipscope/core/run"
	"clipscope/core/tune"
	"clipscope/internal/site"
	"clipscope/ui/lesson"
)

// update has the tests write what they make of the code into docs/.
var update = flag.Bool("update", false, "write what docs/ has of the code anew")

// TestDocsMethodsSayWhatThePageSays: docs/methods.md says of every method what the page says, and
// draws its weight as it is computed.
func TestDocsMethodsSayWhatThePageSays(t *testing.T) {
	var text strings.Builder
	for i, m := range clip.Methods() {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "### %s\n\n%s\n\n```text\n%s\n```\n\n", heading(m), m.Idea, m.Formula)
		if c := defaults(t, m); scales(c) {
			w := c.Weight
			if of := firstWith(t, m, w); of.Name != m.Name {
				fmt.Fprintf(&text, "Its weight is that of [%s](#%s)%s.\n\n", of.Title, site.Anchor(heading(of)), weighed(c))
			} else {
				sameFile(t, "docs/figures/"+m.Name+".svg", drawing(w))
				fmt.Fprintf(&text, "![Over the gradient's length: the weight, dashed, and the length that is left](figures/%s.svg)\n\n", m.Name)
			}
		}
		fmt.Fprintf(&text, "When: %s\n\nSource: %s.\n", m.When, strings.TrimSuffix(m.Paper, "."))
		if len(m.Params) > 0 {
			text.WriteString("\n| parameter | | default | from … to |\n| --- | --- | --- | --- |\n")
			for _, p := range m.Params {
				fmt.Fprintf(&text, "| `%s` | %s. %s | %v | %v … %v |\n", p.Name, p.Label, p.Help, p.Default, p.Min, p.Max)
			}
		}
	}
	between(t, "docs/methods.md", "methods", text.String())
}

// defaults is a method at its defaults, at the threshold 1.
func defaults(t *testing.T, m clip.Info) *clip.Clipper {
	t.Helper()
	c, err := clip.New(clip.Choice{Method: m.Name}, clip.Env{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 100, ExpectedBatchSize: 256, Dim: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scales reports whether a method multiplies a gradient, or a part of one, with a weight.
func scales(c *clip.Clipper) bool { return !c.NonPrivate && !c.Coordinates && c.Weight != nil }

// weighed says of what length a weight is, where that is not the gradient's.
func weighed(c *clip.Clipper) string {
	switch {
	case c.Geometry != nil:
		return ", of the length in coordinates of its own"
	case c.Grouping == clip.PerLayer:
		return ", of each layer's part and at its part of C"
	case c.Source == clip.Bounded:
		return ", of an upper bound of the length"
	}
	return ""
}

func heading(m clip.Info) string { return fmt.Sprintf("%s (`%s`)", m.Title, m.Name) }

// firstWith is the first method that has the same weight: most have that of constant.
func firstWith(t *testing.T, m clip.Info, w clip.Weight) clip.Info {
	t.Helper()
	for _, other := range clip.Methods() {
		if c := defaults(t, other); scales(c) && drawing(c.Weight) == drawing(w) {
			return other
		}
	}
	return m
}

// drawing is a weight and the length that it leaves, over lengths of 0 to 4 thresholds.
// The site's style gives the classes their colours; the attributes are for where there is
// none.
func drawing(w clip.Weight) string {
	const left, right, top, bottom, most, high = 40.0, 340.0, 10.0, 130.0, 4.0, 1.5
	x := func(n float64) float64 { return left + n/most*(right-left) }
	y := func(v float64) float64 { return bottom - v/high*(bottom-top) }
	path := func(f func(n float64) float64) string {
		var d strings.Builder
		next := "M"
		for i := range 101 { // one falls on the kink at 1
			n := float64(i) / 25
			v := f(n)
			if !(v <= high) {
				next = "M"
				continue
			}
			fmt.Fprintf(&d, "%s%.1f %.1f", next, x(n), y(v))
			next = "L"
		}
		return d.String()
	}
	var s strings.Builder
	fmt.Fprintf(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 360 168\" width=\"360\" height=\"168\" font-family=\"sans-serif\" font-size=\"12\" fill=\"none\">\n")
	fmt.Fprintf(&s, "<path class=\"axis\" stroke=\"#828b95\" d=\"M%g %gV%gH%g\"/>\n", left, top, bottom, right)
	for i := range 5 {
		fmt.Fprintf(&s, "<text x=\"%g\" y=\"%g\" fill=\"#828b95\" text-anchor=\"middle\">%d</text>\n", x(float64(i)), bottom+14, i)
	}
	for _, v := range []float64{0.5, 1} {
		fmt.Fprintf(&s, "<text x=\"%g\" y=\"%g\" fill=\"#828b95\" text-anchor=\"end\">%g</text>\n", left-6, y(v)+4, v)
	}
	fmt.Fprintf(&s, "<text x=\"%g\" y=\"%g\" fill=\"#828b95\" text-anchor=\"middle\">‖g‖ / C</text>\n", (left+right)/2, bottom+32)
	fmt.Fprintf(&s, "<path class=\"beside\" stroke=\"#00775a\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\" d=\"%s\"/>\n", path(func(n float64) float64 { return w.Factor(n, 1) }))
	fmt.Fprintf(&s, "<path class=\"line\" stroke=\"#0068a3\" stroke-width=\"2\" d=\"%s\"/>\n</svg>\n", path(func(n float64) float64 { return n * w.Factor(n, 1) }))
	return s.String()
}

// statements returns the statements of docs/privacy-statement.md, one of each kind, by the plans
// that make everyone's: of a table of 8,000 rows and 12 columns, whose bounds are bought.
func statements(t *testing.T) (names []string, of map[string]run.Statement) {
	t.Helper()
	meta := data.Meta{Name: "visits.csv", Task: data.Classification, Features: 12, Outputs: 2, TrainRows: 8000, TestRows: 2000, FeatureBytes: 4, HeldOut: data.Shuffled}
	for i := range meta.Features {
		meta.Columns = append(meta.Columns, data.Column{Name: fmt.Sprintf("column %d", i+1), Kind: data.Numeric, First: i})
	}
	usual := func() run.Config {
		epsilon := 2.0
		return run.Config{Data: "files", Method: "constant", TargetEpsilon: &epsilon, ExpectedBatchSize: 256, Steps: 300}
	}
	seed := uint64(1)
	of = map[string]run.Statement{}
	for _, kind := range []struct {
		name  string
		steps int // that were taken; 0: all
		edit  func(*run.Config, *data.Meta)
	}{
		{"private", 0, func(*run.Config, *data.Meta) {}},
		{"declared rows", 0, func(c *run.Config, m *data.Meta) { c.NumExamples, m.HeldOut = 8000, data.ByRow }},
		{"stopped", 240, func(*run.Config, *data.Meta) {}},
		{"blind", 240, func(c *run.Config, _ *data.Meta) { c.Blind = true }},
		{"tuned", 0, func(c *run.Config, _ *data.Meta) { c.Tuning.Runs = 5 }},
		{"backbone", 0, func(_ *run.Config, m *data.Meta) {
			m.Columns, m.Name = nil, "pictures.zip"
			m.Backbone = &run.Backbone{SHA256: strings.Repeat("0123456789abcdef", 4), Output: "features"}
		}},
		{"seeded", 0, func(c *run.Config, _ *data.Meta) { c.Seed = &seed }},
		{"without privacy", 0, func(c *run.Config, _ *data.Meta) { c.NoPrivacy, c.TargetEpsilon = true, nil }},
	} {
		cfg, m := usual(), meta
		kind.edit(&cfg, &m)
		names, of[kind.name] = append(names, kind.name), concluded(t, planned(t, cfg, m, kind.steps))
	}
	return names, of
}

// planned is the statement of a run that took so many steps, or all where that is 0.
func planned(t *testing.T, cfg run.Config, meta data.Meta, steps int) (s *privacy.Statement) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if cfg.Tuning.Runs > 0 {
		p, err := tune.New(cfg, meta)
		fail(err)
		s, err = p.Statement()
		fail(err)
		return s
	}
	p, err := plan.New(cfg, meta)
	fail(err)
	if steps == 0 {
		steps = p.Info().Steps
	}
	s, err = p.Statement(steps)
	fail(err)
	return s
}

// concluded is a statement as the page has it.
func concluded(t *testing.T, s *privacy.Statement) run.Statement {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var made run.Statement
	if err := json.Unmarshal(b, &made); err != nil {
		t.Fatal(err)
	}
	made.Versions = nil // that of the compiler is nobody's concern
	if made, err = privacy.Conclude(run.StatementRequest{Statement: made, Version: "0.3.0+1a2b3c4d", Date: "2026-11-26"}); err != nil {
		t.Fatal(err)
	}
	return made
}

// TestDocsStatementIsAsItIsMade: docs/privacy-statement.md shows a statement of each kind as it is
// made, a report's paragraph, and says of every field what it is.
func TestDocsStatementIsAsItIsMade(t *testing.T) {
	const file = "docs/privacy-statement.md"
	names, all := statements(t)
	for _, name := range names {
		between(t, file, name, "```text\n"+all[name].Text+"```\n")
	}
	between(t, file, "short", "```text\n"+all["private"].Short+"\n```\n")
	s := all["blind"]
	s.Text, s.Short = "…", "…"
	for i := range s.Sections {
		s.Sections[i].Lines = []string{"…"}
	}
	some := *s.Attacker // of which a few points say what a curve is
	some.FalsePositive, some.TruePositive = some.FalsePositive[16:18], some.TruePositive[16:18]
	s.Attacker = &some
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	// Processors differ in the last digits.
	b = regexp.MustCompile(`\d+\.\d{6,}`).ReplaceAllFunc(b, func(long []byte) []byte {
		v, _ := strconv.ParseFloat(string(long), 64)
		return strconv.AppendFloat(nil, v, 'g', 6, 64)
	})
	between(t, file, "fields", "```json\n"+string(b)+"\n```\n")
	said := read(t, file)
	for of, prefix := range map[reflect.Type]string{
		reflect.TypeFor[run.Statement](): "", reflect.TypeFor[run.Epsilons](): "epsilons.",
		reflect.TypeFor[run.GroupEpsilon](): "groups.", reflect.TypeFor[run.StatementLedger](): "ledger.",
		reflect.TypeFor[run.Attack](): "attacker.", reflect.TypeFor[run.Section](): "sections.",
	} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + regexp.QuoteMeta(prefix+name) + "[`.]").MatchString(said) {
				t.Errorf("%s says nothing of %s%s", file, prefix, name)
			}
		}
	}
}

// TestDocsTogetherHasOurFigures: docs/together.md has both ε as plans have them, rounded up.
func TestDocsTogetherHasOurFigures(t *testing.T) {
	table := data.Meta{Name: "visits.csv", Task: data.Classification, Features: 12, Outputs: 2, FeatureBytes: 4}
	pictures := data.Meta{Name: "digits", Task: data.Classification, Features: 784, Shape: []int{28, 28, 1}, Outputs: 10, FeatureBytes: 1}
	var text strings.Builder
	text.WriteString("| parties | rows of all | δ | steps | tolerance | noise | ε for everybody | to another party | ε alone | each sends |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range []struct {
		of                   string
		meta                 data.Meta
		parties, rows, steps int
		epsilon, delta       float64
		tolerances           []int
	}{
		{"2 (tables)", table, 2, 8_000, 300, 2, 1e-5, []int{0, 1}},
		{"5 (tables)", table, 5, 10_000, 200, 2, 1e-5, []int{0, 1, 4}},
		{"5 (tables)", table, 5, 10_000, 200, 4, 1e-5, []int{0, 1, 4}},
		{"30 (tables)", table, 30, 6_000, 100, 2, 1e-5, []int{0, 6, 29}},
		{"100 (tables)", table, 100, 6_000, 100, 2, 1e-5, []int{0, 20}},
		{"30 (digits)", pictures, 30, 180_000, 0, 1, 1e-6, []int{0, 6, 29}},
	} {
		for _, tolerance := range c.tolerances {
			m := c.meta
			m.TrainRows = c.rows / c.parties
			cfg := run.Config{Data: "files", Method: "constant", Scaling: run.Scaling{Kind: "row"}, NumExamples: c.rows,
				TargetEpsilon: &c.epsilon, TargetDelta: c.delta, Together: run.Together{Parties: c.parties, Tolerance: tolerance}}
			if c.steps > 0 { // or as the page proposes
				cfg.Steps, cfg.ExpectedBatchSize = c.steps, float64(c.rows)/10
			}
			p, err := plan.New(cfg, m)
			if err != nil {
				t.Fatal(err)
			}
			info, g := p.Info(), p.Terms().Config.Together
			fmt.Fprintf(&text, "| %s | %d | %g | %d | %d | ×%.2f | %s | %s | %s | %.2g MB |\n", c.of, c.rows, c.delta, info.Steps, tolerance,
				math.Sqrt(float64(g.Parties)/float64(g.Needed())), run.UpText(float64(info.Epsilon), 3), run.UpText(p.EpsilonOfShares(g.Quorum-1), 3),
				run.UpText(float64(info.Together.EpsilonAlone), 3), float64(info.Together.StepBytes*info.Steps)/1e6)
		}
	}
	between(t, "docs/together.md", "figures", text.String())
}

// TestDocsTeachingHasTheLessons: the path of docs/teaching.md and its handout are of the lessons as they are, and the path
// leaves time for the answers.
func TestDocsTeachingHasTheLessons(t *testing.T) {
	list, err := lesson.Read([]byte(read(t, "assets/lessons.json")))
	if err != nil {
		t.Fatal(err)
	}
	var route, handout strings.Builder
	route.WriteString("| minutes | lesson | address | it asks |\n| --- | --- | --- | --- |\n")
	minutes := 0
	for _, id := range []string{"gradients", "clipping", "u", "epsilon"} {
		l := list[slices.IndexFunc(list, func(l lesson.Lesson) bool { return l.ID == id })]
		minutes += l.Minutes
		var asked []string
		fmt.Fprintf(&handout, "**%s**\n\n", l.Title)
		for _, q := range l.Tallies(nil) {
			asked = append(asked, q.Question.Text)
			fmt.Fprintf(&handout, "%d. %s %s\n", q.Step, q.Question.Text, cmp.Or(strings.Join(q.Question.Options, " / "), "______"))
		}
		handout.WriteString("\nWhat I expected, and what came: ____________________\n\n")
		fmt.Fprintf(&route, "| %d | %s | `lab/#lesson=%s` | %s |\n", l.Minutes, l.Title, l.ID, strings.Join(asked, " "))
	}
	if minutes > 40 {
		t.Errorf("the path takes %d of 45 minutes", minutes)
	}
	between(t, "docs/teaching.md", "path", route.String())
	between(t, "docs/teaching.md", "handout", strings.TrimSuffix(handout.String(), "\n"))
}

// TestThreatsAreShown: every row of the table of threats has its four cells, and the tests and
// files that its last cell names exist.
func TestThreatsAreShown(t *testing.T) {
	_, table, found := strings.Cut(read(t, "docs/threats.md"), "| attacker sees | float noise | secure noise | shown by |\n| --- | --- | --- | --- |\n")
	if !found {
		t.Fatal("docs/threats.md has no table of threats")
	}
	tests := declaredTests(t)
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 4 || slices.Contains(cells, "") {
			t.Errorf("a row has %d cells, want 4: %s", len(cells), line)
			continue
		}
		folder := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[3], -1) {
			name := m[1]
			switch {
			case strings.HasPrefix(name, "Test"):
				if !tests[name] {
					t.Errorf("there is no test %s, which is to show: %s", name, cells[0])
				}
			case strings.Contains(name, "/"), strings.HasSuffix(name, ".go"):
				if !strings.Contains(name, "/") {
					name = folder + "/" + name
				}
				folder = path.Dir(name)
				if _, err := os.Stat(name); err != nil {
					t.Errorf("%s: %v", cells[0], err)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(table, -1) { // of the other tables as well
		if !tests[m[1]] {
			t.Errorf("docs/threats.md names %s, and there is no such test", m[1])
		}
	}
	if rows < 16 {
		t.Errorf("the table of threats has %d rows, want the 16 of before at least", rows)
	}
}

// declaredTests has the names of all tests of the module, whatever they are built for.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, folder := range []string{".", "app", "core", "internal", "ui", "wasm", "web"} {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && name == folder:
				return nil
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || folder == "." && name != "."):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
				return nil
			}
			for _, m := range declaration.FindAllStringSubmatch(read(t, name), -1) {
				found[m[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// between replaces what a guide has between two comments of that name, or compares it.
func between(t *testing.T, file, name, made string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, last := fmt.Sprintf("<!-- %s, by go test -run Docs -update . -->\n", name), fmt.Sprintf("<!-- end of %s -->\n", name)
	before, rest, ok := strings.Cut(string(b), first)
	_, after, closed := strings.Cut(rest, last)
	if !ok || !closed {
		t.Fatalf("%s has no place for %s: %s … %s", file, name, first, last)
	}
	same(t, file, string(b), before+first+"\n"+made+"\n"+last+after)
}

// same writes a file that is made, or compares it.
func same(t *testing.T, file, is, want string) {
	t.Helper()
	if is == want {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what the code says: go test -run Docs -update .", file)
}

// sameFile is same for a file that has nothing else.
func sameFile(t *testing.T, file, want string) {
	t.Helper()
	is, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	same(t, file, string(is), want)
}

// read is a file's text.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
