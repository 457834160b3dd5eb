package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
)

// idx writes an IDX file of unsigned bytes.
func idx(values []byte, dims ...int) []byte {
	b := []byte{0, 0, idxUbyte, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, values...)
}

// images are n images of h×w pixels and their labels 0 … classes−1 in turn.
func images(n, h, w, classes int) (img, lab []byte) {
	px, y := make([]byte, n*h*w), make([]byte, n)
	for i := range px {
		px[i] = byte(i * 7)
	}
	for i := range y {
		y[i] = byte(i % classes)
	}
	return idx(px, n, h, w), idx(y, n)
}

func gz(b []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

const (
	cifarRecord  = 1 + cifarPixels
	cifarClasses = 10
)

// cifar are n records whose labels go round.
func cifar(n int) []byte {
	b := make([]byte, n*cifarRecord)
	for i := range n {
		rec := b[i*cifarRecord : (i+1)*cifarRecord]
		for j := range rec {
			rec[j] = byte(i + j)
		}
		rec[0] = byte(i % cifarClasses)
	}
	return b
}

func load(t *testing.T, opt run.CSV, train []File, test ...File) (*Dataset, *Report) {
	t.Helper()
	ds, r, err := Load(t.Context(), train, test, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(ds); err != nil {
		t.Fatal(err)
	}
	return ds, r
}

// check states what every Dataset holds to.
func check(ds *Dataset) error {
	if ds.Features < 1 && ds.Train.Text == nil || ds.Outputs < 1 || ds.Train.N < 1 {
		return fmt.Errorf("%d features, %d outputs, %d rows", ds.Features, ds.Outputs, ds.Train.N)
	}
	if ds.Task == Classification && (len(ds.Classes) != ds.Outputs || ds.Outputs < 2) {
		return fmt.Errorf("%d classes for %d outputs", len(ds.Classes), ds.Outputs)
	}
	if ds.Bounds != nil && len(ds.Bounds) != ds.Features {
		return fmt.Errorf("%d bounds for %d features", len(ds.Bounds), ds.Features)
	}
	if n := 1; ds.Shape != nil {
		for _, d := range ds.Shape {
			n *= d
		}
		if n != ds.Features {
			return fmt.Errorf("shape %v for %d features", ds.Shape, ds.Features)
		}
	}
	next := 0
	for _, c := range ds.Columns {
		switch c.Kind {
		case Numeric, Categorical:
			if c.First != next {
				return fmt.Errorf("column %q begins at %d, not %d", c.Name, c.First, next)
			}
			next += max(1, len(c.Categories))
			if c.Indicator > 0 {
				if c.Indicator != next {
					return fmt.Errorf("column %q says what is missing at %d, not %d", c.Name, c.Indicator, next)
				}
				next++
			}
		default:
			if c.First != -1 {
				return fmt.Errorf("column %q has feature %d", c.Name, c.First)
			}
		}
	}
	if ds.Columns != nil && next != ds.Features {
		return fmt.Errorf("columns make %d features of %d", next, ds.Features)
	}
	for _, sp := range []Split{ds.Train, ds.Test} {
		if err := checkSplit(ds, sp); err != nil {
			return err
		}
	}
	return nil
}

func checkSplit(ds *Dataset, sp Split) error {
	if len(sp.Y) != sp.N*ds.TargetWidth() || len(sp.U8)+len(sp.F32) != sp.N*ds.Features {
		return fmt.Errorf("%d rows of %d: %d targets, %d + %d values", sp.N, ds.Features, len(sp.Y), len(sp.U8), len(sp.F32))
	}
	for i, v := range slices.Concat(sp.F32, sp.Y) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
	}
	for i, y := range sp.Y {
		if ds.Task == Classification && (y < 0 || int(y) >= ds.Outputs || y != float32(int(y))) {
			return fmt.Errorf("target %d is class %v of %d", i, y, ds.Outputs)
		}
	}
	return nil
}

func TestLoadIDX(t *testing.T) {
	img, lab := images(30, 4, 5, 3)
	testImg, testLab := images(6, 4, 5, 3)
	for name, train := range map[string][]File{
		"plain":      {Bytes("a", img), Bytes("b", lab)},
		"turned":     {Bytes("a", lab), Bytes("b", img)},
		"gzip":       {Bytes("a.gz", gz(img)), Bytes("b.gz", gz(lab))},
		"gzip, mute": {Bytes("a", gz(img)), Bytes("b", lab)},
	} {
		ds, r := load(t, run.CSV{}, train, Bytes("c", testLab), Bytes("d", testImg))
		if ds.Train.N != 30 || ds.Test.N != 6 || !slices.Equal(ds.Shape, []int{4, 5}) || ds.Outputs != 3 {
			t.Errorf("%s: %d + %d rows, shape %v, %d classes", name, ds.Train.N, ds.Test.N, ds.Shape, ds.Outputs)
		}
		if !bytes.Equal(ds.Train.U8, img[16:]) || ds.Train.Y[4] != 1 || ds.Bounds[19] != (Bound{0, 255}) {
			t.Errorf("%s: pixels, labels or bounds differ", name)
		}
		if len(r.Preview.Images) != 10 || len(r.Preview.Images[0]) != 20 || r.Format != "idx" || r.Preview.Labels[1] != "1" {
			t.Errorf("%s: report %+v", name, r)
		}
	}
}

func TestLoadTakesTestFilesByName(t *testing.T) {
	img, lab := images(30, 2, 2, 3)
	testImg, testLab := images(6, 2, 2, 3)
	ds, r := load(t, run.CSV{}, []File{
		Bytes("t10k-images-idx3-ubyte", testImg), Bytes("t10k-labels-idx1-ubyte", testLab),
		Bytes("train-images-idx3-ubyte", img), Bytes("train-labels-idx1-ubyte", lab)})
	if ds.Train.N != 30 || ds.Test.N != 6 || len(r.Warnings) != 2 {
		t.Errorf("%d + %d rows, warnings %q", ds.Train.N, ds.Test.N, r.Warnings)
	}
}

// cifarHundred are n records of CIFAR-100.
func cifarHundred(n int) []byte {
	record := cifar100("").record()
	b := make([]byte, n*record)
	for i := range n {
		rec := b[i*record : (i+1)*record]
		for j := range rec {
			rec[j] = byte(200 + i + j%7) // as bright as no label is
		}
		rec[0], rec[1] = byte(i%20), byte(i%100)
	}
	return b
}

func TestLoadCIFAR100(t *testing.T) {
	b := cifarHundred(150)
	for name, tc := range map[string]struct {
		file    File
		labels  string
		classes int
		last    string
		second  float32 // the class of row 101
	}{
		"fine":        {Bytes("train.bin", b), "", 100, "worm", 1},
		"fine, said":  {Bytes("train.bin", gz(b)), "fine", 100, "worm", 1},
		"coarse":      {Bytes("train.bin", b), "coarse", 20, "vehicles_2", 1},
		"one by size": {Bytes("x", append(make([]byte, cifar100("").record()), b[:cifar100("").record()*2]...)), "", 100, "worm", 0},
	} {
		ds, r := load(t, all(run.CSV{Labels: tc.labels}), []File{tc.file})
		if r.Format != "cifar-100" || len(ds.Classes) != tc.classes || ds.Classes[tc.classes-1] != tc.last || ds.Features != cifarPixels {
			t.Fatalf("%s: %s, %d classes, the last %s", name, r.Format, len(ds.Classes), ds.Classes[len(ds.Classes)-1])
		}
		if tc.second > 0 && (ds.Train.Y[101] != tc.second || ds.Train.U8[101*cifarPixels] != (200+101+2)%256) {
			t.Errorf("%s: row 101 is of class %v and begins with %d", name, ds.Train.Y[101], ds.Train.U8[101*cifarPixels])
		}
	}
	if _, r := load(t, all(run.CSV{}), []File{Bytes("b", cifar(3074))}); r.Format != "cifar-10" {
		t.Errorf("records of CIFAR-10, as many as have a size of both: %s", r.Format)
	}
	b[25*3074+1] = 100
	if _, _, err := Load(t.Context(), []File{Bytes("train.bin", b)}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "row 26, byte 76851: expected a label from 0 to 99, found label 100") {
		t.Errorf("a label that is out of range: %v", err)
	}
	if _, _, err := Load(t.Context(), []File{Bytes("train.bin", b[:3074*9])}, nil, run.CSV{Labels: "some"}, nil); err == nil {
		t.Error("no error for labels that there are none of")
	}
}

func TestLoadCIFAR(t *testing.T) {
	b := cifar(25)
	ds, _ := load(t, run.CSV{}, []File{Bytes("data_batch_1.bin", b), Bytes("x", gz(b))}, Bytes("y", b))
	if ds.Train.N != 50 || ds.Test.N != 25 || ds.Classes[9] != "truck" {
		t.Errorf("%d + %d rows, classes %v", ds.Train.N, ds.Test.N, ds.Classes)
	}
	if row := ds.Train.U8[26*cifarPixels : 27*cifarPixels]; !bytes.Equal(row, b[cifarRecord+1:2*cifarRecord]) || ds.Train.Y[26] != 1 {
		t.Error("the second file's second record is not where it belongs")
	}
}

func TestHoldOutLosesNothing(t *testing.T) {
	const n, f = 103, 3
	rng := rand.New(rand.NewPCG(1, 1))
	for _, share := range []float64{0.001, 0.1, 0.5, 0.9} {
		ds := &Dataset{Features: f, Outputs: 1, Task: Regression}
		ds.Train.N = n
		want := map[[f + 1]float32]bool{}
		for range n {
			row := [f + 1]float32{rng.Float32(), rng.Float32(), rng.Float32(), rng.Float32()}
			want[row] = true
			ds.Train.F32 = append(ds.Train.F32, row[:f]...)
			ds.Train.Y = append(ds.Train.Y, row[f])
		}
		ds.holdOut(share)
		if err := check(ds); err != nil {
			t.Fatal(err)
		}
		if ds.Test.N != int(n*share) || ds.Train.N != n-int(n*share) {
			t.Errorf("share %v: %d + %d rows", share, ds.Train.N, ds.Test.N)
		}
		for _, sp := range []Split{ds.Train, ds.Test} {
			for i := range sp.N {
				delete(want, [f + 1]float32{sp.F32[i*f], sp.F32[i*f+1], sp.F32[i*f+2], sp.Y[i]})
			}
		}
		if len(want) != 0 {
			t.Errorf("share %v: %d rows are lost", share, len(want))
		}
	}
}

// TestHoldOutTakesTheSameRows: which rows are held out is decided by their number
// alone, and stays so from one version to the next.
func TestHoldOutTakesTheSameRows(t *testing.T) {
	const n = 1000
	ds := &Dataset{Features: 1, Outputs: 1, Task: Regression, Train: Split{N: n, F32: make([]float32, n), Y: make([]float32, n)}}
	for i := range n {
		ds.Train.F32[i], ds.Train.Y[i] = float32(i), float32(i)
	}
	ds.holdOut(0.2)
	want := rand.New(rand.NewPCG(0x686f6c64, 0x6f7574)).Perm(n)[:200]
	slices.Sort(want)
	if got := labels(ds.Test.Y, 200); !slices.Equal(got, want) || got[0] != 11 || !slices.Equal(ds.Test.F32, ds.Test.Y) {
		t.Errorf("held out are %v …", got[:10])
	}
}

// Where chance could leave a class without test rows, each gives its share of them, and
// keeps some to train on; where all have many, chance decides as ever.
func TestHoldOutByClass(t *testing.T) {
	for _, c := range []struct {
		rows  []int
		share float64
		want  []int // test rows of each class; nil: as by chance
	}{
		{[]int{950, 24}, 0.2, []int{190, 4}}, // 194.8 rows are 194
		{[]int{970, 24}, 0.2, []int{194, 4}},
		{[]int{970, 25}, 0.2, nil},
		{[]int{50, 50, 50}, 0.2, nil},
		{[]int{40, 3, 4, 3}, 0.2, []int{8, 1, 1, 0}}, // the largest remainders: 0.8, then the first 0.6
		{[]int{100, 1, 1}, 0.9, []int{91, 0, 0}},
		{[]int{2, 2}, 0.9, []int{1, 1}},
		{[]int{1, 1, 1, 1, 1}, 0.5, []int{0, 0, 0, 0, 0}},
		{[]int{7, 0, 93}, 0.29, []int{2, 0, 26}}, // 100 · 0.29 is less than 29 in floating point,
	} {
		ds := &Dataset{Task: Classification, Features: 1, Outputs: len(c.rows), Classes: make([]string, len(c.rows))}
		for class, n := range c.rows {
			for range n {
				ds.Train.F32, ds.Train.Y = append(ds.Train.F32, float32(ds.Train.N)), append(ds.Train.Y, float32(class))
				ds.Train.N++
			}
		}
		n := ds.Train.N
		ds.holdOut(c.share)
		byClass := ds.ByClass
		got := make([]int, len(c.rows))
		for _, y := range ds.Test.Y {
			got[int(y)]++
		}
		if c.want == nil {
			if byClass || ds.Test.N != int(float64(n)*c.share) {
				t.Errorf("%v: by class %v, %v of %v", c.rows, byClass, got, c.share)
			}
			continue
		}
		if !slices.Equal(got, c.want) || ds.Train.N+ds.Test.N != n || len(ds.Test.F32) != ds.Test.N || byClass != (ds.Test.N > 0) {
			t.Errorf("%v: %v of %v, want %v; by class %v", c.rows, got, c.share, c.want, byClass)
		}
	}
}

// TestBadInput lists what may be wrong with files, and where the error must point.
func TestBadInput(t *testing.T) {
	img, lab := images(30, 4, 5, 3)
	with := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	rows := func(s string) string { // 40 good rows around a bad one at line 21
		good := "1,2.5,yes\n3,4.5,no\n"
		return strings.Repeat(good, 10) + s + strings.Repeat(good, 10)
	}
	one := func(name string, b []byte) []File { return []File{Bytes(name, b)} }
	table := func(s string) []File { return one("t.csv", []byte(s)) }
	pair := func(a, b []byte) []File { return []File{Bytes("img", a), Bytes("lab", b)} }
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 100)...)
	type want struct {
		file     string
		row, col int
		byte     int64
		text     string
	}
	for name, tc := range map[string]struct {
		train []File
		test  []File
		opt   run.CSV
		want  want
	}{
		"no files":           {nil, nil, run.CSV{}, want{text: "at least one file"}},
		"empty file":         {table(""), nil, run.CSV{}, want{file: "t.csv", text: "empty file"}},
		"empty gzip":         {one("t.gz", gz(nil)), nil, run.CSV{}, want{file: "t.gz", text: "empty file"}},
		"blank lines":        {table("\n\n\n"), nil, run.CSV{}, want{file: "t.csv", text: "none"}},
		"header alone":       {table("a,b,label\n"), nil, run.CSV{Header: "yes"}, want{file: "t.csv", text: "rows of data"}},
		"truncated images":   {pair(img[:len(img)-7], lab), nil, run.CSV{}, want{file: "img", byte: 609, text: "616 bytes"}},
		"truncated header":   {pair(img[:10], lab), nil, run.CSV{}, want{file: "img", byte: 10, text: "header of 16 bytes"}},
		"left over":          {pair(append(slices.Clone(img), 1, 2), lab), nil, run.CSV{}, want{file: "img", byte: 616, text: "2 bytes too many"}},
		"gzip, short IDX":    {pair(gz(img[:len(img)-7]), lab), nil, run.CSV{}, want{file: "img", byte: 609, text: "ends early"}},
		"gzip, left over":    {pair(gz(append(slices.Clone(img), 1)), lab), nil, run.CSV{}, want{file: "img", byte: 616, text: "left over"}},
		"gzip cut short":     {pair(gz(img)[:100], lab), nil, run.CSV{}, want{file: "img", text: "cut short after 100 bytes"}},
		"gzip checksum":      {pair(with(gz(img), len(gz(img))-6, 1), lab), nil, run.CSV{}, want{file: "img", text: "sound gzip"}},
		"gzip header alone":  {pair(gz(img)[:5], lab), nil, run.CSV{}, want{file: "img", text: "cut short"}},
		"wrong magic":        {one("train-images-idx3-ubyte", with(img, 0, 9)), nil, run.CSV{}, want{file: "train-images-idx3-ubyte", text: "found 09 00 08 03"}},
		"float IDX":          {pair(with(img, 2, 0x0d), lab), nil, run.CSV{}, want{file: "img", byte: 2, text: "unsigned bytes"}},
		"IDX too large":      {pair(idx(nil, 1<<30, 1000, 1000), lab), nil, run.CSV{}, want{file: "img", byte: 8, text: "limit"}},
		"IDX gzip too large": {pair(gz(idx(nil, 1000, 1000)), lab), nil, run.CSV{}, want{file: "img", text: "too small"}},
		"IDX no rows":        {pair(idx(nil, 0, 28, 28), lab), nil, run.CSV{}, want{file: "img", byte: 4, text: "no rows"}},
		"no labels":          {one("img", img), nil, run.CSV{}, want{file: "img", text: "images without labels"}},
		"no images":          {one("lab", lab), nil, run.CSV{}, want{file: "lab", text: "labels without images"}},
		"two image files":    {[]File{Bytes("img", img), Bytes("img2", img)}, nil, run.CSV{}, want{file: "img2", text: "second image file beside img"}},
		"counts differ":      {pair(img, idx(make([]byte, 29), 29)), nil, run.CSV{}, want{file: "lab", text: "30 labels"}},
		"label out of range": {pair(img, with(lab, 8+17, 200)), nil, run.CSV{}, want{file: "lab", row: 18, byte: 25, text: "label 200"}},
		"test label unknown": {pair(img, lab), pair(img, with(lab, 8+4, 9)), run.CSV{}, want{file: "lab", row: 5, byte: 12, text: "label 9"}},
		"one class of IDX":   {pair(img, idx(make([]byte, 30), 30)), nil, run.CSV{}, want{file: "lab", text: "only class \"0\""}},
		"test image size":    {pair(img, lab), pair(idx(make([]byte, 30*9), 30, 3, 3), lab), run.CSV{}, want{file: "img", byte: 8, text: "20 pixels"}},

		"CIFAR cut short":    {one("c", cifar(9)[:5*cifarRecord+10]), nil, run.CSV{}, want{file: "c", byte: 5*cifarRecord + 10, text: "10 bytes into record 6"}},
		"CIFAR label":        {one("cifar", with(cifar(30), 25*cifarRecord, 77)), nil, run.CSV{}, want{file: "cifar", row: 26, byte: 25 * cifarRecord, text: "label 77"}},
		"CIFAR one class":    {one("c", cifar(1)), nil, run.CSV{}, want{file: "c", text: "only class"}},
		"mixed kinds":        {[]File{Bytes("c", cifar(10)), Bytes("img", img)}, nil, run.CSV{}, want{file: "img", text: "same kind as c"}},
		"PNG as CSV":         {one("t.csv", png), nil, run.CSV{}, want{file: "t.csv", text: "a PNG image"}},
		"binary as CSV":      {one("t.csv", bytes.Repeat([]byte{0, 1, 0xfe}, 50)), nil, run.CSV{}, want{file: "t.csv", text: "binary data"}},
		"UTF-16, no mark":    {one("t.csv", []byte("1\x00,\x00b\x00")), nil, run.CSV{}, want{file: "t.csv", text: "binary data"}},
		"bad encoding":       {table(rows("")), nil, run.CSV{Encoding: "ebcdic"}, want{text: "csv.encoding"}},
		"XML":                {table("<?xml version=\"1.0\"?>\n<Workbook/>\n"), nil, run.CSV{}, want{file: "t.csv", text: "an XML file"}},
		"web page":           {table("<!DOCTYPE html>\n<p>404</p>\n"), nil, run.CSV{}, want{file: "t.csv", text: "web page"}},
		"old Mac":            {table("1,2\r3,4\r5,6\r"), nil, run.CSV{}, want{file: "t.csv", text: "CR alone"}},
		"ragged, long":       {table(rows("1,2.5,yes,4\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, text: "3 cells"}},
		"ragged, short":      {table("a,b,label\n" + rows("1,2.5\n")), nil, run.CSV{}, want{file: "t.csv", row: 22, text: "3 cells"}},
		"text among numbers": {table(rows("1,abc,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "\"abc\""}},
		"text, few rows":     {table("x,label\n1,a\n2,b\noops,a\n"), nil, run.CSV{}, want{file: "t.csv", row: 4, col: 1, text: "categorical"}},
		"Inf":                {table(rows("1,Inf,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "finite"}},
		"out of float32":     {table(rows("1,-1e39,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "finite"}},
		"NaN":                {table(rows("1,NaN,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "1 missing cells"}},
		"missing":            {table("a,b,label\n" + rows("1,,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 22, col: 2, text: "b (1)"}},
		"missing label":      {table(rows("1,2,?\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, col: 3, text: "(1)"}},
		"missing in test":    {table(rows("")), table(rows("1,,yes\n")), run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "a value"}},
		"all rows dropped":   {table("a,b,y\n1,,0\n,2,1\n3,,0\n,4,1\n"), nil, run.CSV{Missing: "drop"}, want{file: "t.csv", text: "every row was dropped"}},
		"one class":          {table("a,label\n1,x\n2,x\n3,x\n"), nil, run.CSV{}, want{file: "t.csv", text: "only class \"x\""}},
		"one class remains":  {table("a,label\n1,x\n2,x\n,y\n"), nil, run.CSV{Missing: "drop"}, want{file: "t.csv", text: "only class \"x\""}},
		"class unknown":      {table(rows("")), table(rows("1,2,maybe\n")), run.CSV{}, want{file: "t.csv", row: 21, col: 3, text: "out of range"}},
		"test text":          {table(rows("")), table(rows("1,b,yes\n")), run.CSV{}, want{file: "t.csv", row: 21, col: 2, text: "number"}},
		"test columns":       {table(rows("")), table("1,yes\n2,no\n"), run.CSV{}, want{file: "t.csv", row: 1, text: "3 columns"}},
		"test header":        {table("a,b,label\n" + rows("")), table("a,c,label\n" + rows("")), run.CSV{}, want{file: "t.csv", row: 1, col: 2, text: "\"b\""}},
		"test, no header":    {table("a,b,label\n" + rows("")), table(rows("")), run.CSV{}, want{file: "t.csv", row: 1, text: "a row of data"}},
		"test, header":       {table(rows("")), table("a,b,label\n" + rows("")), run.CSV{}, want{file: "t.csv", row: 1, text: "no header"}},
		"too many classes":   {table(manyClasses()), nil, run.CSV{Task: "classification"}, want{file: "t.csv", col: 2, text: "regression"}},
		"same names":         {table("a,b,a\n" + rows("")), nil, run.CSV{}, want{file: "t.csv", row: 1, col: 3, text: "of its own"}},
		"one column":         {table("1\n2\n3\n"), nil, run.CSV{}, want{file: "t.csv", row: 1, text: "at least two columns"}},
		"only a label":       {table("a,label\nx,0\ny,1\n"), nil, run.CSV{Columns: map[string]string{"a": "ignored"}}, want{file: "t.csv", text: "features"}},
		"open quote":         {table(rows("1,\"2,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, text: "still open"}},
		"stray quote":        {table(rows("1,2\"3,yes\n")), nil, run.CSV{}, want{file: "t.csv", row: 21, text: "stray quote"}},
		"bad label":          {table(rows("")), nil, run.CSV{Label: "nope"}, want{text: "csv.label"}},
		"bad label number":   {table(rows("")), nil, run.CSV{Label: "4"}, want{text: "csv.label"}},
		"bad column":         {table(rows("")), nil, run.CSV{Columns: map[string]string{"nope": "ignored"}}, want{text: "csv.columns"}},
		"bad kind":           {table(rows("")), nil, run.CSV{Columns: map[string]string{"column 1": "blue"}}, want{text: "csv.columns"}},
		"bad delimiter":      {table(rows("")), nil, run.CSV{Delimiter: "ab"}, want{text: "csv.delimiter"}},
		"bad missing":        {table(rows("")), nil, run.CSV{Missing: "guess"}, want{text: "csv.missing"}},
		"bad bad_rows":       {table(rows("")), nil, run.CSV{BadRows: "ignore"}, want{text: "csv.bad_rows"}},
		"bad bounds":         {table(rows("")), nil, run.CSV{Bounds: map[string]run.Bounds{"column 1": {Lo: 1, Hi: 1}}}, want{text: "lo below hi"}},
		"endless bounds":     {table(rows("")), nil, run.CSV{Bounds: map[string]run.Bounds{"column 1": {Hi: math.Inf(1)}}}, want{text: "lo below hi"}},
		"bounds of none":     {table(rows("")), nil, run.CSV{Bounds: map[string]run.Bounds{"nope": {Hi: 1}}}, want{text: "csv.bounds"}},
		"bounds of text":     {table(rows("")), nil, run.CSV{Columns: map[string]string{"column 2": "categorical"}, Bounds: map[string]run.Bounds{"column 2": {Hi: 1}}}, want{col: 2, text: "numeric columns"}},
		"bounds of labels":   {table(rows("")), nil, run.CSV{Bounds: map[string]run.Bounds{"column 3": {Hi: 1}}}, want{col: 3, text: "numeric columns"}},
		"bad fill":           {table(rows("")), nil, run.CSV{Fill: map[string]float64{"column 1": math.Inf(1)}}, want{text: "csv.fill"}},
		"fill of none":       {table(rows("")), nil, run.CSV{Fill: map[string]float64{"nope": 1}}, want{text: "csv.fill"}},
		"bad buckets":        {table(rows("")), nil, run.CSV{Buckets: -1}, want{text: "csv.buckets"}},
		"bad role":           {table(rows("")), nil, run.CSV{Roles: map[string]string{"t.csv": "judge"}}, want{text: "csv.roles"}},
		"role of none":       {table(rows("")), nil, run.CSV{Roles: map[string]string{"u.csv": "test"}}, want{text: "csv.roles"}},
		"no train role":      {table(rows("")), nil, run.CSV{Roles: map[string]string{"t.csv": "test"}}, want{text: "left to train on"}},
		"most rows bad":      {table("1,2,a\n" + strings.Repeat("1,x,b\n", 9)), nil, run.CSV{BadRows: "skip", Columns: map[string]string{"column 2": "numeric"}}, want{file: "t.csv", text: "9 rows that are not"}},
		"open quote, skip":   {table(rows("1,\"2,yes\n")), nil, run.CSV{BadRows: "skip"}, want{file: "t.csv", row: 21, text: "still open"}},
		"bad task":           {table(rows("")), nil, run.CSV{Task: "poetry"}, want{text: "csv.task"}},
		"bad decimal":        {table(rows("")), nil, run.CSV{Decimal: ":"}, want{text: "csv.decimal"}},
		"bad thousands":      {table(rows("")), nil, run.CSV{Thousands: "_"}, want{text: "csv.thousands"}},
		"marks alike":        {table(rows("")), nil, run.CSV{Decimal: ",", Thousands: ","}, want{text: "another mark than the decimal one"}},
		"bad date order":     {table(rows("")), nil, run.CSV{Date: "dym"}, want{text: "csv.date"}},
		"bad header":         {table(rows("")), nil, run.CSV{Header: "maybe"}, want{text: "csv.header"}},
		"bad share":          {table(rows("")), nil, run.CSV{TestShare: 2}, want{text: "test_share"}},
		"text for a target":  {table(rows("")), nil, run.CSV{Task: "regression"}, want{file: "t.csv", row: 1, col: 3, text: "number"}},
	} {
		t.Run(name, func(t *testing.T) {
			ds, r, err := Load(t.Context(), tc.train, tc.test, tc.opt, nil)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("have %v, want an *Error", err)
			}
			if ds != nil || r == nil {
				t.Error("want no data and a report")
			}
			if e.File != tc.want.file || e.Row != tc.want.row || e.Column != tc.want.col || e.Byte != tc.want.byte {
				t.Errorf("points at file %q, row %d, column %d, byte %d; want %+v\n%v", e.File, e.Row, e.Column, e.Byte, tc.want, err)
			}
			if !strings.Contains(err.Error(), tc.want.text) || e.Fix == "" {
				t.Errorf("says %q with fix %q; want %q in it", err, e.Fix, tc.want.text)
			}
		})
	}
}

func manyClasses() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "%d.5,%d.25\n", i, i)
	}
	return b.String()
}

// TestLimits meets each cap with limits small enough to reach.
func TestLimits(t *testing.T) {
	img, lab := images(30, 4, 5, 3)
	wide := strings.Repeat("1,2,3,4,5,6,7,8,a\n9,8,7,6,5,4,3,2,b\n", 10)
	var cats strings.Builder
	for i := range 60 {
		fmt.Fprintf(&cats, "%d,c%d,%s\n", i/2, i/2, []string{"a", "b"}[i%2])
	}
	long := "1,2,a\n3,\"" + strings.Repeat("x\n", 400<<10) + "\",b\n"
	for name, tc := range map[string]struct {
		files  []File
		change func(*limits)
		opt    run.CSV
		want   string
	}{
		"IDX bytes":      {[]File{Bytes("i", img), Bytes("l", lab)}, func(l *limits) { l.bytes = 599 }, run.CSV{}, "limit"},
		"IDX features":   {[]File{Bytes("i", img), Bytes("l", lab)}, func(l *limits) { l.features = 19 }, run.CSV{}, "limit of 19"},
		"CIFAR bytes":    {[]File{Bytes("c", cifar(10))}, func(l *limits) { l.bytes = 9*cifarPixels + 1 }, run.CSV{}, "larger than"},
		"CIFAR gz bytes": {[]File{Bytes("c", gz(cifar(10)))}, func(l *limits) { l.bytes = 9*cifarPixels + 1 }, run.CSV{}, "larger than"},
		"columns":        {[]File{Bytes("t", []byte(wide))}, func(l *limits) { l.columns = 8 }, run.CSV{}, "at most 8 columns"},
		"features":       {[]File{Bytes("t", []byte(wide))}, func(l *limits) { l.features = 7 }, run.CSV{}, "at most 7 features"},
		"bytes":          {[]File{Bytes("t", []byte(wide))}, func(l *limits) { l.bytes = 639 }, run.CSV{}, "20 rows of 8 features"},
		"categories": {[]File{Bytes("t", []byte(cats.String()))}, func(l *limits) { l.categories = 29 },
			run.CSV{Columns: map[string]string{"column 2": "categorical"}}, "at most 29 categories"},
		"record": {[]File{Bytes("t", []byte(long))}, func(l *limits) { l.record = 256 << 10 }, run.CSV{}, "rows of at most"},
	} {
		l := newLoader(t.Context(), tc.opt)
		tc.change(&l.limits)
		_, err := l.load(tc.files, nil)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: have %v, want %q", name, err, tc.want)
		}
	}
	l := newLoader(t.Context(), run.CSV{})
	l.limits.categories = 29
	ds, err := l.load([]File{Bytes("t", []byte(cats.String()))}, nil)
	if err != nil || ds.Columns[1].Kind != Ignored {
		t.Errorf("too many categories nobody asked for: %v", err)
	}
}

func TestProgressAndCancel(t *testing.T) {
	var b strings.Builder
	for b.Len() < 3<<20 {
		fmt.Fprintf(&b, "%d,%d.5,x\n%d,2.25,y\n", b.Len(), b.Len()%77, b.Len())
	}
	f := Bytes("big.csv", []byte(b.String()))
	var seen []Progress
	l := newLoader(t.Context(), run.CSV{})
	l.now = func() time.Time { return time.Time{} } // so that bytes alone count
	l.progress = func(p Progress) { seen = append(seen, p) }
	if _, err := l.load([]File{f}, nil); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 6 || len(seen) > 10 {
		t.Errorf("%d reports for two passes over 3 MB", len(seen))
	}
	last := map[string]Progress{}
	for _, p := range seen {
		if p.File != "big.csv" || p.Total != f.Size() || p.Done < last[p.Phase].Done {
			t.Errorf("report %+v", p)
		}
		last[p.Phase] = p
	}
	if last["scan"].Done != f.Size() || last["read"].Done != f.Size() {
		t.Errorf("last reports %+v", last)
	}

	for _, phase := range []string{"scan", "read"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, r, err := Load(ctx, []File{f}, nil, run.CSV{}, func(p Progress) {
			if p.Phase == phase {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || r == nil {
			t.Errorf("cancelled in %s: %v", phase, err)
		}
	}
}

// generated is a table of lines equal rows that is written while it is read.
type generated struct{ lines int }

func (g generated) Name() string { return "generated.csv" }
func (g generated) Size() int64  { return int64(g.lines * len(generatedLine(0))) }
func (g generated) Open() (io.ReadCloser, error) {
	at := 0
	var rest string
	return readCloser{readerFunc(func(p []byte) (int, error) {
		if rest == "" {
			if at == g.lines {
				return 0, io.EOF
			}
			rest = generatedLine(at)
			at++
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})}, nil
}

func generatedLine(i int) string {
	return fmt.Sprintf("%07d,%s,%d\n", i%5000, strings.Repeat("text ", 200), i%2)
}

// TestLoadStreams: a file mostly of text that is ignored must not be held. 16 MB
// of it may raise what is in use by no more than 4 MB: rows, labels and buffers.
func TestLoadStreams(t *testing.T) {
	f := generated{16 << 10}
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC() // how far garbage grows by itself depends on what else the machine does
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := inUse(), uint64(0)
	ds, _, err := Load(t.Context(), []File{f}, nil, run.CSV{Columns: map[string]string{"column 2": "ignored"}}, func(Progress) {
		most = max(most, inUse())
	})
	if err != nil || ds.Train.N+ds.Test.N != f.lines {
		t.Fatal(err)
	}
	if most > before+4<<20 {
		t.Errorf("the heap rose from %d to %d MB for a file of %d MB", before>>20, most>>20, f.Size()>>20)
	}
}

// failing is a file that fails to open, or after some bytes.
type failing struct {
	File
	after int64
}

var errGone = errors.New("gone")

func (f failing) Open() (io.ReadCloser, error) {
	if f.after < 0 {
		return nil, errGone
	}
	rc, err := f.File.Open()
	return readCloser{io.MultiReader(io.LimitReader(rc, f.after), failingReader{})}, err
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errGone }

type readCloser struct{ io.Reader }

func (readCloser) Close() error { return nil }

func TestReadErrors(t *testing.T) {
	img, lab := images(3000, 8, 8, 3)
	csv := []byte(strings.Repeat("1,2,a\n3,4,b\n", 20000))
	for name, f := range map[string]File{
		"csv": Bytes("f", csv), "csv.gz": Bytes("f", gz(csv)), "cifar": Bytes("f", cifar(80)),
		"idx": Bytes("f", img), "idx.gz": Bytes("f", gz(img)),
	} {
		for _, after := range []int64{-1, 0, 1, f.Size() / 2, f.Size() - 1} {
			files := []File{failing{f, after}}
			if strings.HasPrefix(name, "idx") {
				files = append(files, Bytes("lab", lab))
			}
			_, _, err := Load(t.Context(), files, nil, run.CSV{}, nil)
			var e *Error
			if !errors.Is(err, errGone) || !errors.As(err, &e) || e.File != "f" {
				t.Errorf("%s failing after %d: %v", name, after, err)
			}
		}
	}
}

// changing is a file that is another one each time it is opened.
type changing struct {
	File
	next *[]string
}

func (f changing) Open() (io.ReadCloser, error) {
	s := (*f.next)[0]
	*f.next = (*f.next)[1:]
	return io.NopCloser(strings.NewReader(s)), nil
}

func TestFileChangesBetweenPasses(t *testing.T) {
	good := strings.Repeat("1,2,a\n3,4,b\n", 5)
	for _, then := range []string{good + "5,6,a\n", good[:len(good)-6], "1,2,3,4\n", "\n"} {
		f := changing{Bytes("f", []byte(good)), &[]string{good, good, then}}
		_, _, err := Load(t.Context(), []File{f}, nil, run.CSV{}, nil)
		if err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("changed to %q: %v", then, err)
		}
	}
}

// TestFilesGivenTwice: the same file again is told from another of its name.
func TestFilesGivenTwice(t *testing.T) {
	for text, want := range map[string]bool{"1,a\n2,b\n3,a\n": true, "1,a\n2,b\n33,a\n": false} {
		_, r := load(t, run.CSV{}, []File{Bytes("t.csv", []byte("1,a\n2,b\n3,a\n")), Bytes("t.csv", []byte(text))})
		if said := strings.Contains(strings.Join(r.Warnings, "\n"), "t.csv is given twice"); said != want {
			t.Errorf("%q: %q", text, r.Warnings)
		}
	}
}

// TestHeldOutByRow: whatever is put in, wherever, no other row changes its part; the share is
// about as asked (false alarms: 6 standard deviations, 10⁻⁸), and the same rows part alike.
func TestHeldOutByRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const n, width = 3000, 3
	row := func() []float32 { return []float32{rng.Float32(), float32(rng.IntN(3)), 0} }
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = row()
	}
	// parts counts the rows of either part.
	parts := func(rows [][]float32, share float64) (train, test map[[width + 1]float32]int) {
		ds := &Dataset{Task: Classification, Features: width, Outputs: 2, Classes: []string{"a", "b"}}
		for i, r := range rows {
			ds.Train.F32, ds.Train.Y = append(ds.Train.F32, r...), append(ds.Train.Y, float32(int(r[0]*1000)%2))
			ds.Train.N = i + 1
		}
		ds.holdOutByRow(share)
		if ds.Train.N+ds.Test.N != len(rows) || ds.HeldOut != ByRow || ds.ByClass {
			t.Fatalf("%d and %d rows of %d, %v", ds.Train.N, ds.Test.N, len(rows), ds.HeldOut)
		}
		count := func(s Split) map[[width + 1]float32]int {
			all := map[[width + 1]float32]int{}
			for i := range s.N {
				all[[width + 1]float32{s.F32[i*width], s.F32[i*width+1], s.F32[i*width+2], s.Y[i]}]++
			}
			return all
		}
		return count(ds.Train), count(ds.Test)
	}
	for _, share := range []float64{0.05, 0.2, 0.9} {
		train, test := parts(rows, share)
		held := 0
		for _, k := range test {
			held += k
		}
		if sd := math.Sqrt(n * share * (1 - share)); math.Abs(float64(held)-n*share) > 6*sd {
			t.Errorf("%d of %d rows are held out for a share of %v", held, n, share)
		}
		for _, at := range []int{0, 1234, n} {
			more := slices.Insert(slices.Clone(rows), at, row())
			moreTrain, moreTest := parts(more, share)
			extra := 0
			for _, p := range [][2]map[[width + 1]float32]int{{train, moreTrain}, {test, moreTest}} {
				for r, k := range p[1] {
					extra += k - p[0][r]
				}
				for r, k := range p[0] {
					if p[1][r] < k {
						t.Errorf("a row at %d moved %v to the other part", at, r)
					}
				}
			}
			if extra != 1 {
				t.Errorf("one row more at %d, and %d rows more in the parts", at, extra)
			}
		}
	}
}

// TestHoldOutOption: the option is read, said, and refused where it is none.
func TestHoldOutOption(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i, i*i%97, []string{"no", "yes"}[i%2])
	}
	for option, want := range map[string]HeldOut{"": Shuffled, "shuffle": Shuffled, "row": ByRow} {
		ds, report, err := Load(t.Context(), one(b.String()), nil, run.CSV{HoldOut: option}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(report.Warnings, "\n"); ds.HeldOut != want || ds.Meta().HeldOut != want || strings.Contains(said, "hash of its own") != (want == ByRow) {
			t.Errorf("%q: %v, and it says %s", option, ds.HeldOut, said)
		}
	}
	for pairs := 1; pairs < 4; pairs++ { // whether there are rows enough to hold any out would tell their number
		few := "a,y\n" + strings.Repeat("1,no\n2,yes\n", pairs)
		ds, _, err := Load(t.Context(), one(few), nil, run.CSV{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ds.Meta().HeldOut != Shuffled {
			t.Errorf("%d rows: %v", ds.Train.N+ds.Test.N, ds.HeldOut)
		}
	}
	if _, _, err := Load(t.Context(), one(b.String()), nil, run.CSV{HoldOut: "chance"}, nil); err == nil || !strings.Contains(err.Error(), "hold_out") {
		t.Errorf("an option that there is not: %v", err)
	}
}
