package table

import (
	"fmt"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestFewColumnsListIDs: of many columns called as ids are, the integers of the first few are
// listed; those columns alone are left out as ids.
func TestFewColumnsListIDs(t *testing.T) {
	const columns = 40
	var b strings.Builder
	b.WriteString("label")
	for i := range columns { // which differ, and are the same in small letters
		name := []byte("unnamed: 0")
		for bit := range 6 {
			if i>>bit&1 == 1 {
				name[bit] -= 'a' - 'A'
			}
		}
		fmt.Fprintf(&b, ",%s", name)
	}
	const rows = 60
	for i := range rows {
		fmt.Fprintf(&b, "\n%c%s", 'a'+i%2, strings.Repeat(fmt.Sprintf(",%d", 1000+i), columns))
	}
	in := source.NewReading(t.Context(), run.CSV{})
	sc, err := scanTables(in, []source.File{source.Bytes("t.csv", []byte(b.String()))}, Choices{})
	if err != nil {
		t.Fatal(err)
	}
	var listed []int
	for i, c := range sc.columns {
		if c.ids != nil {
			listed = append(listed, i)
		}
		if sc.isID(i) != (i >= 1 && i <= mostIDLists) {
			t.Errorf("column %d counts as one of ids: %v", i, sc.isID(i))
		}
	}
	if len(listed) != mostIDLists || sc.rows != rows {
		t.Errorf("of %d rows the integers of the columns %v are listed", sc.rows, listed)
	}
}

// TestTablesShareNames: the names of the columns are held once, not for each table that has them.
func TestTablesShareNames(t *testing.T) {
	in := source.NewReading(t.Context(), run.CSV{})
	files := []source.File{source.Bytes("a.csv", []byte("x,y\n1,a\n2,b\n")), source.Bytes("b.csv", []byte("X,y\n3,a\n4,b\n"))}
	sc, err := scanTables(in, files, Choices{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(in, files[1], source.PhaseRead, Choices{}, sc.dialects[1])
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if &again.names[0] != &sc.names[0] {
		t.Errorf("the second table has names of its own: %q", again.names)
	}
	if cells, _, err := again.Next(); err != nil || cells[0] != "3" {
		t.Errorf("its first row is %q, %v", cells, err)
	}
}

// TestTextsAreBounded: what the lists of categories take is bounded over all
// columns, and those that grow least are kept.
func TestTextsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		for j := range 40 {
			fmt.Fprintf(&b, "%d%s%d,", j, strings.Repeat("x", 200), i)
		}
		fmt.Fprintf(&b, "%s,%d\n", strings.Repeat("long ", 300), i%2)
	}
	in := source.NewReading(t.Context(), run.CSV{})
	in.Limits.Texts = 1 << 20
	sc, err := scanTables(in, datatest.One(b.String()), Choices{})
	if err != nil {
		t.Fatal(err)
	}
	held, lists := int64(0), 0
	for _, c := range sc.columns {
		held += c.held
		if c.distinct != nil {
			lists++
		}
	}
	// A list of 400 such texts takes about 107 kB, so nine fit, and the labels.
	if held != sc.texts || held > in.Limits.Texts || lists != 10 || sc.columns[40].distinct != nil || len(sc.columns[41].distinct) != 2 {
		t.Errorf("%d bytes are held (%d by count) in %d lists", held, sc.texts, lists)
	}
}
