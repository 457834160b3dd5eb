// Package onnx examines a model's file before a runtime gets it. It refuses by name whatever
// makes work that the file's bytes do not bound: loops, functions that call each other again
// and again, tensors larger than what is stored of them.
//
// It reads the structure alone (https://onnx.ai/onnx/repo-docs/IR.html, a protocol buffer) and
// passes over the weights, so it takes about as long for a large model as for a small one.
// What it lets pass may still take long, or be refused by the runtime: that depends on the
// sizes of rows, and on the operators.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"clipscope/core/data"
)

// Bounds of what a file may hold. Models of which features are made have some thousand nodes.
const (
	mostParts  = 1 << 20 // fields of messages: what each becomes in memory is some hundred bytes
	mostInts   = 1 << 25 // integers that are written one by one, which take eight bytes each
	mostNodes  = 1 << 16 // once every function stands where it is called
	mostNested = 8       // graphs within graphs
	mostCalls  = 64      // functions within functions
	mostText   = 1 << 12 // bytes of a name
	mostName   = 40      // bytes of one in a message
)

// Check refuses a model whose work is not bounded by its file of size bytes. The error is a
// [*data.Error] without the file's name, or ctx's.
func Check(ctx context.Context, r io.ReaderAt, size int64) error {
	f := &file{ctx: ctx, r: r}
	err := f.checkModel(span{0, size})
	if end := ctx.Err(); end != nil {
		return fmt.Errorf("onnx: check: %w", end)
	}
	if own := (*data.Error)(nil); err == nil || errors.As(err, &own) {
		return err
	}
	return &data.Error{Byte: f.at, Expected: "a model in ONNX's form", Got: "damage", Err: err, Fix: "Choose an ONNX file, or download or export it again."}
}

func refusal(expected, got, fix string) error {
	return &data.Error{Expected: expected, Got: got, Fix: fix}
}

// kind is the kind of a message, which decides how its fields are read.
type kind int

const (
	leaf kind = iota // text, bytes, numbers
	aModel
	aGraph
	aNode
	anAttribute
	aTensor
	aSparseTensor
	aValue
	aType
	aTensorType
	aSequenceType
	aMapType
	aShape
	aSize
	aFunction
	aSet
	anEntry
	anAnnotation
	aTraining
)

// schema has the fields of each kind that are messages themselves.
var schema = map[kind]map[int]kind{
	aModel:        {7: aGraph, 8: aSet, 14: anEntry, 20: aTraining, 25: aFunction},
	aGraph:        {1: aNode, 5: aTensor, 11: aValue, 12: aValue, 13: aValue, 14: anAnnotation, 15: aSparseTensor, 16: anEntry},
	aNode:         {5: anAttribute, 9: anEntry},
	anAttribute:   {5: aTensor, 6: aGraph, 10: aTensor, 11: aGraph, 14: aType, 15: aType, 22: aSparseTensor, 23: aSparseTensor},
	aTensor:       {3: leaf, 13: anEntry, 16: anEntry},
	aSparseTensor: {1: aTensor, 2: aTensor},
	aValue:        {2: aType, 4: anEntry},
	aType:         {1: aTensorType, 4: aSequenceType, 5: aMapType, 8: aTensorType, 9: aSequenceType},
	aTensorType:   {2: aShape},
	aSequenceType: {1: aType},
	aMapType:      {2: aType},
	aShape:        {1: aSize},
	aFunction:     {7: aNode, 9: aSet, 11: anAttribute, 12: aValue, 14: anEntry},
	anAnnotation:  {2: anEntry},
	aTraining:     {1: aGraph, 2: aGraph, 3: anEntry, 4: anEntry},
}

// checkModel is like [Check], and returns the reader's errors unwrapped.
func (f *file) checkModel(all span) error {
	if err := f.count(aModel, all, 0, 0); err != nil {
		return err
	}
	m := model{file: f, main: newBody(""), functions: map[string]*body{}}
	err := f.fields(all, func(e element) error {
		switch {
		case e.number == 7 && e.long:
			return m.graph(m.main, e.span)
		case e.number == 25 && e.long:
			return m.function(e.span)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.expand(m.main, 0)
}

// count walks all messages and counts their fields.
func (f *file) count(k kind, s span, depth, graphs int) error {
	if k == aGraph {
		graphs++
	}
	if graphs > 1+mostNested || depth > 4*mostNested {
		return refusal(fmt.Sprintf("graphs within graphs %d deep at most", mostNested), "more", "Export the model without conditions within conditions.")
	}
	return f.fields(s, func(e element) error {
		if f.parts++; f.parts > mostParts {
			return refusal(fmt.Sprintf("a model of at most %d parts: nodes, names, sizes", mostParts), "more", "Choose a smaller model.")
		}
		if inner := schema[k][e.number]; e.long && inner != leaf {
			return f.count(inner, e.span, depth+1, graphs)
		}
		return nil
	})
}

// model is the work that a file has a runtime do.
type model struct {
	*file
	main      *body
	functions map[string]*body // by domain and name
}

// body is a graph with those within it, or a function.
type body struct {
	name  string
	ops   map[string]int64 // how many nodes there are of each operator, by domain and name
	nodes int64            // once functions stand where they are called; 0: not known yet
	calls int              // functions within each other, from here on
	open  bool             // it is being expanded
}

func newBody(name string) *body { return &body{name: name, ops: map[string]int64{}} }

// graph adds a graph's nodes to a body.
func (m *model) graph(b *body, s span) error {
	return m.fields(s, func(e element) error {
		switch {
		case !e.long:
			return nil
		case e.number == 1:
			return m.node(b, e.span)
		case e.number == 5:
			return m.tensor(e.span)
		case e.number == 15:
			return errSparse
		}
		return nil
	})
}

var errSparse = refusal("tensors with all of their values", "a sparse one", "Export the model with dense tensors.")

// loops are the operators that repeat a graph as often as values say, which nothing bounds
// beforehand. Those of other domains are told by the graph that they have.
var loops = map[string]bool{"Loop": true, "Scan": true, "SequenceMap": true}

func (m *model) node(b *body, s span) error {
	var op, name, domain, overload string
	if err := m.texts(s, map[int]*string{3: &name, 4: &op, 7: &domain, 8: &overload}); err != nil {
		return err
	}
	if domain == "ai.onnx" {
		domain = ""
	}
	b.ops[call(domain, op, overload)]++
	if domain == "" && loops[op] {
		return endless(op, name)
	}
	return m.fields(s, func(e element) error {
		if e.number != 5 || !e.long {
			return nil
		}
		return m.attribute(e.span, func(g span) error {
			if domain != "" || op != "If" {
				return endless(op, name)
			}
			return m.graph(b, g)
		})
	})
}

func endless(op, name string) error {
	which := brief(op)
	if name != "" {
		which += " (" + strconv.Quote(brief(name)) + ")"
	}
	return refusal("a model whose steps can be counted before it runs", fmt.Sprintf("the operator %s, which runs a graph as often as values say", which),
		"Export the model without it: with its loops written out, or as the operators LSTM, GRU and RNN.")
}

// attribute looks at the tensors of an attribute and gives its graphs to graph.
func (m *model) attribute(s span, graph func(span) error) error {
	return m.fields(s, func(e element) error {
		switch {
		case !e.long:
			return nil
		case e.number == 5 || e.number == 10:
			return m.tensor(e.span)
		case e.number == 6 || e.number == 11:
			return graph(e.span)
		case e.number == 22 || e.number == 23:
			return errSparse
		case e.number == 8:
			return m.integers(e.span, nil)
		}
		return nil
	})
}

// call names an operator or a function.
func call(domain, name, overload string) string {
	return strings.Join([]string{domain, name, overload}, "\x00")
}

func (m *model) function(s span) error {
	var name, domain, overload string
	if err := m.texts(s, map[int]*string{1: &name, 10: &domain, 13: &overload}); err != nil {
		return err
	}
	if domain == "ai.onnx" {
		domain = ""
	}
	b, id := newBody(name), call(domain, name, overload)
	if m.functions[id] != nil {
		return refusal("functions of names of their own", fmt.Sprintf("two that are called %s", strconv.Quote(brief(name))), "Export the model again.")
	}
	m.functions[id] = b
	return m.fields(s, func(e element) error {
		switch {
		case e.number == 7 && e.long:
			return m.node(b, e.span)
		case e.number == 11 && e.long:
			return m.attribute(e.span, func(span) error { return endless(name, "") })
		}
		return nil
	})
}

// expand counts the nodes that there are once every function stands where it is called.
func (m *model) expand(b *body, depth int) error {
	tooDeep := refusal(fmt.Sprintf("functions that call each other %d deep at most", mostCalls), "more", "Export the model without functions.")
	if depth > mostCalls {
		return tooDeep
	}
	b.open, b.nodes = true, 1
	for op, n := range b.ops {
		b.nodes = saturated(b.nodes, n, 1)
		inner := m.functions[op]
		if inner == nil {
			continue
		}
		if inner.open {
			return refusal("functions that do not call themselves", "one that does: "+brief(inner.name), "Export the model without functions.")
		}
		if inner.nodes == 0 {
			if err := m.expand(inner, depth+1); err != nil {
				return err
			}
		}
		b.nodes, b.calls = saturated(b.nodes, n, inner.nodes), max(b.calls, 1+inner.calls)
	}
	b.open = false
	switch {
	case b.calls > mostCalls:
		return tooDeep
	case b.nodes > mostNodes:
		return refusal(fmt.Sprintf("at most %d operators once functions stand where they are called", mostNodes), "more", "Choose a smaller model.")
	}
	return nil
}

// saturated is sum + n·each, or the largest number there is.
func saturated(sum, n, each int64) int64 {
	if each > 0 && n > (math.MaxInt64-sum)/each {
		return math.MaxInt64
	}
	return sum + n*each
}

// width has the bits of a number of each type of tensors; types that it lacks are taken for
// the narrowest.
var width = map[uint64]int64{
	1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128, 16: 16,
	17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2,
}

// texts is the type of tensors of texts.
const texts = 8

// tensor refuses one that is elsewhere, or says that it has more values than are stored.
func (m *model) tensor(s span) error {
	var name string
	var kind uint64
	values, stored := int64(1), int64(0) // the latter in bits, or texts
	if err := m.texts(s, map[int]*string{8: &name}); err != nil {
		return err
	}
	dims := func(d uint64) {
		values = saturated(0, values, int64(min(d, math.MaxInt64)))
	}
	err := m.fields(s, func(e element) error {
		switch e.number {
		case 1:
			if e.long {
				return m.integers(e.span, dims)
			}
			dims(e.value)
		case 2:
			kind = e.value
		case 13:
			return elsewhere(name)
		case 14:
			if e.value != 0 {
				return elsewhere(name)
			}
		case 4, 9, 10: // whole bytes
			stored += 8 * e.size()
		case 5, 7, 11: // varints, each of a number or of several
			n := int64(1)
			if e.long {
				n = 0
				if err := m.integers(e.span, func(uint64) { n++ }); err != nil {
					return err
				}
			}
			stored += 64 * n
		case 6:
			stored++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if each := max(width[kind], 1); kind == texts && values > stored || kind != texts && values > stored/each {
		return refusal("tensors with as many values as their shapes say", fmt.Sprintf("%s, which has fewer", strconv.Quote(brief(name))), "Download or export the model again: it is damaged.")
	}
	return nil
}

func elsewhere(name string) error {
	return refusal("a model that is complete in its file", fmt.Sprintf("weights in another file: %s", strconv.Quote(brief(name))), "Save the model as one file, without external data.")
}

// integers gives the varints of a packed field to each, which may be nil.
func (m *model) integers(s span, each func(uint64)) error {
	for at := s.from; at < s.to; {
		v, next, err := m.varint(at, s.to)
		if err != nil {
			return err
		}
		if m.ints++; m.ints > mostInts {
			return refusal(fmt.Sprintf("at most %d million integers outside raw data", mostInts>>20), "more", "Export the model with its weights as raw data.")
		}
		if each != nil {
			each(v)
		}
		at = next
	}
	return nil
}

// brief is a text of the file for a message.
func brief(s string) string {
	if len(s) > mostName {
		s = s[:mostName] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
