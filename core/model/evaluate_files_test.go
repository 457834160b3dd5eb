package model

import (
	"fmt"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
)

// TestArraysOfAnyLabelsAreEvaluatedOrRefused: labels that are floating-point numbers are classes to a model of classes, and amounts
// and rows of several labels are refused.
func TestArraysOfAnyLabelsAreEvaluatedOrRefused(t *testing.T) {
	const n = 12
	f := pictureModel("", 4, 4)
	f.Apply.Classes = []string{"0", "1", "2"}
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := source.Bytes("x.npy", datatest.NPY("|u1", fmt.Sprint(n, ", 4, 4"), make([]uint8, n*16)))
	for name, c := range map[string]struct {
		labels []byte
		want   string
	}{
		"whole":   {datatest.NPY("<f4", "12,", []float32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}), ""},
		"amounts": {datatest.NPY("<f4", "12, 2", make([]float32, 2*n)[:]), "as the model was trained on"},
		"others":  {datatest.NPY("<f4", "12,", datatest.Ramp[float32](n)), "one of the model's classes"},
		"flags":   {datatest.NPY("|u1", "12, 3", []uint8{1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1}), "as the model was trained on"},
	} {
		e, err := p.Evaluate(t.Context(), []source.File{x, source.Bytes("y.npy", c.labels)}, nil)
		if c.want == "" && (err != nil || e.Rows != n) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

// TestRowsCalledTestAreEvaluated: all rows of the files count, those in files and folders that call themselves test among them.
func TestRowsCalledTestAreEvaluated(t *testing.T) {
	p, err := Open(pictureModel("fit", 4, 4), purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dark, light := datatest.Grey(4, 4, 3), datatest.Grey(4, 4, 99)
	for name, files := range map[string][]source.File{
		"folders": {source.Bytes("a.zip", datatest.Zip("train/a/1.png", dark, "train/b/1.png", light, "test/a/1.png", light, "test/b/7.png", dark))},
		"files":   {source.Bytes("a.zip", datatest.Zip("a/1.png", dark, "b/1.png", light)), source.Bytes("test.zip", datatest.Zip("a/1.png", light, "b/1.png", dark))},
	} {
		if e, err := p.Evaluate(t.Context(), files, nil); err != nil || e.Rows != 4 {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
