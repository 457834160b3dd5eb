package load_test

import (
	"bytes"
	"context"
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

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

func TestLoadTakesTestFilesByName(t *testing.T) {
	img, lab := datatest.Images(30, 2, 2, 3)
	testImg, testLab := datatest.Images(6, 2, 2, 3)
	ds, r := loadtest.Read(t, run.CSV{}, []source.File{
		source.Bytes("t10k-images-idx3-ubyte", testImg), source.Bytes("t10k-labels-idx1-ubyte", testLab),
		source.Bytes("train-images-idx3-ubyte", img), source.Bytes("train-labels-idx1-ubyte", lab)})
	if ds.Train.N != 30 || ds.Test.N != 6 || len(r.Warnings) != 2 {
		t.Errorf("%d + %d rows, warnings %q", ds.Train.N, ds.Test.N, r.Warnings)
	}
}

func TestHoldOutLosesNothing(t *testing.T) {
	const n, f = 103, 3
	rng := rand.New(rand.NewPCG(1, 1))
	for _, share := range []float64{0.001, 0.1, 0.5, 0.9} {
		ds := &data.Dataset{Features: f, Outputs: 1, Task: data.Regression}
		ds.Train.N = n
		want := map[[f + 1]float32]bool{}
		for range n {
			row := [f + 1]float32{rng.Float32(), rng.Float32(), rng.Float32(), rng.Float32()}
			want[row] = true
			ds.Train.F32 = append(ds.Train.F32, row[:f]...)
			ds.Train.Y = append(ds.Train.Y, row[f])
		}
		ds.HoldOut(share)
		if err := datatest.Check(ds); err != nil {
			t.Fatal(err)
		}
		if ds.Test.N != int(n*share) || ds.Train.N != n-int(n*share) {
			t.Errorf("share %v: %d + %d rows", share, ds.Train.N, ds.Test.N)
		}
		for _, sp := range []data.Split{ds.Train, ds.Test} {
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
	ds := &data.Dataset{Features: 1, Outputs: 1, Task: data.Regression, Train: data.Split{N: n, F32: make([]float32, n), Y: make([]float32, n)}}
	for i := range n {
		ds.Train.F32[i], ds.Train.Y[i] = float32(i), float32(i)
	}
	ds.HoldOut(0.2)
	want := rand.New(rand.NewPCG(0x686f6c64, 0x6f7574)).Perm(n)[:200]
	slices.Sort(want)
	if got := datatest.Labels(ds.Test.Y, 200); !slices.Equal(got, want) || got[0] != 11 || !slices.Equal(ds.Test.F32, ds.Test.Y) {
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
		ds := &data.Dataset{Task: data.Classification, Features: 1, Outputs: len(c.rows), Classes: make([]string, len(c.rows))}
		for class, n := range c.rows {
			for range n {
				ds.Train.F32, ds.Train.Y = append(ds.Train.F32, float32(ds.Train.N)), append(ds.Train.Y, float32(class))
				ds.Train.N++
			}
		}
		n := ds.Train.N
		ds.HoldOut(c.share)
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
	img, lab := datatest.Images(30, 4, 5, 3)
	with := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	rows := func(s string) string { // 40 good rows around a bad one at line 21
		good := "1,2.5,yes\n3,4.5,no\n"
		return strings.Repeat(good, 10) + s + strings.Repeat(good, 10)
	}
	one := func(name string, b []byte) []source.File { return []source.File{source.Bytes(name, b)} }
	table := func(s string) []source.File { return one("t.csv", []byte(s)) }
	pair := func(a, b []byte) []source.File { return []source.File{source.Bytes("img", a), source.Bytes("lab", b)} }
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), make([]byte, 100)...)
	type want struct {
		file     string
		row, col int
		byte     int64
		text     string
	}
	for name, tc := range map[string]struct {
		train []source.File
		test  []source.File
		opt   run.CSV
		want  want
	}{
		"no files":           {nil, nil, run.CSV{}, want{text: "at least one file"}},
		"empty file":         {table(""), nil, run.CSV{}, want{file: "t.csv", text: "empty file"}},
		"empty gzip":         {one("t.gz", datatest.GzipOf(nil)), nil, run.CSV{}, want{file: "t.gz", text: "empty file"}},
		"blank lines":        {table("\n\n\n"), nil, run.CSV{}, want{file: "t.csv", text: "none"}},
		"header alone":       {table("a,b,label\n"), nil, run.CSV{Header: "yes"}, want{file: "t.csv", text: "rows of data"}},
		"truncated images":   {pair(img[:len(img)-7], lab), nil, run.CSV{}, want{file: "img", byte: 609, text: "616 bytes"}},
		"truncated header":   {pair(img[:10], lab), nil, run.CSV{}, want{file: "img", byte: 10, text: "header of 16 bytes"}},
		"left over":          {pair(append(slices.Clone(img), 1, 2), lab), nil, run.CSV{}, want{file: "img", byte: 616, text: "2 bytes too many"}},
		"gzip, short IDX":    {pair(datatest.GzipOf(img[:len(img)-7]), lab), nil, run.CSV{}, want{file: "img", byte: 609, text: "ends early"}},
		"gzip, left over":    {pair(datatest.GzipOf(append(slices.Clone(img), 1)), lab), nil, run.CSV{}, want{file: "img", byte: 616, text: "left over"}},
		"gzip cut short":     {pair(datatest.GzipOf(img)[:100], lab), nil, run.CSV{}, want{file: "img", text: "cut short after 100 bytes"}},
		"gzip checksum":      {pair(with(datatest.GzipOf(img), len(datatest.GzipOf(img))-6, 1), lab), nil, run.CSV{}, want{file: "img", text: "sound gzip"}},
		"gzip header alone":  {pair(datatest.GzipOf(img)[:5], lab), nil, run.CSV{}, want{file: "img", text: "cut short"}},
		"wrong magic":        {one("train-images-idx3-ubyte", with(img, 0, 9)), nil, run.CSV{}, want{file: "train-images-idx3-ubyte", text: "found 09 00 08 03"}},
		"float IDX":          {pair(with(img, 2, 0x0d), lab), nil, run.CSV{}, want{file: "img", byte: 2, text: "unsigned bytes"}},
		"IDX too large":      {pair(datatest.IDX(nil, 1<<30, 1000, 1000), lab), nil, run.CSV{}, want{file: "img", byte: 8, text: "limit"}},
		"IDX gzip too large": {pair(datatest.GzipOf(datatest.IDX(nil, 1000, 1000)), lab), nil, run.CSV{}, want{file: "img", text: "too small"}},
		"IDX no rows":        {pair(datatest.IDX(nil, 0, 28, 28), lab), nil, run.CSV{}, want{file: "img", byte: 4, text: "no rows"}},
		"no labels":          {one("img", img), nil, run.CSV{}, want{file: "img", text: "images without labels"}},
		"no images":          {one("lab", lab), nil, run.CSV{}, want{file: "lab", text: "labels without images"}},
		"two image files":    {[]source.File{source.Bytes("img", img), source.Bytes("img2", img)}, nil, run.CSV{}, want{file: "img2", text: "second image file beside img"}},
		"counts differ":      {pair(img, datatest.IDX(make([]byte, 29), 29)), nil, run.CSV{}, want{file: "lab", text: "30 labels"}},
		"label out of range": {pair(img, with(lab, 8+17, 200)), nil, run.CSV{}, want{file: "lab", row: 18, byte: 25, text: "label 200"}},
		"test label unknown": {pair(img, lab), pair(img, with(lab, 8+4, 9)), run.CSV{}, want{file: "lab", row: 5, byte: 12, text: "label 9"}},
		"one class of IDX":   {pair(img, datatest.IDX(make([]byte, 30), 30)), nil, run.CSV{}, want{file: "lab", text: "only class \"0\""}},
		"test image size":    {pair(img, lab), pair(datatest.IDX(make([]byte, 30*9), 30, 3, 3), lab), run.CSV{}, want{file: "img", byte: 8, text: "20 pixels"}},

		"CIFAR cut short":    {one("c", datatest.CIFAR(9)[:5*datatest.CIFARRecord+10]), nil, run.CSV{}, want{file: "c", byte: 5*datatest.CIFARRecord + 10, text: "10 bytes into record 6"}},
		"CIFAR label":        {one("cifar", with(datatest.CIFAR(30), 25*datatest.CIFARRecord, 77)), nil, run.CSV{}, want{file: "cifar", row: 26, byte: 25 * datatest.CIFARRecord, text: "label 77"}},
		"CIFAR one class":    {one("c", datatest.CIFAR(1)), nil, run.CSV{}, want{file: "c", text: "only class"}},
		"mixed kinds":        {[]source.File{source.Bytes("c", datatest.CIFAR(10)), source.Bytes("img", img)}, nil, run.CSV{}, want{file: "img", text: "same kind as c"}},
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
			ds, r, err := load.Load(t.Context(), tc.train, tc.test, tc.opt, nil)
			var e *data.Error
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
	img, lab := datatest.Images(30, 4, 5, 3)
	wide := strings.Repeat("1,2,3,4,5,6,7,8,a\n9,8,7,6,5,4,3,2,b\n", 10)
	var cats strings.Builder
	for i := range 60 {
		fmt.Fprintf(&cats, "%d,c%d,%s\n", i/2, i/2, []string{"a", "b"}[i%2])
	}
	long := "1,2,a\n3,\"" + strings.Repeat("x\n", 400<<10) + "\",b\n"
	for name, tc := range map[string]struct {
		files  []source.File
		change func(*source.Limits)
		opt    run.CSV
		want   string
	}{
		"IDX bytes":      {[]source.File{source.Bytes("i", img), source.Bytes("l", lab)}, func(l *source.Limits) { l.Bytes = 599 }, run.CSV{}, "limit"},
		"IDX features":   {[]source.File{source.Bytes("i", img), source.Bytes("l", lab)}, func(l *source.Limits) { l.Features = 19 }, run.CSV{}, "limit of 19"},
		"CIFAR bytes":    {[]source.File{source.Bytes("c", datatest.CIFAR(10))}, func(l *source.Limits) { l.Bytes = 9*datatest.CIFARPixels + 1 }, run.CSV{}, "larger than"},
		"CIFAR gz bytes": {[]source.File{source.Bytes("c", datatest.GzipOf(datatest.CIFAR(10)))}, func(l *source.Limits) { l.Bytes = 9*datatest.CIFARPixels + 1 }, run.CSV{}, "larger than"},
		"columns":        {[]source.File{source.Bytes("t", []byte(wide))}, func(l *source.Limits) { l.Columns = 8 }, run.CSV{}, "at most 8 columns"},
		"features":       {[]source.File{source.Bytes("t", []byte(wide))}, func(l *source.Limits) { l.Features = 7 }, run.CSV{}, "at most 7 features"},
		"bytes":          {[]source.File{source.Bytes("t", []byte(wide))}, func(l *source.Limits) { l.Bytes = 639 }, run.CSV{}, "20 rows of 8 features"},
		"categories": {[]source.File{source.Bytes("t", []byte(cats.String()))}, func(l *source.Limits) { l.Categories = 29 },
			run.CSV{Columns: map[string]string{"column 2": "categorical"}}, "at most 29 categories"},
		"record": {[]source.File{source.Bytes("t", []byte(long))}, func(l *source.Limits) { l.Record = 256 << 10 }, run.CSV{}, "rows of at most"},
	} {
		in := source.NewReading(t.Context(), tc.opt)
		tc.change(&in.Limits)
		_, err := load.Files(in, tc.files, nil)
		var e *data.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: have %v, want %q", name, err, tc.want)
		}
	}
	in := source.NewReading(t.Context(), run.CSV{})
	in.Limits.Categories = 29
	ds, err := load.Files(in, []source.File{source.Bytes("t", []byte(cats.String()))}, nil)
	if err != nil || ds.Columns[1].Kind != data.Ignored {
		t.Errorf("too many categories nobody asked for: %v", err)
	}
}

func TestProgressAndCancel(t *testing.T) {
	var b strings.Builder
	for b.Len() < 3<<20 {
		fmt.Fprintf(&b, "%d,%d.5,x\n%d,2.25,y\n", b.Len(), b.Len()%77, b.Len())
	}
	f := source.Bytes("big.csv", []byte(b.String()))
	var seen []source.Progress
	in := source.NewReading(t.Context(), run.CSV{})
	in.Now = func() time.Time { return time.Time{} } // so that bytes alone count
	in.Progress = func(p source.Progress) { seen = append(seen, p) }
	if _, err := load.Files(in, []source.File{f}, nil); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 6 || len(seen) > 10 {
		t.Errorf("%d reports for two passes over 3 MB", len(seen))
	}
	last := map[string]source.Progress{}
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
		_, r, err := load.Load(ctx, []source.File{f}, nil, run.CSV{}, func(p source.Progress) {
			if p.Phase == phase {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || r == nil {
			t.Errorf("cancelled in %s: %v", phase, err)
		}
	}
}

// reading is a reader by itself.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

// generated is a table of lines equal rows that is written while it is read.
type generated struct{ lines int }

func (g generated) Name() string { return "generated.csv" }
func (g generated) Size() int64  { return int64(g.lines * len(generatedLine(0))) }
func (g generated) Open() (io.ReadCloser, error) {
	at := 0
	var rest string
	return readCloser{reading(func(p []byte) (int, error) {
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
	ds, _, err := load.Load(t.Context(), []source.File{f}, nil, run.CSV{Columns: map[string]string{"column 2": "ignored"}}, func(source.Progress) {
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
	source.File
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
	img, lab := datatest.Images(3000, 8, 8, 3)
	csv := []byte(strings.Repeat("1,2,a\n3,4,b\n", 20000))
	for name, f := range map[string]source.File{
		"csv": source.Bytes("f", csv), "csv.gz": source.Bytes("f", datatest.GzipOf(csv)), "cifar": source.Bytes("f", datatest.CIFAR(80)),
		"idx": source.Bytes("f", img), "idx.gz": source.Bytes("f", datatest.GzipOf(img)),
	} {
		for _, after := range []int64{-1, 0, 1, f.Size() / 2, f.Size() - 1} {
			files := []source.File{failing{f, after}}
			if strings.HasPrefix(name, "idx") {
				files = append(files, source.Bytes("lab", lab))
			}
			_, _, err := load.Load(t.Context(), files, nil, run.CSV{}, nil)
			var e *data.Error
			if !errors.Is(err, errGone) || !errors.As(err, &e) || e.File != "f" {
				t.Errorf("%s failing after %d: %v", name, after, err)
			}
		}
	}
}

// changing is a file that is another one each time it is opened.
type changing struct {
	source.File
	next *[]string
}

func (f changing) Open() (io.ReadCloser, error) {
	s := (*f.next)[0]
	*f.next = (*f.next)[1:]
	return io.NopCloser(strings.NewReader(s)), nil
}

// TestFileChangesBetweenPasses: a table whose rows are not kept is read twice.
func TestFileChangesBetweenPasses(t *testing.T) {
	good := strings.Repeat("1,2,a\n3,4,b\n", 5)
	for _, then := range []string{good + "5,6,a\n", good[:len(good)-6], "1,2,3,4\n", "\n"} {
		f := changing{source.Bytes("f", []byte(good)), &[]string{good, good, then}}
		in := source.NewReading(t.Context(), run.CSV{})
		in.Limits.Kept = 0
		_, err := load.Files(in, []source.File{f}, nil)
		if err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("changed to %q: %v", then, err)
		}
	}
}

// TestFilesGivenTwice: the same file again is told from another of its name.
func TestFilesGivenTwice(t *testing.T) {
	for text, want := range map[string]bool{"1,a\n2,b\n3,a\n": true, "1,a\n2,b\n33,a\n": false} {
		_, r := loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("t.csv", []byte("1,a\n2,b\n3,a\n")), source.Bytes("t.csv", []byte(text))})
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
		ds := &data.Dataset{Task: data.Classification, Features: width, Outputs: 2, Classes: []string{"a", "b"}}
		for i, r := range rows {
			ds.Train.F32, ds.Train.Y = append(ds.Train.F32, r...), append(ds.Train.Y, float32(int(r[0]*1000)%2))
			ds.Train.N = i + 1
		}
		ds.HoldOutByRow(share)
		if ds.Train.N+ds.Test.N != len(rows) || ds.HeldOut != data.ByRow || ds.ByClass {
			t.Fatalf("%d and %d rows of %d, %v", ds.Train.N, ds.Test.N, len(rows), ds.HeldOut)
		}
		count := func(s data.Split) map[[width + 1]float32]int {
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
	for option, want := range map[string]data.HeldOut{"": data.Shuffled, "shuffle": data.Shuffled, "row": data.ByRow} {
		ds, report, err := load.Load(t.Context(), datatest.One(b.String()), nil, run.CSV{HoldOut: option}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(report.Warnings, "\n"); ds.HeldOut != want || ds.Meta().HeldOut != want || strings.Contains(said, "hash of its own") != (want == data.ByRow) {
			t.Errorf("%q: %v, and it says %s", option, ds.HeldOut, said)
		}
	}
	for pairs := 1; pairs < 4; pairs++ { // whether there are rows enough to hold any out would tell their number
		few := "a,y\n" + strings.Repeat("1,no\n2,yes\n", pairs)
		ds, _, err := load.Load(t.Context(), datatest.One(few), nil, run.CSV{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ds.Meta().HeldOut != data.Shuffled {
			t.Errorf("%d rows: %v", ds.Train.N+ds.Test.N, ds.HeldOut)
		}
	}
	if _, _, err := load.Load(t.Context(), datatest.One(b.String()), nil, run.CSV{HoldOut: "chance"}, nil); err == nil || !strings.Contains(err.Error(), "hold_out") {
		t.Errorf("an option that there is not: %v", err)
	}
}
