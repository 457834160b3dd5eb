package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// wireFields are a protocol buffer's message as it is read back: of each field its values,
// numbers as uint64 and the rest as bytes.
type wireFields map[int][]any

func readWire(b []byte) (wireFields, error) {
	f := wireFields{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("no key")
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		switch how := key & 7; {
		case how == 5 && len(b) >= 4:
			f[int(key>>3)] = append(f[int(key>>3)], math.Float32frombits(binary.LittleEndian.Uint32(b)))
			b = b[4:]
		case how == 0 && n > 0:
			f[int(key>>3)] = append(f[int(key>>3)], v)
			b = b[n:]
		case how == 2 && n > 0 && v <= uint64(len(b)-n):
			f[int(key>>3)] = append(f[int(key>>3)], b[n:n+int(v)])
			b = b[n+int(v):]
		default:
			return nil, fmt.Errorf("field %d, %d, at %d bytes from the end", key>>3, how, len(b))
		}
	}
	return f, nil
}

func (f wireFields) text(field int) string {
	if len(f[field]) == 0 {
		return ""
	}
	return string(f[field][0].([]byte))
}

func (f wireFields) texts(field int) []string {
	var all []string
	for _, v := range f[field] {
		all = append(all, string(v.([]byte)))
	}
	return all
}

func (f wireFields) ints(field int) []int {
	var all []int
	for _, v := range f[field] {
		all = append(all, int(v.(uint64)))
	}
	return all
}

func (f wireFields) messages(t *testing.T, field int) []wireFields {
	t.Helper()
	var all []wireFields
	for _, v := range f[field] {
		m, err := readWire(v.([]byte))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// TestONNXIsAWholeGraph reads files back: each is a graph in which every tensor is made once and
// before it is used, whose constants have as many bytes as their shapes ask for, and which has all
// parameters.
func TestONNXIsAWholeGraph(t *testing.T) {
	inputs := map[string][]string{
		"table": {"size", "label_2", "day", "colour", "column 5"}, "colours": {"picture"}, "grey": {"picture"}, "directions": {"features"}, "short": {"features"},
	}
	outputs := map[string][]string{
		"table": {"probabilities", "label"}, "colours": {"probabilities", "label"}, "grey": {"probabilities", "labels"}, "directions": {"numbers"}, "short": {"numbers"},
	}
	for name, f := range examples() {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.ONNX(&b); err != nil {
				t.Fatal(err)
			}
			m, err := readWire(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			props := map[string]string{}
			for _, p := range m.messages(t, 14) {
				props[p.text(1)] = p.text(2)
			}
			if props["statement"] != f.Statement || props["guarantee"] != f.Guarantee || props["epsilon"] != "1" || props["delta"] != "1e-05" || props["program"] != f.Program {
				t.Errorf("properties %v", props)
			}
			if sets := m.messages(t, 8); len(sets) != 2 || sets[0].ints(2)[0] != 13 || m.ints(1)[0] != 7 {
				t.Errorf("operator sets %v of version %v", sets, m.ints(1))
			}
			g := m.messages(t, 7)[0]
			checkGraph(t, g, len(f.Parameters))
			for field, want := range map[int][]string{11: inputs[name], 12: outputs[name]} {
				var have []string
				for _, v := range g.messages(t, field) {
					have = append(have, v.text(1))
				}
				if !slices.Equal(have, want) {
					t.Errorf("field %d has %q, want %q", field, have, want)
				}
			}
		})
	}
}

// checkGraph reports tensors of one name, inputs without a description, and constants that lack values.
func checkGraph(t *testing.T, g wireFields, parameters int) {
	t.Helper()
	known := map[string]bool{}
	add := func(name string) {
		if name == "" || known[name] {
			t.Errorf("a second tensor %q", name)
		}
		known[name] = true
	}
	for _, v := range g.messages(t, 11) {
		add(v.text(1))
		if v.text(3) == "" {
			t.Errorf("nothing is said of %q", v.text(1))
		}
	}
	floats := 0
	for _, c := range g.messages(t, 5) {
		add(c.text(8))
		n := 1
		for _, d := range c.ints(1) {
			n *= d
		}
		switch kind := c.ints(2)[0]; kind {
		case floatType:
			floats += n
			n *= 4
		case intType, doubleType:
			n *= 8
		case stringType:
			if len(c[6]) != n {
				t.Errorf("%s has %d texts, want %d", c.text(8), len(c[6]), n)
			}
			continue
		}
		if len(c.text(9)) != n {
			t.Errorf("%s has %d bytes, want %d", c.text(8), len(c.text(9)), n)
		}
	}
	if floats < parameters {
		t.Errorf("%d constants for %d parameters", floats, parameters)
	}
	for _, n := range g.messages(t, 1) {
		for _, in := range n.texts(1) {
			if !known[in] {
				t.Errorf("%s takes %q, which nothing gives", n.text(4), in)
			}
		}
		for _, out := range n.texts(2) {
			add(out)
		}
	}
	for _, v := range g.messages(t, 12) {
		if !known[v.text(1)] {
			t.Errorf("nothing gives %q", v.text(1))
		}
	}
}

// TestONNXRefuses: a model that cannot be applied has no ONNX form, and columns that do not
// make up the features neither; and an ONNX file is none that is read.
func TestONNXRefuses(t *testing.T) {
	for name, f := range leftOut() {
		if err := f.ONNX(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "measured") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := examples()["table"]
	f.Apply.Columns = slices.Delete(f.Apply.Columns, 2, 3)
	if err := f.ONNX(&bytes.Buffer{}); err == nil {
		t.Error("a feature of no column is written")
	}
	var written bytes.Buffer
	if err := examples()["table"].ONNX(&written); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(written.Bytes()); err == nil || !strings.Contains(err.Error(), "looks like ONNX") {
		t.Errorf("what is written is read as %v", err)
	}
}

// TestMissingTextsAreOneCategory: of the usual ways to write that there is nothing, all stand for
// the category that missing cells are.
func TestMissingTextsAreOneCategory(t *testing.T) {
	texts, places := categoriesByText([]string{"a", "(missing)", "NA", "a"}, 1)
	if len(texts) != len(places) {
		t.Fatal(texts, places)
	}
	for text, want := range map[string]int{"": 1, "na": 1, "NA": 1, "(missing)": 1, "a": 0, "NULL": 1, "#NV": 1} {
		k := slices.Index(texts, text)
		if k < 0 || places[k] != want {
			t.Errorf("%q is at %d, want category %d", text, k, want)
		}
	}
	slices.Sort(texts)
	if len(slices.Compact(texts)) != len(places) {
		t.Errorf("a text comes twice: %q", texts)
	}
	if texts, _ := categoriesByText([]string{"a", "b"}, -1); !slices.Equal(texts, []string{"a", "b"}) {
		t.Errorf("%q", texts)
	}
}
