package ui

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

var (
	controls = regexp.MustCompile(`<(input|select)\b[^>]*>`)
	idOf     = regexp.MustCompile(`\bid="([^"]*)"`)
	forOf    = regexp.MustCompile(`<label[^>]*\bfor="([^"]*)"`)
)

// Every component renders, keeps to the policy that forbids inline styles, and
// has a label for each of its controls.
func TestStories(t *testing.T) {
	for _, s := range stories() {
		html := app.HTMLString(s.view())
		if len(html) < 100 {
			t.Errorf("%s: renders %q", s.name, html)
		}
		if strings.Contains(html, "style=") {
			t.Errorf("%s: has an inline style", s.name)
		}
		labels := map[string]bool{}
		for _, m := range forOf.FindAllStringSubmatch(html, -1) {
			labels[m[1]] = true
		}
		for _, control := range controls.FindAllString(html, -1) {
			id := idOf.FindStringSubmatch(control)
			wrapped := strings.Contains(control, `type="checkbox"`) // stands inside its label
			named := strings.Contains(control, "aria-label=") || id != nil && labels[id[1]]
			if !wrapped && !named {
				t.Errorf("%s: no label for %s", s.name, control)
			}
		}
	}
}

func TestEveryChartSaysWhatItIs(t *testing.T) {
	for _, p := range newSession(nil).trials.panels() {
		html := app.HTMLString(p)
		for _, f := range p.Charts {
			if !strings.Contains(html, f.Empty) || !strings.Contains(html, "badge-"+string(f.Ink)) {
				t.Errorf("%s, %s: no badge, or no word of what will be here", p.ID, f.Title)
			}
			for _, l := range f.Spec.Series {
				if f.Ink == Released && l.Ink != Released {
					t.Errorf("%s: a chart called released draws %q, which is not", f.Title, l.Label)
				}
			}
		}
	}
}

// A blind run's charts of diagnostics are empty and say why; those of released
// values are drawn.
func TestBlindChartsSayWhy(t *testing.T) {
	s := exampleBlind()
	for _, phase := range []phase{running, done} {
		s.trials.last().phase = phase
		want := map[bool]string{true: "this run was blind", false: "the run is blind"}[phase == done]
		for _, p := range s.trials.panels() {
			for i, f := range p.Charts {
				said := p.without(i) && strings.Contains(p.instead(i), want)
				if said != (f.Ink == Diagnostic) {
					t.Errorf("%s, %s: empty %t, says %q", phase, f.Title, p.without(i), p.instead(i))
				}
			}
			if html := app.HTMLString(p); strings.Contains(html, "batch size</th><td class=\"figure value-diagnostic\">0") {
				t.Errorf("%s shows a batch size that nobody told", p.ID)
			}
		}
	}
	s.trials.clear()
	if p := s.trials.panels()[1]; !strings.Contains(p.instead(0), "the run is blind") {
		t.Errorf("before a blind run: %q", p.instead(0))
	}
}

func TestRunBarTexts(t *testing.T) {
	for _, c := range []struct {
		view RunView
		want []string
	}{
		{RunView{Phase: idle, Ready: true, Steps: 1000, Spent: math.NaN(), Left: math.NaN(), Whole: 1}, []string{"Start", "step 0 / 1,000", "ready", "– / ", "1.00"}},
		{RunView{Phase: running, Step: 412, Steps: 1000, Left: 17.3, Spent: 0.63, Whole: 1}, []string{"Pause", "step 412 / 1,000", "18 s left", "0.63 / ", "<strong>1.00"}},
		{RunView{Phase: running, Step: 9, Steps: 10, Left: 0.2, Spent: 0.63}, []string{"under 1 s left"}},
		{RunView{Phase: paused, Step: 1, Steps: 2, Spent: math.Inf(1), Left: math.NaN()}, []string{"Resume", "paused", "∞"}},
		{RunView{Phase: done, Step: 2, Steps: 2, Spent: 1, Left: 0}, []string{"Restart", "finished"}},
	} {
		html := app.HTMLString(&RunBar{View: c.view, Actions: nobody{}, Setup: nobody{}})
		for _, want := range c.want {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q", c.view.Phase, want)
			}
		}
	}
}

func TestPresets(t *testing.T) {
	list := presets()
	if len(list) < 3 {
		t.Fatalf("%d presets", len(list))
	}
	seen := map[string]bool{}
	for _, p := range list {
		if p.Name == "" || p.Title == "" || p.About == "" || seen[p.Name] {
			t.Errorf("preset %+v", p)
		}
		seen[p.Name] = true
		if methodInfo(p.Config.Method).Formula == "" {
			t.Errorf("%s: there is no method %q", p.Name, p.Config.Method)
		}
		if h, err := p.Config.Hash(); err != nil || h == "" {
			t.Errorf("%s: hash %q, %v", p.Name, h, err)
		}
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"train-images-idx3-ubyte.gz": "train-images", "iris.csv": "iris.csv", "": "",
		"a-very-long-name-of-a-table.csv": "a-very-lon…table.csv", "日本語の名前がとても長いファイルです.csv": "日本語の名前がとても…ァイルです.csv",
	} {
		if got := shortName(name); got != want || len([]rune(got)) > 20 {
			t.Errorf("%q is shortened to %q, want %q", name, got, want)
		}
	}
}

func TestLinksStayInTheSite(t *testing.T) {
	html := app.HTMLString(&Header{Page: "train"})
	if !strings.Contains(html, `href="/help"`) {
		t.Errorf("no link to the help:\n%s", html)
	}
}
