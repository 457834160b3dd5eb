package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"clipscope/core/data"
)

var update = flag.Bool("update", false, "write what is compared with testdata")

// cellsFile says of odd cells what each style of column makes of them; predict.mjs and
// predict.py are held against it, too.
const cellsFile = "testdata/cells.json"

type oddCells struct {
	Cells   []string    `json:"cells"`
	Columns []oddColumn `json:"columns"`
}

// oddColumn is a column as models have it, and the feature that each cell comes to in it:
// nil where it is refused, and [fillOdd] where it says that it is missing.
type oddColumn struct {
	Decimal   string     `json:"decimal,omitempty"`
	Thousands string     `json:"thousands,omitempty"`
	Date      string     `json:"date,omitempty"`
	Units     []string   `json:"units,omitempty"`
	Time      string     `json:"time,omitempty"`
	Offset    float64    `json:"offset,omitempty"`
	Features  []*float32 `json:"features"`
}

const fillOdd = -12345

// TestOddCells: what cells come to in every style of column is what was written down.
func TestOddCells(t *testing.T) {
	have := oddCells{Cells: oddTexts()}
	var columns []oddColumn
	for _, st := range styles {
		c := oddColumn{Date: st.date}
		if st.decimal == ',' && st.date == "" {
			c.Decimal = ","
		}
		if st.thousands != 0 {
			c.Thousands = string(rune(st.thousands))
		}
		columns = append(columns, c)
	}
	columns = append(columns, oddColumn{Units: []string{"%"}}, oddColumn{Units: []string{"", "€"}, Decimal: ",", Thousands: "."}, oddColumn{Units: []string{"CHF", "kr"}, Decimal: ".", Thousands: "'"},
		oddColumn{Units: []string{""}, Time: "yyyymmdd", Offset: data.Millennium}, oddColumn{Units: []string{""}, Time: "ms", Offset: 19767.25})
	for _, c := range columns {
		fill := fillOdd + c.Offset
		e, err := NewEncoder(data.Classification, []data.Column{{Name: "x", Kind: data.Numeric, Fill: &fill, Decimal: c.Decimal, Thousands: c.Thousands, Date: c.Date, Units: c.Units, Time: c.Time, Offset: c.Offset}}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range have.Cells {
			x := make([]float32, 1)
			var came *float32
			if _, _, _, err := e.Features(x, []string{strings.TrimSpace(cell)}); err == nil {
				came = &x[0]
			}
			c.Features = append(c.Features, came)
		}
		have.Columns = append(have.Columns, c)
	}
	b, err := json.Marshal(have)
	if err != nil {
		t.Fatal(err)
	}
	b = append(bytes.ReplaceAll(b, []byte(`{"`), []byte("\n{\"")), '\n')
	if *update {
		if err := os.WriteFile(cellsFile, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(cellsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b, want) {
		t.Errorf("cells are read differently: see what go test -run OddCells -update ./core/data/table changes in %s", cellsFile)
	}
}

// oddTexts are cells that people, spreadsheets and other programs write, and some that
// nobody does.
func oddTexts() []string {
	cells := strings.Split(strings.Join([]string{
		"| |5| 5 |+5|-5|- 5|−5|− 5|+ 5|+-5|1e3|1E3|1e-3|1e+3|1e|e3|0x10|0x1p4|0b1|1_000|1e1_0|inf|-inf|Infinity|none|-|--|.|,|5.|.5|5,|,5|1,5|1.5",
		"nan|NaN|-nan|NA|na|N/A|n.a.|k.A.|k. A.|k.\u00a0A.|k.\u202fA.|K.A.|#N/A|#n/a|#NV|#nv|null|NULL|<NA>|?",
		"1,234|1.234|1,234.5|1.234,5|1 234,5|1\u00a0234,5|1\u202f234,5|1'234.5|1’234.5|12,34|1,2,3|1..2|1.2.3|1,,234|0,123|0.123|1234,567|1,234,567.|1,234e2|1,234.5e2|1.234,5E-2",
		"01|007|1e400|-1e400|1e39|3.4e38|3.5e38|1e-400|1e-46|16777217|123456789.123456789|0.1000000000000000055511151231257827",
		"$5|5$|$ 5|-$5|$-5|$5$|€$5|€5|5 €|£5|₹5|¥5|5%|5 %|5%%|%5|%|$|$5%|5% $|87%2|4$6|1$e5|€ 1.234,50|$1,234.50",
		"(3.00)|(3)|(-3)|( 3 )|(3|3)|()|(1,234.50)|(1.234,50)|($5)|$(5)|(5%)|(5)%|-(5)|12.00-|12-|12,50-|1.234,50-|12.-|-12.00-|12.00 -|12.00--|(12.00-)|−(3)|(−3)|12.00−",
		"CHF 5|5 CHF|CHF5|chf 5|kr 5|5 kr|5,50 kr.|kr.5|Kr 5|Fr. 12.50|EUR 1.234,50|1.234,50 EUR|-USD 5|USD -5|GBP|CHF 5 kr|5 kr%|5% kr|CHF 1e3|(CHF 5)|5 CHF-|CHF 5.00-|CHF 2020-01-02|61’000.00|CHF 61’000.00|61’00.0|1\u2009234,50|1\u2007234|5 krona|ABC 5|5 E|E5",
		"20200102|20200230|20200102.0|20200102.5|2.0200102e7|00010203|99991231|100000101|-20200102|20.200.102|$20200102|1707954127790|1707954127790.5|-1707954127790|1.707954127790e12|1e308",
		"NaT|nat|n/d|N/D|None|NONE|–|—|..|...|- -|#DIV/0!|#div/0!|#REF!|#NUM!|#NAME?|#VALUE!|#NULL!|#NULL",
		"unknown|Missing|NOT AVAILABLE|unbekannt|fehlt|n.b.|N. V.|n.c.|not  available",
		"١٢٣|１２|½|²|5\u00a0|\u00a05|5\u200b|\ufeff5|\u20075|5\x00|5\x1c|5\u0085|5\v|\t5\t|5\u2028",
		"2020-01-02|2020-1-2|2020/01/02|2020.01.02|2020-01/02|02.01.2020|2.1.2020|1/2/2020|13/2/2020|2/13/2020|31.02.2020|29.02.2019|29.02.2020|2.1.20|99-1-1",
		"0000-01-01|0001-01-01|0099-03-04|9999-12-31|10000-01-01|-2020-01-02|2020-00-01|2020-01-00|2020-13-01|002020-01-02|2020-001-02|١-١-٢٠٢٠",
		"2020-01-02T|2020-01-02T03|2020-01-02T03:04|2020-01-02 03:04|2020-01-02 3:04|2020-01-02 03:04:05|2020-01-02T03:04:05Z|2020-01-02T03:04Z|2020-01-02T03:04:05+01:00|2020-01-02T03:04:05-01:30|2020-01-02T03:04:05+0100",
		"20/12/19|1/2/20|12/31/69|12/31/68|31.12.99|2.1.99|31-12-70|12-31-00|29.02.00|29/2/01|1/2/2|12/12/123|20/12/19 15:04|1/2/70 3:04 PM|1/2/1970 12:00 am|1/2/1970 12:00 PM|1/2/1970 0:04 PM|1/2/1970 13:04 PM",
		"2020-01-02 03:04:05AM|2020-01-02T11:59:59 pm|2020-01-02 3 PM|2020-01-02 PM|2020-01-02 3:04 XM|2020-01-02 3:04  PM|2020-01-02 03:04:05.5 PM|2020-01-02 03:04:05Z PM|2020-01-02 3:04 p.m.|5 PM|PM",
		"2020-01-02T03:04:05.678|2020-01-02T03:04:05,678Z|2020-01-02T24:00|2020-01-02T23:60|2020-01-02T23:59:60|2020-01-02T23:59:59+24:60|2020-01-02T23:59:59+25:00|2020-01-02t03:04|2020-01-02  03:04|2020-01-02Z|02.01.2020 03:04|1/2/2020 23:59:59",
		"2020-01-02 03:04:05+01|2020-01-02 03:04:05.678-0330|2020-01-02 03:04:05 +0100|2020-01-02 03:04:05 Z|2020-01-02 03:04:05  Z|2020-01-02 03:04+01|2020-01-02 09:30-10:00|2020-01-02 03:04:05+1|2020-01-02 03:04:05+010|2020-01-02 03:04:05+01:0|2020-01-02 03:04:05+01:|2020-01-02 03:04:05+2500|2020-01-02 03:04:05+0061|2020-01-02 03:04:05Z+01|2020-01-02 03:04:05+01 PM|2020-01-02 03:04:05z|02.01.2020 03:04:05-12|1/2/2020 03:04:05 -1200|2020-01-02 +01",
	}, "|"), "|")
	alphabets := [][]rune{[]rune("0123456789.,-+eE $€%−"), []rune("0123456789-/.T: Z+"), []rune("12.,' ")}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		var s strings.Builder
		a := alphabets[i%len(alphabets)]
		for range 1 + r.IntN(9) {
			s.WriteRune(a[r.IntN(len(a))])
		}
		cells = append(cells, s.String())
	}
	return cells
}

// TestCellsInAnotherStyle: a number or a date that is written otherwise than in training is
// refused, and the error says how it would be read; where it may mean two things it says both.
func TestCellsInAnotherStyle(t *testing.T) {
	for _, c := range []struct {
		column     data.Column
		cell, want string
	}{
		{data.Column{}, "85,3", "Write 85.3, as the training rows have their numbers."},
		{data.Column{}, "0,1", "Write 0.1, as"},
		{data.Column{}, "1,234", "Write 1.234 or 1234, as"},
		{data.Column{}, "1.234,5", "Write 1234.5, as"},
		{data.Column{Decimal: ","}, "85.3", "Write 85,3, as"},
		{data.Column{Decimal: ",", Thousands: "."}, "1,234.5", "Write 1234,5, as"},
		{data.Column{Date: "ymd"}, "31.12.2024", "Write 2024-12-31, as the training rows have their dates."},
		{data.Column{Date: "dmy"}, "2024-12-31", "Write 31.12.2024, as"},
		{data.Column{}, "old", "Correct the cell."},
		{data.Column{}, "31.12.2024", "Correct the cell."},
		{data.Column{Date: "ymd"}, "1,5", "Correct the cell."},
	} {
		c.column.Name, c.column.Kind = "x", data.Numeric
		e, err := NewEncoder(data.Classification, []data.Column{c.column}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = e.Features(make([]float32, 1), []string{c.cell})
		var bad *data.Error
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Fix, c.want) {
			t.Errorf("%q in %+v: %v, want %q", c.cell, c.column, err, c.want)
		}
	}
}

// TestCategoriesOfOlderModelsStay: a text that a model has for a category is that, though it is by
// now a word for a missing cell.
func TestCategoriesOfOlderModelsStay(t *testing.T) {
	e, err := NewEncoder(data.Classification, []data.Column{{Name: "x", Kind: data.Categorical, Categories: []string{"a", "n/d", data.MissingCategory}}}, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[string]int{"a": 0, "n/d": 1, "N/D": 2, "": 2, "#REF!": 2} {
		x := make([]float32, 3)
		if _, _, _, err := e.Features(x, []string{cell}); err != nil || x[want] != 1 {
			t.Errorf("%q becomes %v, %v; want category %d", cell, x, err, want)
		}
	}
}
