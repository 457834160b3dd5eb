package worker

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// tiny returns the file of a model that answers yes to numbers above 0. Where leftOut says that the file
// lacks something, the model cannot be applied.
func tiny(leftOut string) []byte {
	f := &model.File{
		Guarantee: "made up", Apply: &run.Application{
			Task: "classification", Outputs: 2, Classes: []string{"no", "yes"}, Features: 1, Columns: []run.AppliedColumn{{Name: "x", Kind: "numeric"}, {Name: "y", Kind: "label", First: -1}},
			Scaling: run.AppliedScaling{Kind: "none", LeftOut: leftOut},
			Layers:  []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 4, Tensors: []run.AppliedTensor{{Name: "weight", Shape: []int{1, 2}}, {Name: "bias", Shape: []int{2}}}}},
		},
		Parameters: []float32{-1, 1, 0, 0},
	}
	if leftOut != "" {
		f.Apply.Scaling.Kind = "measured"
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return b
}

// TestConvertGivesTheFormAskedFor: a model is converted to the form that is asked for. Errors
// say that a form is unknown, or that a file is no model.
func TestConvertGivesTheFormAskedFor(t *testing.T) {
	p := newPage(t, steps(1))
	convert := func(to string, file []byte) run.Message {
		t.Helper()
		p.send(Convert, 1, `{"to":"`+to+`"}`, source.Bytes("m.json", file))
		return p.next(ReplyType)
	}
	var last []byte
	for _, to := range []string{"safetensors", "json"} {
		file := tiny("")
		if last != nil {
			file = last
		}
		m := convert(to, file)
		last = []byte(m.Blob.(string))
		var reply run.ConvertProgress
		if err := json.Unmarshal([]byte(m.Text), &reply); err != nil || reply.Bytes != int64(len(last)) {
			t.Errorf("%s: %q of %d bytes, %v", to, m.Text, len(last), err)
		}
		f, err := model.Read(last)
		if err != nil || !slices.Equal(f.Parameters, []float32{-1, 1, 0, 0}) || f.Format != model.Format {
			t.Errorf("%s comes back as %+v, %v", to, f, err)
		}
	}
	b := []byte(convert("zip", last).Blob.(string))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if want := []string{"README.txt", "statement.txt", "predict.mjs", "predict.py", "model.json", "model.safetensors", "model.onnx"}; !slices.Equal(names, want) {
		t.Errorf("an archive of %q", names)
	}
	if b := convert("onnx", last).Blob.(string); !strings.Contains(b, "ai.onnx.ml") {
		t.Errorf("no ONNX file: %q", b)
	}
	for _, tt := range []struct {
		text, said string
		files      []source.File
	}{
		{`{"to":"pdf"}`, `no form \"pdf\"; choose zip`, []source.File{source.Bytes("m", last)}},
		{`{"to":"zip"}`, "one file", nil},
		{`{"to":"zip"}`, "model", []source.File{source.Bytes("m", []byte("nothing"))}},
		{`{"to":"onnx"}`, "were measured", []source.File{source.Bytes("m", tiny("The means were measured."))}},
	} {
		p.send(Convert, 2, tt.text, tt.files...)
		if m := p.next(ErrorType); !strings.Contains(m.Text, tt.said) {
			t.Errorf("%s: %s, want %q", tt.text, m.Text, tt.said)
		}
	}
}

// TestAModelTakesItsCheckpointsPlace: as a checkpoint a model is a zip of the files that the host makes of it and of the checkpoint's;
// what is wrong with these is told.
func TestAModelTakesItsCheckpointsPlace(t *testing.T) {
	var given []string
	refused := &data.Error{File: "config.json", Got: "nothing of use", Fix: "Choose another."}
	p := newPage(t, steps(1), func(h *Host) {
		h.Restore = func(_ context.Context, to string, ours []byte, files []source.File, add func(string, func() ([]byte, error)) error) error {
			if f, err := model.Read(ours); err != nil || !slices.Equal(f.Parameters, []float32{-1, 1, 0, 0}) {
				t.Errorf("it is given %v, %v", f, err)
			}
			given = []string{to}
			for _, f := range files {
				given = append(given, f.Name())
			}
			left := []string{"one ", "two"}
			err := add("config.json", func() ([]byte, error) {
				if len(left) == 0 {
					return nil, io.EOF
				}
				piece := left[0]
				left = left[1:]
				return []byte(piece), nil
			})
			if err != nil || len(files) == 2 {
				return err
			}
			return add("model.safetensors", func() ([]byte, error) { return nil, refused })
		}
	})
	to := "checkpoint"
	ask := func(files ...source.File) {
		p.s.Handle(Request{Message: run.Message{Type: Convert, ID: 1, Text: `{"to":"` + to + `"}`}, TrainFiles: []source.File{source.Bytes("m", tiny(""))}, TestFiles: files})
	}
	ask(source.Bytes("config.json", nil), source.Bytes("model.safetensors", nil))
	b := []byte(p.next(ReplyType).Blob.(string))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := z.Open("config.json")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(in); err != nil || string(text) != "one two" || !slices.Equal(given, []string{"checkpoint", "config.json", "model.safetensors"}) {
		t.Errorf("%q of %q, %v", text, given, err)
	}
	ask(source.Bytes("config.json", nil))
	if m := p.next(ErrorType); !strings.Contains(m.Text, "nothing of use") {
		t.Errorf("said: %s", m.Text)
	}
	to = "peft"
	if ask(source.Bytes("config.json", nil)); p.next(ErrorType).Type != ErrorType || given[0] != "peft" {
		t.Errorf("an adapter is asked for as %q", given)
	}
	ask()
	if m := p.next(ErrorType); !strings.Contains(m.Text, "is not open here: give its files") {
		t.Errorf("said: %s", m.Text)
	}
}

// FuzzConvert: every file is refused or converted. Its JSON or safetensors is read back as the same
// model.
func FuzzConvert(f *testing.F) {
	forms := []string{"json", "safetensors", "onnx", "zip"}
	for i := range forms {
		f.Add(uint8(i), tiny(""))
		f.Add(uint8(i), tiny("The means were measured."))
		f.Add(uint8(i), bytes.Replace(tiny(""), []byte(`"dense"`), []byte(`"bias"`), 1))
		f.Add(uint8(i), bytes.Replace(tiny(""), []byte(`"dense","shape":[2]`), []byte(`"dense","shape":[]`), 1))
	}
	f.Fuzz(func(t *testing.T, to uint8, file []byte) {
		p := newPage(t, steps(1))
		form := forms[int(to)%len(forms)]
		reply, err := p.s.answer(context.Background(), Request{Message: run.Message{Type: Convert, ID: 1, Text: `{"to":"` + form + `"}`}, TrainFiles: []source.File{source.Bytes("m", file)}})
		var internal *panicError
		if errors.As(err, &internal) {
			t.Fatalf("%s: %v\n%s", form, err, internal.stack)
		}
		if err != nil || form == "onnx" || form == "zip" {
			return
		}
		was, _ := model.Read(file)
		now, err := model.Read([]byte(reply.(blobbed).blob.Sent().(string)))
		if err != nil || len(now.Parameters) != len(was.Parameters) {
			t.Fatalf("%s cannot be read: %v", form, err)
		}
	})
}
