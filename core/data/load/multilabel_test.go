package load_test

import (
	"errors"
	"fmt"
	"image/color"
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

// flagged are options that declare label columns.
func flagged(names ...string) run.CSV {
	opt := run.CSV{Task: "multi-label", TestShare: -1, Columns: map[string]string{}}
	for _, name := range names {
		opt.Columns[name] = "label"
	}
	return opt
}

// TestMultiLabelTable: labels are read in the order of the table, in each of the notations, wherever they stand.
func TestMultiLabelTable(t *testing.T) {
	for name, says := range map[string][2]string{"numbers": {"0", "1"}, "words": {"False", "True"}, "fractions": {"0.0", "1.0"}, "signed": {"-1", "1"}} {
		var b strings.Builder
		b.WriteString("news,x,\"sport, local\",y,art\n")
		var want []float32
		for i := range 40 {
			flags := []int{i % 2, i / 2 % 2, i / 3 % 2}
			fmt.Fprintf(&b, "%s,%d.5,%s,%d,%s\n", says[flags[0]], i, says[flags[1]], i*i, says[flags[2]])
			want = append(want, float32(flags[0]), float32(flags[1]), float32(flags[2]))
		}
		opt := flagged("art", "news", "sport, local")
		ds, r := loadtest.Read(t, opt, datatest.One(b.String()))
		if ds.Task != data.MultiLabel || !slices.Equal(ds.Classes, []string{"news", "sport, local", "art"}) || !slices.Equal(ds.Train.Y, want) || ds.Features != 2 || ds.Train.F32[3] != 1 {
			t.Errorf("%s: %s of %v, %d features, labels %v", name, ds.Task, ds.Classes, ds.Features, ds.Train.Y)
		}
		if got := strings.Join(r.Warnings, "\n"); strings.Contains(got, "-1 is read as no") != (name == "signed") {
			t.Errorf("%s: %s", name, got)
		}
		rows := make([]int, 3)
		for i, y := range want {
			rows[i%3] += int(y)
		}
		if !slices.Equal(r.Preview.ClassRows, rows) {
			t.Errorf("%s: %v rows have the labels", name, r.Preview.ClassRows)
		}
		opt.Task = "" // as the page has it, where one of them is the label column
		delete(opt.Columns, "art")
		opt.Label = "art"
		if ds, _ := loadtest.Read(t, opt, datatest.One(b.String())); !slices.Equal(ds.Train.Y, want) {
			t.Errorf("%s: with csv.label the labels are %v", name, ds.Train.Y)
		}
	}
}

// TestMultiLabelHeldOut: rows that are held out have their own labels, and test files are read alike.
func TestMultiLabelHeldOut(t *testing.T) {
	rows := "x,a,b\n" + strings.Repeat("1,1,0\n2,0,1\n3,1,1\n4,0,0\n", 10)
	opt := flagged("a", "b")
	right := func(what string, sp data.Split) {
		for i := range sp.N {
			x := int(sp.F32[i])
			if want := []float32{float32(x % 2), []float32{0, 0, 1, 1, 0}[x]}; !slices.Equal(sp.Y[2*i:2*i+2], want) {
				t.Errorf("%s: row %d of x = %d has %v, want %v", what, i, x, sp.Y[2*i:2*i+2], want)
			}
		}
	}
	for _, how := range []string{"shuffle", "row"} {
		opt.TestShare, opt.HoldOut = 0.3, how
		ds, _ := loadtest.Read(t, opt, datatest.One(rows))
		right(how, ds.Train)
		right(how, ds.Test)
	}
	ds, _ := loadtest.Read(t, flagged("a", "b"), datatest.One(rows), source.Bytes("test.csv", []byte("x,a,b\n2,0,1\n1,1,0\n")))
	if right("a test file", ds.Test); ds.Test.N != 2 {
		t.Errorf("%d test rows", ds.Test.N)
	}
}

// npz is an archive of 12 rows with labels y.
func npz(y []byte, more ...any) []source.File {
	return []source.File{source.Bytes("a.npz", datatest.Zip(append([]any{"X.npy", datatest.NPY("<f4", "12, 3", datatest.Ramp[float32](36)), "y.npy", y}, more...)...))}
}

// TestMultiLabelNPZ: y [n, k] of 0 and 1 is labels, of every type, and named where the archive has names.
func TestMultiLabelNPZ(t *testing.T) {
	flags := make([]uint8, 24)
	real := make([]float32, 24)
	for i := range flags {
		flags[i] = uint8(i * i / 3 % 2)
		real[i] = float32(flags[i])
	}
	names := datatest.NPY("<U4", "2,", []uint32{'n', 'e', 'w', 's', 'a', 'r', 't', 0})
	for name, y := range map[string][]byte{"bool": datatest.NPY("|b1", "12, 2", flags), "uint8": datatest.NPY("|u1", "12, 2", flags), "float": datatest.NPY("<f4", "12, 2", real)} {
		for _, task := range []string{"", "multi-label"} {
			opt := run.CSV{Task: task, TestShare: -1}
			ds, _ := loadtest.Read(t, opt, npz(y))
			if ds.Task != data.MultiLabel || !slices.Equal(ds.Train.Y, real) || !slices.Equal(ds.Classes, []string{"label 1", "label 2"}) || len(ds.Columns) != 5 {
				t.Errorf("%s, task %q: %s of %v: %v, %d columns", name, task, ds.Task, ds.Classes, ds.Train.Y, len(ds.Columns))
			}
			ds, r := loadtest.Read(t, opt, npz(y, "label_names.npy", names))
			if !slices.Equal(ds.Classes, []string{"news", "art"}) || strings.Contains(strings.Join(r.Warnings, "\n"), "Left out") {
				t.Errorf("%s: the names are %v: %v", name, ds.Classes, r.Warnings)
			}
		}
	}
	ds, _ := loadtest.Read(t, run.CSV{Task: "regression", TestShare: -1}, npz(datatest.NPY("<f4", "12, 2", real)))
	if ds.Task != data.Regression || ds.Outputs != 2 {
		t.Errorf("where regression is asked for: %s", ds.Task)
	}
	one := make([]uint8, 24)
	for i := range 12 {
		one[2*i+i%2] = 1
	}
	for task, want := range map[string]data.Task{"": data.Classification, "multi-label": data.MultiLabel} {
		if ds, _ := loadtest.Read(t, run.CSV{Task: task, TestShare: -1}, npz(datatest.NPY("|u1", "12, 2", one))); ds.Task != want {
			t.Errorf("rows with one 1, task %q: %s", task, ds.Task)
		}
	}
}

// celebA is a zip of so many grey pictures beside CelebA's table of three attributes, of which edit may change the lines.
func celebA(n int, edit func(lines []string) []string) []source.File {
	lines := []string{fmt.Sprint(n), "Bald Smiling Young"}
	parts := []any{}
	say := func(yes bool) string {
		if yes {
			return " 1"
		}
		return "-1"
	}
	for i := range n {
		name := fmt.Sprintf("%06d.png", i+1)
		lines = append(lines, fmt.Sprintf("%s %s %s %s", name, say(i%5 == 0), say(i%2 == 0), say(i%3 != 0)))
		parts = append(parts, "celeba/img_align_celeba/"+name, datatest.PNG(datatest.Drawn(8, 8, datatest.Plain(color.Gray{Y: uint8(5 * i)}))))
	}
	if edit != nil {
		lines = edit(lines)
	}
	return []source.File{source.Bytes("celeba.zip", datatest.Zip(append([]any{"celeba/list_attr_celeba.txt", strings.Join(lines, "\n") + "\n"}, parts...)...))}
}

// TestMultiLabelCelebA: pictures beside CelebA's attributes have all of them, or those declared, in the table's order.
func TestMultiLabelCelebA(t *testing.T) {
	ds, r := loadtest.Read(t, flagged(), celebA(30, nil))
	if ds.Task != data.MultiLabel || !slices.Equal(ds.Classes, []string{"Bald", "Smiling", "Young"}) || ds.Train.N != 30 {
		t.Fatalf("%d rows, %s of %v", ds.Train.N, ds.Task, ds.Classes)
	}
	of := func(b bool) float32 {
		if b {
			return 1
		}
		return 0
	}
	for row := range 30 {
		i := int(ds.Train.U8[ds.Features*row]) / 5 // whichever picture it is
		if want := []float32{of(i%5 == 0), of(i%2 == 0), of(i%3 != 0)}; !slices.Equal(ds.Train.Y[3*row:3*row+3], want) {
			t.Errorf("picture %d has %v, want %v", i+1, ds.Train.Y[3*row:3*row+3], want)
		}
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "-1 is read as no") {
		t.Errorf("%v", r.Warnings)
	}
	if ds, _ := loadtest.Read(t, flagged("Young", "Bald"), celebA(30, nil)); !slices.Equal(ds.Classes, []string{"Bald", "Young"}) || ds.Train.Y[1] != 0 || ds.Train.Y[0] != 1 {
		t.Errorf("declared: %v, %v", ds.Classes, ds.Train.Y[:2])
	}
}

// TestMultiLabelRefused: what does not go together is refused with its place and what to do.
func TestMultiLabelRefused(t *testing.T) {
	table := func(s string) []source.File { return datatest.One("x,y,a,b\n" + s) }
	good := strings.Repeat("1,2,0,1\n3,4,1,0\n", 6)
	with := func(opt run.CSV, change func(*run.CSV)) run.CSV { change(&opt); return opt }
	wide := "x," + strings.Join(slices.Repeat([]string{"l"}, 40_000), ",") // beyond the columns of a table
	flags := make([]uint8, 24)
	flags[1], flags[2], flags[7] = 1, 1, 1
	uint8s := func(shape string, v ...uint8) []byte {
		return datatest.NPY("|u1", shape, append(slices.Clone(flags[:len(flags)-len(v)]), v...))
	}
	for name, c := range map[string]struct {
		opt   run.CSV
		files []source.File
		want  []string
	}{
		"a 2":                  {flagged("a", "b"), table(good + "5,6,2,1\n"), []string{"row 14", `column 3 ("a")`, "a label of 0 or 1", `"2"`}},
		"a half":               {flagged("a", "b"), table(good + "5,6,1,0.5\n"), []string{"row 14", `column 4 ("b")`, `"0.5"`}},
		"a word":               {flagged("a", "b"), table(good + "5,6,maybe,1\n"), []string{"row 14", `"maybe"`}},
		"a minus beside zeros": {flagged("a", "b"), table(good + "5,6,-1,1\n"), []string{"row 14", `"-1"`}},
		"a zero beside minus":  {flagged("a", "b"), table(strings.ReplaceAll(good, ",0", ",-1") + "5,6,0,1\n"), []string{"a label of 0 or 1"}},
		"a missing label":      {flagged("a", "b"), table(good + "5,6,,1\n"), []string{"row 14", `column 3 ("a")`, "expected a value"}},
		"one label":            {flagged("a"), table(good), []string{"at least two labels", "classification with two classes"}},
		"no label":             {flagged(), table(good), []string{`declared "label" in csv.columns`, "x, y, a, b"}},
		"no such column":       {flagged("a", "c"), table(good), []string{`csv.columns to name columns of the table, found "c"`}},
		"regression":           {with(flagged("a", "b"), func(o *run.CSV) { o.Task = "regression" }), table(good), []string{`without "label"`, "regression"}},
		"classification":       {with(flagged("a", "b"), func(o *run.CSV) { o.Task = "classification" }), table(good), []string{`without "label"`}},
		"bounds":               {with(flagged("a", "b"), func(o *run.CSV) { o.Bounds = map[string]run.Bounds{"a": {Lo: 0, Hi: 1}} }), table(good), []string{"csv.bounds of numeric columns alone"}},
		"no features":          {with(flagged("a", "b"), func(o *run.CSV) { o.Columns["x"], o.Columns["y"] = "ignored", "ignored" }), table(good), []string{"at least one column of features"}},
		"constant labels":      {flagged("a", "b"), table(strings.Repeat("1,2,0,1\n", 9)), []string{"labels that some rows have and others have not"}},
		"too many columns":     {flagged("l"), datatest.One(wide + "\n" + wide), []string{"at most 20000 columns"}},
		"npz, a 2":             {flagged(), npz(uint8s("12, 2", 2)), []string{"row 12", `"2"`}},
		"npz, one label":       {flagged(), npz(datatest.NPY("|u1", "12, 1", flags[:12])), []string{"at least two labels", "classification with two classes"}},
		"npz, text":            {flagged(), npz(datatest.NPY("<U1", "12, 2", slices.Repeat([]uint32{'a', 'b', 'b'}, 8))), []string{"several labels a row as numbers"}},
		"npz, text, no task":   {run.CSV{}, npz(datatest.NPY("<U1", "12, 2", slices.Repeat([]uint32{'a', 'b', 'b'}, 8))), []string{"several labels a row as numbers"}},
		"npz, three dims":      {flagged(), npz(datatest.NPY("|u1", "12, 2, 1", flags)), []string{"[rows × labels]"}},
		"npz, names":           {flagged(), npz(uint8s("12, 2"), "names.npy", datatest.NPY("<U1", "3,", []uint32{'a', 'b', 'c'})), []string{"2 names"}},
		"npz, equal names":     {flagged(), npz(uint8s("12, 2"), "names.npy", datatest.NPY("<U1", "2,", []uint32{'a', 'a'})), []string{"another name"}},
		"too many labels":      {flagged(), []source.File{source.Bytes("a.npz", datatest.Zip("X.npy", datatest.NPY("<f4", "2, 1", []float32{1, 2}), "y.npy", datatest.NPY("|u1", "2, 20000", make([]uint8, 40_000))))}, []string{"labels a row, found 20000"}},
		"celeba, a 2":          {flagged(), celebA(9, func(l []string) []string { l[4] = "000003.png 2 1 -1"; return l }), []string{`("Bald")`, `"2"`}},
		"celeba, a 2, said":    {flagged("Bald", "Young"), celebA(9, func(l []string) []string { l[4] = "000003.png 2 1 -1"; return l }), []string{"row 5", `("Bald")`, `"2"`}},
		"celeba, a zero":       {flagged(), celebA(9, func(l []string) []string { l[4] = "000003.png 0 1 -1"; return l }), []string{`"-1"`, "a label of 0 or 1"}},
		"celeba, one":          {flagged("Bald"), celebA(9, nil), []string{"at least two labels"}},
		"celeba, another":      {flagged("Bald", "Old"), celebA(9, nil), []string{`"Old"`, "Bald, Smiling, Young"}},
		"folders of pictures":  {flagged(), []source.File{source.Bytes("a.zip", datatest.Zip("a/1.png", datatest.Grey(9, 9, 1), "b/2.png", datatest.Grey(9, 9, 2)))}, []string{"a table beside the pictures"}},
		"idx": {flagged(), func() []source.File {
			img, lab := datatest.Images(30, 4, 4, 3)
			return []source.File{source.Bytes("train-images-idx3-ubyte", img), source.Bytes("train-labels-idx1-ubyte", lab)}
		}(), []string{"expected multi-label data", "idx"}},
	} {
		_, _, err := load.Load(t.Context(), c.files, nil, c.opt, nil)
		var e *data.Error
		if !errors.As(err, &e) || e.Fix == "" || loadtest.BadVerb(err.Error()) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// TestMultiLabelSkipsBadRows: rows with a label that is none are left out where the options say so, and counted.
func TestMultiLabelSkipsBadRows(t *testing.T) {
	opt := flagged("a", "b")
	opt.BadRows, opt.Missing = "skip", "drop"
	ds, r := loadtest.Read(t, opt, datatest.One("x,a,b\n1,0,1\n2,1,0\n3,2,1\n4,,1\n5,1,1\n"))
	if !slices.Equal(ds.Train.F32, []float32{1, 2, 5}) || !slices.Equal(ds.Train.Y, []float32{0, 1, 1, 0, 1, 1}) || r.BadRows != 1 || r.Dropped != 1 {
		t.Errorf("rows %v, labels %v, %d bad and %d dropped", ds.Train.F32, ds.Train.Y, r.BadRows, r.Dropped)
	}
}

// TestMultiLabelCopies: a feature that nearly equals one of the labels is said to, and no other is.
func TestMultiLabelCopies(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,alive,a,b\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%s,%d,%d\n", i*7%5, []string{"no", "yes"}[i/2%2], i%2, i/2%2)
	}
	_, r := loadtest.Read(t, flagged("a", "b"), datatest.One(b.String()))
	if len(r.Doubts) != 1 || !strings.Contains(r.Doubts[0], "alive nearly equals the label b") {
		t.Errorf("%q", r.Doubts)
	}
}
