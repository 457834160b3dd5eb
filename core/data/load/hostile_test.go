package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// TestWarningsAreFew: thousands of causes of one kind are a few lines and a count.
func TestWarningsAreFew(t *testing.T) {
	const mostAlike = 5 // of a kind that are shown
	const wide = 3000
	empty := strings.Repeat(",", wide)
	var train, test strings.Builder
	train.WriteString("c,label\n")
	test.WriteString("c,label\n")
	for i := range 4000 {
		fmt.Fprintf(&train, "c%d,%d\n", i%9, i%2)
		fmt.Fprintf(&test, "new %d,%d\n", i, i%2)
	}
	names := make([]source.File, 0, 50)
	for i := range cap(names) {
		names = append(names, source.Bytes(fmt.Sprintf("test-%d.csv", i), []byte("1,a\n2,b\n")))
	}
	for name, tc := range map[string]struct {
		train, test []source.File
		want        string
	}{
		"empty columns":     {datatest.One(strings.Repeat("1"+empty+"a\n2"+empty+"b\n", 4)), nil, fmt.Sprintf("And %d more like", wide-1-mostAlike)},
		"unseen categories": {datatest.One(train.String()), []source.File{source.Bytes("t", []byte(test.String()))}, `category "new 0" of c is not among the training rows; it counts as none (zeros), as do 4000 cells`},
		"files":             {append(names, datatest.One("1,a\n2,b\n")...), nil, fmt.Sprintf("And %d more like", len(names)-mostAlike)},
	} {
		_, r := loadtest.Read(t, run.CSV{}, tc.train, tc.test...)
		if said := strings.Join(r.Warnings, "\n"); len(r.Warnings) > 2*mostAlike || !strings.Contains(said, tc.want) {
			t.Errorf("%s: %d warnings:\n%s", name, len(r.Warnings), said)
		}
	}
}

// TestBombs: what a small file may grow to is refused before it is held. The
// limit here is 1 MB; all that Load allocates on the way is a few.
func TestBombs(t *testing.T) {
	const rows = 1 << 19
	img, lab := datatest.IDX(make([]byte, rows), rows, 1), datatest.IDX(bytes.Repeat([]byte{0, 1}, rows/2), rows)
	for name, tc := range map[string]struct {
		files []source.File
		want  string
	}{
		"CIFAR":        {[]source.File{source.Bytes("cifar.gz", datatest.GzipOf(make([]byte, 16<<20)))}, "at most 1 MB of data, found data larger than that: 341 rows"},
		"IDX":          {[]source.File{source.Bytes("lab", datatest.GzipOf(lab)), source.Bytes("img", datatest.GzipOf(img))}, "at most 1 MB of data"},
		"table":        {[]source.File{source.Bytes("t", datatest.GzipOf(bytes.Repeat([]byte("1,0\n"), 1<<20)))}, "at most 1 MB of data"},
		"wide table":   {[]source.File{source.Bytes("t", datatest.GzipOf(bytes.Repeat([]byte(strings.Repeat("1.5,", 500)+"a\n"+strings.Repeat("2.5,", 500)+"b\n"), 1<<11)))}, "at most 1 MB of data"},
		"test table":   {[]source.File{source.Bytes("a", []byte("1,a\n2,b\n")), source.Bytes("test", datatest.GzipOf(bytes.Repeat([]byte("1,a\n"), 1<<20)))}, "at most 1 MB of data"},
		"many columns": {[]source.File{source.Bytes("t", datatest.GzipOf([]byte(strings.Repeat(strings.Repeat("1,", 30_000)+"1\n", 30))))}, "at most 20000 columns"},
	} {
		in := source.NewReading(t.Context(), run.CSV{})
		in.Limits.Bytes, in.Limits.Texts = 1<<20, 1<<20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := load.Files(in, tc.files, nil)
		runtime.ReadMemStats(&after)
		var e *data.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tc.want) || e.Fix == "" {
			t.Errorf("%s: have %v, want %q", name, err, tc.want)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 32 {
			t.Errorf("%s: %d MB were allocated", name, mb)
		}
	}
}

// repeated is a file whose content is part, again and again: a gzip file may be of
// many members, so 10 MB that hold 10 GB are made at once.
type repeated struct {
	name  string
	part  []byte
	times int
}

func (f repeated) Name() string { return f.name }
func (f repeated) Size() int64  { return int64(len(f.part) * f.times) }
func (f repeated) Open() (io.ReadCloser, error) {
	parts := make([]io.Reader, f.times)
	for i := range parts {
		parts[i] = bytes.NewReader(f.part)
	}
	return io.NopCloser(io.MultiReader(parts...)), nil
}

// TestBombsAtFullLimits: ten gigabytes in ten megabytes are refused at the limits
// that hold outside tests. What is held meanwhile is little: the most are the two
// million cells of a row of 4 MB.
func TestBombsAtFullLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("reads gigabytes")
	}
	bomb := func(name, text string) []source.File {
		return []source.File{repeated{name, datatest.GzipOf(bytes.Repeat([]byte(text), 16<<20/len(text))), 640}}
	}
	const claimed = 1 << 29
	header := func(dims ...int) source.File {
		return source.Bytes("x", datatest.GzipOf(append(datatest.IDX(nil, dims...), make([]byte, 1<<20)...)))
	}
	for name, tc := range map[string]struct {
		files []source.File
		want  string
	}{
		"CIFAR": {bomb("cifar.gz", "\x00"), "at most 1024 MB of data"},
		"row":   {bomb("t.csv.gz", "1,"), "rows of at most 4 MB"},
		"cell":  {bomb("t.csv.gz", "x"), "rows of at most 4 MB"},
		"quote": {bomb("t.csv.gz", "\"1,\n"), "a quoted cell to end"},
		"IDX":   {[]source.File{header(claimed), header(claimed, 1)}, "too small to hold them"},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, _, err := load.Load(t.Context(), tc.files, nil, run.CSV{}, nil)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: have %v, want %q", name, err, tc.want)
		}
		if mb := (int64(after.HeapSys) - int64(before.HeapSys)) >> 20; mb > 200 {
			t.Errorf("%s: the heap grew by %d MB", name, mb)
		}
	}
}

// TestFilesShareTheLimit: what each file takes is within the limit, and what all
// take is not.
func TestFilesShareTheLimit(t *testing.T) {
	img, lab := datatest.Images(100, 2, 2, 3)
	pair := []source.File{source.Bytes("img", img), source.Bytes("lab", lab)}
	table := datatest.One(strings.Repeat("1,2,a\n3,4,b\n", 50))
	records := []source.File{source.Bytes("c", datatest.CIFAR(10))}
	for name, tc := range map[string]struct {
		train, test []source.File
		bytes       int64 // that train alone takes
	}{
		"IDX":           {pair, pair, 100 * (4 + 1 + source.RowOverhead)},
		"table":         {table, table, 100 * (2*4 + source.RowOverhead)},
		"CIFAR":         {records, records, 10 * (datatest.CIFARPixels + source.RowOverhead)},
		"CIFAR, joined": {append(records, records...), nil, 20 * (datatest.CIFARPixels + source.RowOverhead)},
	} {
		for _, c := range []struct {
			test  []source.File
			limit int64
			fits  bool
		}{{nil, tc.bytes, true}, {nil, tc.bytes - 1, false}, {tc.test, 2 * tc.bytes, true}, {tc.test, 2*tc.bytes - 1, tc.test == nil}} {
			in := source.NewReading(t.Context(), run.CSV{})
			in.Limits.Bytes = c.limit
			if _, err := load.Files(in, tc.train, c.test); (err == nil) != c.fits {
				t.Errorf("%s with %d test files and a limit of %d: %v", name, len(c.test), c.limit, err)
			}
		}
	}
}

// TestProgressByTime: a few stored bytes may be a minute's work.
func TestProgressByTime(t *testing.T) {
	in := source.NewReading(t.Context(), run.CSV{})
	clock := time.Unix(0, 0)
	in.Now = func() time.Time {
		clock = clock.Add(source.ProgressAfter / 2)
		return clock
	}
	seen := map[string]int{}
	in.Progress = func(p source.Progress) { seen[p.Phase]++ }
	f := source.Bytes("t.gz", datatest.GzipOf(bytes.Repeat([]byte("1,0\n1,1\n"), 1<<18)))
	if _, err := load.Files(in, []source.File{f}, nil); err != nil {
		t.Fatal(err)
	}
	if seen[source.PhaseScan] < 8 || seen[source.PhaseRead] < 8 || len(seen) != 2 {
		t.Errorf("%v reports of 2 MB in %d bytes", seen, f.Size())
	}
}

func TestGzipMembers(t *testing.T) {
	table := []byte("1,a\n2,b\n3,a\n")
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("two", slices.Concat(datatest.GzipOf(table), bytes.Repeat(datatest.GzipOf(nil), 300), datatest.GzipOf(table)))})
	if ds.Train.N != 6 {
		t.Errorf("%d rows of two members", ds.Train.N)
	}
	for _, rest := range []string{"x", "\x00", "garbage", strings.Repeat("much garbage ", 9000)} {
		_, _, err := load.Load(t.Context(), []source.File{source.Bytes("t.gz", append(datatest.GzipOf(table), rest...))}, nil, run.CSV{}, nil)
		if err == nil || !strings.Contains(err.Error(), "nothing after the end of the gzip data") {
			t.Errorf("%d bytes behind: %v", len(rest), err)
		}
	}
	if _, _, err := load.Load(t.Context(), []source.File{source.Bytes("t.gz", append(datatest.GzipOf(table), datatest.GzipOf(table)[:12]...))}, nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a second member cut short: %v", err)
	}
}

// TestLongNames: names are shortened wherever they are said.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("é", 50_000)
	name := "test" + long + ".csv"
	img, lab := datatest.Images(30, 4, 5, 3)
	for what, tc := range map[string]struct{ train, test []source.File }{
		"cell":       {[]source.File{source.Bytes(name, []byte(long+",label\n1,a\n2,b\noops,a\n"))}, nil},
		"empty cell": {[]source.File{source.Bytes(name, []byte(long+",label\n1,a\n2,b\n,a\n"))}, nil},
		"kinds":      {[]source.File{source.Bytes(name, img), source.Bytes("cifar", datatest.CIFAR(3))}, nil},
		"images":     {[]source.File{source.Bytes(name, img), source.Bytes(name, img)}, nil},
		"counts":     {[]source.File{source.Bytes(name, img), source.Bytes("lab", datatest.IDX(make([]byte, 9), 9))}, nil},
		"sizes":      {[]source.File{source.Bytes(name, img), source.Bytes("lab", lab)}, []source.File{source.Bytes(name, datatest.IDX(make([]byte, 30), 30, 1)), source.Bytes("lab", lab)}},
		"skipped":    {[]source.File{source.Bytes("x", []byte("1,2,a\n")), source.Bytes(" test "+long, []byte("# c\n1,2,a\nx,y,z,\n"))}, nil},
		"label":      {[]source.File{source.Bytes(name, []byte("x,"+long+"\n1,\n2,b\n3,a\n"))}, nil},
	} {
		_, r, err := load.Load(t.Context(), tc.train, tc.test, run.CSV{}, nil)
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for _, s := range append(r.Warnings, err.Error()) {
			if len(s) > 1000 {
				t.Errorf("%s: %d bytes: %.300s…", what, len(s), s)
			}
		}
	}
	for name, want := range map[string]string{
		"short.csv":                           "short.csv",
		strings.Repeat("a", 80):               strings.Repeat("a", 80),
		strings.Repeat("a", 100) + "/end.csv": strings.Repeat("a", 60) + "…" + strings.Repeat("a", 12) + "/end.csv",
	} {
		if got := data.Shorten(name); got != want {
			t.Errorf("%s is shortened to %s", name, got)
		}
	}
}

func TestTooFewToHoldOut(t *testing.T) {
	ds, r := loadtest.Read(t, run.CSV{}, datatest.One("1,a\n2,b\n3,a\n4,b\n"))
	if said := strings.Join(r.Warnings, "\n"); ds.Test.N != 0 || !strings.Contains(said, "4 rows are too few to hold any out") {
		t.Errorf("%d test rows, %s", ds.Test.N, said)
	}
	ds, r = loadtest.Read(t, run.CSV{}, datatest.One("1,a\n2,b\n3,a\n4,b\n5,a\n"))
	if said := strings.Join(r.Warnings, "\n"); ds.Test.N != 1 || !strings.Contains(said, "1 of 5 rows") {
		t.Errorf("%d test rows, %s", ds.Test.N, said)
	}
}
