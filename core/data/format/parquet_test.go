package format_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image/color"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/format"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// fakeColumns is an open file of columns whose rows are given.
type fakeColumns struct {
	rows     []byte
	count    int64
	classes  []string // of pictures; nil: it is a table
	skipped  []string
	texts    []int // the columns that are stored as texts
	readings int
	wait     int // times that reading gives nothing before it gives something
}

// slowly gives nothing for a while.
type slowly struct {
	io.Reader
	left, done int
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.done++; s.left > 0 {
		s.left--
		return 0, nil
	}
	return s.Reader.Read(p)
}

func (s *slowly) Done() int64  { return int64(s.done) }
func (s *slowly) Close() error { return nil }

func (c *fakeColumns) Pictures() bool    { return c.classes != nil }
func (c *fakeColumns) Rows() int64       { return c.count }
func (c *fakeColumns) Classes() []string { return c.classes }
func (c *fakeColumns) Skipped() []string { return c.skipped }
func (c *fakeColumns) Text(i int) bool   { return slices.Contains(c.texts, i) }
func (c *fakeColumns) Open() (io.ReadCloser, error) {
	c.readings++
	return &slowly{Reader: bytes.NewReader(c.rows), left: c.wait}, nil
}

// columnar loads files that begin as Parquet files do; open says what they are.
func columnar(t *testing.T, opt run.CSV, open map[string]*fakeColumns, names ...string) (*data.Dataset, *data.Report, error) {
	t.Helper()
	var files []source.File
	for _, name := range names {
		files = append(files, source.Bytes(name, append([]byte("PAR1"), make([]byte, 60)...)))
	}
	how := load.Loader{Parquet: func(_ context.Context, f source.File, _ run.CSV) (source.Columns, error) { return open[f.Name()], nil }}
	ds, r, err := how.Load(t.Context(), files, nil, opt, nil)
	if err == nil {
		if err := datatest.Check(ds); err != nil {
			t.Fatal(err)
		}
	}
	return ds, r, err
}

// TestColumnsAreNamed: what stands in the first line are names, though they look like cells.
func TestColumnsAreNamed(t *testing.T) {
	table := &fakeColumns{rows: []byte("0,1,2\n1.5,x,a\n2.5,y,b\n3.5,x,a\n"), count: 3}
	_, r, err := columnar(t, datatest.AllToTrain(run.CSV{}), map[string]*fakeColumns{"t": table}, "t")
	if err != nil || !r.Header || r.Rows != 3 || r.Columns[0].Name != "0" || r.Label != "2" {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestColumnsThatTakeTheirTime: however long there is nothing to read, it is said how far
// it is, and it can be stopped.
func TestColumnsThatTakeTheirTime(t *testing.T) {
	file := source.Bytes("t", append([]byte("PAR1"), make([]byte, 2000)...))
	for _, stop := range []bool{false, true} {
		table := &fakeColumns{rows: []byte("x,y\n1.5,a\n2.5,b\n"), count: 2, wait: 1000}
		ctx, cancel := context.WithCancel(t.Context())
		in := source.NewReading(ctx, datatest.AllToTrain(run.CSV{}))
		in.Parquet = func(source.File) (source.Columns, error) { return table, nil }
		clock := in.Now()
		in.Now = func() time.Time { clock = clock.Add(source.ProgressAfter); return clock }
		told := 0
		in.Progress = func(p source.Progress) {
			if told++; stop && told == 10 {
				cancel()
			}
		}
		_, err := load.Files(in, []source.File{file}, nil)
		if cancel(); stop != errors.Is(err, context.Canceled) || stop && told != 10 || !stop && told < 1000 {
			t.Errorf("stopped: %t: %v after it was said %d times how far it is", stop, err, told)
		}
	}
}

// TestOpenTableOfColumns: a model's rows come from Parquet as from a table, and pictures do not.
func TestOpenTableOfColumns(t *testing.T) {
	file := source.Bytes("t", append([]byte("PAR1"), make([]byte, 60)...))
	table := &fakeColumns{rows: []byte("size,colour\n1.5,red\n,\"a,b\"\n"), count: 2}
	how := load.Loader{Parquet: func(context.Context, source.File, run.CSV) (source.Columns, error) { return table, nil }}
	r, err := how.OpenTable(t.Context(), file, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Row()
	cells, n, err := r.Row()
	if !slices.Equal(r.Names(), []string{"size", "colour"}) || !slices.Equal(cells, []string{"", "a,b"}) || n != 3 || err != nil || !r.Stored() {
		t.Errorf("%q, row %d is %q, %v", r.Names(), n, cells, err)
	}
	table.classes = []string{"a", "b"}
	if _, err := how.OpenTable(t.Context(), file, true, nil); err == nil || !strings.Contains(err.Error(), "expected a table") {
		t.Errorf("pictures: %v", err)
	}
	if _, err := load.OpenTable(t.Context(), file, true, nil); err == nil || !strings.Contains(err.Error(), "another kind (parquet)") {
		t.Errorf("nothing reads Parquet: %v", err)
	}
}

// TestParquetIsToldFromText: metadata may have no byte that is not a letter of Windows-1252 in the first bytes of a file, and a
// column of a text may be called as Parquet's mark.
func TestParquetIsToldFromText(t *testing.T) {
	for rest, want := range map[string]string{
		"\x15\x02\x19" + strings.Repeat("\xf9", 9000): "parquet", // lists within lists
		"\x15\x04" + strings.Repeat("text,", 900):     "parquet",
		"\x00\x00\x00\x00":                            "parquet",
		",x,kind\n1,2,a\n":                            "csv",
		"\n1\n2\n":                                    "csv",
		"\tx\n1\t2\n":                                 "csv",
		"\xe4,x\n1,2\n":                               "csv",
	} {
		head := []byte("PAR1" + rest)
		if f, err := format.Of("t", head, int64(len(head)), ""); err != nil || f.Name != want {
			t.Errorf("%.20q: %v, %v, want %s", rest, f, err, want)
		}
	}
}

// TestAdviceOnColumns: what has no delimiter and no quotes gets no advice about them.
func TestAdviceOnColumns(t *testing.T) {
	wide := strings.Repeat("c,", 20_001) + "c\n"
	for name, c := range map[string]struct {
		columns *fakeColumns
		want    string
	}{
		"one column":            {&fakeColumns{rows: []byte("x\n1\n2\n")}, "found one. Choose a table of more columns."},
		"one beside lists":      {&fakeColumns{rows: []byte("x\n1\n2\n"), skipped: []string{"a", "b"}}, "found one, beside columns of lists, records or bytes: a, b. Save the table with a number or a text in each cell."},
		"too many":              {&fakeColumns{rows: []byte(wide)}, "found 20002. Keep the columns that matter."},
		"a row that is endless": {&fakeColumns{rows: []byte("x,y\n" + strings.Repeat("x", 5<<20))}, "t: expected rows of at most 4 MB, found a longer one, row 2. Shorten the texts of the row, or leave it out."},
		"nothing is readable":   {&fakeColumns{rows: []byte("x,y\n" + strings.Repeat("1,a\n2,b\n", 40) + strings.Repeat("z,a\n", 90))}, "Choose the kinds of the columns."},
	} {
		_, _, err := columnar(t, datatest.AllToTrain(run.CSV{BadRows: "skip", Columns: map[string]string{"x": "numeric"}}), map[string]*fakeColumns{"t": c.columns}, "t")
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// frames are labels and pictures in turn, as [Columns] has them.
func frames(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
		case []byte:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
		}
	}
	return b
}

func TestColumns(t *testing.T) {
	// That there are semicolons and points says nothing of what this program writes.
	table := &fakeColumns{rows: []byte("a;b,when,kind\n1.5,2024-01-31,x;1\n2.5,2024-02-29,y;2\n3.5,,x;1\n"), count: 3, skipped: []string{"list"}}
	ds, r, err := columnar(t, datatest.AllToTrain(run.CSV{Missing: "zero"}), map[string]*fakeColumns{"t": table}, "t")
	if err != nil || ds.Train.N != 3 || !slices.Equal(ds.Classes, []string{"x;1", "y;2"}) || ds.Columns[1].Date != "ymd" || r.Format != "parquet" || !r.IsTable() || table.readings != 1 {
		t.Fatalf("%+v, read %d times, %v", r, table.readings, err)
	}
	if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, "are left out: list") {
		t.Errorf("nothing is said of the list: %s", said)
	}
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("t", append([]byte("PAR1"), 0, 1, 2))}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "a Parquet file, which this program does not read") {
		t.Errorf("without a reader: %v", err)
	}
}

func TestPictureRows(t *testing.T) {
	red := datatest.PNG(datatest.Drawn(6, 8, func(int, int) color.Color { return color.NRGBA{255, 0, 0, 255} }))
	train := &fakeColumns{rows: frames("cat", red, "dog", datatest.Grey(6, 8, 7), "cat", red), count: 3, classes: []string{"dog", "cat"}}
	test := &fakeColumns{rows: frames("dog", datatest.Grey(6, 8, 9)), count: 1, classes: []string{"dog", "cat"}}
	ds, r, err := columnar(t, run.CSV{}, map[string]*fakeColumns{"train-0": train, "test-0": test}, "train-0", "test-0")
	if err != nil || ds.Train.N != 3 || ds.Test.N != 1 || !slices.Equal(ds.Shape, []int{3, 6, 8}) || !slices.Equal(ds.Train.Y, []float32{1, 0, 1}) || ds.Test.Y[0] != 0 || ds.Train.U8[0] != 255 || r.IsTable() {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestHostileFrames: what another program makes of a file is not believed either.
func TestHostileFrames(t *testing.T) {
	g := datatest.Grey(6, 8, 7)
	good := frames("a", g, "b", g)
	for name, c := range map[string]*fakeColumns{
		"cut in a length":    {rows: good[:len(good)-len(g)-2], count: 2},
		"cut in a label":     {rows: frames("a", g, "bbbb")[:len(frames("a", g))+6], count: 2},
		"cut in a picture":   {rows: good[:len(good)-1], count: 2},
		"no picture":         {rows: good[:len(frames("a", g))+5], count: 2},
		"a large label":      {rows: frames("a", g, strings.Repeat("b", 2000), g), count: 2},
		"a large picture":    {rows: append(frames("a", g, "b"), 0xff, 0xff, 0xff, 0x7f, 1), count: 2},
		"more than promised": {rows: frames("a", g, "b", g, "b", g), count: 2},
		"a class unknown":    {rows: frames("a", g, "c", g), count: 2},
		"no label":           {rows: frames("a", g, "", g), count: 2},
		"an empty picture":   {rows: frames("a", g, "b", ""), count: 2},
		"none at all":        {rows: nil, count: 2},
		"too many":           {rows: good, count: 1 << 40},
		"none promised":      {rows: good, count: 0},
	} {
		c.classes = []string{"a", "b"}
		_, _, err := columnar(t, datatest.AllToTrain(run.CSV{}), map[string]*fakeColumns{"f": c}, "f")
		if e := (*data.Error)(nil); !errors.As(err, &e) || e.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := make([]string, 1001)
	for i := range many {
		many[i] = strings.Repeat("x", i)
	}
	for name, c := range map[string]*fakeColumns{"one class": {classes: []string{"a"}}, "no class": {classes: []string{}}, "1,001 classes": {classes: many}} {
		if _, _, err := columnar(t, run.CSV{}, map[string]*fakeColumns{"f": c}, "f"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := columnar(t, run.CSV{}, map[string]*fakeColumns{"f": {rows: []byte("a,b\n1,2\n")}, "g": {classes: []string{"a", "b"}}}, "f", "g"); err == nil || !strings.Contains(err.Error(), "tables as well as pictures") {
		t.Errorf("a table and pictures: %v", err)
	}
}
