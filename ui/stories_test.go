package ui

import (
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
func TestEveryStoryRendersWithoutInlineStyles(t *testing.T) {
	for _, s := range stories() {
		html := app.HTMLString(s.View())
		if len(html) < 100 {
			t.Errorf("%s: renders %q", s.Name, html)
		}
		if strings.Contains(html, "style=") {
			t.Errorf("%s: has an inline style", s.Name)
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
				t.Errorf("%s: no label for %s", s.Name, control)
			}
		}
	}
}
