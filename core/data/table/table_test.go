package table_test

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestBadRowsAreSkipped: rows that cannot be read cost themselves alone, and are
// counted and placed.
func TestBadRowsAreSkipped(t *testing.T) {
	good := strings.Repeat("1,2.5,yes\n3,4.5,no\n", 20)
	for name, tc := range map[string]struct {
		row   string
		first string // where and what
	}{
		"long":        {"1,2.5,yes,4\n", "row 41: expected 3 cells"},
		"short":       {"1,2.5\n", "row 41: expected 3 cells"},
		"text":        {"1,abc,yes\n", "row 41, column 2: expected a number"},
		"infinite":    {"1,1e39,yes\n", "row 41, column 2: expected a finite number"},
		"stray quote": {"1,2\"3,yes\n", "row 41: expected quotes"},
	} {
		_, _, err := load.Load(t.Context(), datatest.One(good+tc.row+good), nil, run.CSV{}, nil)
		if err == nil || !strings.Contains(err.Error(), tc.first) {
			t.Errorf("%s, not skipped: %v", name, err)
		}
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{BadRows: "skip"}), datatest.One(good+tc.row+good))
		clean, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One(good+good))
		if !slices.Equal(ds.Train.F32, clean.Train.F32) || !slices.Equal(ds.Train.Y, clean.Train.Y) {
			t.Errorf("%s: other rows changed", name)
		}
		if said := strings.Join(r.Warnings, "\n"); r.BadRows != 1 || !strings.Contains(said, "1 training row is left out because it cannot be read: t.csv, "+tc.first) {
			t.Errorf("%s: %d bad rows, %s", name, r.BadRows, said)
		}
	}
	// A header that cannot be read is no row to skip: another would take its place.
	if _, _, err := load.Load(t.Context(), datatest.One("a,b\"c,label\n"+good), nil, run.CSV{BadRows: "skip", Header: "yes"}, nil); err == nil || !strings.Contains(err.Error(), "row 1: expected quotes") {
		t.Errorf("a header with a stray quote: %v", err)
	}
	// The first row does not set the width; a test row of another class is bad; a
	// category before a bad cell leaves no trace, and one of bad rows alone is none.
	ds, r := loadtest.Read(t, run.CSV{BadRows: "skip"}, datatest.One("1,2\n"+strings.Repeat("a,1,yes\nb,2,no\n", 30)+"c,x,yes\na,x,yes\nb,3,no\n"),
		source.Bytes("u.csv", []byte("b,2,yes\na,x,no\nb,1,maybe\nb,2,yes\nb,2,yes\n")))
	if ds.Train.N != 61 || ds.Test.N != 3 || r.BadRows != 5 || !slices.Equal(ds.Test.F32[:3], []float32{0, 1, 2}) || !slices.Equal(ds.Train.F32[60*3:], []float32{0, 1, 3}) {
		t.Errorf("%d + %d rows, %d bad, %v … %v", ds.Train.N, ds.Test.N, r.BadRows, ds.Test.F32, ds.Train.F32[60*3:])
	}
	// A label that is no number makes no class among numbers.
	ds, _ = loadtest.Read(t, run.CSV{BadRows: "skip", Task: "classification"}, datatest.One("x,y\n"+strings.Repeat("1,0\n2,1\n", 30)+"3,oops\n4,1e39\n"))
	if !slices.Equal(ds.Classes, []string{"0", "1"}) || ds.Train.N+ds.Test.N != 60 {
		t.Errorf("classes %q of %d rows", ds.Classes, ds.Train.N+ds.Test.N)
	}
}

// TestTexts: the words of a column of texts are features, and its cells stand beside their rows, whatever
// becomes of these. A column that looks like one is read so without being asked.
func TestTexts(t *testing.T) {
	var text strings.Builder
	text.WriteString("n,review,kind\n")
	for i := range 50 {
		fmt.Fprintf(&text, "%d,\"row %d, and more\",%c\n", i, i, "xy"[i%2])
	}
	declared := run.CSV{Columns: map[string]string{"review": "text", "n": "numeric"}}
	ds, r := loadtest.Read(t, declared, datatest.One(text.String()))
	if ds.Features != 1+1<<14 || ds.Dense() != 1 || len(ds.Train.Text) != 40 || len(ds.Test.Text) != 10 || !slices.Equal(ds.Meta().TextNames(), []string{"review"}) || r.Preview.Values[0][1] != "4 words → 29 features" {
		t.Fatalf("%d features, %d and %d texts, %+v", ds.Features, len(ds.Train.Text), len(ds.Test.Text), r.Preview)
	}
	for _, s := range []data.Split{ds.Train, ds.Test} {
		for i, got := range s.Text {
			if want := fmt.Sprintf("row %v, and more", s.F32[i]); got != want {
				t.Errorf("%q stands beside %q", got, want)
			}
			length := 0.0
			for _, w := range s.Words[i] {
				length += float64(w.Value) * float64(w.Value)
			}
			if math.Abs(length-1) > 1e-6 || s.Words[i][0].Feature < 1 {
				t.Errorf("%q has features %v of length %v", got, s.Words[i], length)
			}
		}
	}
	alone := run.CSV{Columns: map[string]string{"review": "text", "n": "ignored"}}
	if ds, _ = loadtest.Read(t, datatest.AllToTrain(alone), datatest.One(text.String())); ds.Dense() != 0 || ds.Bounds != nil || len(ds.Train.Text) != 50 || ds.Columns[1].Kind != data.Text {
		t.Errorf("%d features, %+v", ds.Features, ds.Columns)
	}
	if ds, _ = loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One(text.String())); ds.Columns[1].Kind != data.Text || ds.Columns[1].Buckets != 1<<14 {
		t.Errorf("texts are read as %+v", ds.Columns[1])
	}
}

// TestMissingTexts: a text that is missing is one without words, whatever is done with other missing cells.
func TestMissingTexts(t *testing.T) {
	const s = "review,kind\ngood,a\n,b\nn/a,a\nbad,b\n"
	for _, missing := range []string{"", "zero", "indicator", "drop"} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Missing: missing, Columns: map[string]string{"review": "text"}}), datatest.One(s))
		if !slices.Equal(ds.Train.Text, []string{"good", "", "", "bad"}) || len(ds.Train.Words[1])+len(ds.Train.Words[2]) > 0 || r.Missing+r.Dropped > 0 {
			t.Errorf("%s: %q, %v, %d missing, %d dropped", missing, ds.Train.Text, ds.Train.Words, r.Missing, r.Dropped)
		}
	}
}

// TestTextsAreCapped: together with the other data, and those that a backbone reads by characters each.
func TestTextsAreCapped(t *testing.T) {
	long := func(n int) string { return "review,kind\ngood,a\n" + strings.Repeat("ü", n) + ",b\nbad,a\nfine,b\n" }
	opt := datatest.AllToTrain(run.CSV{Columns: map[string]string{"review": "text"}})
	if ds, _ := loadtest.Read(t, opt, datatest.One(long(100_000))); len(ds.Train.Text[1]) != 200_000 || len(ds.Train.Words[1]) == 0 {
		t.Errorf("%d bytes of text", len(ds.Train.Text[1]))
	}
	in := source.NewReading(t.Context(), opt)
	in.Limits.Bytes = 1500
	if _, err := load.Files(in, datatest.One(long(100)), nil); err != nil {
		t.Errorf("texts that there is room for: %v", err)
	}
	in = source.NewReading(t.Context(), opt)
	in.Limits.Bytes = 1000
	if _, err := load.Files(in, datatest.One(long(400)), nil); err == nil || !strings.Contains(err.Error(), "t.csv: expected at most 0 MB of data, found texts that are longer together") {
		t.Errorf("texts that there is no room for: %v", err)
	}
}

// TestSeveralTexts: each has features of its own, behind those of all other columns, and stands beside the others, row by row; of more than
// four no backbone reads one.
func TestSeveralTexts(t *testing.T) {
	opt := datatest.AllToTrain(run.CSV{Columns: map[string]string{"a": "text", "b": "text", "c": "text", "d": "text"}})
	ds, _ := loadtest.Read(t, opt, datatest.One("a,n,b,c,d,kind\nx,1,x,,y,1\nz,2,y,y,y,0\n"))
	if ds.Dense() != 1 || ds.Features != 1+4<<13 || !slices.Equal(ds.Train.Text, []string{"x", "x", "", "y", "z", "y", "y", "y"}) || !slices.Equal(ds.Meta().TextNames(), []string{"a", "b", "c", "d"}) {
		t.Errorf("%d features, %d dense, %q", ds.Features, ds.Dense(), ds.Train.Text)
	}
	at := func(row, column int) (all []uint32) {
		first := uint32(1 + column<<13)
		for _, w := range ds.Train.Words[row] {
			if w.Feature >= first && w.Feature < first+1<<13 {
				all = append(all, w.Feature-first)
			}
		}
		return all
	}
	if len(at(0, 0)) == 0 || !slices.Equal(at(0, 0), at(0, 1)) || len(at(0, 2)) > 0 || !slices.Equal(at(1, 1), at(1, 3)) || slices.Equal(at(0, 0), at(1, 0)) {
		t.Errorf("features %v", ds.Train.Words)
	}
	many := datatest.AllToTrain(run.CSV{Columns: map[string]string{"a": "text", "b": "text", "c": "text", "d": "text", "e": "text"}})
	if ds, _ := loadtest.Read(t, many, datatest.One("a,b,c,d,e,kind\nx,x,,y,u,1\nz,y,y,y,v,0\n")); ds.Train.Text != nil || ds.Meta().TextNames() != nil {
		t.Errorf("of five columns %q", ds.Train.Text)
	}
}

// TestRowNumbers: rows have the numbers that a spreadsheet shows, in messages as in the
// preview: headers, empty rows and what stands before the table count, line ends within
// cells and what is for the spreadsheet alone do not.
func TestRowNumbers(t *testing.T) {
	good := strings.Repeat("1,a\n2,b\n", 20)
	for name, tc := range map[string]struct {
		before string
		first  int // number of the first of the good rows
	}{
		"a header":                {"x,y\n", 2},
		"no header":               {"", 1},
		"empty rows":              {"x,y\n\n\r\n", 4},
		"a remark":                {"# a survey\nx,y\n", 3},
		"a word to spreadsheets":  {"sep=,\nx,y\n", 2},
		"line ends in a cell":     {"x,y\n7,\"b\n\nc\"\n8,\"b\r\nc\"\n", 4},
		"and in one with a fault": {"x,y\n\"7\n\",b\"c\n", 3},
	} {
		t.Run(name, func(t *testing.T) {
			ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{BadRows: "skip", Task: "classification"}), datatest.One(tc.before+good))
			p := r.Preview
			i := slices.IndexFunc(p.Rows, func(row []string) bool { return row[1] == "a" })
			if p.Numbers[i] != tc.first || p.Numbers[9] != tc.first+9-i || p.LastNumbers[2] != tc.first+39 || p.Of != ds.Train.N {
				t.Errorf("rows %v … %v of %d", p.Numbers, p.LastNumbers, p.Of)
			}
			reader, err := load.OpenTable(t.Context(), source.Bytes("t.csv", []byte(tc.before+good+"3\n")), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			var numbers []int
			for {
				cells, n, err := reader.Row()
				if err == io.EOF {
					break
				}
				if len(cells) == 1 || err == nil && cells[1] == "a" {
					numbers = append(numbers, n)
				}
			}
			if len(numbers) != 21 || numbers[0] != tc.first || numbers[20] != tc.first+40 {
				t.Errorf("a reader has the rows %v, which begin with %d", numbers, tc.first)
			}
		})
	}
}

// TestIndicator: a missing number is a declared constant and a feature that says
// so. No value of the data decides either.
func TestIndicator(t *testing.T) {
	const s = "n,m,c,label\n1,5,red,a\n,6,blue,b\n3,,?,a\n4,8,red,b\n"
	for name, tc := range map[string]struct {
		opt  run.CSV
		n, m float32 // what stands for a missing cell
	}{
		"nothing declared": {run.CSV{}, 0, 0},
		"bounds":           {run.CSV{Bounds: map[string]run.Bounds{"n": {Lo: 0, Hi: 10}}}, 5, 0},
		"fill":             {run.CSV{Bounds: map[string]run.Bounds{"n": {Lo: 0, Hi: 10}}, Fill: map[string]float64{"n": 2, "m": -1}}, 2, -1},
	} {
		opt := datatest.AllToTrain(tc.opt)
		opt.Missing = "indicator"
		ds, r := loadtest.Read(t, opt, datatest.One(s), source.Bytes("u", []byte(s)))
		want := []float32{1, 0, 5, 0, 0, 1, 0, tc.n, 1, 6, 0, 1, 0, 0, 3, 0, tc.m, 1, 0, 0, 1, 4, 0, 8, 0, 0, 1, 0}
		if !slices.Equal(ds.Train.F32, want) || !slices.Equal(ds.Test.F32, want) {
			t.Errorf("%s: %v\nwant %v", name, ds.Train.F32, want)
		}
		if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "of n, m, c. Which columns have missing cells counts as public") || r.Missing != 6 {
			t.Errorf("%s: %d missing, %s", name, r.Missing, said)
		}
	}
	// In a column of the training rows without missing cells there is no such feature.
	ds, _ := loadtest.Read(t, run.CSV{Missing: "indicator"}, datatest.One("n,label\n1,a\n2,b\n"), source.Bytes("u", []byte("n,label\n,a\n2,b\n")))
	if ds.Features != 1 || ds.Test.F32[0] != 0 {
		t.Errorf("%d features, %v", ds.Features, ds.Test.F32)
	}
}

// TestBuckets: where categories are hashed, no row decides what features there
// are, or what another row is.
func TestBuckets(t *testing.T) {
	var b strings.Builder
	b.WriteString("c,x,label\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "c%d,%d.5,%d\n", i, i%7, i%2)
	}
	opt := datatest.AllToTrain(run.CSV{Columns: map[string]string{"c": "bucketed"}, Buckets: 8})
	ds, r := loadtest.Read(t, opt, datatest.One(b.String()))
	more, _ := loadtest.Read(t, opt, datatest.One(b.String()+"never seen,0.5,1\n"))
	if ds.Features != 9 || more.Features != 9 || !slices.Equal(ds.Train.F32, more.Train.F32[:3000*9]) {
		t.Errorf("%d features, %d with a row more", ds.Features, more.Features)
	}
	if c := ds.Columns[0]; c.Kind != data.Categorical || c.Categories[7] != "bucket 8" || strings.Contains(fmt.Sprint(r.Columns), "c17") {
		t.Errorf("column %+v", c)
	}
	used := make([]int, 8)
	for i := range 3000 {
		row := ds.Train.F32[i*9 : i*9+8]
		k := slices.Index(row, 1)
		if k < 0 || slices.Contains(row[k+1:], 1) {
			t.Fatalf("row %d is %v", i, row)
		}
		used[k]++
	}
	// 3,000 categories in 8 buckets: 375 each, and 300 is four deviations away.
	if slices.Min(used) < 300 {
		t.Errorf("buckets of %v", used)
	}
	opt.Missing = "zero"
	if ds, _ = loadtest.Read(t, opt, datatest.One(b.String()+",0.5,1\n")); len(ds.Columns[0].Categories) != 9 || ds.Train.F32[3000*10+8] != 1 {
		t.Errorf("missing cells: %+v", ds.Columns[0])
	}
	if ds, _ = loadtest.Read(t, run.CSV{Columns: map[string]string{"c": "bucketed"}}, datatest.One(b.String())); ds.Features != 32+1 {
		t.Errorf("%d features by default", ds.Features)
	}
}

// TestColumnBounds: what is declared of a column costs nothing and is asked of no
// row; the other columns are as before.
func TestColumnBounds(t *testing.T) {
	const s = "a,b,c,label\n-10,1,x,a\n20,200,y,b\n5,25,x,a\n"
	bounds := map[string]run.Bounds{"a": {Lo: 0, Hi: 10}}
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{Bounds: bounds}), datatest.One(s))
	if f := ds.NumericFeatures(); !slices.Equal(f, []int{1}) || ds.Bounds != nil {
		t.Errorf("numeric features %v, bounds %v", f, ds.Bounds)
	}
	scale, err := data.DeclaredScale(ds, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 3*ds.Features)
	scale.Rows(dst, &ds.Train, []int{0, 1, 2})
	if want := []float32{0, .01, 1, 0, 1, 1, 0, 1, .5, .25, 1, 0}; !slices.Equal(dst, want) {
		t.Errorf("scaled to %v, want %v", dst, want)
	}
	h := data.NewBoundsHistogram(ds, true, false)
	found, err := h.Bounds(func([]float64) {}, 0)
	if h.Sensitivity() != 1 || err != nil || !slices.Equal(found.Features, []data.Bound{{Lo: 0, Hi: 10}, {Lo: 1, Hi: 256}, {Lo: 0, Hi: 1}, {Lo: 0, Hi: 1}}) {
		t.Errorf("sensitivity %v, bounds %+v, %v", h.Sensitivity(), found, err)
	}
	bounds["b"] = run.Bounds{Lo: -1, Hi: 1}
	ds, _ = loadtest.Read(t, datatest.AllToTrain(run.CSV{Bounds: bounds}), datatest.One(s))
	if want := []data.Bound{{Lo: 0, Hi: 10}, {Lo: -1, Hi: 1}, {Lo: 0, Hi: 1}, {Lo: 0, Hi: 1}}; !slices.Equal(ds.Bounds, want) {
		t.Errorf("bounds %v", ds.Bounds)
	}
}

func TestRoles(t *testing.T) {
	train, test := []byte("1,a\n2,b\n"), []byte("3,a\n4,b\n5,a\n")
	files := []source.File{source.Bytes("rows.csv", train), source.Bytes("rows.test", test)}
	for name, tc := range map[string]struct {
		train, test []source.File
		roles       map[string]string
		n, held     int
		warnings    int // one is that the last column is the label
	}{
		"by name":        {files, nil, nil, 2, 3, 2},
		"turned":         {files, nil, map[string]string{"rows.csv": "test", "rows.test": "train"}, 3, 2, 1},
		"both to train":  {files, nil, map[string]string{"rows.test": "train"}, 5, 0, 1},
		"said":           {files, nil, map[string]string{"rows.test": "test"}, 2, 3, 1},
		"out of test":    {files[:1], files[1:], map[string]string{"rows.test": "train"}, 5, 0, 1},
		"given, no name": {files[1:], files[:1], nil, 3, 2, 1},
	} {
		ds, r := loadtest.Read(t, run.CSV{TestShare: -1, Roles: tc.roles}, tc.train, tc.test...)
		if ds.Train.N != tc.n || ds.Test.N != tc.held || len(r.Warnings) != tc.warnings {
			t.Errorf("%s: %d + %d rows, warnings %q", name, ds.Train.N, ds.Test.N, r.Warnings)
		}
		if last := r.Files[len(r.Files)-1]; (last.Role == "test") != (tc.held > 0) {
			t.Errorf("%s: says that files are for %q", name, r.Files)
		}
	}
}

// TestPreviewSaysHowCellsAreRead, also where the file is refused for want of a choice.
func TestPreviewSaysHowCellsAreRead(t *testing.T) {
	const s = "id;price;day;c;h;y\n1;1.234,5;31.01.1970;red;k1;10\n2;7;01.02.1970;blue;k2;9,0\n3;;02.02.1970;red;k1;10\n"
	bucket := func(s string) string { // of 32
		h := fnv.New32a()
		h.Write([]byte(s))
		return fmt.Sprintf("bucket %d", 1+h.Sum32()%32)
	}
	k1, k2 := bucket("k1"), bucket("k2")
	want := [][]string{{"", "1234.5", "1970-01-31 = day 30", "red", k1, "10"}, {"", "7", "1970-02-01 = day 31", "blue", k2, "9"}, {"", data.MissingCategory, "1970-02-02 = day 32", "red", k1, "10"}}
	opt := run.CSV{Columns: map[string]string{"h": "bucketed"}, Task: "classification"}
	_, r, err := load.Load(t.Context(), datatest.One(s), nil, opt, nil)
	if err == nil {
		t.Fatal("a missing cell passed")
	}
	if !slices.EqualFunc(r.Preview.Values, want, slices.Equal) || len(r.Preview.Rows) != 3 {
		t.Errorf("preview %q", r.Preview.Values)
	}
	_, r = loadtest.Read(t, run.CSV{BadRows: "skip"}, datatest.One(strings.Repeat("1,yes\n2,no\n", 20)))
	if len(r.Preview.Values) != data.PreviewRows || !slices.Equal(r.Preview.Values[1], []string{"2", "no"}) {
		t.Errorf("preview %q", r.Preview.Values)
	}
	_, r = loadtest.Read(t, run.CSV{BadRows: "skip"}, datatest.One("1,yes\noops,yes\n"+strings.Repeat("1,yes\n2,no\n", 20)))
	if !slices.Equal(r.Preview.Values[1], []string{"?", "yes"}) {
		t.Errorf("preview %q", r.Preview.Values[1])
	}
}

// TestCodes: a number with a zero in front may be a postal code, and is said to be
// read as a number; where somebody has said what it is, nothing is.
func TestCodes(t *testing.T) {
	s := "PLZ;Größe;y\n" + strings.Repeat("01067;0;ja\n50667;0,5;nein\n", 20)
	said := func(opt run.CSV) bool {
		_, r := loadtest.Read(t, opt, datatest.One(s))
		return strings.Contains(strings.Join(r.Warnings, "\n"), `the zero in front of "01067" says nothing`)
	}
	if !said(run.CSV{}) || said(run.CSV{Columns: map[string]string{"PLZ": "numeric"}}) || said(run.CSV{Columns: map[string]string{"PLZ": "categorical"}}) {
		t.Error("a zero in front of numbers is not told of where it should be")
	}
	if _, r := loadtest.Read(t, run.CSV{}, datatest.One(strings.ReplaceAll(s, "01067", "1067"))); strings.Contains(fmt.Sprint(r.Warnings), "in front") {
		t.Errorf("a lone zero: %q", r.Warnings)
	}
}

// TestPreviewHasTheEnd: of a longer table the last rows are shown, over all files and
// none that is among the first.
func TestPreviewHasTheEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString("n;x;y\n")
	for i := range 40 {
		files := []source.File{source.Bytes("t.csv", []byte("n;x;y\n1;2,5;a\n1;2,5;b\n")), source.Bytes("u.csv", []byte(b.String()+"99;0,5;b\noops\n"))}
		_, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{BadRows: "skip"}), files)
		p := r.Preview
		if len(p.Rows) != min(10, i+3) || len(p.Last) != max(0, min(3, i+3-10)) || len(p.LastValues) != len(p.Last) || p.Of != i+3 {
			t.Fatalf("of %d rows %d first, %d last; the last is number %d", i+3, len(p.Rows), len(p.Last), p.Of)
		}
		for k, row := range p.Last {
			n, value := fmt.Sprint(i-len(p.Last)+k+2), fmt.Sprint(i-len(p.Last)+k+2, ".5")
			if k == len(p.Last)-1 {
				n, value = "99", "0.5"
			}
			if row[0] != n || p.LastValues[k][1] != strings.ReplaceAll(value, " ", "") {
				t.Errorf("of %d rows, last %q is read as %q, want number %s", i+3, row, p.LastValues[k], n)
			}
		}
		fmt.Fprintf(&b, "%d;%d,5;%c\n", i+1, i+1, 'a'+rune(i%2))
	}
}

// TestKindsOfARefusedTable: where a cell of one column cannot be read, the others are shown
// as what they are.
func TestKindsOfARefusedTable(t *testing.T) {
	_, r, err := load.Load(t.Context(), []source.File{source.Bytes("t.csv", []byte("age,sex,ward,day,ill\n"+strings.Repeat("34,m,A,2024-01-02,yes\n51,f,B,2024-02-03,no\n", 20)+"unknown,f,A,2024-01-02,no\n"))}, nil, run.CSV{}, nil)
	if err == nil || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	var kinds []data.ColumnKind
	for _, c := range r.Columns {
		kinds = append(kinds, c.Kind)
	}
	if !slices.Equal(kinds, []data.ColumnKind{data.Numeric, data.Categorical, data.Categorical, data.Numeric, data.Label}) || r.Columns[3].Date != "ymd" {
		t.Errorf("%q, %+v, %v", kinds, r.Columns[3], err)
	}
}

// TestTextIsNoLabel: a table that ends with its texts has its label before them, and nothing but the texts is in doubt.
func TestTextIsNoLabel(t *testing.T) {
	var text strings.Builder
	text.WriteString("kind,mail\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%c,\"thank you for order %d, it is on its way\"\n", "xy"[i%2], i)
	}
	ds, r := loadtest.Read(t, run.CSV{}, datatest.One(text.String()))
	if r.Label != "kind" || ds.Columns[1].Kind != data.Text || len(r.Doubts) != 1 {
		t.Errorf("label %q, %+v, doubts %q", r.Label, ds.Columns, r.Doubts)
	}
}
