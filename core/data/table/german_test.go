package table_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// truth is what a row of a customers' table was made from.
type truth struct {
	number   int
	revenue  float64
	balance  float64
	pieces   int
	age      int
	bought   time.Time
	seen     time.Time
	discount float64
	weight   float64
	town     string
	leaves   bool
	absent   [11]bool // cells, in the order of germanColumns, without a value
}

const germanHeader = "Kundennummer;Umsatz in €;Saldo;Stück;Alter;Kauf am;Zuletzt gesehen;Rabatt;Größe;Ort;Kündigung"

func germanTruth(n int) []truth {
	rng := rand.New(rand.NewPCG(11, 12))
	day := func() time.Time {
		return time.Date(1955, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(80*365))
	}
	cents := func(most int) float64 { return float64(rng.IntN(most)) / 100 }
	towns := []string{"Köln", "Düsseldorf", "Gießen", "Frankfurt; Main", `Haus "Sonne"`, "Bad Homburg v. d. Höhe", "Weil am Rhein,\nSüd"}
	rows := make([]truth, n)
	for i := range rows {
		r := &rows[i]
		*r = truth{
			number: 10_001 + i, revenue: cents(1_000_000_00), balance: cents(20_000_00) - 10_000, pieces: rng.IntN(4) * rng.IntN(40_000), age: 18 + rng.IntN(80),
			bought: day(), seen: day().Add(time.Duration(rng.IntN(24*60)) * time.Minute), discount: float64(rng.IntN(200)) / 10,
			weight: float64(rng.IntN(9_999_999)) / 1000, town: towns[rng.IntN(len(towns))], leaves: rng.IntN(2) == 0,
		}
		for k := 1; k < len(r.absent)-1; k++ {
			r.absent[k] = k != 1 && rng.IntN(25) == 0
		}
	}
	return rows
}

// thousands writes v with that many decimals, a decimal comma and points between
// thousands.
func thousands(v float64, decimals int) string {
	whole, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	if decimals > 0 {
		whole += "," + rest
	}
	return sign + whole
}

// written is the row as spreadsheets and hands write it.
func (r *truth) written(rng *rand.Rand) string {
	comma := func(v float64, decimals int) string {
		return strings.ReplaceAll(strconv.FormatFloat(v, 'f', decimals, 64), ".", ",")
	}
	cells := []string{
		strconv.Itoa(r.number), thousands(r.revenue, 2), thousands(r.balance, 2), thousands(float64(r.pieces), 0), strconv.Itoa(r.age),
		r.bought.Format("02.01.2006"), r.seen.Format("2.1.2006 15:04"), comma(r.discount, 1) + " %", comma(r.weight, 3), r.town, map[bool]string{true: "ja", false: "nein"}[r.leaves],
	}
	if r.number%3 == 0 {
		cells[1] += " €"
	}
	if r.number%4 == 0 {
		cells[2] = strings.ReplaceAll(cells[2], ".", "") // by hand, without points
	}
	words := []string{"", "k.A.", "k. A.", "k.\u00a0A.", "NA", "#NV", "n.a.", "  ", "?", "N/A", "\u00a0"}
	for k, absent := range r.absent {
		if absent {
			cells[k] = words[rng.IntN(len(words))]
		}
	}
	for k, c := range cells {
		if strings.ContainsAny(c, ";\"\n") || rng.IntN(10) == 0 {
			cells[k] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		} else if rng.IntN(12) == 0 {
			cells[k] = " " + c + " "
		}
	}
	return strings.Join(cells, ";")
}

// germanTable is the rows as text, of which two cannot be read.
func germanTable(rows []truth, end string) string {
	rng := rand.New(rand.NewPCG(5, 6))
	lines := []string{germanHeader}
	for i := range rows {
		lines = append(lines, rows[i].written(rng))
		switch i {
		case len(rows) / 2:
			lines = append(lines, "10050;abgebrochen")
		case len(rows) - 2:
			lines = append(lines, "99999;12,0;0,00;1;dreißig;01.01.2020;1.1.2020 0:00;0,0 %;1,0;Köln;ja")
		}
	}
	return strings.Join(lines, end) + end
}

// held is the row as the trainer ought to hold it, with its target. ok is false
// for one that is left out.
func (r *truth) held(missing string, towns []string) (x []float32, y float32, ok bool) {
	days := func(t time.Time) float64 { return float64(t.Unix())/(24*60*60) - data.Millennium }
	for k, v := range []float64{
		float64(r.number), r.revenue, r.balance, float64(r.pieces), float64(r.age), days(r.bought), days(r.seen), r.discount / 100, r.weight,
	} {
		if r.absent[k] {
			v = 0
			if missing == "drop" {
				return nil, 0, false
			}
		}
		x = append(x, float32(v))
		if k == 6 { // the time of day
			clock := float32(r.seen.Hour()*60+r.seen.Minute()) / (24 * 60)
			if r.absent[k] {
				clock = 0
			}
			x = append(x, clock)
		}
		if missing == "indicator" && k > 1 { // columns of which cells are missing
			x = append(x, map[bool]float32{true: 1}[r.absent[k]])
		}
	}
	town := r.town
	if r.absent[9] {
		town = data.MissingCategory
		if missing == "drop" {
			return nil, 0, false
		}
	}
	for _, name := range towns {
		x = append(x, map[bool]float32{true: 1}[name == town])
	}
	return x, map[bool]float32{true: 0, false: 1}[r.leaves], true
}

// TestGermanTable: of a table as German programs and hands write it every cell that
// is held is the one it was made from, whatever its encoding, its line ends and what
// is done about missing cells, among the rows to train on as among those to test on.
func TestGermanTable(t *testing.T) {
	rows := germanTruth(600)
	unix, windows := germanTable(rows, "\n"), germanTable(rows, "\r\n")
	half := strings.Index(unix, "\n10301;") + 1
	for name, tc := range map[string]struct {
		train, test []source.File
		share       float64
	}{
		"as spreadsheets write it":  {train: []source.File{source.Bytes("Kunden.csv", datatest.Windows1252Text("sep=;\r\n"+windows))}, share: -1},
		"rows held out":             {train: []source.File{source.Bytes("Kunden.csv", datatest.Windows1252Text("sep=;\r\n"+windows))}},
		"without that line":         {train: []source.File{source.Bytes("Kunden.csv", datatest.Windows1252Text(unix))}, share: -1},
		"UTF-8 with a mark":         {train: []source.File{source.Bytes("Kunden.csv", []byte("\ufeffsep=;\r\n"+windows))}, share: -1},
		"UTF-16, packed":            {train: []source.File{source.Bytes("Kunden.txt.gz", datatest.GzipOf(datatest.UTF16Text(windows, binary.LittleEndian)))}, share: -1},
		"a cell more in every line": {train: []source.File{source.Bytes("Kunden.csv", datatest.Windows1252Text(trailing(unix)))}, share: -1},
		"a file to test on": {train: []source.File{source.Bytes("Kunden.csv", datatest.Windows1252Text("sep=;\n"+unix[:half]))},
			test: []source.File{source.Bytes("neue.csv", datatest.Windows1252Text(germanHeader+"\n"+unix[half:]))}},
	} {
		for _, missing := range []string{"indicator", "zero", "drop"} {
			t.Run(name+", "+missing, func(t *testing.T) {
				opt := run.CSV{BadRows: "skip", Missing: missing, TestShare: tc.share, Columns: map[string]string{"Kundennummer": "numeric"}}
				ds, r := loadtest.Read(t, opt, tc.train, tc.test...)
				compareGerman(t, ds, r, rows, missing)
			})
		}
	}
}

// trailing ends every line that ends a row with one more mark, as some programs do.
func trailing(table string) string {
	for _, end := range []string{"Kündigung\n", ";ja\n", ";nein\n", ";\"ja\"\n", ";\"nein\"\n", "; ja \n", "; nein \n"} {
		table = strings.ReplaceAll(table, end, end[:len(end)-1]+";\n")
	}
	return table
}

func compareGerman(t *testing.T, ds *data.Dataset, r *data.Report, rows []truth, missing string) {
	t.Helper()
	if !slices.Equal(ds.Classes, []string{"ja", "nein"}) {
		t.Fatalf("classes %q: %q", ds.Classes, r.Warnings)
	}
	if r.BadRows != 2 {
		t.Errorf("%d rows could not be read: %q", r.BadRows, r.Warnings)
	}
	towns := ds.Columns[9].Categories
	want := map[float32]*truth{}
	for i := range rows {
		if _, _, ok := rows[i].held(missing, towns); ok {
			want[float32(rows[i].number)] = &rows[i]
		}
	}
	if have := ds.Train.N + ds.Test.N; have != len(want) {
		t.Errorf("%d rows, %d were written", have, len(want))
	}
	for part, split := range map[string]*data.Split{"training": &ds.Train, "test": &ds.Test} {
		for i := range split.N {
			x := split.F32[i*ds.Features : (i+1)*ds.Features]
			row := want[x[0]]
			if row == nil {
				t.Fatalf("%s row %d, of number %v, is none or there twice", part, i, x[0])
			}
			delete(want, x[0])
			held, y, _ := row.held(missing, towns)
			if !slices.Equal(x, held) || split.Y[i] != y {
				t.Fatalf("%s row of number %d is\n%v → %v, was made from\n%v → %v", part, row.number, x, split.Y[i], held, y)
			}
		}
	}
}
