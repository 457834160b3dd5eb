package load_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// honestTable is a CSV table of so many rows: numbers, a category of forty letters, a label.
func honestTable(rows int) []byte {
	var b strings.Builder
	b.WriteString("age,income,place,score,label\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%d.%02d,%s,%.3f,%s\n", 18+i*7919%60, i*104729%90000, i%100, fortyLetters(i%9), float64(i*31%1000)/7, []string{"no", "yes"}[i*i%7%2])
	}
	return []byte(b.String())
}

// fortyLetters is the k-th category of forty letters.
func fortyLetters(k int) string {
	return strings.Repeat(string(rune('a'+k)), 39) + "."
}

// honestBook is a spreadsheet as Excel writes it, with texts of forty letters that all rows share.
func honestBook(rows int) []byte {
	var sheet, words strings.Builder
	words.WriteString("<sst>")
	for k := range 9 {
		fmt.Fprintf(&words, "<si><t>%s</t></si>", fortyLetters(k))
	}
	words.WriteString("<si><t>no</t></si><si><t>yes</t></si></sst>")
	for i := range rows {
		fmt.Fprintf(&sheet, `<row r="%d" spans="1:4"><c r="A%[1]d"><v>%[2]d</v></c><c r="B%[1]d" t="s"><v>%[3]d</v></c><c r="C%[1]d" t="s"><v>%[4]d</v></c></row>`, i+1, i*7919%6000, i*i%9, 9+i*i%7%2)
	}
	return datatest.Book("S", sheet.String(), "xl/sharedStrings.xml", words.String())
}

// TestHonestFilesAreAllowed: what people have is read within its allowance, and would be if it were
// any number of times as large.
func TestHonestFilesAreAllowed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sparse := func(rows, width, ones int) []byte {
		var b bytes.Buffer
		for range rows {
			row := bytes.Repeat([]byte("0,"), width)
			for range ones {
				row[2*rng.IntN(width)] = '1'
			}
			b.Write(row)
			fmt.Fprintf(&b, "%d\n", rng.IntN(2))
		}
		return datatest.GzipOf(b.Bytes())
	}
	for name, file := range map[string]source.File{
		"a spreadsheet of shared texts": source.Bytes("b.xlsx", honestBook(30_000)),
		"a table that is packed":        source.Bytes("t.csv.gz", datatest.GzipOf(honestTable(30_000))),
		"a table in an archive":         source.Bytes("t.zip", datatest.Zip("t.csv", honestTable(30_000))),
		"a table in a packed tar":       source.Bytes("t.tgz", datatest.GzipOf(datatest.Tar("t.csv", honestTable(30_000)))),
		"a sparse table":                source.Bytes("s.csv.gz", sparse(2000, 2000, 20)),
		"a category in 1,000 columns":   source.Bytes("s.csv.gz", sparse(4000, 1000, 1)),
	} {
		in := source.NewReading(t.Context(), datatest.AllToTrain(run.CSV{}))
		if _, err := load.Files(in, []source.File{file}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes are read as %d, %d for each", name, file.Size(), in.Made, in.Made/file.Size())
		if in.Made > 2*source.MostDeflated*file.Size() {
			t.Errorf("%s: %d bytes are read as %d", name, file.Size(), in.Made)
		}
	}
}

func BenchmarkHonest(b *testing.B) {
	table := honestTable(200_000)
	for _, c := range []struct {
		name string
		file source.File
	}{
		{"csv", source.Bytes("t.csv", table)}, {"gzip", source.Bytes("t.csv.gz", datatest.GzipOf(table))}, {"zip", source.Bytes("t.zip", datatest.Zip("t.csv", table))}, {"xlsx", source.Bytes("b.xlsx", honestBook(50_000))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				if _, _, err := load.Load(b.Context(), []source.File{c.file}, nil, run.CSV{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
