package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/run"
)

func TestMissingWords(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "?": true, "NA": true, "n/a": true, "N.A.": true, "NaN": true, "null": true, "#N/A": true, "k.A.": true, "k. A.": true, "k.\u00a0A.": true, "k.\u202fa.": true, "#NV": true, "NV": false,
		"-": false, "0": false, "none": false, "k.B.": false, "KA": false,
	} {
		if missing(s) != want {
			t.Errorf("%q is missing: %t", s, !want)
		}
	}
}

// TestStyles says of cells what they are in each style; NaN stands for none.
func TestStyles(t *testing.T) {
	no := float32(math.NaN())
	inf := float32(math.Inf(1))
	day := func(y, m, d int) float32 {
		return float32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	for s, want := range map[string][len(styles)]float32{
		// '.', ',', '.' with ',', ',' with '.', the same with spaces, and with apostrophes; ymd, dmy, mdy
		"12":                        {12, 12, 12, 12, 12, 12, 12, 12, no, no, no},
		"-1.5":                      {-1.5, no, -1.5, no, -1.5, no, -1.5, no, no, no, no},
		".5":                        {.5, no, .5, no, .5, no, .5, no, no, no, no},
		"1.":                        {1, no, 1, no, 1, no, 1, no, no, no, no},
		"0,5":                       {no, .5, no, .5, no, .5, no, .5, no, no, no},
		"96.004":                    {96.004, no, 96.004, 96004, 96.004, no, 96.004, no, no, no, no},
		"0.125":                     {.125, no, .125, no, .125, no, .125, no, no, no, no},
		"1234.125":                  {1234.125, no, 1234.125, no, 1234.125, no, 1234.125, no, no, no, no},
		"123,456":                   {no, 123.456, 123456, 123.456, no, 123.456, no, 123.456, no, no, no},
		"48.284,52":                 {no, no, no, 48284.52, no, no, no, no, no, no, no},
		"$1,234.50":                 {no, no, 1234.5, no, no, no, no, no, no, no, no},
		"-$ 1,234,567":              {no, no, -1234567, no, no, no, no, no, no, no, no},
		"1.234.567,8 €":             {no, no, no, 1234567.8, no, no, no, no, no, no, no},
		"12 %":                      {12, 12, 12, 12, 12, 12, 12, 12, no, no, no},
		"1 234 567":                 {no, no, no, no, 1234567, 1234567, no, no, no, no, no},
		"1\u202f234,5":              {no, no, no, no, no, 1234.5, no, no, no, no, no},
		"−2":                        {-2, -2, -2, -2, -2, -2, -2, -2, no, no, no},
		"1'234.5":                   {no, no, no, no, no, no, 1234.5, no, no, no, no},
		"1e3":                       {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, no, no, no},
		"2,5E-1":                    {no, .25, no, .25, no, .25, no, .25, no, no, no},
		"-inf":                      {-inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, no, no, no},
		"1e39":                      {inf, inf, inf, inf, inf, inf, inf, inf, no, no, no},
		"1,2e3":                     {no, 1200, no, 1200, no, 1200, no, 1200, no, no, no},
		"1,23":                      {no, 1.23, no, 1.23, no, 1.23, no, 1.23, no, no, no},
		"1,2345":                    {no, 1.2345, no, 1.2345, no, 1.2345, no, 1.2345, no, no, no},
		"2024-02-29":                {no, no, no, no, no, no, no, no, day(2024, 2, 29), no, no},
		"2023-02-29":                {no, no, no, no, no, no, no, no, no, no, no},
		"2024/1/5 12:00":            {no, no, no, no, no, no, no, no, day(2024, 1, 5) + .5, no, no},
		"31.12.1969":                {no, no, no, no, no, no, no, no, no, -1, no},
		"3.4.1970":                  {no, no, no, no, no, no, no, no, no, 92, no},
		"03/04/1970":                {no, no, no, no, no, no, no, no, no, 92, 62},
		"12-31-1970":                {no, no, no, no, no, no, no, no, no, no, 364},
		"13/01/1970":                {no, no, no, no, no, no, no, no, no, 12, no},
		"1970-01-02T06:00":          {no, no, no, no, no, no, no, no, 1.25, no, no},
		"1970-01-01T02:00:00+02:00": {no, no, no, no, no, no, no, no, 0, no, no},
	} {
		set := fitting(s)
		for k, st := range styles {
			v, ok := st.parse(s)
			if ok != set.has(k) || ok == math.IsNaN(float64(want[k])) || ok && v != want[k] {
				t.Errorf("%q in style %d %+v: %v, %v (fits: %v), want %v", s, k, st, v, ok, set.has(k), want[k])
			}
		}
	}
	for _, s := range []string{"", "-", ".", ",", "$", "%", "e", "nan", "+nan", "$nan", "1-2", "12 abc", "1e5x", "0x1p4", "1,,2", "1..2", "1.2.3", "1,23,456", "1e3,234", "10:30", "2024-13-01",
		"2024-1", "1.1.70", "2024-01-01T25:00", "2024-01.01", "Mai 5", "дом 5", "۱۲", "1,234,56", "12,3456,789"} {
		if set := fitting(s); set != 0 {
			t.Errorf("%q is a number in styles %b", s, set)
		}
	}
}

// TestColumnsTellTheirStyle: whole columns decide, and the table where one does not.
func TestColumnsTellTheirStyle(t *testing.T) {
	for name, tc := range map[string]struct {
		table string
		opt   run.CSV
		want  []float32 // the first column
		col   Column    // of which Decimal, Thousands and Date count
		warns string
	}{
		"German":             {"x;label\n96.004;a\n48.284,52;b\n7;a\n", run.CSV{}, []float32{96004, 48284.52, 7}, Column{Decimal: ",", Thousands: "."}, ""},
		"German, by another": {"x;y;label\n96.004;1,5;a\n48.284;2,5;b\n", run.CSV{}, []float32{96004, 1.5, 48284, 2.5}, Column{Decimal: ",", Thousands: "."}, `"96.004" is read as 96004`},
		"English in it":      {"x;y;label\n96.25;1,5;a\n4.284;2,5;b\n", run.CSV{}, []float32{96.25, 1.5, 4.284, 2.5}, Column{}, ""},
		"quoted thousands":   {"x,label\n\"123,456\",a\n\"1,234\",b\n", run.CSV{}, []float32{123456, 1234}, Column{Decimal: ".", Thousands: ","}, `"123,456" is read as 123456`},
		"money":              {"x,label\n\"$1,234.50\",a\n$7,b\n", run.CSV{}, []float32{1234.5, 7}, Column{Decimal: ".", Thousands: ","}, ""},
		"decimal comma":      {"x;label\n123,456;a\n1,5;b\n", run.CSV{}, []float32{123.456, 1.5}, Column{Decimal: ","}, ""},
		"three decimals":     {"x,label\n1.234,a\n5.678,b\n", run.CSV{}, []float32{1.234, 5.678}, Column{}, ""},
		"declared comma":     {"x,label\n1.234,a\n5.678,b\n", run.CSV{Decimal: ","}, []float32{1234, 5678}, Column{Decimal: ",", Thousands: "."}, ""},
		"declared thousands": {"x,label\n1.234,a\n5.678,b\n", run.CSV{Thousands: "."}, []float32{1234, 5678}, Column{Decimal: ",", Thousands: "."}, ""},
		"declared none":      {"x,label\n\"1,234\",a\n\"5,678\",b\n", run.CSV{Thousands: "none"}, []float32{1.234, 5.678}, Column{Decimal: ","}, ""},
		"Swiss":              {"x,label\n1'234.5,a\n7,b\n", run.CSV{}, []float32{1234.5, 7}, Column{Decimal: ".", Thousands: "'"}, ""},
		"ISO dates":          {"x,label\n1970-01-02,a\n1970-02-01,b\n", run.CSV{}, []float32{1, 31}, Column{Date: "ymd"}, ""},
		"plain dates":        {"x,label\n03/04/1970,a\n13/01/1970,b\n", run.CSV{}, []float32{92, 12}, Column{Date: "dmy"}, ""},
		"unclear dates":      {"x,label\n03/04/1970,a\n01/02/1970,b\n", run.CSV{}, []float32{62, 1}, Column{Date: "mdy"}, "they could also be dmy"},
		"unclear, ;":         {"x;label\n03/04/1970;a\n01/02/1970;b\n", run.CSV{}, []float32{92, 31}, Column{Date: "dmy"}, "they could also be mdy"},
		"declared dates":     {"x,label\n03/04/1970,a\n01/02/1970,b\n", run.CSV{Date: "dmy"}, []float32{92, 31}, Column{Date: "dmy"}, ""},
	} {
		ds, r := load(t, all(tc.opt), one(tc.table))
		c := ds.Columns[0]
		if !slices.Equal(ds.Train.F32, tc.want) || c.Decimal != tc.col.Decimal || c.Thousands != tc.col.Thousands || c.Date != tc.col.Date || c.Kind != Numeric {
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
	if ds, _ := load(t, run.CSV{Decimal: ","}, one(s)); ds.Columns[0].Kind != Categorical {
		t.Errorf("column %+v", ds.Columns[0])
	}
	_, _, err := Load(t.Context(), one(s), nil, run.CSV{Decimal: ",", Columns: map[string]string{"x": "numeric"}}, nil)
	if err == nil || !strings.Contains(err.Error(), `row 2, column 1 ("x"): expected a number such as 1234,5`) {
		t.Errorf("declared numeric: %v", err)
	}
}

// TestInfinityIsFoundLate: also in a column that has had fractions of every style.
func TestInfinityIsFoundLate(t *testing.T) {
	_, r, err := Load(t.Context(), one("x,y\n1e-5,a\n1.5,b\n1e39,a\n,b\n"), nil, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "row 4, column 1 (\"x\"): expected a finite number") || r.Features != 0 {
		t.Errorf("%v", err)
	}
}

// TestNoDates: texts with the marks of dates in odd places are none, and end nothing.
func TestNoDates(t *testing.T) {
	for _, text := range []string{
		"20T4-01-31", "7 North-East", "1 a.b", "T2021-01-31", " 2021-01-31", "2021-01-31T", "2021-01-31T25:00", "2021-01", "2021-01-31-02", "----------", "1/1/1", "\xea0,3303\x8dT.", "31.01.2021 x", "0000-00-00",
	} {
		for _, order := range []string{"ymd", "dmy", "mdy"} {
			if days, ok := parseDate(text, order); ok && !(text == "2021-01-31T" && order == "ymd") {
				t.Errorf("%q, %s: %v days", text, order, days)
			}
		}
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
	ds, _ := load(t, run.CSV{}, one(b.String()), Bytes("u", []byte("day,label\n31.12.2030,1\n")))
	if ds.Features != 1 || ds.Train.F32[1]-ds.Train.F32[0] != 1 || ds.Test.F32[0] != 22279 {
		t.Errorf("%d features, %v …, %v", ds.Features, ds.Train.F32[:2], ds.Test.F32)
	}
	_, _, err := Load(t.Context(), one(b.String()+"32.12.2024,1\n"), nil, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), `row 402, column 1 ("day"): expected a date`) {
		t.Errorf("a day that is none: %v", err)
	}
	ds, _ = load(t, run.CSV{Columns: map[string]string{"day": "categorical"}}, one(b.String()))
	if ds.Features != 336 {
		t.Errorf("%d categories where they were asked for", ds.Features)
	}
}

// TestAnotherStyleIsNoNumber: a cell is refused and not misread.
func TestAnotherStyleIsNoNumber(t *testing.T) {
	german := "x;label\n" + strings.Repeat("48.284,52;a\n7,5;b\n", 20)
	for cell, want := range map[string]string{"1,234.5": "a number such as 1.234,5", "1.5": "a number such as 1.234,5"} {
		_, _, err := Load(t.Context(), one(german+cell+";a\n"), nil, run.CSV{}, nil)
		if err == nil || !strings.Contains(err.Error(), "row 42") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s among German numbers: %v", cell, err)
		}
	}
	_, _, err := Load(t.Context(), one("x;label\n1,5;a\n2,25;b\n"), []File{Bytes("u", []byte("x;label\n1.5;a\n"))}, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "a number such as 1234,5, as in the training rows") {
		t.Errorf("in a test file: %v", err)
	}
}

// TestLabelsHaveStyles: classes and targets are read like features.
func TestLabelsHaveStyles(t *testing.T) {
	ds, _ := load(t, all(run.CSV{Task: "classification"}), one("x;y\n1;1.000\n2;2.000,5\n3;1.000,0\n"))
	if !slices.Equal(ds.Classes, []string{"1000", "2000.5"}) {
		t.Errorf("classes %q", ds.Classes)
	}
	ds, _ = load(t, all(run.CSV{Task: "regression"}), one("x;y\n1;1.000\n2;2.000,5\n3;1.000,0\n"))
	if !slices.Equal(ds.Train.Y, []float32{1000, 2000.5, 1000}) {
		t.Errorf("targets %v", ds.Train.Y)
	}
	ds, _ = load(t, all(run.CSV{Task: "classification"}), one("x,y\n1,2024-01-01\n2,2024-01-02\n3,2024-01-01\n"))
	if !slices.Equal(ds.Classes, []string{"2024-01-01", "2024-01-02"}) {
		t.Errorf("classes %q", ds.Classes)
	}
}
