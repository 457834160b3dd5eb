package load_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// keptTable draws a table with gaps, many and few values, odd cells, cells of several lines and, for some, rows that cannot be read.
func keptTable(r *rand.Rand) []byte {
	kinds := []func() string{
		func() string { return fmt.Sprint(r.IntN(100)) },
		func() string { return fmt.Sprintf("%.*f", r.IntN(6), 1e4*(r.Float64()-0.5)) },
		func() string { return fmt.Sprintf("2020-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) },
		func() string {
			return fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d", 1950+r.IntN(70), 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
		},
		func() string { return []string{"Berlin", "Paris", "Köln", "\"a\nb\"", "1."}[r.IntN(5)] },
		func() string { return fmt.Sprint(20_000_101 + 10_000*r.IntN(20)) },
		func() string { return fmt.Sprint(r.Int64N(1e12)) },
		func() string { return fmt.Sprintf("person %d", r.IntN(1e6)) },
		func() string { return []string{"$", "", "$", "€"}[r.IntN(3)] + fmt.Sprint(r.IntN(1e6)) },
		func() string { return fmt.Sprintf("%d.%d,%02d", 1+r.IntN(9), 100+r.IntN(900), r.IntN(100)) },
	}
	gaps := []string{"", "", "NA", "?", "-", "none", "word", "1e3"}
	var columns []func() string
	for range 1 + r.IntN(6) {
		columns = append(columns, kinds[r.IntN(len(kinds))])
	}
	label := []func() string{func() string { return []string{"yes", "no"}[r.IntN(2)] }, func() string { return fmt.Sprint(r.IntN(2)) },
		func() string { return []string{"<=50K", "<=50K.", ">50K"}[r.IntN(3)] }, kinds[1]}[r.IntN(4)]
	odd := []float64{0, 0, 0.001, 0.1}[r.IntN(4)]
	broken := r.IntN(4) == 0
	var b bytes.Buffer
	for i := range columns {
		fmt.Fprintf(&b, "column %d;", i)
	}
	b.WriteString("label\n")
	for range []int{3, 30, 2500}[r.IntN(3)] {
		for _, c := range columns {
			if r.Float64() < odd {
				b.WriteString(gaps[r.IntN(len(gaps))])
			} else {
				b.WriteString(c())
			}
			b.WriteByte(';')
		}
		b.WriteString(label() + "\n")
		if broken && r.IntN(50) == 0 {
			b.WriteString("1;2;3;4;5;6;7;8;9\n")
		}
		if r.IntN(100) == 0 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// TestKeptRowsAreThoseOfFiles: a table whose rows are kept is read as one that takes a second pass, and so is what is said of it.
func TestKeptRowsAreThoseOfFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 10))
	read, refused := 0, 0
	for round := range 200 {
		table := keptTable(r)
		opt := run.CSV{Missing: []string{"", "drop", "zero", "indicator"}[r.IntN(4)], BadRows: []string{"", "skip"}[r.IntN(2)], TestShare: []float64{0, -1}[r.IntN(2)],
			Task: []string{"", "", "regression", "classification"}[r.IntN(4)]}
		if r.IntN(4) == 0 {
			opt.Columns = map[string]string{"column 0": []string{string(data.Categorical), "bucketed", string(data.Numeric), "text"}[r.IntN(4)]}
		}
		files := []source.File{source.Bytes("a.csv", table)}
		if r.IntN(3) == 0 {
			files = append(files, source.Bytes("b.csv", table))
		}
		var said [2]string
		var sets [2]*data.Dataset
		for k, most := range []int64{0, 64 << 20} {
			in := source.NewReading(t.Context(), opt)
			in.Limits.Kept = most
			var err error
			sets[k], err = load.Files(in, slices.Clone(files), nil)
			report, e := json.Marshal(in.Report)
			if e != nil {
				t.Fatal(e)
			}
			said[k] = fmt.Sprintf("%s\n%v", report, err)
			if err != nil && !errors.As(err, new(*data.Error)) {
				t.Fatal(err)
			}
		}
		if said[0] != said[1] {
			t.Fatalf("round %d, %+v:\n%s\n\n%s\n\n%s", round, opt, said[0], said[1], table[:min(len(table), 2000)])
		}
		if sets[0] == nil {
			refused++
			continue
		}
		read++
		if !slices.Equal(sets[0].Train.Text, sets[1].Train.Text) || datatest.Digest(t, sets[0]) != datatest.Digest(t, sets[1]) {
			t.Fatalf("round %d, %+v: other data of\n%s", round, opt, table[:min(len(table), 2000)])
		}
	}
	if read < 60 || refused < 10 {
		t.Errorf("%d tables are read, %d refused", read, refused)
	}
}
