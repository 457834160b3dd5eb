package table

import (
	"math"
	"testing"
	"time"
)

func TestMissingWords(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "?": true, "NA": true, "n/a": true, "N.A.": true, "NaN": true, "null": true, "#N/A": true, "k.A.": true, "k. A.": true, "k.\u00a0A.": true, "k.\u202fa.": true, "#NV": true, "NV": false,
		"n/d": true, "N/D": true, "NaT": true, "nat": false, "#DIV/0!": true, "#REF!": true, "#VALUE!": true, "#NAME?": true, "#NUM!": true, "#NULL!": true, "#ref!": false,
		"-": false, "0": false, "none": false, "k.B.": false, "KA": false,
	} {
		if missing(s) != want {
			t.Errorf("%q is missing: %t", s, !want)
		}
	}
}

// TestWordsOfNoNumber: some words are missing cells among numbers alone.
func TestWordsOfNoNumber(t *testing.T) {
	for s, want := range map[string]bool{
		"None": true, "none": true, "-": true, "--": true, ".": true, "..": true, "…": true, "–": true, "—": true, "": false, "...": false, "nine": false, "0": false, "unknown": true, "Missing": true, "not available": true, "NOT AVAILABLE ": false, "n.b.": true, "N. V.": true, "k.b.": false, "unbekannt": true, "1nown": false,
	} {
		if noNumber(s) != want {
			t.Errorf("%q is none among numbers: %t", s, !want)
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
		"₹12,34,567.5":              {no, no, 1234567.5, no, no, no, no, no, no, no, no},
		"1,23,456":                  {no, no, 123456, no, no, no, no, no, no, no, no},
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
		"1970-01-01 08:00:00+02":    {no, no, no, no, no, no, no, no, .25, no, no},
		"1970-01-01 08:00:00-0400":  {no, no, no, no, no, no, no, no, .5, no, no},
		"1970-01-01 08:30:00 +0230": {no, no, no, no, no, no, no, no, .25, no, no},
	} {
		set := fitting(s)
		for k, st := range styles {
			v, ok := st.parse(s)
			if ok != set.has(k) || ok == math.IsNaN(float64(want[k])) || ok && v != want[k] {
				t.Errorf("%q in style %d %+v: %v, %v (fits: %v), want %v", s, k, st, v, ok, set.has(k), want[k])
			}
		}
	}
	for _, s := range []string{"", "-", ".", ",", "$", "%", "e", "nan", "+nan", "$nan", "1-2", "12 abc", "1e5x", "0x1p4", "1,,2", "1..2", "1.2.3", "1,2,456", "12,345,67", "1,234,56,789", "1.23.456", "0,12,345", "1e3,234", "10:30", "2024-13-01",
		"2024-1", "1.1.70", "2024-01-01T25:00", "2024-01.01", "Mai 5", "дом 5", "۱۲", "1,234,56", "12,3456,789", ",23,456", "123,45,678"} {
		if set := fitting(s); set != 0 {
			t.Errorf("%q is a number in styles %b", s, set)
		}
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
