package load_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"

	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// gradient is a picture of its own for each number.
func gradient(t *testing.T, name string, number int) source.File {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 6, 6))
	for k := range img.Pix {
		img.Pix[k] = byte(number*37 + k*(number+1))
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return source.Bytes(name, b.Bytes())
}

// partsOf are hashes of the parts of files.
func partsOf(t *testing.T, opt run.CSV, tested bool, files ...source.File) []string {
	t.Helper()
	var parts []string
	h := sha256.New()
	add := func() { parts = append(parts, string(h.Sum(nil))) }
	if err := (load.Loader{}).Parts(context.Background(), files, opt, tested, h, add); err != nil {
		t.Fatal(err)
	}
	return parts
}

// TestPartsOfTables: a table's parts are its rows by their cells, however it is written.
func TestPartsOfTables(t *testing.T) {
	const text = "name,height,kind\nAnna,1.70,a\nBert,1.80,b\n\"Claus, C.\",1.75,a\nDora,1.65,b\n"
	want := partsOf(t, run.CSV{}, false, source.Bytes("a.csv", []byte(text)))
	if len(want) != 4 {
		t.Fatalf("%d parts of four rows", len(want))
	}
	for what, again := range map[string][]string{
		"semicolons":      partsOf(t, run.CSV{}, false, source.Bytes("b.csv", []byte("name;height;kind\nAnna;1.70;a\n Bert;1.80;b\nClaus, C.;1.75;a\nDora;1.65;b\n"))),
		"tabs":            partsOf(t, run.CSV{}, false, source.Bytes("b.tsv", []byte("name\theight\tkind\nAnna\t1.70\ta\nBert\t1.80\tb\nClaus, C.\t1.75\ta\nDora\t1.65\tb\n"))),
		"another label":   partsOf(t, run.CSV{Label: "name"}, false, source.Bytes("a.csv", []byte(text))),
		"ignored columns": partsOf(t, run.CSV{Columns: map[string]string{"name": "ignored"}}, false, source.Bytes("a.csv", []byte(text))),
		"empty rows":      partsOf(t, run.CSV{}, false, source.Bytes("a.csv", []byte(text+",,\n,,\n"))),
	} {
		if strings.Join(again, "") != strings.Join(want, "") {
			t.Errorf("%s: other parts", what)
		}
	}
	// Cells are not joined: ab,c is not a,bc.
	if a, b := partsOf(t, run.CSV{}, false, source.Bytes("a", []byte("x,y\nab,c\nq,r\n"))), partsOf(t, run.CSV{}, false, source.Bytes("a", []byte("x,y\na,bc\nq,r\n"))); a[0] == b[0] || a[1] != b[1] {
		t.Error("rows of other cells have one part")
	}
}

// TestSameContentIsSaid: the same file or picture under two names in one choice is warned of,
// with both names; files that only are of one size are not.
func TestSameContentIsSaid(t *testing.T) {
	var a, b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&a, "%d,%d\n", 100+i, i%2)
		fmt.Fprintf(&b, "%d,%d\n", 200+i, i%2)
	}
	first, second := []byte("x,kind\n"+a.String()), []byte("x,kind\n"+b.String())
	pictures := func(files ...source.File) []source.File {
		for i := range 12 {
			files = append(files, gradient(t, fmt.Sprintf("all/%s/%d.png", []string{"cat", "dog"}[i%2], i), i))
		}
		return files
	}
	zipped := func(name string) source.File {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for i := range 12 {
			w, err := z.Create(fmt.Sprintf("%s/%d.png", []string{"cat", "dog"}[i%2], i))
			if err == nil {
				_, err = w.Write(bytesOf(t, gradient(t, "", i)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return source.Bytes(name, out.Bytes())
	}
	for _, c := range []struct {
		what  string
		files []source.File
		names []string // "" first: nothing is said
	}{
		{"tables", []source.File{source.Bytes("one.csv", first), source.Bytes("two.csv", first)}, []string{"one.csv", "two.csv"}},
		{"tables of one size", []source.File{source.Bytes("one.csv", first), source.Bytes("two.csv", second)}, nil},
		{"three tables", []source.File{source.Bytes("one.csv", first), source.Bytes("two.csv", second), source.Bytes("three.csv", first)}, []string{"one.csv", "three.csv"}},
		{"pictures", pictures(gradient(t, "all/cat/again.png", 3)), []string{"all/dog/3.png", "all/cat/again.png"}},
		{"other pictures", pictures(), nil},
		{"a picture for testing", []source.File{gradient(t, "train/cat/1.png", 1), gradient(t, "train/dog/2.png", 2), gradient(t, "test/cat/3.png", 1)}, nil},
		{"archives", []source.File{zipped("a.zip"), zipped("b.zip")}, []string{"a.zip/cat/0.png", "b.zip/cat/0.png"}},
	} {
		_, report, err := load.Load(context.Background(), c.files, nil, run.CSV{}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		said := ""
		for _, w := range report.Warnings {
			if strings.Contains(w, "counts twice") {
				said += w
			}
		}
		if (said == "") != (c.names == nil) {
			t.Errorf("%s: %q is said, want %q", c.what, said, c.names)
		}
		for _, name := range c.names {
			if !strings.Contains(said, name) {
				t.Errorf("%s: %q does not name %s", c.what, said, name)
			}
		}
	}
}

// bytesOf is all that a file holds.
func bytesOf(t *testing.T, f source.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
