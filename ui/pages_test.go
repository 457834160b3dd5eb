package ui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"clipscope/ui/widget"

	"github.com/maxence-charriere/go-app/v10/pkg/app"
)

// routes returns the addresses that Register gives pages, and the packages that they are of.
func routes(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "register.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Route" {
			return true
		}
		address, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		pkg := "ui"
		ast.Inspect(call.Args[1], func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s, ok := made.Type.(*ast.SelectorExpr); ok {
				pkg = s.X.(*ast.Ident).Name
			}
			return false
		})
		found[address] = pkg
		return true
	})
	if len(found) < 7 {
		t.Fatalf("register.go has the routes %v", found)
	}
	return found
}

// TestEveryPageHasItsPlaces: a page of the program has a title of its own, stories among those of
// the site, a link that leads to it from another page, and a visit of the test of accessible pages.
func TestEveryPageHasItsPlaces(t *testing.T) {
	text := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	header, stories := text("widget/header.go"), text("stories.go")
	linked := strings.Join([]string{app.HTMLString(&widget.Header{Page: "train"}), text("train/statement.go"), text("use/page.go"), text("calculator/page.go")}, "\n")
	titles, pages := map[string]string{}, map[string]string{} // each by the other
	for _, m := range regexp.MustCompile(`"(\w+)": "([^"]+)"`).FindAllStringSubmatch(regexp.MustCompile(`(?m)^var titles = .*$`).FindString(header), -1) {
		if pages[m[2]] != "" {
			t.Errorf("%s and %s are both called %q", pages[m[2]], m[1], m[2])
		}
		titles[m[1]], pages[m[2]] = m[2], m[1]
	}
	visited := regexp.MustCompile(`for \(const where of \["stories".*\]\) \{`).FindString(text("../web/e2e/access.test.mjs"))
	for address, pkg := range routes(t) {
		name := strings.TrimPrefix(address, "/")
		if name == "" {
			name = "train"
		}
		if !strings.Contains(visited, strconv.Quote(strings.TrimPrefix(address, "/"))) {
			t.Errorf("web/e2e/access.test.mjs does not visit %s: %s", address, visited)
		}
		if titles[name] == "" {
			t.Errorf("the page %s has no title in widget/header.go, which has %v", address, titles)
		}
		if name == "stories" || name == "help" {
			continue // they are of this package, and have no room
		}
		if pkg != name {
			t.Errorf("the page %s is of package %s", address, pkg)
		}
		if pkg != "lab" && !strings.Contains(stories, pkg+".Stories()") {
			t.Errorf("the stories of package %s are not among those of the site", pkg)
		}
		if !strings.Contains(linked, `href="`+address+`"`) && !strings.Contains(linked, `Link("`+address+`")`) {
			t.Errorf("no page leads to %s", address)
		}
	}
}
