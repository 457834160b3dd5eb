package lab

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileOrder lists the files from the lowest to the highest: the state, the commands, what
// applies them, the parts and the page. A file uses only those before it.
var fileOrder = strings.Fields(`
	curves.go game.go queue.go bench.go lanes.go sweep.go class.go course.go state.go
	section.go commands.go
	send.go lanes_update.go sweep_update.go bench_update.go update.go
	boards_view.go bench_view.go sweep_view.go lanes_view.go class_view.go course_view.go
	page.go`)

// nowhere imports empty packages, as only the declarations of this one are looked up.
type nowhere struct{}

func (nowhere) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// TestFilesUseThoseBeforeThem holds that no file uses a declaration of a later one, and that
// parts know the state and the commands, set nothing, and call nothing that does.
func TestFilesUseThoseBeforeThem(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	fset, info := token.NewFileSet(), types.Info{Uses: map[*ast.Ident]types.Object{}}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		if !slices.Contains(fileOrder, name) {
			t.Errorf("%s has no place in the order", name)
		}
	}
	if len(fileOrder) != len(names) {
		t.Errorf("%d files are in order, and %d are there", len(fileOrder), len(names))
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE || !strings.HasSuffix(fset.Position(f.Pos()).Filename, "_view.go") {
				return true
			}
			for _, x := range a.Lhs {
				if text := types.ExprString(x); strings.HasPrefix(text, "v.") || strings.HasPrefix(text, "s.") {
					t.Errorf("%v: a part sets %s", fset.Position(a.Pos()), text)
				}
			}
			return true
		})
	}
	unknown := func(error) {} // what other packages declare
	pkg, _ := (&types.Config{Importer: nowhere{}, Error: unknown}).Check("lab", fset, files, &info)
	arrows := map[[2]string]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		at, from, to := fset.Position(id.Pos()), fset.Position(id.Pos()).Filename, fset.Position(o.Pos()).Filename
		if from == to {
			continue
		}
		arrows[[2]string{from, to}] = true
		if slices.Index(fileOrder, to) > slices.Index(fileOrder, from) {
			t.Errorf("%v: %s is declared in %s", at, id.Name, to)
		}
		if strings.HasSuffix(from, "_view.go") && (strings.HasSuffix(to, "update.go") || to == "send.go" || id.Name == "Lab") {
			t.Errorf("%v: a part knows %s", at, id.Name)
		}
	}
	if len(arrows) < len(fileOrder) {
		t.Errorf("only %d arrows were found", len(arrows))
	}
	t.Log(len(arrows), "arrows")
}
