//go:build !js

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What rounds to nearest and stands where ε or δ is written: a verb for numbers
// behind them in a text, a formatter of the page around them, and JavaScript's own
// formatting. What may do so is listed with the reason.
var (
	goText   = regexp.MustCompile(`[εδ]( =| is|,)? ?%[.\d]+[efgEFG]`)
	goNumber = regexp.MustCompile(`words\.(Number|Fixed)\([^,]*\b(Epsilon|EpsilonAtStep|PLD|RDP|Low|LowerBound|AnyMechanism|Delta|TargetDelta|claimed|Spent|Whole|low|high)\b|words\.Number\(float64\(c\.Of`)
	jsNumber = regexp.MustCompile(`\.(toPrecision|toFixed|toExponential)\(`)
	roundsOK = []string{
		`const nearest = x.toExponential(digits - 1);`, // roundUp itself
		`return v.toExponential().replace`,             // without digits: all of them
		`x => +x.toPrecision(9)`,                       // parameters
		`(bytes / 1e6).toFixed(1)`,
	}
)

// TestBoundsAreNotRoundedToNearest holds that ε and δ are shown and written by
// the one helper of each language that rounds them up: run.RoundUp, roundUp.
func TestBoundsAreNotRoundedToNearest(t *testing.T) {
	checked := 0
	for _, dir := range []string{"core", "wasm", "ui", "web"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "e2e" || d.Name() == "bench") {
				return filepath.SkipDir
			}
			isGo := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			isJS := strings.HasSuffix(path, ".js") && filepath.Dir(path) == "web"
			if !isGo && !isJS {
				return nil
			}
			checked++
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(b), "\n") {
				if nearest(line, isGo) {
					t.Errorf("%s:%d: a bound may be rounded to nearest, and so down: %s", path, i+1, strings.TrimSpace(line))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 100 {
		t.Errorf("%d files were looked at", checked)
	}
	for _, bad := range []string{`fmt.Sprintf("ε = %.4g", e)`, `words.Number(float64(r.PLD), 4)`, `words.Fixed(float64(p.Epsilon), 2)`} {
		if !nearest(bad, true) {
			t.Errorf("%s is let pass", bad)
		}
	}
	if !nearest("epsilon.toFixed(2)", false) {
		t.Error("toFixed is let pass")
	}
}

func nearest(line string, isGo bool) bool {
	for _, ok := range roundsOK {
		if strings.Contains(line, ok) {
			return false
		}
	}
	if isGo {
		return goText.MatchString(line) || goNumber.MatchString(line)
	}
	return jsNumber.MatchString(line)
}
