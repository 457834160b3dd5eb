package load_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/data/table"
	"clipscope/core/run"
)

// TestUnitsOfTables: a sign of per cent divides by 100, and a column remembers the units that it had.
func TestUnitsOfTables(t *testing.T) {
	column := func(values ...string) string {
		return lines("share;x;group", 40, func(i int) string { return fmt.Sprintf("%s;%d;%s", values[i%len(values)], i%7, ab(i)) })
	}
	const numbers = "share numeric; x numeric; group label; classes a b; first "
	for _, c := range []struct {
		trial
		units string
	}{
		{trial{file: "percent.csv", text: column("12%", "7 %", "0.5%"), want: numbers + "0.12|"}, "%"},
		{trial{file: "comma.csv", text: column("12,5%", "(7 %)", "0,25%"), want: numbers + "0.125|"}, "%"},
		{trial{file: "plain.csv", text: column("0.12", "0.07"), want: numbers + "0.12|"}, ""},
		{trial{file: "mixed.csv", text: column("12%", "0.07"), want: numbers + "0.12|", said: `"12%" is read as 0.12, beside "0.07"`}, "|%"},
		{trial{file: "bounds.csv", text: column("12%", "7%"), opt: run.CSV{Bounds: map[string]run.Bounds{"share": {Lo: 0, Hi: 100}}}, want: numbers + "0.12|", said: "Declare 0 to 1 for 0% to 100%"}, "%"},

		{trial{file: "euro.csv", text: column("€5", "7 EUR", "9€"), want: numbers + "5|", said: "mixes currencies"}, "€"},
		{trial{file: "dollar.csv", text: column("$5", "-$7"), want: numbers + "5|"}, "$"},
		{trial{file: "kr.csv", text: column("5 kr", "7,50 kr.", "Kr 9"), want: numbers + "5|", said: "mixes currencies"}, "kr"},
		{trial{file: "some.csv", text: column("5 €", "7"), want: numbers + "5|"}, "|€"},
	} {
		files := []source.File{source.Bytes(c.file, []byte(c.text))}
		c.run(t, files)
		ds, _ := loadtest.Read(t, datatest.AllToTrain(c.opt), files)
		if have := strings.Join(ds.Columns[0].Units, "|"); have != c.units || len(ds.Columns[0].Units) == 0 || strings.Join(ds.Columns[1].Units, "|") != "" {
			t.Errorf("%s: units %q, want %q", c.file, ds.Columns[0].Units, c.units)
		}
	}
}

// TestTimesStayDistinct: times that differ differ as features, whatever they are written as. The offset is the same for
// other rows.
func TestTimesStayDistinct(t *testing.T) {
	at := time.Date(2024, 2, 14, 9, 17, 3, 790e6, time.UTC)
	column := func(write func(t time.Time) string, step time.Duration) string {
		return lines("t,x,group", 120, func(i int) string { return fmt.Sprintf("%s,%d,%s", write(at.Add(time.Duration(i*i)*step)), i%7, ab(i)) })
	}
	layout := func(layout string) func(time.Time) string {
		return func(t time.Time) string { return t.Format(layout) }
	}
	const zoned, day = time.RFC3339, 24 * time.Hour
	millis := func(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }
	for _, c := range []struct {
		trial
		kind   string
		offset float64
	}{
		{trial{file: "ms.csv", text: column(millis, 250*time.Millisecond), want: "first 2024-02-14 09:17:03.79|", said: "as times (milliseconds"}, "ms", data.Millennium},
		{trial{file: "s.csv", text: column(func(t time.Time) string { return fmt.Sprint(t.Unix()) }, time.Second), want: "first 2024-02-14 09:17:03|", said: "as times (seconds"}, "s", data.Millennium},
		{trial{file: "fractions.csv", text: column(func(t time.Time) string { return fmt.Sprintf("%d.%03d", t.Unix(), t.Nanosecond()/1e6) }, time.Second), want: "first 2024-02-14 09:17:03.79|", said: "as times (seconds"}, "s", data.Millennium},
		{trial{file: "us.csv", text: column(func(t time.Time) string { return fmt.Sprint(t.UnixMicro()) }, time.Second), want: "first 2024-02-14 09:17:03.79|", said: "as times (microseconds"}, "us", data.Millennium},
		{trial{file: "ns.csv", text: column(func(t time.Time) string { return fmt.Sprint(t.UnixNano()) }, time.Second), want: "first 2024-02-14 09:17:03.79|", said: "as times (nanoseconds"}, "ns", data.Millennium},
		{trial{file: "an hour.csv", text: column(millis, time.Millisecond), opt: run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: 1707901200000, Hi: 1707904800000}}}, want: "first 2024-02-14 09:17:03.79|"}, "ms", 19767 + 9.5/24},

		{trial{file: "a century.csv", text: column(millis, time.Second), opt: run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: 0, Hi: 4e12}}}, want: "first 2024-02-14 09:17:03.79|"}, "ms", 4e12 / 86_400e3 / 2},
		{trial{file: "ymd.csv", text: column(layout("20060102"), day), want: "first 2024-02-14 = day 19767|", said: "as dates (year, month and day)"}, data.YearMonthDay, data.Millennium},
		{trial{file: "ymd gaps.csv", text: column(func(t time.Time) string { return t.Format("20060102") + ".0" }, day), want: "first 2024-02-14 = day 19767|", said: "as dates (year, month and day)"}, data.YearMonthDay, data.Millennium},
		{trial{file: "ymd declared.csv", text: column(layout("20060102"), day), opt: run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: 20240101, Hi: 20240103}}}, want: "first 2024-02-14 = day 19767|"}, data.YearMonthDay, 19724},

		{trial{file: "seconds.csv", text: column(layout("2006-01-02 15:04:05"), time.Second), want: "first 2024-02-14 09:17:03|"}, "", data.Millennium},
		{trial{file: "minutes.csv", text: column(layout("02.01.2006 15:04"), time.Minute), want: "first 2024-02-14 09:17:00|"}, "", data.Millennium},
		{trial{file: "zones.csv", text: column(layout(zoned), time.Second), want: "first 2024-02-14 09:17:03|"}, "", data.Millennium},
		{trial{file: "days declared.csv", text: column(layout("2006-01-02 15:04:05"), time.Second), opt: run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: 19767, Hi: 19768}}}, want: "first 2024-02-14 09:17:03|"}, "", 19767.5},
	} {
		files := []source.File{source.Bytes(c.file, []byte(c.text))}
		c.run(t, files)
		ds, _ := loadtest.Read(t, datatest.AllToTrain(c.opt), files)
		if col := ds.Columns[0]; col.Time != c.kind || math.Abs(col.Offset-c.offset) > 1e-9 {
			t.Errorf("%s: times %q less %v, want %q less %v", c.file, col.Time, col.Offset, c.kind, c.offset)
		}
		distinct(t, c.file, c.text, ds)
	}
	for _, name := range []string{"12-epoch-ms.csv", "12c-datetime.csv"} {
		t.Run(name, func(t *testing.T) {
			files := datatest.Shared(t, "../trials/"+name)
			ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), files)
			seen := map[[2]float32]bool{}
			for i := range ds.Train.N {
				seen[[2]float32(ds.Train.F32[i*ds.Features:][:2])] = true
			}
			if len(seen) != ds.Train.N {
				t.Errorf("%d of %d times", len(seen), ds.Train.N)
			}
		})
	}
}

// distinct checks that the first column has as many features as texts.
func distinct(t *testing.T, name, text string, ds *data.Dataset) {
	t.Helper()
	texts, features := map[string]bool{}, map[string]bool{}
	rows := strings.Split(strings.TrimSpace(text), "\n")[1:]
	c := ds.Columns[0]
	for i, row := range rows {
		cell, _, _ := strings.Cut(row, ",")
		x := ds.Train.F32[i*ds.Features:][:ds.Features]
		seen := fmt.Sprint(x[c.First])
		if c.Clock > 0 {
			seen += fmt.Sprint(" ", x[c.Clock])
		}
		texts[cell], features[seen] = true, true
	}
	if len(texts) < 10 || len(features) != len(texts) {
		t.Errorf("%s: %d texts are %d features", name, len(texts), len(features))
	}
}

// TestNumbersThatAreNoTimes: what only looks like some of the times is a number, and what falls together is counted.
func TestNumbersThatAreNoTimes(t *testing.T) {
	column := func(values ...string) string {
		return lines("t,x,group", 60, func(i int) string { return fmt.Sprintf("%s,%d,%s", values[i%len(values)], i%7, ab(i)) })
	}
	for _, c := range []trial{
		{file: "no month.csv", text: column("20201301", "20200103"), want: "first 20201300|"},
		{file: "phones.csv", text: column("1707954127", "9317954127"), want: "first 1707954200|"},
		{file: "money.csv", text: column("$20200103", "$20200104"), want: "first 20200104|", said: "of 2 different values 1 fall together"},
		{file: "collapse.csv", text: column("170795412779012", "170795412779013", "9"), want: "t numeric;", said: "of 3 different values 1 fall together"},
		{file: "metres.csv", text: column("4500000.01", "4500000.02", "4500000.03"), want: "t numeric;", said: "of 3 different values 2 fall together"},
		{file: "many.csv", text: lines("t,x,group", 3000, func(i int) string { return fmt.Sprintf("%d,%d,%s", 20200100+i, i%7, ab(i)) }), want: "t numeric;", said: "of 1000 different values 499 fall together"},
		{file: "targets.csv", text: lines("x,t", 60, func(i int) string { return fmt.Sprintf("%d,%d", i%7, 170795412779012+i) }), want: "regression;", said: "as a target has 24 bits"},
		{file: "far.csv", text: column("170795412779012", "170795412779013", "170795412779022"), opt: run.CSV{Bounds: map[string]run.Bounds{"t": {Lo: 170795412779000, Hi: 170795412779100}}}, want: "t numeric;"},
	} {
		files := []source.File{source.Bytes(c.file, []byte(c.text))}
		c.run(t, files)
		ds, r, err := load.Load(t.Context(), files, nil, datatest.AllToTrain(c.opt), nil)
		if err != nil {
			t.Fatal(err)
		}
		if ds.Columns[0].Time != "" {
			t.Errorf("%s: times %q", c.file, ds.Columns[0].Time)
		}
		if said := strings.Join(r.Warnings, "\n"); c.said == "" && strings.Contains(said, "fall together") {
			t.Errorf("%s: %s", c.file, said)
		}
	}
}

// TestSharesOfSheets: a sheet stores 12% as 0.12. A model that learnt from it in a format of per cent is the same as one that learnt from texts
// with signs, and both refuse a number without; one that learnt from it as 0.12 reads both.
func TestSharesOfSheets(t *testing.T) {
	sheet := func(style int) source.File {
		b := `<row r="1"><c r="A1" t="inlineStr"><is><t>share</t></is></c><c r="B1" t="inlineStr"><is><t>group</t></is></c></row>`
		for i := range 400 {
			b += fmt.Sprintf(`<row r="%d"><c r="A%[1]d" s="%[2]d"><v>%[3]v</v></c><c r="B%[1]d" t="inlineStr"><is><t>%[4]s</t></is></c></row>`, i+2, style, float64(i*7%400)/1000, ab(i))
		}
		return source.Bytes("b.xlsx", datatest.Book("s", b))
	}
	read := func(f source.File) (*table.Encoder, *data.Dataset) {
		ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{f})
		e, err := table.NewEncoder(ds.Task, ds.Columns, ds.Classes, ds.Features)
		if err != nil {
			t.Fatal(err)
		}
		return e, ds
	}
	texts := source.Bytes("b.csv", []byte(lines("share,group", 400, func(i int) string { return fmt.Sprintf("%d.%d%%,%s", i*7%400/10, i*7%400%10, ab(i)) })))
	nan := float32(math.NaN())
	var first []float32
	for _, c := range []struct {
		what          string
		f             source.File
		units, back   string  // and how the model writes 0.07
		plain, twelve float32 // what it makes of 0.12 and 12; NaN: refused
	}{
		{"texts", texts, "%", "7%", nan, nan},
		{"0.00%", sheet(4), "%", "7%", nan, nan},
		{"0.00 %;[Red]-0.00 %", sheet(6), "%", "7%", nan, nan},
		{"no format", sheet(0), "", "0.07", 0.12, 12},
	} {
		e, ds := read(c.f)
		if have := strings.Join(ds.Columns[0].Units, "|"); have != c.units {
			t.Errorf("%s: units %q, want %q", c.what, have, c.units)
		}
		if first == nil {
			first = ds.Train.F32
		}
		if !slices.Equal(ds.Train.F32, first) {
			t.Errorf("%s: other numbers than those of texts", c.what)
		}
		if have := e.Write(0, 0.07); have != c.back {
			t.Errorf("%s: 0.07 is written as %q, want %q", c.what, have, c.back)
		}
		for cell, want := range map[string]float32{"12%": 0.12, "12 %": 0.12, "12.0%": 0.12, "0.12": c.plain, "12": c.twelve, "$0.12": nan} {
			x := []float32{0}
			switch _, _, _, err := e.Features(x, []string{cell, ""}); {
			case want != want:
				if err == nil || !strings.Contains(err.Error(), "as in the training rows") {
					t.Errorf("%s: %q is %v, %v", c.what, cell, x, err)
				}
			case err != nil || x[0] != want:
				t.Errorf("%s: %q is %v, %v", c.what, cell, x, err)
			}
		}
	}
}

// TestSharesComeBackExactly: what a spreadsheet stores and what is read of it in per cent are one number, as features are.
func TestSharesComeBackExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 3))
	column := []data.Column{{Name: "share", Kind: data.Numeric, Units: []string{data.PerCent}}}
	e, err := table.NewEncoder(data.Regression, column, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	check := func(stored string) {
		want, err := strconv.ParseFloat(stored, 64)
		x := []float32{0}
		if _, _, _, wrong := e.Features(x, []string{table.InPerCent(stored)}); err != nil || wrong != nil || x[0] != float32(want) {
			t.Fatalf("%s in per cent is %s, and read as %v (%v)", stored, table.InPerCent(stored), x[0], wrong)
		}
	}
	for i := range 20_001 {
		check(strconv.FormatFloat(float64(i-10_000)/10_000, 'f', -1, 64))
		check(strconv.FormatFloat(float64(i)/1000, 'g', 17, 64)) // as Excel stores what was computed
		check(strconv.FormatFloat(rng.NormFloat64(), 'g', -1, 64))
	}
}

// TestCurrenciesOfSheets: currencies that a sheet shows by its formats alone are said where they are mixed in a column.
func TestCurrenciesOfSheets(t *testing.T) {
	const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$€-407] #,##0.00"/><numFmt numFmtId="165" formatCode="&quot;$&quot;#,##0.00"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="44"/></cellXfs></styleSheet>`
	sheet := func(style func(i int) int) source.File {
		b := `<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="B1" t="inlineStr"><is><t>price</t></is></c></row>`
		for i := range 60 {
			b += fmt.Sprintf(`<row r="%d"><c r="A%[1]d"><v>%[2]d</v></c><c r="B%[1]d" s="%[3]d"><v>%[4]d.25</v></c></row>`, i+2, i%7, style(i), 3*i)
		}
		return source.Bytes("b.xlsx", datatest.Book("s", b, "xl/styles.xml", styles))
	}
	const read = "60 rows; x numeric; price label; regression; first 0|0.25;"
	const mixed = "price mixes currencies ($ €), and is read as numbers without them. Bring them to one currency."
	for _, c := range []struct {
		what  string
		style func(i int) int
		mixed bool
	}{
		{"euros", func(int) int { return 1 }, false}, {"some in euros", func(i int) int { return i % 2 }, false}, {"dollars in two formats", func(i int) int { return 2 + i%2 }, false},
		{"dollars and euros", func(i int) int { return 2 - i%2 }, true}, {"the format without a code, and euros", func(i int) int { return 3 - 2*(i%2) }, true},
	} {
		line, warnings := outcome(t.Context(), []source.File{sheet(c.style)}, run.CSV{})
		if line != read || slices.Contains(warnings, mixed) != c.mixed {
			t.Errorf("%s: %s\n%s", c.what, line, strings.Join(warnings, "\n"))
		}
	}
}
