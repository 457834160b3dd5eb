package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// publicOf reads a file of public rows for the data in another.
func publicOf(t *testing.T, private, public source.File, opt run.CSV) (*data.Dataset, *PublicRows, error) {
	t.Helper()
	opt.TestShare = -1
	ds, _, err := load.Load(t.Context(), []source.File{private}, nil, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := *ds
	rows, err := ReadPublic(t.Context(), load.Loader{}, public, ds, nil)
	if !reflect.DeepEqual(before, *ds) {
		t.Error("reading public rows changed the data")
	}
	return ds, rows, err
}

// TestPublicRowsReadAsPrivateOnes: a file that is read as public rows for itself has the rows that the data has,
// in tables of numbers, categories, gaps, dates, texts, sequences, several labels and targets.
func TestPublicRowsReadAsPrivateOnes(t *testing.T) {
	var b strings.Builder
	b.WriteString("age,town,day,note,y,z,w\n")
	for i := range 60 {
		age := fmt.Sprint(20 + i%50)
		if i%7 == 0 {
			age = ""
		}
		fmt.Fprintf(&b, "%s,%s,2024-01-%02d,\"some words %d and more\",%s,%d,%d\n", age, []string{"bern", "genf", "chur"}[i%3], 1+i%28, i, []string{"no", "yes"}[i/3%2], i%2, i/2%2)
	}
	table := source.Bytes("rows.csv", []byte(b.String()))
	for name, opt := range map[string]run.CSV{
		"classes":    {Label: "y", Missing: "indicator", Columns: map[string]string{"note": "text"}},
		"a sequence": {Label: "y", Missing: "zero", Columns: map[string]string{"note": "letters"}},
		"numbers":    {Label: "z", Missing: "zero", Task: "regression", Columns: map[string]string{"note": "ignored"}},
		"labels":     {Task: "multi-label", Missing: "zero", Columns: map[string]string{"z": "label", "w": "label", "y": "ignored", "note": "ignored"}},
	} {
		ds, rows, err := publicOf(t, table, table, opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, want := &rows.Split, &ds.Train
		if got.N != want.N || !slices.Equal(got.F32, want.F32) || !slices.Equal(got.Y, want.Y) || rows.Info.Rows != 60 || rows.Info.LeftOut != 0 {
			t.Errorf("%s: %d rows %v %v, want %v %v", name, got.N, got.F32, got.Y, want.F32, want.Y)
		}
		if want.Words != nil && !reflect.DeepEqual(got.Words, want.Words) {
			t.Errorf("%s: words %v, want %v", name, got.Words, want.Words)
		}
	}
}

// TestPublicRowsOfOtherDataAreNamed: a column that is missing and a class that the data has not are refused; columns in
// another order, a category of no private row and a cell that cannot be read are not.
func TestPublicRowsOfOtherDataAreNamed(t *testing.T) {
	private := source.Bytes("private.csv", []byte("age,town,y\n"+strings.Repeat("30,bern,no\n40,genf,yes\n", 20)))
	for text, want := range map[string]string{
		"age,y\n30,no\n":                `"town"`,
		"age,town,y\n30,bern,perhaps\n": "perhaps",
		"age,town\n30,bern\n":           `"y"`,
		"age,town,y\nold,bern,no\n":     "none. The first",
	} {
		if _, _, err := publicOf(t, private, source.Bytes("public.csv", []byte(text)), run.CSV{Label: "y"}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "public.csv") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	_, rows, err := publicOf(t, private, source.Bytes("public.csv", []byte("y,more,town,age\nyes,1,genf,50\nno,2,chur,60\nno,3,bern,old\n")), run.CSV{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if s := rows.Split; s.N != 2 || !slices.Equal(s.F32, []float32{50, 0, 1, 60, 0, 0}) || !slices.Equal(s.Y, []float32{1, 0}) || rows.Info.LeftOut != 1 || !strings.Contains(rows.Info.Problem, "old") {
		t.Errorf("%+v of %+v", s, rows.Info)
	}
	if _, err := ReadPublic(t.Context(), load.Loader{}, private, &data.Dataset{Task: data.Classification, Features: 4, Shape: []int{2, 2}, Outputs: 2, Classes: []string{"no", "yes"}}, nil); err == nil {
		t.Error("a table was taken for pictures")
	}
}

// TestPublicPicturesComeToTheShapeOfPrivateOnes: pictures of another size come to the data's, as bytes, and classes are
// matched by name; a class that the data has not and a table are refused.
func TestPublicPicturesComeToTheShapeOfPrivateOnes(t *testing.T) {
	private := source.Bytes("private.zip", datatest.Zip("cat/1.png", datatest.Grey(4, 4, 3), "dog/1.png", datatest.Grey(4, 4, 99), "dog/2.png", datatest.Grey(4, 4, 98)))
	ds, rows, err := publicOf(t, private, source.Bytes("public.zip", datatest.Zip("dog/7.png", datatest.Grey(8, 8, 50), "cat/9.png", datatest.Grey(8, 8, 60))), run.CSV{})
	if err != nil {
		t.Fatal(err)
	}
	s := rows.Split
	if s.N != 2 || len(s.U8) != 2*ds.Features || s.U8[0] == s.U8[ds.Features] {
		t.Fatalf("%d rows of %d bytes", s.N, len(s.U8))
	}
	for i, y := range s.Y {
		if want := map[uint8]string{50: "dog", 60: "cat"}[s.U8[i*ds.Features]]; ds.Classes[int(y)] != want {
			t.Errorf("row %d is a %s, want a %s", i, ds.Classes[int(y)], want)
		}
	}
	for name, c := range map[string]struct {
		file source.File
		said string
	}{
		"another class": {source.Bytes("public.zip", datatest.Zip("cat/1.png", datatest.Grey(4, 4, 3), "cow/1.png", datatest.Grey(4, 4, 99))), "cow"},
		"a table":       {source.Bytes("public.csv", []byte("x,y\n1,cat\n2,dog\n")), "public.csv"},
	} {
		if _, _, err := publicOf(t, private, c.file, run.CSV{}); err == nil || !strings.Contains(err.Error(), c.said) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
