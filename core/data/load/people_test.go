package load_test

import (
	"fmt"
	"strings"
	"testing"

	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestTablesAsPeopleHaveThem reads tables as programs and people write them: each is read as is meant, or refused with the reason and the fix.
func TestTablesAsPeopleHaveThem(t *testing.T) {
	comma := func(v float64, digits int) string {
		return strings.Replace(fmt.Sprintf("%.*f", digits, v), ".", ",", 1)
	}
	v := func(i int) float64 { return float64(i*37%101) + float64(i*13%100)/100 }
	quoted := func(cells ...string) string { return `"` + strings.Join(cells, `";"`) + `"` }
	words := func(no, yes string) func(i int) string {
		return func(i int) string { return fmt.Sprintf("%d,%s,%s", i*7%5, []string{no, yes}[i*i%3%2], ab(i)) }
	}
	units := "height,weight,group\ncm,kg,-\n" + strings.TrimPrefix(lines("", 60, func(i int) string { return fmt.Sprintf("%d,%g,%s", 150+i, v(i), ab(i)) }), "\n")
	drop := run.CSV{Missing: "drop"}
	for _, c := range []trial{
		{file: "libreoffice.csv", text: "\ufeff" + strings.ReplaceAll(lines("Größe;Gewicht;Anteil;Klasse", 60, func(i int) string {
			return comma(v(i), 2) + ";" + fmt.Sprintf("1.%03d,5", i*7) + ";" + comma(v(i), 1) + "%;" + ab(i)
		}), "\n", "\r\n"), want: "60 rows; Größe numeric; Gewicht numeric; Anteil numeric; Klasse label; classes a b; first 0|1000.5|0|a;"},
		{file: "write.csv2.csv", text: lines(`"";"x";"n";"group"`, 60, func(i int) string {
			return fmt.Sprintf(`"%d";%s;%d;"%s"`, i+1, comma(v(i), 2), i%9, ab(i))
		}), want: "60 rows; column 1 ignored; x numeric; n numeric; group label; classes a b;", said: "numbers the rows"},
		{file: "write.csv2 NA.csv", text: lines(`"x";"n";"group"`, 60, func(i int) string {
			return fmt.Sprintf(`%s;%s;"%s"`, comma(v(i), 2), []string{"NA", "3", "4", "5"}[i%4], ab(i))
		}), opt: drop, want: "45 rows; x numeric; n numeric; group label; classes a b;", said: "15 training rows are left out"},
		{file: "pandas.csv", text: lines(",x,flag,when,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%g,%s,2024-02-%02d 09:00:00+00:00,%s", i, v(i), []string{"True", "False"}[i*i%3%2], 1+i%28, ab(i))
		}), want: "column 1 ignored; x numeric; flag categorical; when numeric; group label; classes a b; first |0|True|2024-02-01 09:00:00|a;"},
		{file: "spss.csv", text: lines("VAR00001;geschl;alter;zufried", 60, func(i int) string {
			return fmt.Sprintf("%s;%s;%s;%d", comma(v(i), 2), []string{"1", "2", " "}[i%3], []string{"34", "#NULL!", "51"}[i*i%5%3], 1+i%5)
		}), opt: run.CSV{Missing: "indicator"}, want: "60 rows; VAR00001 numeric; geschl numeric; alter numeric; zufried label; classes 1 2 3 4 5;"},
		{file: "umsaetze.csv", text: "\"Kontonummer:\";\"DE00 0000 0000 0000 0000 00 / Girokonto\"\n\n\"Von:\";\"01.01.2024\"\n\"Bis:\";\"31.03.2024\"\n\"Kontostand vom 31.03.2024:\";\"1.234,56 EUR\"\n\n" +
			lines(quoted("Buchungstag", "Verwendungszweck", "Betrag (EUR)", "Art")+";", 60, func(i int) string {
				return quoted(fmt.Sprintf("%02d.%02d.2024", 1+i%28, 1+i%3), []string{"Miete", "Lohn", "Strom"}[i%3], []string{"-", ""}[i%2]+fmt.Sprintf("1.%03d,%02d", i*7, i), ab(i)) + ";"
			}), want: "60 rows; Buchungstag numeric; Verwendungszweck categorical; Betrag (EUR) numeric; Art label;", said: "umsaetze.csv: what stands above row 7 is not of the table and is skipped (Kontonummer:, DE00 0000 0000 0000 0000 00 / Girokonto, Von:, 01.01.2024, Bis:, 31.03.2024, Kontostand vom 31.03.2024:, 1.234,56 EUR)"},
		{file: "merged.csv", text: "Group A,,Group B,,\n" + lines("x,y,z,w,group", 60, func(i int) string { return fmt.Sprintf("%g,%g,%d,%d,%s", v(i), v(i+1), i%7, i%9, ab(i)) }), want: "60 rows; x numeric; y numeric; z numeric; w numeric; group label; classes a b;", said: "merged.csv: what stands above row 2 is not of the table and is skipped (Group A, Group B)"},
		{file: "units row.csv", text: units, want: `refused: units row.csv, row 2, column 1 ("height"): expected a number, as in the rest of the column, found "cm"`},
		{file: "units row skipped.csv", text: units, opt: run.CSV{BadRows: "skip"}, want: "60 rows; height numeric; weight numeric; group label; classes a b;", said: `row 2, column 1 ("height")`},
		{file: "total.csv", text: lines("region,x,y,group", 60, func(i int) string {
			return fmt.Sprintf("%s,%d,%g,%s", []string{"north", "south"}[i%2], i*7%50, v(i), ab(i))
		}) + "Total,1500,3000.5,\n", want: `refused: total.csv, row 62, column 4 ("group"): expected a value`},
		{file: "total of prices.csv", text: lines("region;x;price", 60, func(i int) string {
			return fmt.Sprintf("%s;%d;%s", []string{"Nord", "Süd"}[i%2], i*7%50, comma(v(i), 2))
		}) + "Summe;1500;3000,5\n", want: "61 rows; region categorical; x numeric; price label; regression;", said: `region: one row has "Summe". If it sums up the others, remove it`},
		{file: "a region once.csv", text: lines("region;x;price", 60, func(i int) string {
			return fmt.Sprintf("%s;%d;%s", []string{"Nord", "Süd", "Total"}[i%3], i*7%50, comma(v(i), 2))
		}), want: "60 rows; region categorical; x numeric; price label; regression;"},
		{file: "total alone.csv", text: lines("x,y,price", 60, func(i int) string { return fmt.Sprintf("%d,%g,%g", i*7%50, v(i), v(i+5)) }) + "Total,3000.5,4000.5\n", want: `row 62, column 1 ("x"): expected a number, as in the rest of the column, found "Total". If the row sums up the others, remove it, or skip rows that cannot be read.`},
		{file: "trailing.csv", text: lines("x,y,group,,,", 60, func(i int) string { return fmt.Sprintf("%d,%g,%s,,,", i*7%50, v(i), ab(i)) }), want: "60 rows; x numeric; y numeric; group label; column 4 ignored;"},
		{file: "twice.csv", text: lines("x,value,value,group", 60, func(i int) string { return fmt.Sprintf("%d,%g,%g,%s", i*7%50, v(i), v(i+3), ab(i)) }), want: `refused: twice.csv, row 1, column 3 ("value"): expected a name of its own`},
		{file: "sep.csv", text: "\ufeffsep=;\r\n" + strings.ReplaceAll(lines("x;y;group", 60, func(i int) string { return comma(v(i), 2) + ";" + fmt.Sprint(i%9) + ";" + ab(i) }), "\n", "\r\n"), want: "60 rows; x numeric; y numeric; group label; classes a b; first 0|0|a;"},
		{file: "quoted.csv", text: lines(`"x","y","group"`, 60, func(i int) string { return fmt.Sprintf(`"%d,%03d.50","%g","%s"`, 1+i, i*7, v(i), ab(i)) }), want: "60 rows; x numeric; y numeric; group label; classes a b; first 1000.5|0|a;"},
		{file: "changes.csv", text: lines("change,x,group", 60, func(i int) string {
			return fmt.Sprintf("%s%d.5%%,%d,%s", []string{"+", "-", "−"}[i%3], i, i%7, ab(i))
		}), want: "change numeric; x numeric; group label; classes a b; first 0.005|"},
		{file: "about 0.csv", text: lines("change,x,group", 60, func(i int) string { return fmt.Sprintf("%s%d.5%%,%d,%s", []string{"+", "±"}[i%2], i, i%7, ab(i)) }), want: "change ignored;", said: "change is ignored"},
		{file: "mixed changes.csv", text: lines("change,x,group", 60, func(i int) string {
			return []string{"+3.5%", "-2%", "0.02", "−1.25 %"}[i%4] + "," + fmt.Sprint(i%7) + "," + ab(i)
		}), want: "change numeric; x numeric; group label; classes a b; first 0.035|", said: "mixes per cent and plain numbers"},
		{file: "ja.csv", text: lines("x,raucher,group", 60, words("nein", "ja")), want: "raucher categorical; group label; classes a b; first 0|nein|"},
		{file: "oui.csv", text: lines("x,raucher,group", 60, words("non", "oui")), want: "raucher categorical;"},
		{file: "wahr.csv", text: lines("x,raucher,group", 60, words("FALSCH", "WAHR")), want: "raucher categorical;"},
		{file: "N.csv", text: lines("x,raucher,group", 60, words("N", "Y")), want: "raucher categorical; group label; classes a b; first 0|N|"},
		{file: "mixed truth.csv", text: lines("x,raucher,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%s,%s", i%7, []string{"TRUE", "true", "False", "FALSE"}[i%4], ab(i))
		}), want: "raucher categorical;", said: "are told apart"},
		{file: "truth and numbers.csv", text: lines("x,raucher,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%s,%s", i%7, []string{"1", "0", "TRUE", "FALSE"}[i%4], ab(i))
		}), want: "raucher categorical; group label; classes a b; first 0|1|", said: `raucher: "1" and "TRUE" are told apart`},
		{file: "words of truth.csv", text: lines("x,raucher,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%s,%s", i%7, []string{"ja", "n", "J", "nein", "unbekannt"}[i%5], ab(i))
		}), want: "raucher categorical;", said: `raucher: "n" and "nein" are told apart`},
		{file: "labels of truth.csv", text: lines("x,y,ill", 60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", i%7, i*i%11, []string{"yes", "no", "1", "0"}[i%4])
		}), want: "ill label; classes 0 1 no yes;", said: `ill: "0" and "no" are told apart`},
		{file: "pandas upcast.csv", text: lines("x,floor,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%s,%s", i%7, []string{"1", "1.0", "EG", "2.0", "UG"}[i%5], ab(i))
		}), want: "floor categorical;", said: `floor: "1" and "1.0" are told apart`},
		{file: "winds.csv", text: lines("x,wind,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%s,%s", i%7, []string{"N", "E", "S", "W", "0"}[i%5], ab(i))
		}), want: "wind categorical;", silent: "told apart"},
		{file: "zones.csv", text: lines("when,x,group", 60, func(i int) string {
			return fmt.Sprintf("2024-02-%02dT09:30:00%s,%d,%s", 1+i%28, []string{"+01:00", "Z", "-05:00"}[i%3], i%7, ab(i))
		}), want: "when numeric; x numeric; group label; classes a b; first 2024-02-01 08:30:00|"},
		{file: "short zones.csv", text: lines("when,x,group", 60, func(i int) string {
			return fmt.Sprintf("2024-02-%02d 09:30:00.%03d%s,%d,%s", 1+i%28, i, []string{"+0100", "+0000"}[i%2], i%7, ab(i))
		}), want: "when numeric; x numeric; group label; classes a b; first 2024-02-01 08:30:00|"},
		{file: "postgres.csv", text: lines("when,x,group", 60, func(i int) string {
			return fmt.Sprintf("2024-02-%02d 09:30:00%s,%d,%s", 1+i%28, []string{"+01", "+00"}[i%2], i%7, ab(i))
		}), want: "when numeric; x numeric; group label; classes a b; first 2024-02-01 08:30:00|"},
		{file: "named zones.csv", text: lines("when,x,group", 60, func(i int) string {
			return fmt.Sprintf("2024-02-%02d 09:30:00 %s,%d,%s", 1+i%28, []string{"UTC", "CET"}[i%2], i%7, ab(i))
		}), want: "when ignored;", said: `times such as "2024-02-01 09:30:00 UTC" are not read`},
		{file: "minutes in zones.csv", text: lines("when,x,group", 60, func(i int) string {
			return fmt.Sprintf("2024-02-%02d %02d:30+01:00,%d,%s", 1+i%28, i%24, i%7, ab(i))
		}), want: "when ignored;", said: `times such as "2024-02-01 00:30+01:00" are not read`},
		{file: "two decimal marks.csv", text: lines("x,y,group", 60, func(i int) string {
			return fmt.Sprintf("%s,%d,%s", []string{`"1,5"`, "1.5", `"2,25"`, "3.75"}[i%4], i%7, ab(i))
		}), want: "x categorical;", said: `x is read as categorical: its numbers or dates are in several notations, and "1,5" is not as most are`},
		{file: "dates and serials.csv", text: lines("day,y,group", 60, func(i int) string {
			return fmt.Sprintf("%s,%d,%s", []string{"45292", "2024-01-02", "03.01.2024"}[i%3], i%7, ab(i))
		}), want: "day categorical;", said: "in several notations"},
		{file: "kilograms.csv", text: lines("weight,y,group", 60, func(i int) string { return fmt.Sprintf("%dkg,%d,%s", 50+i, i%7, ab(i)) }), want: "weight ignored;", said: `weight is ignored: its texts, such as "50kg", look like numbers in a notation that is not read`},
		{file: "reais.csv", text: lines("price;y;group", 60, func(i int) string { return fmt.Sprintf("R$ 1.%03d,50;%d;%s", 10+i, i%7, ab(i)) }), want: "price ignored;", said: "look like numbers in a notation that is not read"},
		{file: "times of day.csv", text: lines("start,y,group", 60, func(i int) string { return fmt.Sprintf("%02d:%02d,%d,%s", i%24, i, i%7, ab(i)) }), want: "start ignored;", said: "look like numbers in a notation that is not read"},
		{file: "streets.csv", text: lines("home,y,group", 60, func(i int) string { return fmt.Sprintf("%d Main St,%d,%s", 50+i, i%7, ab(i)) }), want: "home ignored;", said: "60 of its 60 different texts stand in one row alone"},
		{file: "999.csv", text: lines("age,y,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", map[bool]int{true: 999, false: 20 + i}[i%7 == 3], i%7, ab(i))
		}), want: "age numeric;", said: `age: "999" stands in 9 rows, far from all other numbers`},
		{file: "-99.csv", text: lines("age,y,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", map[bool]int{true: -99, false: 20 + i}[i%7 == 3], i%7, ab(i))
		}), want: "age numeric;", said: `age: "-99" stands in 9 rows, far from all other numbers`},
		{file: "hundreds.csv", text: lines("x,y,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", map[bool]int{true: 999, false: 600 + i}[i%7 == 3], i%7-3, ab(i))
		}), want: "x numeric; y numeric;", silent: "far from"},
		{file: "below 0.csv", text: lines("x,y,group", 60, func(i int) string {
			return fmt.Sprintf("%d,%d,%s", map[bool]int{true: -9, false: i%13 - 5}[i%7 == 3], i%7, ab(i))
		}), want: "x numeric; y numeric;", silent: "far from"},
		{file: "look-alikes.csv", text: lines("town,band,street,group", 60, func(i int) string {
			return fmt.Sprintf("%s,%s,%s,%s", []string{"Köln\u200b", "Köln", "Bonn"}[i%3], []string{"18-25", "18–25", "26-40"}[i*i%7%3], []string{"Hauptstraße", "Hauptstrasse", "D’Or", "D'Or"}[i%4], ab(i))
		}), want: "town categorical; band categorical; street categorical;", said: `town: "Köln" and "Köln\u200b" are told apart`},
		{file: "look-alike bands.csv", text: lines("band,y,group", 60, func(i int) string {
			return fmt.Sprintf("%s,%d,%s", []string{"18-25", "18–25", "26-40"}[i*i%7%3], i%7, ab(i))
		}), want: "band categorical;", said: `band: "18-25" and "18–25" are told apart`},
		{file: "spaces.csv", text: lines("  x ,\ty , group ", 60, func(i int) string { return fmt.Sprintf("  %d , %g ,\t%s ", i*7%50, v(i), ab(i)) }), want: "60 rows; x numeric; y numeric; group label; classes a b;"},
		{file: "comments.csv", text: "# exported 2024-03-01\n# by instrument 7\n" + lines("x,y,group", 60, func(i int) string { return fmt.Sprintf("%d,%g,%s", i*7%50, v(i), ab(i)) }), want: "60 rows; x numeric; y numeric; group label; classes a b;"},
		{file: "header again.csv", text: strings.Repeat(lines("x,y,group", 30, func(i int) string { return fmt.Sprintf("%d,%g,%s", i*7%50, v(i), ab(i)) }), 2), want: `refused: header again.csv, row 32, column 1 ("x"): expected a number, as in the rest of the column, found "x"`},
		{file: "header of texts again.csv", text: strings.Repeat(lines("colour,form,group", 30, func(i int) string {
			return fmt.Sprintf("%s,%s,%s", []string{"red", "blue"}[i%2], []string{"flat", "round", "bell"}[i%3], ab(i))
		}), 2), want: "61 rows; colour categorical; form categorical; group label; classes a b group;", said: "A row has the names of the columns again"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}
