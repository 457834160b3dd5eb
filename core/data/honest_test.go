package data

import (
	"fmt"
	"strings"
	"testing"

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
	return book("S", sheet.String(), "xl/sharedStrings.xml", words.String())
}

func BenchmarkHonest(b *testing.B) {
	table := honestTable(200_000)
	for _, c := range []struct {
		name string
		file File
	}{
		{"csv", Bytes("t.csv", table)}, {"gzip", Bytes("t.csv.gz", gz(table))}, {"zip", Bytes("t.zip", packed("t.csv", table))}, {"xlsx", Bytes("b.xlsx", honestBook(50_000))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				if _, _, err := Load(b.Context(), []File{c.file}, nil, run.CSV{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
