package load_test

import (
	"fmt"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/run"
)

// TestBoundsOfTimesAreInOneUnit: what is declared of a column of times is read in one unit, so that bounds stay in order, and what is
// no date is refused.
func TestBoundsOfTimesAreInOneUnit(t *testing.T) {
	seconds, dates := "t,x,label\n", "t,x,label\n"
	for i := range 30 {
		seconds += fmt.Sprintf("%d,%d,%c\n", 1_600_000_000+i*864_000, i%7, 'a'+i%2)
		dates += fmt.Sprintf("%d,%d,%c\n", 20190101+i%28, i%7, 'a'+i%2)
	}
	for name, c := range map[string]struct {
		table  string
		lo, hi float64
		want   run.Bounds
		refuse string
	}{
		"seconds from a small number":  {seconds, 864_000, 1_728_000_000, run.Bounds{Lo: 10, Hi: 20_000}, ""},
		"days":                         {seconds, 15_000, 20_000, run.Bounds{Lo: 15_000, Hi: 20_000}, ""},
		"dates":                        {dates, 20181231, 20200101, run.Bounds{Lo: 17_896, Hi: 18_262}, ""},
		"a month 0":                    {dates, 20190000, 20201231, run.Bounds{}, "found 20190000"},
		"a month 99":                   {dates, 20190101, 99999999, run.Bounds{}, "found 99999999"},
		"days and a date":              {dates, 17_000, 20201231, run.Bounds{}, "found 17000"},
		"a date that stands in no gap": {dates, 17_000, 18_000, run.Bounds{}, "csv.fill"},
	} {
		opt := run.CSV{TestShare: -1, Bounds: map[string]run.Bounds{"t": {Lo: c.lo, Hi: c.hi}}}
		if c.refuse == "csv.fill" {
			opt.Fill, opt.Missing = map[string]float64{"t": 20190231}, "indicator"
		}
		ds, _, err := load.Load(t.Context(), datatest.One(c.table), nil, opt, nil)
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%s: %v, want %q", name, err, c.refuse)
			}
			continue
		}
		if err != nil || run.Bounds(*ds.Columns[0].Bounds) != c.want {
			t.Errorf("%s: %v, want %v: %v", name, ds, c.want, err)
		}
	}
}
