package ui

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/ui/pages"
	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// text returns a file of this folder.
func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEveryPageHasItsPlaces: a page of the list has a name, a title and a word of its own, a
// component of the package of its name, and stories among those of the site; a link of another
// page leads to it. There is no component beside those.
func TestEveryPageHasItsPlaces(t *testing.T) {
	if len(pages.All) < 7 {
		t.Fatalf("the list has %d pages", len(pages.All))
	}
	made := components()
	stories := text(t, "stories.go")
	seen := map[string]bool{}
	var names []string
	for _, p := range pages.All {
		names = append(names, p.Name)
		for _, s := range []string{"name " + p.Name, "title " + p.Title, "word " + p.Word} {
			if seen[s] || strings.HasSuffix(s, " ") {
				t.Errorf("two pages, or one without, have the %s", s)
			}
			seen[s] = true
		}
		if made[p.Name] == nil {
			t.Errorf("register.go makes no component of the page %s", p.Name)
			continue
		}
		if !p.Tab && !p.Draft && !led(t, p) {
			t.Errorf("no page leads to %s", p.Path())
		}
		if p.Name == "stories" || p.Name == "help" {
			continue // they are of this package, and have no room
		}
		if pkg := reflect.TypeOf(made[p.Name]()).Elem().PkgPath(); pkg != "clipscope/ui/"+p.Name {
			t.Errorf("the page %s is of package %s", p.Name, pkg)
		}
		if p.Name != "lab" && !strings.Contains(stories, p.Name+".Stories()") {
			t.Errorf("the stories of package %s are not among those of the site", p.Name)
		}
	}
	if got := slices.Sorted(maps.Keys(made)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Errorf("register.go makes the pages %q, the list has %q", got, names)
	}
}

// led reports whether a page of another package links to p.
func led(t *testing.T, p pages.Page) bool {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\.Href\(widget\.Link\("` + regexp.QuoteMeta(p.Path()) + `"\)\)`)
	return slices.ContainsFunc(files, func(file string) bool {
		return filepath.Dir(file) != p.Name && !strings.HasSuffix(file, "_test.go") && link.MatchString(text(t, file))
	})
}

// TestEveryTabLeadsToItsPage: the tabs are the pages of the list that have one, in its order,
// and the page that is shown is marked.
func TestEveryTabLeadsToItsPage(t *testing.T) {
	for _, shown := range pages.All {
		html := app.HTMLString(&widget.Header{Page: shown.Name})
		var want []string
		for _, p := range pages.All {
			if p.Tab {
				want = append(want, p.Path()+" "+p.Word)
			}
		}
		var got []string
		for _, m := range regexp.MustCompile(`<a [^>]*>[^<]*</a>`).FindAllString(html[strings.Index(html, "<nav"):], -1) {
			at, word := regexp.MustCompile(`href="([^"]*)"`).FindStringSubmatch(m)[1], regexp.MustCompile(`>([^<]*)<`).FindStringSubmatch(m)[1]
			got = append(got, at+" "+strings.TrimSpace(word))
			if strings.Contains(m, "aria-current") != (at == shown.Path()) {
				t.Errorf("on %s the tab %s", shown.Name, m)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("on %s the tabs are %q, want %q", shown.Name, got, want)
		}
	}
}
