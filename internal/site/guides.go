//go:build !js

package site

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"clipscope/app/headers"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// docs is the folder of the guides, and guides that of their pages in the site.
const docs, guides = "docs", "guides/"

// guide is a page made of a file of docs/.
type guide struct {
	name, title string
	address     string // below the site's root, with a slash at its end
	source      []byte
	doc         ast.Node // without the title
	html        []byte
}

// renderGuides makes a page of every guide, in the order of their files' names.
func (s Site) renderGuides() ([]guide, error) {
	folder := filepath.Join(s.Source, docs)
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there are none in %s", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("guides: %w", err)
	}
	var all []guide
	for _, name := range files {
		g, err := s.readGuide(name)
		if err != nil {
			return nil, fmt.Errorf("guides: %s: %w", name, err)
		}
		all = append(all, g)
	}
	order := readingOrder(all)
	for i, g := range all {
		if all[i].html, err = s.renderGuide(g, folder, order); err != nil {
			return nil, fmt.Errorf("guides: %s: %w", files[i], err)
		}
	}
	return all, nil
}

// readGuide reads a guide's file, as it is for this site.
func (s Site) readGuide(file string) (guide, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return guide{}, err
	}
	source = s.configured(source)
	name := strings.TrimSuffix(filepath.Base(file), ".md")
	g := guide{name: name, address: guideAddress(name), source: source}
	g.doc = markdown("", "").Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	title, ok := g.doc.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return guide{}, errors.New("a guide begins with its title, # …")
	}
	g.title = plainText(title, source)
	g.doc.RemoveChild(g.doc, title)
	return g, nil
}

// readingOrder has the index and the guides that it leads to, in its order.
func readingOrder(all []guide) []guide {
	var order []guide
	add := func(name string) {
		if i := slices.IndexFunc(all, func(g guide) bool { return g.name == name }); i >= 0 {
			order = append(order, all[i])
		}
	}
	for _, g := range all {
		if g.name != index {
			continue
		}
		add(index)
		_ = ast.Walk(g.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if l, ok := n.(*ast.Link); ok && entering {
				add(strings.TrimSuffix(string(l.Destination), ".md"))
			}
			return ast.WalkContinue, nil
		})
	}
	return order
}

// index is the guide that lists the others.
const index = "index"

// settings matches an address of settings, a line of its own.
var settings = regexp.MustCompile(`(?m)^(#.*)\n`)

// denied matches the lines of a guide that send the header which knows no list of origins.
var denied = regexp.MustCompile(`(?m)^\s*(add_header )?X-Frame-Options .*\n`)

// configured has a guide's lines for a host send what this site is to be sent with: those
// of docs/ are for a site that nobody may frame.
func (s Site) configured(source []byte) []byte {
	if len(s.Frames) == 0 {
		return source
	}
	own := headers.For(s.Frames)
	var changes []string
	for _, h := range headers.All {
		if i := slices.IndexFunc(own, func(o [2]string) bool { return o[0] == h[0] }); i >= 0 {
			changes = append(changes, h[0]+` "`+h[1]+`"`, h[0]+` "`+own[i][1]+`"`)
		}
	}
	return denied.ReplaceAll([]byte(strings.NewReplacer(changes...).Replace(string(source))), nil)
}

// guideAddress returns the address of the guide of that name, below the site's root.
func guideAddress(name string) string {
	if name == index {
		return guides
	}
	return guides + name + "/"
}

// writeGuides puts the guides where they are found, with a slash and without.
func (s Site) writeGuides(out string) error {
	for _, g := range s.guides {
		name := filepath.Join(out, filepath.FromSlash(g.address), "index.html")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, g.html, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// markdown reads guides and writes them, for a prefix and with the figures of a folder.
func markdown(prefix, folder string) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(guideNodes{prefix, folder}, 1))),
	)
}

// renderGuide makes a page of a guide, whose figures are in a folder, that leads to those
// before and after it in an order.
func (s Site) renderGuide(g guide, folder string, order []guide) ([]byte, error) {
	var body bytes.Buffer
	if err := markdown(s.Prefix, folder).Renderer().Render(&body, g.source, g.doc); err != nil {
		return nil, err
	}
	main := "<h1>" + html.EscapeString(g.title) + "</h1>\n"
	if g.name != index {
		main += contents(g)
	}
	return alone{title: g.title, at: g.address, main: main + body.String() + s.beside(g, order)}.html(s.Prefix), nil
}

// beside leads to the guides before and after one.
func (s Site) beside(g guide, order []guide) string {
	at := slices.IndexFunc(order, func(o guide) bool { return o.name == g.name })
	if at < 0 {
		return ""
	}
	var links strings.Builder
	link := func(rel string, to int, text string) {
		if to >= 0 && to < len(order) {
			fmt.Fprintf(&links, `<a rel="%s" href="%s/%s">%s</a>`, rel, s.Prefix, order[to].address, fmt.Sprintf(text, html.EscapeString(order[to].title)))
		}
	}
	link("prev", at-1, "← %s")
	link("next", at+1, "%s →")
	return "<nav class=\"beside\" aria-label=\"Other guides\">" + links.String() + "</nav>\n"
}

// contents lists a guide's sections and theirs, where there are several.
func contents(g guide) string {
	var items strings.Builder
	n, level := 0, 2
	for c := g.doc.FirstChild(); c != nil; c = c.NextSibling() {
		h, ok := c.(*ast.Heading)
		if !ok || h.Level < 2 || h.Level > 3 || n == 0 && h.Level > level {
			continue
		}
		switch {
		case h.Level > level:
			items.WriteString("\n<ul>\n")
		case n > 0:
			items.WriteString(strings.Repeat("</li>\n</ul>", level-h.Level) + "</li>\n")
		}
		id, _ := h.AttributeString("id")
		fmt.Fprintf(&items, "<li><a href=\"#%s\">%s</a>", html.EscapeString(string(id.([]byte))), html.EscapeString(plainText(h, g.source)))
		n, level = n+1, h.Level
	}
	if n < 2 {
		return ""
	}
	items.WriteString(strings.Repeat("</li>\n</ul>", level-2) + "</li>\n")
	return "<nav class=\"contents\" aria-label=\"On this page\">\n<p aria-hidden=\"true\">On this page</p>\n<ul>\n" + items.String() + "</ul>\n</nav>\n"
}

// plainText returns a heading's text, without marks.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plainText(c, source))
		}
	}
	return b.String()
}

// anchors names headings as GitHub does, so that a link to one is good in either place.
type anchors map[string]bool

// Generate returns the heading's [Anchor], numbered where there is one already.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	first := Anchor(string(heading))
	id := first
	for i := 1; a[id]; i++ {
		id = fmt.Sprintf("%s-%d", first, i)
	}
	a[id] = true
	return []byte(id)
}

// Anchor returns the name that a guide's heading has in an address: its letters and digits
// in lower case, with hyphens in the place of spaces.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// Put takes a name that is given.
func (a anchors) Put(id []byte) { a[string(id)] = true }

// guideNodes writes what is not as Markdown has it everywhere: links, figures, and what
// may be wider than a page.
type guideNodes struct {
	prefix string
	folder string
}

// RegisterFuncs implements [renderer.NodeRenderer].
func (g guideNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, g.link)
	r.Register(ast.KindAutoLink, g.autoLink)
	r.Register(ast.KindImage, g.figure)
	r.Register(ast.KindFencedCodeBlock, g.code)
	r.Register(ast.KindCodeBlock, g.code)
	r.Register(ast.KindHTMLBlock, nothing)
	r.Register(ast.KindRawHTML, nothing)
	r.Register(tables.KindTable, table)
}

// link leads to another guide or within one. Sources are not in the site, and its pages
// lead to no other, so the former are words, and of the latter the address can be read.
func (g guideNodes) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	to := string(n.(*ast.Link).Destination)
	at, inside := g.resolve(to)
	switch {
	case inside && entering:
		fmt.Fprintf(w, `<a href="%s">`, html.EscapeString(at))
	case inside:
		w.WriteString("</a>")
	case !entering && strings.Contains(to, "://"):
		fmt.Fprintf(w, " (<code>%s</code>)", html.EscapeString(to))
	}
	return ast.WalkContinue, nil
}

// resolve returns the address within the site that a guide's link leads to, if it does.
func (g guideNodes) resolve(to string) (at string, inside bool) {
	if strings.HasPrefix(to, "#") {
		return to, true
	}
	file, anchor, _ := strings.Cut(to, "#")
	name, isGuide := strings.CutSuffix(file, ".md")
	if !isGuide || strings.Contains(name, "/") {
		return "", false
	}
	at = g.prefix + "/" + guideAddress(name)
	if anchor != "" {
		at += "#" + anchor
	}
	return at, true
}

// autoLink writes a bare address, which leads out of the site, as words.
func (g guideNodes) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(w, "<code>%s</code>", html.EscapeString(string(n.(*ast.AutoLink).URL(source))))
	}
	return ast.WalkContinue, nil
}

// figure puts a drawing into the page, where the site's style gives it its colours.
func (g guideNodes) figure(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	name := string(n.(*ast.Image).Destination)
	drawing, err := os.ReadFile(filepath.Join(g.folder, filepath.FromSlash(name)))
	if err == nil && !bytes.HasPrefix(drawing, []byte("<svg ")) {
		err = fmt.Errorf("%s is no SVG", name)
	}
	if err != nil {
		return ast.WalkStop, err
	}
	fmt.Fprintf(w, `<svg role="img" aria-label="%s" `, html.EscapeString(plainText(n, source)))
	w.Write(bytes.TrimSpace(drawing[len("<svg "):]))
	return ast.WalkSkipChildren, nil
}

// code is reached by keyboard, as it may be scrolled. Texts and addresses are wrapped, and
// of the latter each leads to what it says.
func (g guideNodes) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(f.Language(source))
	}
	said := html.EscapeString(string(n.Lines().Value(source)))
	switch language {
	case "config":
		said = settings.ReplaceAllString(said, `<a href="`+g.prefix+`/$1">$1</a>`)
		fallthrough
	case "text":
		w.WriteString(`<pre class="wraps">`)
	default:
		w.WriteString(`<pre tabindex="0">`)
	}
	w.WriteString("<code>" + said + "</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// table is in a box that can be scrolled, by keyboard as well.
func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString("<div class=\"wide\" tabindex=\"0\">\n<table>\n")
	} else {
		w.WriteString("</table>\n</div>\n")
	}
	return ast.WalkContinue, nil
}

// nothing leaves HTML out: a comment marks what tests write, and no other is used.
func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

// guideAddresses are all guides', in their order.
func (s Site) guideAddresses() []string {
	var all []string
	for _, g := range s.guides {
		all = append(all, g.address)
	}
	slices.Sort(all)
	return all
}
