package model_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// edited is the JSON of a small model after f has changed what it says.
func edited(t testing.TB, f func(file, apply map[string]any)) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(asJSON(t, small()), &v); err != nil {
		t.Fatal(err)
	}
	f(v, v["apply"].(map[string]any))
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// column and layer are parts of what an edit changes.
func column(apply map[string]any, i int) map[string]any {
	return apply["columns"].([]any)[i].(map[string]any)
}

func layer(apply map[string]any) map[string]any { return apply["layers"].([]any)[0].(map[string]any) }

func zipped(t testing.TB, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hostile are files that are no model, with what is said of them.
func hostile(t testing.TB) map[string]struct {
	b    []byte
	said string
} {
	all := map[string]struct {
		b    []byte
		said string
	}{}
	add := func(name, said string, b []byte) {
		all[name] = struct {
			b    []byte
			said string
		}{b, said}
	}
	edit := func(name, said string, f func(file, apply map[string]any)) { add(name, said, edited(t, f)) }
	list := func(x ...any) []any { return x }

	good, tensors := asJSON(t, small()), asTensors(t, small())
	add("nothing", "empty", nil)
	add("a picture", "no model", []byte("\x89PNG\r\n\x1a\n and more"))
	add("spaces", "no model", []byte("   "))
	add("a list", "no model", []byte("[1,2]"))
	add("cut short", "byte", good[:len(good)/2])
	add("deep", "depth", []byte(strings.Repeat(`{"a":`, 20_000)+strings.Repeat("}", 20_000)))
	add("deep parameters", "depth", []byte(`{"parameters":`+strings.Repeat(`[`, 20_000)+strings.Repeat("]", 20_000)+"}"))
	add("an empty object", "no parameters", []byte("{}"))
	add("parameters that are no list", "parameters", []byte(`{"parameters": "x"}`))
	add("parameters that are texts", "number 2", []byte(`{"parameters": [1, "2"]}`))
	add("nested parameters", "number 1", []byte(`{"parameters": [[1]]}`))
	add("a parameter that is an object", "number 1", []byte(`{"parameters": [{"a": {"$numberDouble": "NaN"}}]}`))
	add("a huge parameter", "number 1", []byte(`{"parameters": [1e999]}`))
	add("a null parameter", "number 1", []byte(`{"parameters": [null]}`))

	edit("another format", "format", func(f, _ map[string]any) { f["format"] = "pickle" })
	edit("a later version", "version 2 is of a newer program", func(f, _ map[string]any) { f["version"] = 2 })
	edit("a version before all", "no version -1", func(f, _ map[string]any) { f["version"] = -1 })
	edit("ε below 0", "no promise", func(f, _ map[string]any) { f["epsilon"] = -1 })
	edit("δ above 1", "no promise", func(f, _ map[string]any) { f["delta"] = 1.5 })
	edit("ε as text", "model: epsilon: a string is not what goes here", func(f, _ map[string]any) { f["epsilon"] = "1" })
	edit("a sentence of a megabyte", "over the limit of 262144 each", func(f, _ map[string]any) { f["guarantee"] = strings.Repeat("x ", 1<<19) })
	edit("a statement of a megabyte", "over the limit of 262144 each", func(f, _ map[string]any) { f["statement"] = strings.Repeat("x ", 1<<19) })
	edit("steps as text", "steps", func(f, _ map[string]any) { f["steps"] = "many" })
	edit("a configuration of something else", "optimizer", func(f, _ map[string]any) { f["config"] = map[string]any{"optimizer": list(1)} })
	edit("no application", "earlier version", func(f, _ map[string]any) { f["apply"] = nil })
	edit("no such task", "task", func(_, a map[string]any) { a["task"] = "guessing" })
	edit("too few classes", "1 classes", func(_, a map[string]any) { a["classes"] = list("a") })
	edit("a class twice", "comes twice", func(_, a map[string]any) { a["classes"] = list("a", "a") })
	edit("a regression with classes", "no classes", func(_, a map[string]any) { a["task"] = "regression" })
	edit("10⁹ outputs", "outputs", func(_, a map[string]any) { a["outputs"] = 1_000_000_000; a["classes"] = nil })
	edit("no outputs", "outputs", func(_, a map[string]any) { a["outputs"] = 0; a["classes"] = nil })
	edit("10⁹ features", "features", func(_, a map[string]any) { a["features"] = 1_000_000_000 })
	edit("features below 0", "features", func(_, a map[string]any) { a["features"] = -4 })
	edit("a shape that overflows", "shape", func(_, a map[string]any) { a["shape"], a["columns"] = list(1<<31, 1<<31, 4), nil })
	edit("a shape of something else", "shape", func(_, a map[string]any) { a["shape"], a["columns"] = list(3, 3), nil })
	edit("a table of features", "features_of", func(_, a map[string]any) {
		a["features_of"] = map[string]any{"sha256": strings.Repeat("ab", 32), "output": "y", "batch": 1}
	})
	edit("a backbone without a hash", "features_of", func(_, a map[string]any) {
		a["columns"], a["features_of"] = nil, map[string]any{"output": "y", "batch": 1}
	})
	edit("a backbone with a tokenizer without a hash", "tokenizer_sha256", func(_, a map[string]any) {
		a["columns"], a["features_of"] = nil, map[string]any{"sha256": strings.Repeat("ab", 32), "output": "y", "batch": 1, "tokenizer_sha256": "a name"}
	})
	edit("a shape below 0", "shape", func(_, a map[string]any) { a["shape"], a["columns"] = list(-2, -2), nil })
	edit("a shape of a table", "shape", func(_, a map[string]any) { a["shape"] = list(2, 2) })
	edit("a kind that is none", "kind", func(_, a map[string]any) { column(a, 0)["kind"] = "sound" })
	edit("a first feature beyond the last", "not among the 4", func(_, a map[string]any) { column(a, 0)["first"] = 1 << 40 })
	edit("a first feature below 0", "not among the 4", func(_, a map[string]any) { column(a, 1)["first"] = -1 })
	edit("categories that reach too far", "not among the 4", func(_, a map[string]any) { column(a, 1)["first"] = 3 })
	edit("features of two columns", "of another column", func(_, a map[string]any) { column(a, 1)["first"] = 1 })
	edit("features of none", "of no column", func(_, a map[string]any) { column(a, 1)["categories"] = list("red") })
	edit("an indicator beyond the last", "not among the 4", func(_, a map[string]any) { column(a, 0)["indicator"] = 9 })
	edit("a category twice", "comes twice", func(_, a map[string]any) { column(a, 1)["categories"] = list("red", "red") })
	edit("more buckets than names", "buckets", func(_, a map[string]any) { column(a, 1)["buckets"] = 4_000_000_000 })
	edit("a column twice", "comes twice", func(_, a map[string]any) { column(a, 3)["name"] = "size" })
	edit("two labels", "second label", func(_, a map[string]any) { column(a, 3)["kind"] = "label" })
	edit("numbers in no style", "no numbers are written", func(_, a map[string]any) { column(a, 0)["decimal"] = "x" })
	edit("dates in no order", "no numbers are written", func(_, a map[string]any) { column(a, 0)["date"] = "ydm" })
	edit("a huge number for missing ones", "stand for a missing number", func(_, a map[string]any) { column(a, 0)["if_missing"] = 1e300 })
	edit("no such scaling", "scaling", func(_, a map[string]any) { a["scaling"] = map[string]any{"kind": "x"} })
	edit("bounds of other lengths", "2 lower and 1 upper", func(_, a map[string]any) {
		a["scaling"] = map[string]any{"kind": "declared", "lo": list(0, 0), "hi": list(1)}
	})
	edit("three bounds for four features", "3 lower", func(_, a map[string]any) {
		a["scaling"] = map[string]any{"kind": "declared", "lo": list(0, 0, 0), "hi": list(1, 1, 1)}
	})
	edit("bounds the wrong way round", "lo below hi", func(_, a map[string]any) {
		a["scaling"] = map[string]any{"kind": "declared", "lo": list(1), "hi": list(0)}
	})
	edit("no bounds", "0 bounds", func(_, a map[string]any) { a["scaling"] = map[string]any{"kind": "private"} })
	edit("bounds that nobody uses", "1 bounds", func(_, a map[string]any) { a["scaling"] = map[string]any{"kind": "row", "lo": list(0), "hi": list(1)} })
	edit("a length below 0", "max_norm", func(_, a map[string]any) { a["max_norm"] = -1 })
	edit("more components than features", "pca", func(_, a map[string]any) { a["pca"] = map[string]any{"components": 9, "directions": ""} })
	edit("directions of another length", "bytes of directions", func(_, a map[string]any) { a["pca"] = map[string]any{"components": 2, "directions": "AAAA"} })
	edit("directions that are no numbers", "not finite", func(_, a map[string]any) {
		a["pca"] = map[string]any{"components": 1, "directions": "AADAfwAAwH8AAMB/AADAfw=="}
	})
	edit("directions that are no base64", "byte", func(_, a map[string]any) { a["pca"] = map[string]any{"components": 1, "directions": "?"} })
	edit("planes of no picture", "channels_last", func(_, a map[string]any) { a["channels_last"] = true })
	edit("no layers", "layers", func(_, a map[string]any) { a["layers"] = list() })
	edit("a layer that there is not", "layer 1", func(_, a map[string]any) { layer(a)["layer"] = "attention:4" })
	edit("a layer of another size", "dense:3, gives 3", func(_, a map[string]any) { layer(a)["layer"] = "dense:3" })
	edit("a layer that does not fit", "layer 1, conv:2:3", func(_, a map[string]any) { layer(a)["layer"] = "conv:2:3" })
	edit("a layer that is too wide", "layer 1", func(_, a map[string]any) { layer(a)["layer"] = "dense:65536000000" })
	edit("layers that give something else", "needs 2 outputs", func(_, a map[string]any) {
		a["layers"] = append(a["layers"].([]any), map[string]any{"layer": "dense:5"})
	})
	edit("a layer that counts wrong", "has 10 parameters", func(_, a map[string]any) { layer(a)["parameters"] = 11 })
	edit("a layer of other tensors", "other tensors", func(_, a map[string]any) {
		layer(a)["tensors"] = list(map[string]any{"name": "weight", "shape": list(2, 5)})
	})
	edit("a parameter too few", "9 parameters", func(f, _ map[string]any) { f["parameters"] = f["parameters"].([]any)[1:] })
	edit("a parameter too many", "11 parameters", func(f, _ map[string]any) { f["parameters"] = append(f["parameters"].([]any), 1) })
	edit("a thousand layers", "layers", func(_, a map[string]any) {
		var many []any
		for range 2000 {
			many = append(many, map[string]any{"layer": "relu"})
		}
		a["layers"] = many
	})
	edit("rows that take all memory", "more than a browser tab can hold", func(f, a map[string]any) {
		a["features"], a["shape"], a["columns"], a["scaling"] = 1<<20, list(1024, 1024), nil, map[string]any{"kind": "none"}
		many := list()
		for range 64 {
			many = append(many, map[string]any{"layer": "maxpool:1"})
		}
		a["layers"] = append(append(list(map[string]any{"layer": "conv:32:1", "parameters": 64}), many...), map[string]any{"layer": "globalpool"}, map[string]any{"layer": "dense", "parameters": 66})
		f["parameters"] = make([]float32, 130)
	})

	edit("rows that take hours", "billion multiplications", func(f, a map[string]any) {
		a["features"], a["shape"], a["columns"], a["scaling"] = 1<<20, list(1024, 1024), nil, map[string]any{"kind": "none"}
		wide := map[string]any{"layer": "conv:12:127:p63", "parameters": 127*127*12*12 + 12}
		a["layers"] = list(map[string]any{"layer": "conv:12:127:p63", "parameters": 127*127*12 + 12}, wide, map[string]any{"layer": "globalpool"}, map[string]any{"layer": "dense", "parameters": 26})
		f["parameters"] = make([]float32, 127*127*12*13+24+26)
	})
	edit("sizes whose product overflows", "more parameters than a browser tab can hold", func(f, a map[string]any) {
		a["features"], a["shape"], a["columns"], a["scaling"] = 1, list(1, 1), nil, map[string]any{"kind": "none"}
		a["layers"] = list(map[string]any{"layer": "conv:65536:1", "parameters": 131072}, map[string]any{"layer": "conv:65536:65536:s65536:p65535", "parameters": 65536},
			map[string]any{"layer": "globalpool"}, map[string]any{"layer": "dense", "parameters": 131074})
		f["parameters"] = make([]float32, 131072+65536+131074)
	})
	add("commas within a text", "number 1", slices.Concat([]byte(`{"parameters": ["`), bytes.Repeat([]byte(","), 8<<20), []byte(`"]}`)))

	header := func(text string, n int) []byte { return tensorsOf(text, make([]float32, n)) }
	meta := string(tensors[8 : 8+binary.LittleEndian.Uint64(tensors)])
	changed := func(from, to string) []byte {
		if !strings.Contains(meta, from) {
			t.Fatalf("%s is not in %s", from, meta)
		}
		return tensorsOf(strings.Replace(meta, from, to, 1), small().Parameters)
	}
	add("tensors cut short", "bytes", tensors[:len(tensors)-4])
	add("a header that is longer than the file", "cut short", append(binary.LittleEndian.AppendUint64(nil, 1<<20), "{}"...))
	add("a header that is no JSON", "header", header("{]", 0))
	add("a checkpoint's tensors", "tensors of another program", header(`{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 1))
	add("a checkpoint's configuration", "configuration of a transformer", []byte(`{"model_type":"bert","hidden_size":8}`))
	add("tensors without a word", "__metadata__", header(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 1))
	add("metadata of numbers", "__metadata__", header(`{"__metadata__":{"steps":3}}`, 0))
	add("metadata that is no JSON", "apply", header(`{"__metadata__":{"apply":"{"}}`, 0))
	add("metadata of a list that breaks", "apply", header(`{"__metadata__":{"apply":"[,"}}`, 0))
	add("metadata of an object that breaks", "apply", header(`{"__metadata__":{"apply":"{\"a\":]}"}}`, 0))
	add("metadata that breaks within", "apply", header(`{"__metadata__":{"apply":"{\"a\":[[1 2]]}"}}`, 0))
	add("tensors of halves", "F16", changed(`"F32"`, `"F16"`))
	add("offsets the wrong way round", "lies at", changed(`[0,32]`, `[32,0]`))
	add("offsets beyond the end", "lies at", changed(`[0,32]`, `[0,32000]`))
	add("offsets that overflow", "lies at", changed(`[0,32]`, `[0,18446744073709551615]`))
	add("one offset", "lies at", changed(`[0,32]`, `[0]`))
	add("offsets below 0", "header", changed(`[0,32]`, `[-4,28]`))
	add("a tensor's shape that overflows", "more than the file has", changed(`"shape":[4,2]`, `"shape":[9223372036854775807,2,2]`))
	add("a tensor of another shape", "takes", changed(`"shape":[4,2]`, `"shape":[3,2]`))
	add("a gap", "takes", changed(`[32,40]`, `[36,40]`))
	add("tensors over each other", "ends at", changed(`[32,40]`, `[24,32]`))
	add("a tensor that is missing", "no tensor layers.0.bias", changed(`layers.0.bias`, `layers.0.bios`))
	add("a tensor too many", "of no layer", tensorsOf(strings.Replace(meta, `"layers.0.bias"`, `"layers.9.x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"layers.0.bias"`, 1), small().Parameters))

	add("an empty zip", "neither", zipped(t, "readme.txt", nil))
	add("a zip in a zip", "is a zip", zipped(t, "model.json", zipped(t, "model.json", good)))
	add("a zip that is cut short", "zip", zipped(t, "model.json", good)[:200])
	add("a zip of fifty thousand names", "lists more than 64 files", listing(t, 50_000, "model.json", good))
	add("a zip of one long name too many", "lists more than 64 files", listing(t, 6, strings.Repeat("n", 60_000), good))
	add("a zip with two models", "model.json stands twice", listing(t, 1, "model.json", good))
	add("a zip of blanks", "as no parameters are that were trained", zipped(t, "model.json", slices.Concat(bytes.Repeat([]byte(" "), 65<<20), good)))
	edit("columns of nothing", "more than 32768 objects", func(_, a map[string]any) { a["columns"] = make([]struct{}, 40_000) })
	edit("columns of null", "columns: <nil> is no object", func(_, a map[string]any) { a["columns"] = make([]*int, 200_000) })
	edit("layers of numbers", "layers: 0 is no object", func(_, a map[string]any) { a["layers"] = make([]int, 200_000) })
	edit("tensors of numbers", "Tensors: 0 is no object", func(_, a map[string]any) { layer(a)["Tensors"] = make([]int, 200_000) })
	edit("much within each other", "within each other", func(f, _ map[string]any) {
		f["config"] = json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
	})
	add("a header of a hundred thousand tensors", "more than 65536 objects", tensorsOf(strings.Replace(meta, `"layers.0.bias"`, strings.Repeat(`"":{},`, 100_000)+`"layers.0.bias"`, 1), small().Parameters))
	add("metadata of nothing", "more than 32768 objects", changed(`\"columns\":[`, `\"columns\":[`+strings.Repeat(`{},`, 40_000)))
	return all
}

// listing returns a zip of n empty files of one name, numbered but for the first, after a file model.json.
func listing(t testing.TB, n int, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := -1; i < n; i++ {
		as := name
		switch {
		case i < 0:
			as = "model.json"
		case i > 0:
			as += strconv.Itoa(i)
		}
		e, err := w.Create(as)
		if err != nil {
			t.Fatal(err)
		}
		if i < 0 {
			if _, err := e.Write(content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileFilesAreRefusedCheaply: what is no model is refused, with a word on what is wrong,
// and takes no memory that the file is not as large as.
func TestHostileFilesAreRefusedCheaply(t *testing.T) {
	all := hostile(t)
	if len(all) < 50 {
		t.Fatalf("%d files", len(all))
	}
	for name, h := range all {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := model.Read(h.b)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: read as %+v", name, f.Apply)
			continue
		}
		if !strings.HasPrefix(err.Error(), "model: ") || !strings.Contains(err.Error(), h.said) || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", name, err, h.said)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20+40*uint64(len(h.b)) {
			t.Errorf("%s: took %d bytes, and the file has %d", name, took, len(h.b))
		}
	}
}

// TestEarlierFilesAreRead: the files of version 0 are read, and the zip of any.
func TestEarlierFilesAreRead(t *testing.T) {
	old := edited(t, func(f, _ map[string]any) {
		for _, name := range []string{"format", "version", "program", "statement"} {
			delete(f, name)
		}
	})
	f := small()
	f.Format, f.Version = "clipscope", 0
	for name, b := range map[string][]byte{
		"JSON": old, "with a mark": append([]byte("\ufeff \n"), old...), "safetensors": asTensors(t, f),
		"zip": zipped(t, "model.json", old), "zip of safetensors": zipped(t, "model.safetensors", asTensors(t, small())),
	} {
		read, err := model.Read(b)
		if err != nil || len(read.Parameters) != 10 || read.Epsilon != 1 || read.Apply.Classes[1] != "yes" {
			t.Errorf("%s: %+v, %v", name, read, err)
		}
	}
}

// TestParametersThatJSONCannotWrite come back as they were.
func TestParametersThatJSONCannotWrite(t *testing.T) {
	b := edited(t, func(f, _ map[string]any) {
		p := f["parameters"].([]any)
		p[0], p[1], p[9] = map[string]any{"$numberDouble": "NaN"}, map[string]any{"$numberDouble": "-Infinity"}, map[string]any{"$numberDouble": "Infinity"}
		f["epsilon"] = map[string]any{"$numberDouble": "Infinity"}
	})
	f, err := model.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if x := f.Parameters; !math.IsNaN(float64(x[0])) || !math.IsInf(float64(x[1]), -1) || !math.IsInf(float64(x[9]), 1) || x[2] != 2 || !math.IsInf(float64(f.Epsilon), 1) {
		t.Errorf("%v, ε = %v", x, f.Epsilon)
	}
}

// TestAModelWithPartsLeftOutSaysWhy: a model whose bounds or directions are not in its file is
// read, and says why it cannot be applied.
func TestAModelWithPartsLeftOutSaysWhy(t *testing.T) {
	for name, b := range map[string][]byte{
		"scaling": edited(t, func(_, a map[string]any) {
			a["scaling"] = map[string]any{"kind": "measured", "left_out": "Measured, so left out."}
		}),
		"backbone": edited(t, func(_, a map[string]any) {
			delete(a, "columns")
			a["features_of"] = map[string]any{"sha256": strings.Repeat("ab", 32), "output": "Measured, so left out.", "normalise": "0-1", "batch": 1}
		}),
		"pca": edited(t, func(f, a map[string]any) {
			a["pca"] = map[string]any{"components": 4, "left_out": "Measured, so left out."}
		}),
	} {
		f, err := model.Read(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := model.Open(f, purego.New()); err == nil || !strings.Contains(err.Error(), "Measured, so left out") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead: whatever is read can be opened, and answers. What weights are read of it, none or finite ones, ends in no other way.
func FuzzRead(f *testing.F) {
	for _, h := range hostile(f) {
		if len(h.b) < 1<<14 {
			f.Add(h.b)
		}
	}
	f.Add(asJSON(f, small()))
	f.Add(asTensors(f, small()))
	f.Add(zipped(f, "model.json", asJSON(f, small())))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, werr := model.ReadWeights("fuzz", b)
		if werr != nil && !strings.HasPrefix(werr.Error(), "model: ") {
			t.Fatal(werr)
		}
		if werr == nil && (w.Info.Parameters > len(b) || len(w.Info.SHA256) != 64) {
			t.Fatalf("weights of %+v", w.Info)
		}
		file, err := model.Read(b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "model: ") {
				t.Fatal(err)
			}
			return
		}
		p, err := model.Open(file, purego.New())
		if err != nil {
			if file.Apply.FeaturesOf == nil && file.Apply.Scaling.LeftOut == "" && (file.Apply.PCA == nil || file.Apply.PCA.LeftOut == "") {
				t.Fatalf("what passed its check cannot be opened: %v", err)
			}
			return
		}
		defer p.Close()
		if file.Apply.Features > 1<<12 {
			return
		}
		if p.Reads() {
			p.Features = letters{file.Apply.Features, strings.Count(fmt.Sprint(p.Info().Columns), " text ")}
		}
		row := run.Row{Cells: make([]run.Cell, max(file.Apply.Features, len(file.Apply.Columns)))}
		if _, err := p.Predict(t.Context(), []run.Row{row}); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzAnswer: no table ends otherwise than with answers or an error.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"size,colour\n1,red\n", "colour;size;kind\nred;1;yes\n", "\xff\xfes\x00", "size,colour\n\"1\n", "size,colour\n1,red,2\n\n,,\n"} {
		f.Add([]byte(s))
	}
	file, err := model.Read(asJSON(f, small()))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := model.Open(file, purego.New())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		reply, err := p.Answer(t.Context(), source.Bytes("f.csv", b), io.Discard, nil)
		if (reply == nil) == (err == nil) {
			t.Fatal(fmt.Sprint(reply, err))
		}
		if e, err := p.Evaluate(t.Context(), []source.File{source.Bytes("f.csv", b)}, nil); (e == nil) == (err == nil) {
			t.Fatal(fmt.Sprint(e, err))
		}
	})
}
