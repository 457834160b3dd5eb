package format

import (
	"fmt"
	"runtime"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestLabelTablesShareNames: the names of pictures are listed once, not for each table beside them.
func TestLabelTablesShareNames(t *testing.T) {
	allocated := func(tables int) uint64 {
		var parts []any
		for i := range 2000 {
			parts = append(parts, fmt.Sprintf("%c/%d.png", 'a'+i%2, i), datatest.Grey(1, 1, uint8(i)))
		}
		for i := range tables {
			parts = append(parts, fmt.Sprintf("%d.csv", i), "x,y\n1.5,2\n2.5,3\n")
		}
		files := []source.File{source.Bytes("a.zip", datatest.Zip(parts...))}
		in := source.NewReading(t.Context(), run.CSV{})
		defer in.Close()
		a, err := source.OpenArchive(in, files[0])
		if err != nil {
			t.Fatal(err)
		}
		train := []source.File{a}
		all, labels, err := listPictures(in, train, nil)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := labelPictures(in, train[0], all, labels, nil); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	each := (allocated(41) - allocated(1)) / 40
	if most := uint64(1 << 18); each > most { // a table is looked at in the memory of the one before; 2,000 names take more than half a megabyte
		t.Errorf("a table more takes %d bytes more", each)
	}
}
