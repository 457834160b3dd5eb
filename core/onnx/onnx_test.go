package onnx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
)

// field is a field of a message: of a text, of bytes, or of a number.
func field[V int | string | []byte](number int, v V) []byte {
	switch v := any(v).(type) {
	case int:
		return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3), uint64(v))
	case string:
		return field(number, []byte(v))
	case []byte:
		return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3|2), uint64(len(v))), v...)
	}
	return nil
}

func message(parts ...[]byte) []byte { return slices.Concat(parts...) }

func node(op string, more ...[]byte) []byte {
	return field(1, message(append([][]byte{field(1, "x"), field(2, "y"), field(3, "here"), field(4, op)}, more...)...))
}

func in(domain string) []byte { return field(7, domain) }

// with is an attribute that is a graph.
func with(name string, graph ...[]byte) []byte {
	return field(5, message(field(1, name), field(6, message(graph...)), field(20, 5)))
}

func whole(graph ...[]byte) []byte {
	return message(field(1, 8), field(8, message(field(1, ""), field(2, 13))), field(7, message(append(graph, field(2, "g"))...)))
}

func function(name string, calls ...string) []byte {
	parts := [][]byte{field(1, name), field(10, "f")}
	for _, c := range calls {
		parts = append(parts, field(7, message(field(4, c), in("f"))))
	}
	return field(25, message(parts...))
}

func constant(dims []int, kind int, more ...[]byte) []byte {
	var parts [][]byte
	for _, d := range dims {
		parts = append(parts, field(1, d))
	}
	return field(5, message(append(append(parts, field(2, kind), field(8, "w")), more...)...))
}

// nested is a graph of conditions within conditions.
func nested(deep int) []byte {
	g := node("Relu")
	for range deep {
		g = node("If", with("then_branch", g), with("else_branch", node("Relu")))
	}
	return g
}

// doubling are functions each of which calls the next one twice.
func doubling(n int) []byte {
	m := whole(node("f0", in("f")))
	for i := range n {
		next := fmt.Sprintf("f%d", i+1)
		m = append(m, function(fmt.Sprintf("f%d", i), next, next)...)
	}
	return append(m, function(fmt.Sprintf("f%d", n), "Relu")...)
}

func chain(n int) []byte {
	m := whole(node("f0", in("f")))
	for i := range n {
		m = append(m, function(fmt.Sprintf("f%d", i), fmt.Sprintf("f%d", i+1))...)
	}
	return m
}

// resnet is a model of the form of ResNet-50: 53 convolutions, each with its four of batch
// normalisation, in 16 blocks, and a dense layer; narrow is what its 64 channels are.
func resnet(narrow int) []byte {
	var g [][]byte
	weight := func(dims ...int) {
		n := 4
		for _, d := range dims {
			n *= d
		}
		g = append(g, constant(dims, 1, field(9, make([]byte, n))))
	}
	conv := func(out, in, size int) {
		weight(out, in, size, size)
		for range 4 {
			weight(out)
		}
		g = append(g, node("Conv", field(5, message(field(1, "kernel_shape"), field(8, size), field(8, size), field(20, 7)))), node("BatchNormalization"), node("Relu"))
	}
	conv(narrow, 3, 7)
	in := narrow
	for stage, blocks := range []int{3, 4, 6, 3} {
		wide := narrow << stage
		for k := range blocks {
			conv(wide, in, 1)
			conv(wide, wide, 3)
			conv(4*wide, wide, 1)
			if k == 0 {
				conv(4*wide, in, 1)
			}
			g, in = append(g, node("Add")), 4*wide
		}
	}
	weight(1000, in)
	return whole(append(g, node("GlobalAveragePool"), node("Flatten"), node("Gemm"))...)
}

// counting counts what is read.
type counting struct {
	io.ReaderAt
	bytes, reads int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes, c.reads = c.bytes+n, c.reads+1
	return n, err
}

func check(b []byte) error { return Check(context.Background(), bytes.NewReader(b), int64(len(b))) }

func TestHostileModelsAreRefusedCheaply(t *testing.T) {
	loop := node("Loop", with("body", node("Relu")))
	wide := constant([]int{1 << 20, 3, 1 << 10, 1 << 10}, 1, field(9, make([]byte, 4)))
	for name, tc := range map[string]struct {
		model []byte
		want  string
	}{
		"a loop":                     {whole(loop), `the operator Loop ("here"), which runs a graph as often as values say`},
		"a loop of ai.onnx":          {whole(node("Loop", in("ai.onnx"), with("body", node("Relu")))), "operator Loop"},
		"a loop without a graph":     {whole(node("Loop")), "operator Loop"},
		"a scan":                     {whole(node("Scan", with("body", node("Relu")))), "operator Scan"},
		"a map":                      {whole(node("SequenceMap", with("body", node("Relu")))), "operator SequenceMap"},
		"a search":                   {whole(node("BeamSearch", with("decoder", node("Relu")), in("com.microsoft"))), "operator BeamSearch"},
		"a condition of nobody":      {whole(node("If", with("then_branch", node("Relu")), in("nobody.example"))), "operator If"},
		"a loop in a branch":         {whole(node("If", with("then_branch", loop))), "operator Loop"},
		"a loop in a list of graphs": {whole(node("If", field(5, message(field(1, "b"), field(11, loop))))), "operator Loop"},
		"a loop in a function":       {append(whole(node("a", in("f"))), field(25, message(field(1, "a"), field(10, "f"), field(7, loop[2:])))...), "operator Loop"},
		"a function's own graph":     {append(whole(node("a", in("f"))), field(25, message(field(1, "a"), field(10, "f"), field(11, message(field(6, node("Relu"))))))...), "operator a"},
		"the second of two graphs":   {append(whole(node("Relu")), field(7, loop)...), "operator Loop"},
		"2⁴⁰ calls":                  {doubling(40), "65536 operators once functions stand where they are called"},
		"2⁶³ calls":                  {doubling(63), "65536 operators"},
		"2¹⁰⁰ calls":                 {doubling(100), "functions that call each other 64 deep"},
		"a function of itself":       {append(whole(node("a", in("f"))), function("a", "a")...), "functions that do not call themselves"},
		"functions of each other":    {append(whole(node("a", in("f"))), append(function("a", "b"), function("b", "a")...)...), "functions that do not call themselves"},
		"a long chain":               {chain(20_000), "64 deep"},
		"two of a name":              {append(whole(node("a", in("f"))), append(function("a", "Relu"), function("a", "a")...)...), "names of their own"},
		"9 conditions":               {whole(nested(9)), "graphs within graphs 8 deep at most"},
		"1,000 conditions":           {whole(nested(1000)), "graphs within graphs"},
		"a lying shape":              {whole(wide), `as many values as their shapes say, found "w", which has fewer`},
		"a shape beyond 2⁶³":         {whole(constant([]int{1 << 32, 1 << 32, 1 << 32}, 1, field(9, make([]byte, 4)))), "as their shapes say"},
		"a negative shape":           {whole(constant([]int{-5}, 1, field(9, make([]byte, 4)))), "as their shapes say"},
		"a packed shape":             {whole(field(5, message(field(1, []byte{0xff, 0xff, 0x7f, 0xff, 0xff, 0x7f}), field(2, 1), field(9, make([]byte, 4))))), "as their shapes say"},
		"a lying attribute":          {whole(node("Constant", field(5, message(field(1, "value"), field(5, wide[3:]))))), "damage"},
		"texts that are not there":   {whole(constant([]int{1 << 30}, 8, field(6, "a"))), "as their shapes say"},
		"weights elsewhere":          {whole(constant([]int{1}, 1, field(14, 1))), "weights in another file"},
		"weights in a file":          {whole(constant([]int{1}, 1, field(13, message(field(1, "location"), field(2, "../../etc/passwd"))))), "weights in another file"},
		"sparse weights":             {whole(field(15, message(field(3, 1<<40)))), "a sparse one"},
		"a sparse attribute":         {whole(node("Constant", field(5, message(field(22, message(field(3, 1<<40))))))), "a sparse one"},
		"a million nodes":            {whole(bytes.Repeat(field(1, ""), 1<<20)), "1048576 parts"},
		"70,000 nodes":               {whole(bytes.Repeat(node("R"), 70_000)), "65536 operators"},
		"a million values":           {whole(bytes.Repeat(field(13, ""), 1<<20)), "1048576 parts"},
		"a shape of a million":       {whole(field(11, field(2, field(1, field(2, bytes.Repeat(field(1, ""), 1<<20)))))), "1048576 parts"},
		"integers in a row":          {whole(constant([]int{mostInts + 1}, 6, field(5, make([]byte, mostInts+1)))), "32 million integers"},
		"a name of a megabyte":       {whole(field(1, message(field(4, strings.Repeat("x", 1<<20))))), "names of at most 4096 bytes"},
		"types within types": {whole(field(11, field(2, func() (b []byte) {
			for range 500 {
				b = field(4, field(1, b))
			}
			return b
		}()))), "graphs within graphs"},
		"text":  {[]byte("This is not a model."), "a model in ONNX's form"},
		"zeros": {make([]byte, 100), "a model in ONNX's form"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &counting{ReaderAt: bytes.NewReader(tc.model)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := Check(t.Context(), r, int64(len(tc.model)))
			runtime.ReadMemStats(&after)
			var e *data.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) || e.Fix == "" || len(err.Error()) > 400 {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
				t.Errorf("%d MB were allocated", mb)
			}
			if r.bytes > 8*len(tc.model)+8<<16 {
				t.Errorf("%d bytes were read of %d", r.bytes, len(tc.model))
			}
		})
	}
}

func TestHonestModelsPass(t *testing.T) {
	big := resnet(16)
	for name, b := range map[string][]byte{
		"ResNet-50":             big,
		"8 conditions":          whole(nested(8)),
		"2¹³ calls":             doubling(13),
		"functions within":      chain(60),
		"numbers one by one":    whole(constant([]int{2, 2}, 1, field(4, make([]byte, 16))), constant([]int{3}, 7, field(7, []byte{1, 2, 3})), constant([]int{2}, 7, field(7, 300), field(7, 1))),
		"a scalar":              whole(constant(nil, 1, field(9, make([]byte, 4)))),
		"nothing":               whole(constant([]int{0, 1 << 40}, 1)),
		"four bits":             whole(constant([]int{3}, 22, field(9, make([]byte, 2)))),
		"a type to come":        whole(constant([]int{4}, 99, field(9, make([]byte, 2)))),
		"texts":                 whole(constant([]int{2}, 8, field(6, "a"), field(6, ""))),
		"fields that are to be": append(whole(node("Relu")), field(99, "later")...),
	} {
		if err := check(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := &counting{ReaderAt: bytes.NewReader(big)}
	if err := Check(t.Context(), r, int64(len(big))); err != nil || r.reads > 1000 {
		t.Errorf("%v after %d reads of %d bytes", err, r.reads, len(big))
	}
}

// TestCheckEndsWithItsContext: a check ends with its context, and with what its reader says.
func TestCheckEndsWithItsContext(t *testing.T) {
	b := resnet(8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &counting{ReaderAt: bytes.NewReader(b)}
	if err := Check(ctx, r, int64(len(b))); !errors.Is(err, context.Canceled) || r.reads > 0 {
		t.Errorf("%v after %d reads", err, r.reads)
	}
	if err := Check(t.Context(), bytes.NewReader(b[:len(b)/2]), int64(len(b))); err == nil || !strings.Contains(err.Error(), "damage") {
		t.Errorf("half of a file: %v", err)
	}
	small := whole(constant([]int{2}, 1, field(9, make([]byte, 8))), node("Add"))
	for n := range len(small) {
		var e *data.Error
		if err := check(small[:n]); err != nil && !errors.As(err, &e) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestSaturatedNeverOverflows(t *testing.T) {
	for _, tc := range [][4]int64{{1, 2, 3, 7}, {0, 5, 0, 0}, {math.MaxInt64, 1, 1, math.MaxInt64}, {0, 1 << 40, 1 << 40, math.MaxInt64}, {1, 0, 9, 1}} {
		if got := saturated(tc[0], tc[1], tc[2]); got != tc[3] {
			t.Errorf("%v: %d", tc, got)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, b := range [][]byte{
		whole(constant([]int{2}, 1, field(9, make([]byte, 8))), node("Add")), whole(nested(2)), doubling(3), whole(node("Loop", with("body", node("Relu")))),
		whole(constant([]int{3}, 7, field(7, []byte{1, 2, 3})), field(11, message(field(1, "x"), field(2, field(1, field(2, field(1, field(1, 3))))))), nil),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &counting{ReaderAt: bytes.NewReader(b)}
		err := Check(t.Context(), r, int64(len(b)))
		var e *data.Error
		if err != nil && (!errors.As(err, &e) || e.Fix == "" || strings.Contains(err.Error(), "%!")) {
			t.Fatal(err)
		}
		if r.bytes > 64*(len(b)+1<<16) {
			t.Fatalf("%d bytes were read of %d", r.bytes, len(b))
		}
	})
}
