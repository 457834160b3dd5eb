package worker

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/run"
)

// requestTypes returns the types of messages to the worker, as protocol.go lists them.
func requestTypes(t *testing.T) (types []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "protocol.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && strings.HasPrefix(g.Doc.Text(), "The types of messages to the worker.") {
			for _, s := range g.Specs {
				text, err := strconv.Unquote(s.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				types = append(types, text)
			}
		}
	}
	return types
}

// TestEveryTypeHasOneHandler: each type of message to the worker is answered by one handler, or
// is one command, and there is no handler of anything else.
func TestEveryTypeHasOneHandler(t *testing.T) {
	types, s := requestTypes(t), NewSession(Host{})
	handled := append(slices.AppendSeq(slices.Collect(maps.Keys(s.handlers)), maps.Keys(commands)), Cancel) // which Handle answers itself
	slices.Sort(types)
	slices.Sort(handled) // twice what is a request and a command
	if len(types) < 40 || !slices.Equal(types, handled) {
		t.Errorf("protocol.go lists  %q,\nhandlers there are of %q", types, handled)
	}
	for kind, f := range s.handlers {
		if f == nil {
			t.Errorf("the handler of %q is nil", kind)
		}
	}
}

// TestUnknownTypesAreRefusedByName: commands are no requests, and other names nothing at all.
func TestUnknownTypesAreRefusedByName(t *testing.T) {
	for _, kind := range slices.AppendSeq([]string{"", "sing", "Open", "open ", ReplyType}, maps.Keys(commands)) {
		reply, err := NewSession(Host{}).answer(context.Background(), Request{Message: run.Message{Type: kind, ID: 1, Text: "{}"}})
		if want := "no request " + strconv.Quote(kind); err == nil || reply != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is answered by %v, %v, want %s", kind, reply, err, want)
		}
	}
	p := newPage(t, steps(1))
	p.send("sing", 7, "{}")
	if m := p.next(ErrorType); m.ID != 7 || !strings.Contains(m.Text, `no request \"sing\"`) {
		t.Errorf("the page hears %+v", m)
	}
}
