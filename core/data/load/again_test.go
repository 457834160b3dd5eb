package load_test

import (
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestTablesOfPlacesInPictures: beside folders of classes a table that has several rows for each picture, such as what lies where
// in it, is not used, and nobody says that its pictures are not there.
func TestTablesOfPlacesInPictures(t *testing.T) {
	rows := strings.Repeat("1.png,a,3,4\n", 5) + strings.Repeat("2.png,b,5,6\n", 5)
	zip := datatest.Zip("a/1.png", datatest.Grey(9, 9, 3), "b/2.png", datatest.Grey(9, 9, 200), "boxes.csv", "filename,class,x,y\n"+rows)
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("a.zip", zip)})
	if said := strings.Join(r.Warnings, "\n"); ds.Train.N != 2 || !strings.Contains(said, "boxes.csv names the same pictures again and again, and is not used.") {
		t.Errorf("%d rows: %s", ds.Train.N, said)
	}
}
