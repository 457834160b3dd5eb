//go:build !js

package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/app/headers"
	"clipscope/core/clip"
	"clipscope/core/privacy"
	"clipscope/core/run"
)

// TestDocsMethods: docs/methods.md says of every method what the page says, and draws
// its weight as it is computed.
func TestDocsMethods(t *testing.T) {
	var text strings.Builder
	for i, m := range clip.Methods() {
		if i > 0 {
			text.WriteString("\n")
		}
		fmt.Fprintf(&text, "### %s\n\n%s\n\n```text\n%s\n```\n\n", heading(m), m.Idea, m.Formula)
		if c := defaults(t, m); scales(c) {
			w := c.Weight
			if of := firstWith(t, m, w); of.Name != m.Name {
				fmt.Fprintf(&text, "Its weight is that of [%s](#%s)%s.\n\n", of.Title, anchors{}.Generate([]byte(heading(of)), 0), weighed(c))
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

// example is the statement that docs/privacy-statement.md takes apart: of 8,000 rows,
// 300 steps of about 256, by secure noise, on columns whose bounds were bought.
func example(t *testing.T) run.Statement {
	t.Helper()
	const rate, sigma = 256.0 / 8000, 1.25
	s, err := privacy.NewStatement(privacy.Statement{
		NoiseMultiplier: sigma, SampleRate: rate, Steps: 240, Planned: 300, Blind: true, Delta: 1e-5, Accountant: privacy.PLD,
		Clipping: "constant, C = 1", PerStep: privacy.PoissonSampled{SampleRate: rate, Of: privacy.Gaussian{NoiseMultiplier: sigma}},
		Once: []privacy.Event{privacy.Gaussian{NoiseMultiplier: 14}}, Released: []string{"the parameters after every step", "the bounds of the columns"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var said run.Statement
	if err := json.Unmarshal(b, &said); err != nil {
		t.Fatal(err)
	}
	return said
}

// TestDocsStatement: docs/privacy-statement.md shows a statement as it is made, and says
// of every field what it is.
func TestDocsStatement(t *testing.T) {
	s := example(t)
	text := s.Text
	s.Text = "…"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const file = "docs/privacy-statement.md"
	between(t, file, "words", "```text\n"+text+"```\n")
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
	} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + regexp.QuoteMeta(prefix+name) + "[`.]").MatchString(said) {
				t.Errorf("%s says nothing of %s%s", file, prefix, name)
			}
		}
	}
}

// TestThreatsAreThoseOfTheRationale: the guide has the rationale's table, row by row.
func TestThreatsAreThoseOfTheRationale(t *testing.T) {
	first := func(text, head string) []string {
		_, rest, found := strings.Cut(text, head)
		if !found {
			t.Fatalf("there is no table %q", head)
		}
		var cells []string
		for line := range strings.Lines(rest) {
			if line == "\n" && len(cells) > 0 {
				break
			}
			if parts := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") {
				cells = append(cells, parts[0])
			}
		}
		return cells
	}
	const head = "| attacker sees |"
	rationale, guide := first(read(t, "RATIONALE.md"), head), first(read(t, "docs/threats.md"), head)
	if len(rationale) < 10 || !slices.Equal(rationale, guide) {
		t.Errorf("RATIONALE.md has\n%q\nand threats.md\n%q", rationale, guide)
	}
}

// TestHostsSendTheHeaders: what the guide has for nginx and Caddy sends each header as it
// is, and no other, whoever may frame the site that has the guide.
func TestHostsSendTheHeaders(t *testing.T) {
	for _, s := range []site{{}, {frames: []string{headers.Self, "https://a.example"}}} {
		sendsTheHeaders(t, s)
	}
}

func sendsTheHeaders(t *testing.T, s site) {
	t.Helper()
	want := headers.For(s.frames)
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
