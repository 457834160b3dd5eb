// Command shape counts what the house rules bound: methods by type, arrows between the files
// of a package, and how doc comments begin.
//
//	go -C tools run ./shape                             the packages of the module, a line each
//	go -C tools run ./shape -methods 30 ../core/train   one package, with its types of 30 methods or more
//
// An arrow goes from a file to another one of its package that declares a function or method
// which the first calls; calls through an interface go to the file of the interface. It runs up
// where the second file leads back to the first. Packages are read without those that they
// import, so that a call on a value that another package returned is not seen. Tests, and
// files that the page does not have, are left out.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	most := flag.Int("methods", 40, "list types of so many methods or more")
	flag.Parse()
	log.SetFlags(0)
	build.Default.GOOS, build.Default.GOARCH = "js", "wasm" // as the page has it
	dirs := flag.Args()
	if len(dirs) == 0 {
		dirs = packages("..")
	}
	var all comments
	for _, dir := range dirs {
		p, err := read(dir)
		if err != nil {
			log.Fatalf("shape: %s: %v", dir, err)
		}
		if p == nil {
			continue
		}
		arrows, up := p.arrows().count()
		fmt.Printf("%-28s %3d files %4d arrows, %3d up\n", dir, len(p.files), arrows, up)
		for _, t := range p.methods() {
			if t.count >= *most {
				fmt.Printf("    %-24s %3d methods%s\n", t.name, t.count, t.embeds)
			}
		}
		all.add(p)
	}
	fmt.Printf("%d doc comments: %.1f %% “X is what …”; %.1f %% begin with a standard verb, %.1f %% with another than is and has\n",
		all.n, all.share(all.clauses), all.share(all.verbs), all.share(all.actions))
}

// packages returns the folders below root that hold Go files of the module itself.
func packages(root string) (dirs []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch dir := filepath.Dir(path); {
		case err != nil:
			return err
		case d.Name() == "go.mod" && dir != root, path != root && d.IsDir() && (d.Name()[0] == '.' || d.Name() == "node_modules"):
			return filepath.SkipDir // of another module, or of none
		case strings.HasSuffix(path, ".go") && !slices.Contains(dirs, dir):
			dirs = append(dirs, dir)
		}
		return nil
	})
	if err != nil {
		log.Fatalf("shape: %v", err)
	}
	return dirs
}

// pkg is a package that was read.
type pkg struct {
	fset  *token.FileSet
	files []*ast.File
	info  types.Info
}

// read parses the package in a folder; nil where no file is for this system.
func read(dir string) (*pkg, error) {
	p := &pkg{fset: token.NewFileSet(), info: types.Info{Uses: map[*ast.Ident]types.Object{}}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ok, err := build.Default.MatchFile(dir, e.Name()); err != nil || !ok || strings.HasSuffix(e.Name(), "_test.go") || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	if len(p.files) == 0 {
		return nil, nil
	}
	check := types.Config{Importer: nothing{}, Error: func(error) {}}
	_, _ = check.Check(dir, p.fset, p.files, &p.info) // what is imported is unknown
	return p, nil
}

// nothing imports nothing.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, fs.ErrNotExist }

// typeCount is a type and the number of its methods.
type typeCount struct {
	name, embeds string
	count        int
}

// methods counts methods by receiver, the most first.
func (p *pkg) methods() []typeCount {
	counts, embeds := map[string]int{}, map[string]string{}
	for _, f := range p.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					counts[strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*")]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						embeds[t.Name.Name] = embedded(t)
					}
				}
			}
		}
	}
	var all []typeCount
	for name, n := range counts {
		all = append(all, typeCount{name, embeds[name], n})
	}
	slices.SortFunc(all, func(a, b typeCount) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name)) })
	return all
}

// embedded names what a struct embeds.
func embedded(t *ast.TypeSpec) (text string) {
	s, ok := t.Type.(*ast.StructType)
	if !ok {
		return ""
	}
	for _, field := range s.Fields.List {
		if len(field.Names) == 0 {
			text += ", embeds " + types.ExprString(field.Type)
		}
	}
	return text
}

// graph has the files that each file calls.
type graph map[string]map[string]bool

func (p *pkg) arrows() graph {
	g := graph{}
	for _, f := range p.files {
		from := p.fset.Position(f.Package).Filename
		g[from] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, _ := n.(*ast.Ident)
			if fn, ok := p.info.Uses[id].(*types.Func); ok && fn.Pos().IsValid() {
				if to := p.fset.Position(fn.Pos()).Filename; to != from {
					g[from][to] = true
				}
			}
			return true
		})
	}
	return g
}

// count counts arrows, and those whose end leads back to their beginning: in an order of the
// files by what they call, all others run down.
func (g graph) count() (all, up int) {
	for from, files := range g {
		for to := range files {
			if all++; g.leads(to, from, map[string]bool{}) {
				up++
			}
		}
	}
	return all, up
}

// leads reports whether there is a way between two files, but for those seen.
func (g graph) leads(from, to string, seen map[string]bool) bool {
	seen[from] = true
	for next := range g[from] {
		if next == to || !seen[next] && g.leads(next, to, seen) {
			return true
		}
	}
	return false
}

// comments counts doc comments of top-level declarations.
type comments struct{ n, clauses, verbs, actions int }

var (
	clause = regexp.MustCompile(`^(?:(?:A|An|The) )?\S+ (?:is|are) (?:what|that|how|who|where|when|why|whether|which|those|as|one)\b`)
	being  = regexp.MustCompile(`^(?:(?:A|An|The) )?\S+ (?:is|are|has|have)\b`)
	verb   = regexp.MustCompile(`^(?:(?:A|An|The) )?\S+ (?:returns|reports|is|are|has|have|makes|writes|reads|adds|computes|creates|implements|wraps|holds|represents|describes|defines|contains|bounds|counts|calls|converts|copies|decodes|encodes|draws|closes|opens|sets|gets|starts|stops|runs|waits|tests|checks|registers|parses|formats|prints|appends|removes|deletes|sorts|compares|fills|clears|loads|stores|sends|receives|begins|ends|takes|gives|lists|names|maps|moves|multiplies|divides|sums|scales|updates|applies|refuses|releases|restores)\b`)
)

func (c *comments) add(p *pkg) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			var doc *ast.CommentGroup
			switch d := d.(type) {
			case *ast.FuncDecl:
				doc = d.Doc
			case *ast.GenDecl:
				doc = d.Doc
			}
			text := strings.Join(strings.Fields(doc.Text()), " ")
			if text == "" {
				continue
			}
			c.n++
			if clause.MatchString(text) {
				c.clauses++
			} else if verb.MatchString(text) {
				c.verbs++
				if !being.MatchString(text) {
					c.actions++
				}
			}
		}
	}
}

func (c *comments) share(n int) float64 { return 100 * float64(n) / float64(max(1, c.n)) }
