package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestColumnsTellTheirStyle: whole columns decide, and the table where one does not.
func TestColumnsTellTheirStyle(t *testing.T) {
	for name, tc := range map[string]struct {
		table string
		opt   run.CSV
		want  []float32   // the first column
		col   data.Column // of which Decimal, Thousands and Date count
		warns string
	}{
		"German":             {"x;label\n96.004;a\n48.284,52;b\n7;a\n", run.CSV{}, []float32{96004, 48284.52, 7}, data.Column{Decimal: ",", Thousands: "."}, ""},
		"German, by another": {"x;y;label\n96.004;1,5;a\n48.284;2,5;b\n", run.CSV{}, []float32{96004, 1.5, 48284, 2.5}, data.Column{Decimal: ",", Thousands: "."}, `"96.004" is read as 96004`},
		"English in it":      {"x;y;label\n96.25;1,5;a\n4.284;2,5;b\n", run.CSV{}, []float32{96.25, 1.5, 4.284, 2.5}, data.Column{}, ""},
		"quoted thousands":   {"x,label\n\"123,456\",a\n\"1,234\",b\n", run.CSV{}, []float32{123456, 1234}, data.Column{Decimal: ".", Thousands: ","}, `"123,456" is read as 123456`},
		"money":              {"x,label\n\"$1,234.50\",a\n$7,b\n", run.CSV{}, []float32{1234.5, 7}, data.Column{Decimal: ".", Thousands: ","}, ""},
		"decimal comma":      {"x;label\n123,456;a\n1,5;b\n", run.CSV{}, []float32{123.456, 1.5}, data.Column{Decimal: ","}, ""},
		"three decimals":     {"x,label\n1.234,a\n5.678,b\n", run.CSV{}, []float32{1.234, 5.678}, data.Column{}, `"1.234" is read as 1.234; it could also be 1234`},
		"other decimals":     {"x,z,label\n1.234,0.5,a\n5.678,1.5,b\n", run.CSV{}, []float32{1.234, 0.5, 5.678, 1.5}, data.Column{}, `"1.234" is read as 1.234, as goes with the rest of the table`},
		"a short decimal":    {"x,label\n1.234,a\n5.67,b\n", run.CSV{}, []float32{1.234, 5.67}, data.Column{}, ""},
		"declared comma":     {"x,label\n1.234,a\n5.678,b\n", run.CSV{Decimal: ","}, []float32{1234, 5678}, data.Column{Decimal: ",", Thousands: "."}, ""},
		"declared thousands": {"x,label\n1.234,a\n5.678,b\n", run.CSV{Thousands: "."}, []float32{1234, 5678}, data.Column{Decimal: ",", Thousands: "."}, ""},
		"declared none":      {"x,label\n\"1,234\",a\n\"5,678\",b\n", run.CSV{Thousands: "none"}, []float32{1.234, 5.678}, data.Column{Decimal: ","}, ""},
		"Swiss":              {"x,label\n1'234.5,a\n7,b\n", run.CSV{}, []float32{1234.5, 7}, data.Column{Decimal: ".", Thousands: "'"}, ""},
		"ISO dates":          {"x,label\n1970-01-02,a\n1970-02-01,b\n", run.CSV{}, []float32{1 - 10957, 31 - 10957}, data.Column{Date: "ymd"}, ""},
		"plain dates":        {"x,label\n03/04/1970,a\n13/01/1970,b\n", run.CSV{}, []float32{92 - 10957, 12 - 10957}, data.Column{Date: "dmy"}, ""},
		"unclear dates":      {"x,label\n03/04/1970,a\n01/02/1970,b\n", run.CSV{}, []float32{62 - 10957, 1 - 10957}, data.Column{Date: "mdy"}, "they could also be dmy"},
		"unclear, ;":         {"x;label\n03/04/1970;a\n01/02/1970;b\n", run.CSV{}, []float32{92 - 10957, 31 - 10957}, data.Column{Date: "dmy"}, "they could also be mdy"},
		"declared dates":     {"x,label\n03/04/1970,a\n01/02/1970,b\n", run.CSV{Date: "dmy"}, []float32{92 - 10957, 31 - 10957}, data.Column{Date: "dmy"}, ""},
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(tc.opt), datatest.One(tc.table))
		c := ds.Columns[0]
		if !slices.Equal(ds.Train.F32, tc.want) || c.Decimal != tc.col.Decimal || c.Thousands != tc.col.Thousands || c.Date != tc.col.Date || c.Kind != data.Numeric {
			t.Errorf("%s: %v, column %+v", name, ds.Train.F32, c)
		}
		if said := strings.Join(r.Warnings, "\n"); !strings.Contains(said, tc.warns) || tc.warns == "" && said != "" {
			t.Errorf("%s: warnings %q, want %q", name, said, tc.warns)
		}
	}
}

// TestDeclaredMarksBind: a column of numbers in no declared style is text.
func TestDeclaredMarksBind(t *testing.T) {
	const s = "x,label\n1.5,a\n2.25,b\n1.5,a\n"
	if ds, _ := loadtest.Read(t, run.CSV{Decimal: ","}, datatest.One(s)); ds.Columns[0].Kind != data.Categorical {
		t.Errorf("column %+v", ds.Columns[0])
	}
	_, _, err := load.Load(t.Context(), datatest.One(s), nil, run.CSV{Decimal: ",", Columns: map[string]string{"x": "numeric"}}, nil)
	if err == nil || !strings.Contains(err.Error(), `row 2, column 1 ("x"): expected a number such as 1234,5`) {
		t.Errorf("declared numeric: %v", err)
	}
}

// TestInfinityIsFoundLate: also in a column that has had fractions of every style.
func TestInfinityIsFoundLate(t *testing.T) {
	_, r, err := load.Load(t.Context(), datatest.One("x,y\n1e-5,a\n1.5,b\n1e39,a\n,b\n"), nil, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "row 4, column 1 (\"x\"): expected a finite number") || r.Features != 0 {
		t.Errorf("%v", err)
	}
}

// TestDatesAreNoCategories: hundreds of days are one feature, also in a test
// file, and a cell that is none is found.
func TestDatesAreNoCategories(t *testing.T) {
	var b strings.Builder
	b.WriteString("day,label\n")
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 400 {
		fmt.Fprintf(&b, "%s,%d\n", first.AddDate(0, 0, i%336).Format("02.01.2006"), i%2)
	}
	ds, _ := loadtest.Read(t, run.CSV{}, datatest.One(b.String()), source.Bytes("u", []byte("day,label\n31.12.2030,1\n")))
	if ds.Features != 1 || ds.Train.F32[1]-ds.Train.F32[0] != 1 || ds.Test.F32[0] != 22279-10957 {
		t.Errorf("%d features, %v …, %v", ds.Features, ds.Train.F32[:2], ds.Test.F32)
	}
	_, _, err := load.Load(t.Context(), datatest.One(b.String()+"32.12.2024,1\n"), nil, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), `row 402, column 1 ("day"): expected a date`) {
		t.Errorf("a day that is none: %v", err)
	}
	ds, _ = loadtest.Read(t, run.CSV{Columns: map[string]string{"day": "categorical"}}, datatest.One(b.String()))
	if ds.Features != 336 {
		t.Errorf("%d categories where they were asked for", ds.Features)
	}
}

// TestAnotherStyleIsNoNumber: a cell is refused and not misread.
func TestAnotherStyleIsNoNumber(t *testing.T) {
	german := "x;label\n" + strings.Repeat("48.284,52;a\n7,5;b\n", 20)
	for cell, want := range map[string]string{"1,234.5": "a number such as 1.234,5", "1.5": "a number such as 1.234,5"} {
		_, _, err := load.Load(t.Context(), datatest.One(german+cell+";a\n"), nil, run.CSV{}, nil)
		if err == nil || !strings.Contains(err.Error(), "row 42") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s among German numbers: %v", cell, err)
		}
	}
	_, _, err := load.Load(t.Context(), datatest.One("x;label\n1,5;a\n2,25;b\n"), []source.File{source.Bytes("u", []byte("x;label\n1.5;a\n"))}, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "a number such as 1234,5, as in the training rows") {
		t.Errorf("in a test file: %v", err)
	}
}

// TestLabelsHaveStyles: classes and targets are read like features.
func TestLabelsHaveStyles(t *testing.T) {
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{Task: "classification"}), datatest.One("x;y\n1;1.000\n2;2.000,5\n3;1.000,0\n"))
	if !slices.Equal(ds.Classes, []string{"1000", "2000.5"}) {
		t.Errorf("classes %q", ds.Classes)
	}
	ds, _ = loadtest.Read(t, datatest.AllToTrain(run.CSV{Task: "regression"}), datatest.One("x;y\n1;1.000\n2;2.000,5\n3;1.000,0\n"))
	if !slices.Equal(ds.Train.Y, []float32{1000, 2000.5, 1000}) {
		t.Errorf("targets %v", ds.Train.Y)
	}
	ds, _ = loadtest.Read(t, datatest.AllToTrain(run.CSV{Task: "classification"}), datatest.One("x,y\n1,2024-01-01\n2,2024-01-02\n3,2024-01-01\n"))
	if !slices.Equal(ds.Classes, []string{"2024-01-01", "2024-01-02"}) {
		t.Errorf("classes %q", ds.Classes)
	}
}
