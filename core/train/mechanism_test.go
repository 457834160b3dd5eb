package train

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMechanismsStandInTheirFiles: a mechanism, which embeds the plain one or has a release of its
// own, is declared with all of its methods in the file of its name; that file states a Guarantee if it has a release of its
// own; and no code but the file itself makes one.
func TestMechanismsStandInTheirFiles(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(fset, name, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	homes := map[string]string{} // files by the types that embed *gaussian
	declared, releasing := map[string]string{}, map[string]bool{}
	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if m, isFunc := n.(*ast.FuncDecl); isFunc && m.Recv != nil && m.Name.Name == "release" {
				releasing[named(m.Recv.List[0].Type)] = true
			}
			spec, isType := n.(*ast.TypeSpec)
			if !isType {
				return true
			}
			declared[spec.Name.Name] = name
			s, isStruct := spec.Type.(*ast.StructType)
			if isStruct && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 && named(f.Type) == "gaussian" }) {
				homes[spec.Name.Name] = name
			}
			return true
		})
	}
	for of := range releasing {
		if of != "gaussian" { // which the others are made of, in their files
			homes[of] = declared[of]
		}
	}
	if len(homes) < 3 {
		t.Fatalf("the mechanisms beside gaussian are %v", homes)
	}
	for mechanism, home := range homes {
		if want := strings.ToLower(mechanism) + ".go"; home != want {
			t.Errorf("%s is declared in %s, want %s", mechanism, home, want)
		}
	}
	released := map[string]bool{}
	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			mechanism := ""
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					return true
				}
				of := named(n.Recv.List[0].Type)
				if homes[of] != "" && homes[of] != name {
					t.Errorf("%s: %s.%s stands there, want %s", name, of, n.Name.Name, homes[of])
				}
				released[of] = released[of] || n.Name.Name == "release"
			case *ast.CompositeLit:
				mechanism = named(n.Type)
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok {
					for of := range homes {
						if strings.EqualFold(id.Name, "new"+of) {
							mechanism = of
						}
					}
				}
			}
			if home := homes[mechanism]; home != "" && name != home {
				t.Errorf("%s makes a %s, which its kind does", name, mechanism)
			}
			return true
		})
	}
	for mechanism, home := range homes {
		text, err := os.ReadFile(home)
		if err != nil {
			t.Fatal(err)
		}
		if released[mechanism] && !strings.Contains(string(text), "Guarantee") {
			t.Errorf("%s has a release of its own, and %s states no Guarantee", mechanism, home)
		}
	}
}

// named returns the name of a type, or of the one that it points to.
func named(e ast.Expr) string {
	if p, ok := e.(*ast.StarExpr); ok {
		e = p.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
