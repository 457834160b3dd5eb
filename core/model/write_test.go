package model

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"clipscope/core/nn"
)

// TestWrittenModelsAreReadBack: JSON and safetensors come back as they were, also from each other.
func TestWrittenModelsAreReadBack(t *testing.T) {
	all := examples()
	for name, f := range leftOut() {
		all["left out "+name] = f
	}
	for name, f := range all {
		for form, write := range map[string]func(*File, io.Writer) error{"JSON": (*File).JSON, "safetensors": (*File).Safetensors} {
			var b bytes.Buffer
			if err := write(f, &b); err != nil {
				t.Fatalf("%s as %s: %v", name, form, err)
			}
			got, err := Read(b.Bytes())
			if err != nil {
				t.Fatalf("%s as %s: %v", name, form, err)
			}
			if same(got) != same(f) {
				t.Errorf("%s as %s:\n%s\nwas\n%s", name, form, same(got), same(f))
			}
		}
	}
}

// TestAnOldFileIsWrittenWithAVersion: a file without a version is written with one.
func TestAnOldFileIsWrittenWithAVersion(t *testing.T) {
	f := examples()["grey"]
	f.Format, f.Version = "", 0
	for i := range f.Apply.Layers {
		f.Apply.Layers[i].Tensors = nil // which the first files had not
	}
	for form, write := range map[string]func(*File, io.Writer) error{"JSON": (*File).JSON, "safetensors": (*File).Safetensors} {
		var b bytes.Buffer
		if err := write(f, &b); err != nil {
			t.Fatal(err)
		}
		got, err := Read(b.Bytes())
		if err != nil || got.Format != Format || got.Version != Version || len(got.Parameters) != len(f.Parameters) {
			t.Errorf("%s: %+v, %v", form, got, err)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("the disk is full")

func TestWriteReportsItsFailures(t *testing.T) {
	for name, write := range map[string]func(*File, io.Writer) error{"JSON": (*File).JSON, "safetensors": (*File).Safetensors, "ONNX": (*File).ONNX} {
		if err := write(&File{}, io.Discard); err == nil {
			t.Errorf("%s of nothing is written", name)
		}
	}
	f := examples()["grey"]
	for name, write := range map[string]func(io.Writer) error{"JSON": f.JSON, "safetensors": f.Safetensors, "ONNX": f.ONNX, "zip": func(w io.Writer) error { return f.Bundle(w, nil) }} {
		if err := write(full{}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "model: "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func bundled(t *testing.T, f *File) ([]byte, map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := f.Bundle(&b, map[string][]byte{"predict.py": []byte("pass"), "predict.mjs": []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range r.File {
		in, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name] = string(content)
	}
	return b.Bytes(), all
}

// TestABundleHasEveryForm: an archive has a model in all its forms, the same bytes each time.
func TestABundleHasEveryForm(t *testing.T) {
	for name := range examples() {
		f := examples()[name]
		b, all := bundled(t, f)
		again, _ := bundled(t, examples()[name])
		if !bytes.Equal(b, again) {
			t.Errorf("%s: two archives of one model are not the same", name)
		}
		want := []string{"README.txt", "model.json", "model.onnx", "model.safetensors", "predict.mjs", "predict.py", "statement.txt"}
		if names := slices.Sorted(maps.Keys(all)); !slices.Equal(names, want) {
			t.Errorf("%s has %q", name, names)
		}
		for file, write := range map[string]func(io.Writer) error{"model.json": f.JSON, "model.safetensors": f.Safetensors, "model.onnx": f.ONNX} {
			var alone bytes.Buffer
			if err := write(&alone); err != nil || alone.String() != all[file] {
				t.Errorf("%s: %s is another than alone, %v", name, file, err)
			}
		}
		if all["statement.txt"] != f.Statement || !strings.Contains(all["README.txt"], f.Guarantee) || all["predict.py"] != "pass" {
			t.Errorf("%s: %q", name, all["README.txt"])
		}
	}
}

// TestReadmeSaysEveryFactOnALine: what stands in a model's file is said in lines of their own,
// whatever it is.
func TestReadmeSaysEveryFactOnALine(t *testing.T) {
	_, all := bundled(t, examples()["table"])
	for _, want := range []string{
		"one of 3 classes: =1+1, ja, n ein.", "rows of a table with 8 columns", "  size: a number; it may be missing\n", "  label: a number, decimals after “,”; it must be there\n",
		"  day: a date, as day, month, year; it must be there\n", "  colour: one of red, (missing), blue\n", "a hash to 3 buckets", "  class: what is sought", "predict.py model.json rows.csv",
	} {
		if !strings.Contains(all["README.txt"], want) {
			t.Errorf("there is no %q in\n%s", want, all["README.txt"])
		}
	}
	_, pictures := bundled(t, examples()["colours"])
	if text := pictures["README.txt"]; !strings.Contains(text, "pictures of 12×10 in 3 planes") || strings.Contains(text, "rows.csv") || !strings.Contains(text, `load("model.json").predict(rows)`) {
		t.Error(text)
	}
	for name, f := range leftOut() {
		_, all := bundled(t, f)
		if text := all["README.txt"]; !strings.Contains(text, "It cannot be applied: The") || strings.Contains(text, "import") || all["model.onnx"] != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestALargeBundleHasNoParametersAsText: millions of parameters are not written as text.
func TestALargeBundleHasNoParametersAsText(t *testing.T) {
	_, all := bundled(t, outline(nn.Shape{Channels: 1 << 11}, 1<<10, 1, "dense"))
	if _, ok := all["model.json"]; ok || !strings.Contains(all["README.txt"], `load("model.safetensors")`) {
		t.Errorf("%q", all["README.txt"])
	}
}
