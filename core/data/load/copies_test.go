package load_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestColumnsAreComparedCheaply: columns of as many values as there are classes are compared with the label in a few MB,
// not in one list of classes for each value of each column.
func TestColumnsAreComparedCheaply(t *testing.T) {
	const columns, classes = 60, 1000
	var b bytes.Buffer
	for c := range columns {
		fmt.Fprintf(&b, "f%d,", c)
	}
	b.WriteString("label\n")
	for r := range 2 * classes {
		b.Write(bytes.Repeat(fmt.Appendf(nil, "%d,", r/2), columns))
		fmt.Fprintf(&b, "c%d\n", r*7919%classes)
	}
	files := []source.File{source.Bytes("t.csv", b.Bytes())}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ds, _, err := load.Load(t.Context(), files, nil, run.CSV{TestShare: -1}, nil)
	runtime.ReadMemStats(&after)
	if err != nil || ds.Features != columns || len(ds.Classes) != classes {
		t.Fatal(err)
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 100 {
		t.Errorf("%d MB were allocated for a table of %d kB", mb, b.Len()>>10)
	}
}
