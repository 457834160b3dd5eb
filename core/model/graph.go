package model

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"clipscope/core/run"
)

// graph is an ONNX graph while it is built. Numbers of fields and types are those of
// onnx.proto: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
type graph struct {
	nodes, tensors  message // each with its field's number, as they stand in a GraphProto
	inputs, outputs message
	used            map[string]bool // names of tensors
}

// Types of a tensor's elements.
const (
	floatType  = 1
	intType    = 7
	stringType = 8
	boolType   = 9
	doubleType = 11
)

// Fields of a GraphProto.
const (
	graphNode        = 1
	graphName        = 2
	graphInitializer = 5
	graphDoc         = 10
	graphInput       = 11
	graphOutput      = 12
)

// rows is the dimension whose length is that of the batch.
const rows = -1

// name is the wish, or where there is one of that name already, something like it.
func (g *graph) name(wish string) string {
	name := wish
	for i := 2; g.used[name] || name == ""; i++ {
		name = wish + "_" + strconv.Itoa(i)
	}
	g.used[name] = true
	return name
}

// attribute is an attribute of an ONNX node.
type attribute struct {
	name  string
	value any // int, float32, []int, []string or a graph
}

func (a attribute) message() *message {
	m := &message{}
	const kind, ofFloat, ofInt, ofGraph, ofInts, ofStrings = 20, 1, 2, 5, 7, 8
	m.text(1, a.name)
	switch v := a.value.(type) {
	case float32:
		m.float(2, v)
		m.number(kind, ofFloat)
	case int:
		m.number(3, v)
		m.number(kind, ofInt)
	case *graph:
		m.message(6, v.whole("body", ""))
		m.number(kind, ofGraph)
	case []int:
		for _, i := range v {
			m.number(8, i)
		}
		m.number(kind, ofInts)
	case []string:
		for _, s := range v {
			m.text(9, s)
		}
		m.number(kind, ofStrings)
	}
	return m
}

// op adds a node, and returns the name of what it gives.
func (g *graph) op(kind string, inputs []string, attributes ...attribute) string {
	return g.opOf("", kind, inputs, g.name(kind), attributes...)
}

// last is op for what the graph gives under a name of its own.
func (g *graph) last(name, kind string, inputs []string, attributes ...attribute) {
	g.opOf("", kind, inputs, name, attributes...)
}

// opOf is op for a node of another domain than ONNX's own.
func (g *graph) opOf(domain, kind string, inputs []string, output string, attributes ...attribute) string {
	g.node(domain, kind, inputs, []string{output}, attributes...)
	return output
}

// node adds one that gives outputs, the first of which it has its name of.
func (g *graph) node(domain, kind string, inputs, outputs []string, attributes ...attribute) {
	n := &message{}
	for _, in := range inputs {
		n.text(1, in)
	}
	for _, out := range outputs {
		n.text(2, out)
	}
	n.text(3, outputs[0])
	n.text(4, kind)
	for _, a := range attributes {
		n.message(5, a.message())
	}
	if domain != "" {
		n.text(7, domain)
	}
	g.nodes.message(graphNode, n)
}

// tensor adds a constant of a type, [dims], whose elements are those of the fields that
// fill adds.
func (g *graph) tensor(wish string, kind int, dims []int, fill func(*message)) string {
	name := g.name(wish)
	t := &message{}
	for _, d := range dims {
		t.number(1, d)
	}
	t.number(2, kind)
	t.text(8, name)
	fill(t)
	g.tensors.message(graphInitializer, t)
	return name
}

const rawData = 9

func (g *graph) floats(wish string, v []float32, dims ...int) string {
	return g.tensor(wish, floatType, dims, func(t *message) { t.bytes(rawData, run.FloatBytes(v)) })
}

func (g *graph) doubles(wish string, v []float64, dims ...int) string {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return g.tensor(wish, doubleType, dims, func(t *message) { t.bytes(rawData, b) })
}

func (g *graph) ints(wish string, v []int, dims ...int) string {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return g.tensor(wish, intType, dims, func(t *message) { t.bytes(rawData, b) })
}

func (g *graph) strings(wish string, v []string) string {
	return g.tensor(wish, stringType, []int{len(v)}, func(t *message) {
		for _, s := range v {
			t.text(6, s)
		}
	})
}

// input says what the graph takes, [dims], and returns its name; doc says what goes there.
func (g *graph) input(wish, doc string, kind int, dims ...int) string {
	name := g.name(wish)
	g.inputs.message(graphInput, value(name, doc, kind, dims))
	return name
}

func (g *graph) output(name, doc string, kind int, dims ...int) {
	g.outputs.message(graphOutput, value(name, doc, kind, dims))
}

func value(name, doc string, kind int, dims []int) *message {
	shape, tensor, of, v := &message{}, &message{}, &message{}, &message{}
	for _, d := range dims {
		dim := &message{}
		if d == rows {
			dim.text(2, "rows")
		} else {
			dim.number(1, d)
		}
		shape.message(1, dim)
	}
	tensor.number(1, kind)
	tensor.message(2, shape)
	of.message(1, tensor)
	v.text(1, name)
	v.message(2, of)
	v.text(3, doc)
	return v
}

// whole is the graph with its name and a text.
func (g *graph) whole(name, doc string) *message {
	m := &message{}
	m.all(&g.nodes)
	m.text(graphName, name)
	m.all(&g.tensors)
	m.text(graphDoc, doc)
	m.all(&g.inputs)
	m.all(&g.outputs)
	return m
}

// model is the whole file: the graph with its name and a text, what made it, and texts by name
// in pairs.
func (g *graph) model(name, doc, producer string, props [][2]string) (*message, error) {
	m := &message{}
	const irVersion = 7 // the one that came with operator set 13
	m.number(1, irVersion)
	m.text(2, "Clipscope")
	m.text(3, producer)
	m.text(6, doc)
	m.message(7, g.whole(name, doc))
	// Operator sets that programs of the last five years know.
	for _, set := range []struct {
		domain  string
		version int
	}{{"", 13}, {mlDomain, 2}} {
		o := &message{}
		o.text(1, set.domain)
		o.number(2, set.version)
		m.message(8, o)
	}
	for _, p := range props {
		e := &message{}
		e.text(1, p[0])
		e.text(2, p[1])
		m.message(14, e)
	}
	if m.size > math.MaxInt32 {
		return nil, fmt.Errorf("it takes %d bytes, and an ONNX file has at most %d: take the safetensors file", m.size, math.MaxInt32)
	}
	return m, nil
}

// mlDomain names the domain of the operators for tables.
const mlDomain = "ai.onnx.ml"
