package table_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestRowsLeftOutNameNothing: classes and categories of rows that are left out are none, and the other rows are as without these,
// whatever columns stand around them.
func TestRowsLeftOutNameNothing(t *testing.T) {
	var good strings.Builder
	for i := range 60 {
		fmt.Fprintf(&good, "%s,%d,2024-02-%02dT0%d:30:00,word %d and more,%s,%s,%s\n", []string{"b", "d"}[i%2], i*7%50, 1+i%28, i%9, i%7, []string{"u", "", "w"}[i%3], []string{"r", "s", "t"}[i*i%3], []string{"no", "yes"}[i*i%5%2])
	}
	const header = "first,n,when,note,hashed,last,label\n"
	units := "a,cm,date,-,,c,-\n" + "b,3,,,,,\n"
	gaps := "a,1,2024-02-01T09:30:00,no words,z,q,\n" + "c,2,2024-02-02T09:30:00,?,z,q,?\n"
	test := "b,3,2024-02-02T09:30:00,word 3,u,s,yes\na,3,2024-02-02T09:30:00,word 3,u,s,yes\nb,3,2024-02-02T09:30:00,word 3,u,s,-\nb,3,2024-02-02T09:30:00,word 3,u,s,no\n"
	for what, c := range map[string]struct {
		more string
		opt  run.CSV
		bad  int
	}{
		"units": {units, run.CSV{BadRows: "skip", Missing: "indicator"}, 1},
		"gaps":  {gaps, run.CSV{BadRows: "skip", Missing: "zero"}, 0},
	} {
		c.opt.Columns = map[string]string{"hashed": "bucketed", "note": "text"}
		c.opt = datatest.AllToTrain(c.opt)
		read := func(rows string) (split, schema string) {
			ds, r := loadtest.Read(t, c.opt, datatest.One(header+rows), source.Bytes("u.csv", []byte(header+test)))
			columns := slices.Clone(r.Columns)
			for i := range columns {
				columns[i].Missing = 0 // of all rows
			}
			text, err := json.MarshalIndent(columns, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(ds.Classes, ds.Outputs, ds.Features, ds.Train.F32, ds.Train.Words, ds.Train.Y, ds.Test.Words, ds.Test.F32, ds.Test.Y), string(text)
		}
		clean, columns := read(good.String())
		have, now := read(c.more + good.String())
		if have != clean {
			t.Errorf("%s: %.300s\nwant %.300s", what, have, clean)
		}
		if now != columns {
			t.Errorf("%s: %s\nwant %s", what, now, columns)
		}
	}
}
