package model

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// pictureModel returns a model with one dense layer of three classes, on pictures of a shape.
func pictureModel(transform string, shape ...int) *File {
	features := 1
	for _, n := range shape {
		features *= n
	}
	f := &File{Guarantee: "made up", Apply: &run.Application{
		Task: "classification", Outputs: 3, Classes: []string{"a", "b", "c"}, Features: features, Shape: shape, Transform: transform,
		Scaling: run.AppliedScaling{Kind: "declared", Lo: []float64{0}, Hi: []float64{255}}, Layers: []run.AppliedLayer{{Text: "dense", Shape: []int{3}, Parameters: 3*features + 3}},
	}}
	rng := rand.New(rand.NewPCG(uint64(features), 5))
	for range 3*features + 3 {
		f.Parameters = append(f.Parameters, float32(rng.NormFloat64()/8))
	}
	return f
}

// shownPicture is a picture for a model, with what reading it for training and asking the page make of it.
type shownPicture struct {
	Name    string
	File    *File
	Pixels  []byte // of 1, 3 or 4 values
	Width   int
	Height  int
	Samples int

	row  []uint8
	want []run.Number
}

const picturesInNode = `
import fs from "node:fs";
import { load } from "./predict.mjs";
console.log(JSON.stringify(JSON.parse(fs.readFileSync(process.argv[1])).map((c) => {
  const model = load(JSON.stringify(c.File)), row = model.picture({ data: Buffer.from(c.Pixels, "base64"), width: c.Width, height: c.Height });
  return { row: [...row], outputs: model.predict(row).outputs };
})));
`

const picturesInPython = `
import base64, json, sys
import numpy as np
from predict import load
def ask(c):
    pixels = np.frombuffer(base64.b64decode(c["Pixels"]), dtype=np.uint8).reshape(c["Height"], c["Width"], c["Samples"])
    model = load(json.dumps(c["File"]).encode())
    row = model.picture(pixels[:, :, 0] if c["Samples"] == 1 else pixels)
    return {"row": row.tolist(), "outputs": model.predict(row[None]).outputs[0].tolist()}
json.dump([ask(c) for c in json.load(open(sys.argv[1]))], sys.stdout)
`

// TestPicturesAgree: a picture of 640×160 and others come to one row in training's reading, on the page
// that uses a model, in predict.mjs and in predict.py, and its answers agree to 1e−5; by every transform, and
// by that of models of older versions, whose pictures were stretched.
func TestPicturesAgree(t *testing.T) {
	var all []*shownPicture
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{640, 160}, {33, 70}, {16, 16}, {5, 3}, {1, 40}} {
		for samples, encode := range map[int]func([]byte, image.Rectangle) image.Image{
			1: func(b []byte, r image.Rectangle) image.Image { return &image.Gray{Pix: b, Stride: r.Dx(), Rect: r} },
			3: func(b []byte, r image.Rectangle) image.Image {
				m := image.NewNRGBA(r)
				for i := range r.Dx() * r.Dy() {
					m.Set(i%r.Dx(), i/r.Dx(), color.NRGBA{b[3*i], b[3*i+1], b[3*i+2], 255})
				}
				return m
			},
			4: func(b []byte, r image.Rectangle) image.Image {
				return &image.NRGBA{Pix: b, Stride: 4 * r.Dx(), Rect: r}
			},
		} {
			pixels := make([]byte, size[0]*size[1]*samples)
			for i := range pixels {
				pixels[i] = uint8(rng.IntN(256))
			}
			stored := datatest.PNG(encode(pixels, image.Rect(0, 0, size[0], size[1])))
			for _, transform := range []string{"", "fit", "stretch", "crop"} {
				for _, shape := range [][]int{{16, 16}, {3, 12, 20}} {
					f := pictureModel(transform, shape...)
					c := &shownPicture{Name: fmt.Sprintf("%d×%d of %d, %q to %v", size[0], size[1], samples, transform, shape), File: f, Pixels: pixels, Width: size[0], Height: size[1], Samples: samples}
					c.ask(t, stored)
					all = append(all, c)
				}
			}
		}
	}
	type answer struct{ Row, Outputs []float64 }
	programs := []program{inNodeJS("predict.mjs", "node -e 1", picturesInNode), inNumPy(picturesInPython)}
	compare(t, all, programs, func(t *testing.T, name string, told []answer) {
		for i, p := range all {
			p.same(t, name, told[i].Row, told[i].Outputs)
		}
	})
}

// ask has the picture read for training and asked of the page.
func (c *shownPicture) ask(t *testing.T, stored []byte) {
	t.Helper()
	a := c.File.Apply
	transform := a.Transform
	if transform == "" {
		transform = run.TransformStretch
	}
	opt := run.CSV{TestShare: -1, Image: run.Image{Size: a.Shape[len(a.Shape)-2:], Channels: 1, Transform: transform}}
	if len(a.Shape) == 3 {
		opt.Image.Channels = a.Shape[0]
	}
	ds, _, err := load.Load(t.Context(), []source.File{source.Bytes("x.zip", datatest.Zip("a/1.png", stored, "b/1.png", datatest.Grey(9, 9, 7)))}, nil, opt, nil)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	p, err := Open(c.File, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	upright := false
	seen, err := p.Picture(t.Context(), source.Bytes("1.png", stored), &upright)
	if err != nil || !bytes.Equal(seen.Pixels, ds.Train.U8[:a.Features]) {
		t.Fatalf("%s: training reads another picture than the page shows: %v", c.Name, err)
	}
	row := make([]run.Number, 0, a.Features)
	for _, v := range seen.Pixels {
		row = append(row, run.Number(v))
	}
	text, err := json.Marshal([][]run.Number{row})
	if err != nil {
		t.Fatal(err)
	}
	var rows []run.Row
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	answers, err := p.Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	c.row, c.want = seen.Pixels, answers[0].Outputs
}

func (c *shownPicture) same(t *testing.T, what string, row, outputs []float64) {
	t.Helper()
	for i, v := range c.row {
		if row[i] != float64(v) {
			t.Errorf("%s: %s makes %v of feature %d, and the page %d", c.Name, what, row[i], i, v)
			return
		}
	}
	for k, w := range c.want {
		if off := math.Abs(outputs[k] - float64(w)); !(off <= 1e-5) {
			t.Errorf("%s: %s answers %v, and the page %v", c.Name, what, outputs, c.want)
			return
		}
	}
}

// TestAFolderIsAnswered: every picture of a folder gets its line, by its path, in the order of training, and one that
// cannot be read its reason; hidden folders are left out.
func TestAFolderIsAnswered(t *testing.T) {
	p, err := Open(pictureModel("fit", 8, 8), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	wide := datatest.Grey(8, 32, 200)
	files := []source.File{source.Bytes("d/dog/=1.png", wide), source.Bytes("d/cat/2.png", datatest.Grey(8, 8, 90)), source.Bytes("d/cat/.ipynb_checkpoints/2.png", wide), source.Bytes("d/cat/bad.png", []byte("x")), source.Bytes("d/labels.csv", []byte("x,y\n1,2\n"))}
	var out bytes.Buffer
	reply, err := p.AnswerPictures(t.Context(), files, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(out.String(), "\ufeff"))).ReadAll()
	if err != nil || len(lines) != 4 || !slices.Equal(lines[0], []string{"picture", "answer", "p(a)", "p(b)", "p(c)", "problem"}) {
		t.Fatalf("%v, %v", lines, err)
	}
	if reply.Rows != 3 || reply.Problems != 1 || reply.Own != 1 || lines[1][0] != "d/cat/2.png" || lines[2][0] != "d/cat/bad.png" || !strings.Contains(lines[2][5], "a PNG or JPEG picture") || lines[3][0] != "d/dog/=1.png" || len(reply.Warnings) != 1 {
		t.Errorf("%+v\n%v", reply, lines)
	}
	seen, err := p.Picture(t.Context(), files[0], nil)
	if err != nil || seen.Inverted || seen.Pixels[0] != 0 || seen.Pixels[4*8] != 200 {
		t.Errorf("a wide picture: %v, %v", seen, err)
	}
	rows := []run.Row{}
	if err := json.Unmarshal([]byte("["+strings.ReplaceAll(fmt.Sprint(append([]int(nil), ints(seen.Pixels)...)), " ", ",")+"]"), &rows); err != nil {
		t.Fatal(err)
	}
	answers, err := p.Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	if have, err := strconv.ParseFloat(lines[3][2], 64); err != nil || math.Abs(have-float64(answers[0].Outputs[0])) > 1e-6 || lines[3][1] != answers[0].Answer {
		t.Errorf("in the folder %v, and alone %v", lines[3], answers[0])
	}
}

func ints(b []uint8) (all []int) {
	for _, v := range b {
		all = append(all, int(v))
	}
	return all
}

// TestOnlyArraysAreInverted: a model that was trained on files of pictures sees a light one as it is; one
// of arrays may have learned light on dark.
func TestOnlyArraysAreInverted(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		transform string
		shape     []int
		asked     *bool
		want      bool
	}{{"fit", []int{8, 8}, nil, false}, {"", []int{8, 8}, nil, true}, {"", []int{3, 8, 8}, nil, false}, {"", []int{8, 8}, &no, false}, {"fit", []int{8, 8}, &yes, true}} {
		p, err := Open(pictureModel(c.transform, c.shape...), purego.New())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		seen, err := p.Picture(t.Context(), source.Bytes("1.png", datatest.Grey(8, 8, 250)), c.asked)
		if err != nil || seen.Inverted != c.want || (seen.Pixels[20] == 5) != c.want {
			t.Errorf("%+v: %+v, %v", c, seen, err)
		}
	}
	bad := pictureModel("squeeze", 8, 8)
	if err := bad.Check(); err == nil || !strings.Contains(err.Error(), "transform") {
		t.Errorf("a transform that there is not: %v", err)
	}
}

// TestNoPicturesNameIsAFormula: neither the path of a picture nor what is said of one that is damaged begins a cell that a
// spreadsheet would run.
func TestNoPicturesNameIsAFormula(t *testing.T) {
	p, err := Open(pictureModel("fit", 8, 8), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	files := []source.File{source.Bytes("=1+1.png", []byte("\x89PNG\r\n\x1a\ndamaged")), source.Bytes("@x.png", []byte("\x89PNG\r\n\x1a\ndamaged"))}
	var w bytes.Buffer
	reply, err := p.AnswerPictures(t.Context(), files, &w, nil)
	if err != nil || reply.Problems != len(files) {
		t.Fatalf("%+v, %v", reply, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(w.Bytes(), []byte("\ufeff")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("a spreadsheet runs %q", cell)
			}
		}
	}
}
