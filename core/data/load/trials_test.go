package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// trial is a table as people have them, and what reading it has to give.
type trial struct {
	file   string // its name in ../shared/trials, or that of a sibling
	text   string // of a sibling
	opt    run.CSV
	want   string // a part of what outcome says
	said   string // a part of a warning; empty: none is needed
	silent string // a part that no warning may have; empty: none
	wrong  string // what is wrong today; empty: nothing
}

// outcome says in one line what a table was read as: its rows, the kind of each column, the
// classes or the task, and the values of the first row. Of a refusal it is the error's text.
func outcome(ctx context.Context, files []source.File, opt run.CSV) (line string, warnings []string) {
	if opt.TestShare == 0 {
		opt.TestShare = -1
	}
	ds, r, err := load.Load(ctx, files, nil, opt, nil)
	if err != nil {
		var e *data.Error
		if !errors.As(err, &e) || e.Fix == "" {
			return "no advice: " + err.Error(), r.Warnings
		}
		return "refused: " + err.Error(), r.Warnings
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows;", ds.Train.N)
	for _, c := range ds.Columns {
		fmt.Fprintf(&b, " %s %s;", c.Name, c.Kind)
	}
	if len(ds.Classes) > 0 {
		fmt.Fprintf(&b, " classes %s;", strings.Join(ds.Classes, " "))
	} else {
		fmt.Fprintf(&b, " %s;", ds.Task)
	}
	fmt.Fprintf(&b, " first %s;", strings.Join(r.Preview.Values[0], "|"))
	return b.String(), r.Warnings
}

func (c *trial) run(t *testing.T, files []source.File) {
	t.Helper()
	line, warnings := outcome(t.Context(), files, c.opt)
	all := strings.Join(warnings, "\n")
	right := strings.Contains(line, c.want) && strings.Contains(all, c.said) && (c.silent == "" || !strings.Contains(all, c.silent))
	switch {
	case right && c.wrong != "":
		t.Errorf("%s is right, and the list has: %s", c.file, c.wrong)
	case !right && c.wrong == "":
		t.Errorf("%s: %s\n%s\nwant %q, said %q", c.file, line, all, c.want, c.said)
	case testing.Verbose():
		t.Logf("%s: %s\n%s", c.file, line, all)
	}
}

// TestTrials reads the tables of ../shared/trials that are text. wrong names what the list
// of faults still has.
func TestTrials(t *testing.T) {
	for _, c := range []trial{
		{file: "01-years-header.csv", want: "60 rows; country categorical; 2019 numeric; 2020 numeric; 2021 numeric; group label; classes high low;", said: "row 1 is read as the header"},
		{file: "02b-percent-mixed.csv", want: "first 0.12|", said: "mixes per cent and plain numbers"},
		{file: "03c-unnamed.csv", want: "Unnamed: 0.1 ignored; Unnamed: 0 ignored; x numeric; outcome label;"},
		{file: "04-label-y.csv", want: "activity label; classes", said: "activity is taken as the label"},
		{file: "07-label-codes.csv", want: "classes 01 02 1 10 2;"},
		{file: "07b-label-zip.csv", want: "classes 00501 02139 10001 94103;"},
		{file: "07c-label-E.csv", want: "classes 10 100 1E1 1E2 20 2E1;"},
		{file: "07d-label-currency.csv", want: "classes $10 $5 £5 €5;"},
		{file: "08-codes-E.csv", want: "diag categorical;"},
		{file: "10-multiline-semicolon.csv", want: "note categorical; x numeric; outcome label; classes a b;"},
		{file: "10b-multiline-comma-inside.csv", want: "note categorical; x numeric; outcome label; classes a b;"},
		{file: "11-swiss.csv", want: "lohn numeric; abt categorical; ergebnis label; classes a b; first 61000|"},
		{file: "11b-thin-space.csv", want: "amount numeric; y numeric; outcome label; classes a b; first 1234.5|", opt: run.CSV{Label: "outcome"}},
		{file: "11c-parentheses.csv", want: "amount numeric; y numeric; outcome label; classes a b; first -45.1|", said: `"(45.10)" is read as -45.1`, opt: run.CSV{Label: "outcome"}},
		{file: "11e-div0.csv", want: "a numeric;", opt: run.CSV{Missing: "drop"}},
		{file: "12-epoch-ms.csv", want: "t numeric; x numeric; outcome label; classes a b; first 2024-02-14 23:42:07.79|", said: "as times (milliseconds since 1970 began)"},
		{file: "12c-datetime.csv", want: "when numeric; x numeric; outcome label; classes a b; first 2024-02-14 09:00:00|"},
		{file: "15-r-writetable.csv", opt: run.CSV{Label: "outcome"}, want: "x numeric; y numeric; outcome label; classes a b;"},
		{file: "16-two-digit-years.csv", want: "first 2019-12-20", said: "years of two digits"},
	} {
		c.run(t, datatest.Shared(t, "../trials/"+c.file))
	}
}

// lines writes a header and n rows, each of which row makes by its number.
func lines(header string, n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

// ab is the class of row i in the tables below.
func ab(i int) string { return string("abb"[i%3]) }

// TestNumbersInTheHeader: what stands above a column of another kind is a name, whatever it looks like.
func TestNumbersInTheHeader(t *testing.T) {
	three := func(i int) string { return fmt.Sprintf("%d,%g,%d,%s", i*7%5, float64(i)/4, i*i%11, ab(i)) }
	sheet := func(n int) string {
		b := `<row r="1"><c r="A1"><v>2019</v></c><c r="B1"><v>2020</v></c><c r="C1" t="inlineStr"><is><t>group</t></is></c></row>`
		for i := range n {
			b += fmt.Sprintf(`<row r="%d"><c r="A%[1]d"><v>%[2]d</v></c><c r="B%[1]d"><v>%[3]d</v></c><c r="C%[1]d" t="inlineStr"><is><t>%[4]s</t></is></c></row>`, i+2, i*7%5, i*i%11, ab(i))
		}
		return b
	}
	for _, c := range []trial{
		{file: "pandas.csv", text: lines("0,1,2,species", 30, three), want: "30 rows; 0 numeric; 1 numeric; 2 numeric; species label; classes a b;", said: "is read as the header"},
		{file: "words.csv", text: lines("NA,inf,1E5,group", 30, three), want: "30 rows; NA numeric; inf numeric; 1E5 numeric; group label; classes a b;", said: "is read as the header"},
		{file: "dates.csv", text: lines("2019-01-01,50%,2019-03-01,group", 30, three), want: "30 rows; 2019-01-01 numeric; 50% numeric; 2019-03-01 numeric; group label; classes a b;", said: "is read as the header"},
		{file: "years.xlsx", text: string(datatest.Book("s", sheet(30))), want: "30 rows; 2019 numeric; 2020 numeric; group label; classes a b;", said: "is read as the header"},
		{file: "numbers.csv", text: lines("2019,2020,2021", 30, func(i int) string { return fmt.Sprintf("%d,%g,%d", i*7%5, float64(i)/4, i%2) }), want: "31 rows;", said: "If it names the columns, choose so under First row"},
		{file: "rare.csv", text: lines("1,0.5,7,c", 30, func(i int) string {
			return fmt.Sprintf("%d,%g,%d,%s", i*7%5, float64(i)/4, i, append([]string{"d"}, "a", "b")[min(i, 1+i%2)])
		}), want: "31 rows; column 1 numeric;", said: "If it names the columns, choose so under First row"},
		{file: "data.csv", text: lines("1,0.5,7,b", 30, three), want: "31 rows; column 1 numeric;"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}

// TestNotationsOfTables: the delimiter is told from records, and what other programs put beside the columns is no feature.
func TestNotationsOfTables(t *testing.T) {
	broken := func(mark string) func(i int) string {
		return func(i int) string {
			return strings.Join([]string{fmt.Sprintf("\"one, two\n%d; three\n|, four\"", i%4), fmt.Sprint(i % 7), ab(i)}, mark)
		}
	}
	plain := func(i int) string { return fmt.Sprintf("%d,%g,%s", i*7%5, float64(i)/4, ab(i)) }
	const three = "30 rows; x numeric; y numeric; outcome label; classes a b;"
	label := run.CSV{Label: "outcome"}
	day := func(layout string) func(i int) string {
		return func(i int) string {
			return time.Date(2019, 12, 20+17*i, i%24, 5, 0, 0, time.UTC).Format(layout) + fmt.Sprintf(",%d,%s", i%7, ab(i))
		}
	}
	for _, c := range []trial{
		{file: "breaks;.csv", text: lines("note;x;outcome", 30, broken(";")), want: "30 rows; note categorical; x numeric; outcome label;"},
		{file: "breaks tab.csv", text: lines("note\tx\toutcome", 30, broken("\t")), want: "30 rows; note categorical; x numeric; outcome label;"},
		{file: "breaks in all.csv", text: lines("\"5\"\t\"one\ntwo\"\t\"a\"", 30, func(i int) string { return fmt.Sprintf("\"%d\"\t\"one\ntwo\"\t\"%s\"", i%7, ab(i)) }), want: "31 rows; column 1 numeric; column 2 categorical; column 3 label;"},
		{file: "breaks|.csv", text: lines("note|x|outcome", 30, func(i int) string {
			return strings.ReplaceAll(broken("|")(i), "|, four", "four")
		}), want: "30 rows; note categorical; x numeric; outcome label;"},

		{file: "r spaces.txt", text: lines(`"x" "y" "outcome"`, 30, func(i int) string { return fmt.Sprintf(`"%d" %d %g "%s"`, i+1, i*7%5, float64(i)/4, ab(i)) }), opt: label, want: "30 rows; row names ignored; x numeric; y numeric; outcome label; classes a b;", said: "row names"},
		{file: "r names.csv", text: lines("x;y;outcome", 30, func(i int) string { return fmt.Sprintf("car %d;%d;%d;%s", i, i*7%5, i%6, ab(i)) }), opt: label, want: "30 rows; row names ignored; x numeric; y numeric; outcome label; classes a b;", said: "row names"},
		{file: "r skip.csv", text: lines("x\ty\toutcome", 30, func(i int) string { return fmt.Sprintf("%d\t%d\t%d\t%s", i+1, i*7%5, i%6, ab(i)) }), opt: run.CSV{Label: "outcome", BadRows: "skip"}, want: "30 rows; row names ignored; x numeric; y numeric; outcome label; classes a b;", said: "row names"},

		{file: "title.csv", text: lines("Sales of the year,,\nx,y,outcome", 30, plain), opt: label, want: three, said: "is not of the table"},
		{file: "titles.csv", text: lines("Sales of the year,,\n,,\nas of today,,\nx,y,outcome", 30, plain), opt: label, want: three, said: "what stands above row 4 is not of the table and is skipped (Sales of the year, as of today)"},
		{file: "title of two.csv", text: lines("Sales of the year\nx,outcome", 30, func(i int) string { return fmt.Sprintf("%d,%s", i%7, ab(i)) }), want: "30 rows; x numeric; outcome label; classes a b;", said: "is not of the table"},

		{file: "level.csv", text: lines("level_0,x,outcome", 30, func(i int) string { return fmt.Sprintf("%d,%d,%s", i, i%7, ab(i)) }), want: "level_0 ignored; x numeric; outcome label;", said: "level_0 numbers"},
		{file: "index.csv", text: lines("Unnamed: 0,x,outcome", 30, func(i int) string { return fmt.Sprintf("%d,%d,%s", 37*i%100, i%7, ab(i)) }), want: "Unnamed: 0 ignored; x numeric; outcome label;", said: "Unnamed: 0 numbers"},
		{file: "twice.csv", text: lines("Unnamed: 0.2,Unnamed: 0.1,x,group", 30, func(i int) string { return fmt.Sprintf("%d,%d,%d,%s", i/2, i/3, i%7, ab(i)) }), want: "Unnamed: 0.2 ignored; Unnamed: 0.1 ignored; x numeric; group label;", said: "Unnamed: 0.1 numbers"},
		{file: "last.csv", text: lines("x,group,__index_level_0__", 30, func(i int) string { return fmt.Sprintf("%d,%s,%d", i%7, ab(i), 37*i%100) }), want: "x numeric; group label; __index_level_0__ ignored;", said: "__index_level_0__ numbers"},

		{file: "us.csv", text: lines("when,x,group", 30, day("1/2/06")), want: "when numeric; x numeric; group label; classes a b; first 2019-12-20 ", said: "years of two digits"},
		{file: "german.csv", text: lines("when,x,group", 30, day("02.01.06")), want: "when numeric; x numeric; group label; classes a b; first 2019-12-20 ", said: "years of two digits"},
		{file: "noon.csv", text: lines("when,x,group", 30, day("1/2/2006 3:04 PM")), want: "when numeric; x numeric; group label; classes a b; first 2019-12-20 "},
		{file: "months.csv", text: lines("when,x,group", 30, day("02-Jan-2006")), want: "when ignored; x numeric; group label;", said: "names of months"},
		{file: "american.csv", text: lines("when,x,group", 30, day("Jan 2 2006")), want: "when ignored; x numeric; group label;", said: "names of months"},
		{file: "mac.csv", text: strings.ReplaceAll(lines("x,y,outcome", 30, plain), "\n", "\r"), want: "refused: mac.csv: expected lines that end in LF or CR LF, found lines that end in CR alone. Save the table again"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}

// TestCodesStayApart: what is one number may be two codes.
func TestCodesStayApart(t *testing.T) {
	labels := func(all ...string) string {
		return lines("x,y,code", 30, func(i int) string { return fmt.Sprintf("%d,%g,%s", i*7%5, float64(i)/4, all[i%len(all)]) })
	}
	feature := func(values func(i int) string) string {
		return lines("code,x,group", 60, func(i int) string { return fmt.Sprintf("%s,%g,%s", values(i), float64(i)/4, ab(i)) })
	}
	last := run.CSV{Label: "code"}
	for _, c := range []trial{
		{file: "zeros.csv", text: labels("007", "7", "07"), opt: last, want: "classes 007 07 7;", said: "as they are written"},
		{file: "E.csv", text: labels("2E2", "200", "2e2"), opt: last, want: "classes 200 2E2 2e2;", said: "as they are written"},
		{file: "£.csv", text: labels("£9", "9", "9 ₹"), opt: last, want: "classes 9 9 ₹ £9;", said: "as they are written"},
		{file: "same.csv", text: labels("1", "1.0", "2", "+1"), opt: last, want: "classes 1 2;"},
		{file: "percent.csv", text: labels("1", "1%", "2"), opt: last, want: "classes 1 1% 2;", said: "as they are written"},

		{file: "icd.csv", text: feature(func(i int) string { return []string{"10E2", "1000", "1001"}[i%3] }), want: "code categorical; x numeric;", said: "looks like a code"},
		{file: "part.csv", text: feature(func(i int) string { return []string{"3e5", "300000", "12", "77"}[i%4] }), want: "code categorical; x numeric;", said: "looks like a code"},
		{file: "many.csv", text: feature(func(i int) string { return fmt.Sprintf("%dE1", i) }), want: "code numeric; x numeric;", said: `"0E1" is read as the number 0`},
		{file: "telephones.csv", text: feature(func(i int) string { return fmt.Sprintf("+4917012%03d", 37*i%7) }), want: "code numeric;", said: "the plus in front of"},
		{file: "versions.csv", text: feature(func(i int) string { return []string{"1.1", "1.10", "1.2"}[i%3] }), want: "code numeric;", said: `the zero at the end of "1.10"`},
		{file: "versions as label.csv", text: labels("1.9", "1.10", "1.2"), opt: last, want: "regression;", said: `the zero at the end of "1.10"`},
		{file: "digests.csv", text: feature(func(i int) string { return fmt.Sprintf("%de%d", 100+i, 30+i) }), want: "code ignored; x numeric;", said: "looks like a code"},
		{file: "large codes.csv", text: feature(func(i int) string { return []string{"123E45", "124E46", "99E99"}[i%3] }), want: "code categorical; x numeric;", said: "looks like a code"},
		{file: "large labels.csv", text: labels("123E45", "124E46", "99E99"), opt: last, want: "classes 123E45 124E46 99E99;", said: "as they are written"},
		{file: "signed.csv", text: feature(func(i int) string { return []string{"1E+5", "2.5E3", "1e-3"}[i%3] }), want: "code numeric; x numeric;"},
		{file: "money.csv", text: feature(func(i int) string { return []string{"$", "€", "£"}[i%3] + fmt.Sprint(i) }), want: "code numeric; x numeric;", said: "mixes currencies ($ € £)"},
		{file: "shares.csv", text: feature(func(i int) string { return fmt.Sprint(i) + []string{"%", ""}[i%2] }), want: "code numeric; x numeric;", said: "mixes per cent and plain numbers"},
		{file: "target.csv", text: feature(func(i int) string { return fmt.Sprintf("%04d", 37*i) }), opt: last, want: "regression;", said: "the zero in front"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}

// TestNumbersAsPeopleWriteThem: notations of numbers, and words for a missing one, are no categories.
func TestNumbersAsPeopleWriteThem(t *testing.T) {
	column := func(values ...string) string {
		return lines("amount;x;group", 40, func(i int) string { return fmt.Sprintf("%s;%d;%s", values[i%len(values)], i%7, ab(i)) })
	}
	drop := run.CSV{Missing: "drop"}
	const numbers = "amount numeric; x numeric; group label; classes a b; first "
	for _, c := range []trial{
		{file: "swiss.csv", text: column("CHF 1’234.50", "CHF 17.00", "CHF 1’000’000.00"), want: numbers + "1234.5|"},
		{file: "apostrophes.csv", text: column("1’234", "2’345’678", "12"), want: numbers + "1234|"},
		{file: "kronor.csv", text: column("1\u2009234,50 kr", "7,25 kr", "12\u2009000 kr"), want: numbers + "1234.5|"},
		{file: "figure.csv", text: column("1\u2007234", "7", "12\u2007000"), want: numbers + "1234|"},
		{file: "thin.csv", text: column("1\u2009234.5", "7.25", "12\u2009000.0"), want: numbers + "1234.5|"},
		{file: "books.csv", text: column("(1,234.50)", "17.00", "(3.00)"), want: numbers + "-1234.5|", said: `"(1,234.50)" is read as -1234.5`},
		{file: "dollars.csv", text: column("($5)", "$17", "$20"), want: numbers + "-5|", said: `"($5)" is read as -5`},
		{file: "sap.csv", text: column("1.234,50-", "17,00", "3,00-"), want: numbers + "-1234.5|", said: `"1.234,50-" is read as -1234.5`},

		{file: "thousands.csv", text: lines("amount;y;group", 40, func(i int) string { return fmt.Sprintf("%d.773;%g;%s", 57+i, float64(i)/4, ab(i)) }), want: "amount numeric; y numeric; group label; classes a b; first 57.773|", said: `"57.773" is read as 57.773, as goes with the rest`},
		{file: "errors.csv", text: column("#DIV/0!", "1.5", "#REF!", "2"), opt: drop, want: numbers + "(missing)|", said: "20 training rows are left out"},
		{file: "words.csv", text: column("None", "1.5", "--", "2"), opt: drop, want: numbers + "(missing)|", said: "20 training rows are left out"},
		{file: "marks.csv", text: column(".", "1.5", "n/d", "2", "-", "3", "..", "4"), opt: drop, want: numbers + "(missing)|", said: "20 training rows are left out"},
		{file: "times.csv", text: column("NaT", "2024-01-02", "None", "2024-01-03"), opt: drop, want: numbers + "(missing)|", said: "20 training rows are left out"},
		{file: "error.csv", text: column("-", "1.5", "2"), want: "refused: error.csv, row 2, column 1 (\"amount\"): expected a value"},
		{file: "filled.csv", text: column("2", "None", "1.5"), opt: run.CSV{Missing: "indicator"}, want: "amount numeric; x numeric; group label; classes a b; first 2|"},

		// Among texts they are texts, and neither grades nor prices in francs are below 0.
		{file: "levels.csv", text: column("none", "mild", "severe"), want: "amount categorical; x numeric; group label; classes a b; first none|"},
		{file: "signs.csv", text: column("-", "+", "--"), want: "amount categorical;"},
		{file: "grades.csv", text: column("1", "2-", "3", "2+"), want: "amount categorical;"},
		{file: "francs.csv", text: column("12.-", "7.-", "9.50"), want: "amount categorical;"},
		{file: "declared.csv", text: column("-", "1", "2"), opt: run.CSV{Columns: map[string]string{"amount": "categorical"}}, want: "amount categorical;", said: ""},
		{file: "label.csv", text: column("(1)", "(2)", "-"), opt: run.CSV{Label: "amount", Missing: "drop"}, want: "classes (1) (2);", said: "as they are written"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}

// TestGuessesOfTheLabelAreSaid: the label is the column that is named so, or a guess that is said.
func TestGuessesOfTheLabelAreSaid(t *testing.T) {
	table := func(header string, row func(i int) string) string { return lines(header, 60, row) }
	plain := func(i int) string { return fmt.Sprintf("%d,%g,%d,%s", i*7%5, float64(i)/4, i*i%11, ab(i)) }
	for _, c := range []trial{
		{file: "sensor.csv", text: table("y,income,target,activity", plain), want: "activity label; classes a b;", said: "activity is taken as the label: it is the last column"},
		{file: "named.csv", text: table("label,x,y,group", func(i int) string { return fmt.Sprintf("%s,%d,%g,%s", ab(i), i*7%5, float64(i)/4, "uv"[i%2:i%2+1]) }), want: "label label; x numeric; y numeric; group categorical; classes a b;"},
		{file: "cells.csv", text: table("id,diagnosis,radius,area", func(i int) string { return fmt.Sprintf("%d,%s,%g,%g", 1000+i, ab(i), float64(i)/4, float64(i*i)/8) }), want: "id ignored; diagnosis label; radius numeric; area numeric; classes a b;", said: "diagnosis is taken as the label: labels are often named so"},
		{file: "homes.csv", text: table("income,rooms,price", func(i int) string { return fmt.Sprintf("%g,%d,%g", float64(i)/4, i%5, float64(i*i%37)/8) }), want: "income numeric; rooms numeric; price label; regression;", said: "price is taken as the label: it is the last column"},

		{file: "titanic.csv", text: table("pclass,age,class", func(i int) string {
			return fmt.Sprintf("%d,%d,%s", 1+i%3, 20+i%41, []string{"First", "Second", "Third"}[i%3])
		}), want: "class label;", said: "pclass nearly equals the label class: 100.0 %"},
		{file: "alive.csv", text: table("alive,age,survived", func(i int) string { return fmt.Sprintf("%s,%d,%d", []string{"no", "yes"}[i%2], 20+i%41, i%2) }), want: "survived label;", said: "alive nearly equals the label survived"},
		{file: "cents.csv", text: table("cents,rooms,price", func(i int) string { return fmt.Sprintf("%d,%d,%g", 100*i, i%5, float64(i)+0.5) }), want: "price label; regression;", said: "cents nearly equals the label price"},

		{file: "codes.csv", text: table("x,kind", func(i int) string { return fmt.Sprintf("%d,%d", i%7, 100+i%15) }), want: "kind label; classes 100 101", said: "The 15 different whole numbers of kind are read as classes"},
		{file: "amounts.csv", text: table("x,hours", func(i int) string { return fmt.Sprintf("%d,%d", i%7, i%30) }), want: "hours label; regression;", said: "hours has 30 different whole numbers and is read as an amount"},
		{file: "grades.csv", text: table("x,grade", func(i int) string { return fmt.Sprintf("%d,%d", i%7, i%5) }), want: "grade label; classes 0 1 2 3 4;"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
	// No other column is said to equal the label.
	_, said := outcome(t.Context(), []source.File{source.Bytes("t.csv", []byte(table("a,b,c,group", plain)))}, run.CSV{})
	if text := strings.Join(said, "\n"); strings.Contains(text, "nearly equals") {
		t.Error(text)
	}
}

// TestNotesArePrivate: texts that stand in one row are in no list that counts as public, unless the owner says so.
func TestNotesArePrivate(t *testing.T) {
	column := func(text func(i int) string) string {
		return lines("note;x;group", 400, func(i int) string { return fmt.Sprintf("%s;%d;%s", text(i), i%7, ab(i)) })
	}
	declared := run.CSV{Columns: map[string]string{"note": "categorical"}}
	for _, c := range []trial{
		{file: "notes.csv", text: column(func(i int) string {
			return fmt.Sprintf("Patient %c%c, HIV pos., ward %d", 'a'+i%26, 'a'+i/26, min(i, 374)%25)
		}), want: "note text; x numeric; group label; classes a b; first 6 words", said: "no list of words is made of the rows"},
		{file: "names.csv", text: column(func(i int) string { return fmt.Sprintf("Muster%d, Anna", i) }), want: "note ignored; x numeric; group label;", said: "note is ignored: 400 of its 400 different texts"},
		{file: "mostly.csv", text: column(func(i int) string {
			if i < 250 {
				return "none"
			}
			return fmt.Sprintf("seen by Dr. %c%c", 'A'+i%26, 'a'+i/26)
		}), want: "note text;", said: "no list of words is made of the rows"},
		{file: "salaries.csv", text: column(func(i int) string { return fmt.Sprintf("%d,5 lakh", 3+i%45) }), want: "note ignored;", said: `45 of its 45 different texts look like numbers in a notation that is not read, such as "10,5 lakh"`},
		{file: "rubles.csv", text: column(func(i int) string { return fmt.Sprintf("руб %d тыс", 30+i%45) }), want: "note ignored;", said: "look like numbers in a notation that is not read"},
		{file: "intervals.csv", text: column(func(i int) string { return fmt.Sprintf("%d days 02:00:00", i%40) }), want: "note ignored;", said: "look like numbers in a notation that is not read"},
		{file: "visits.csv", text: lines("note;x;group", 90, func(i int) string { return fmt.Sprintf("%c. Muster%c;%d;%s", 'A'+i%30, 'a'+i%30, i%7, ab(i)) }), want: "note categorical;", said: "different texts of note are its categories"},
		{file: "wards.csv", text: column(func(i int) string { return fmt.Sprintf("W%02d", i%40) }), want: "note categorical;"},
		{file: "bands.csv", text: column(func(i int) string { return fmt.Sprintf("%d-%d", 10*(i%8), 10*(i%8)+9) }), want: "note categorical;"},
		{file: "towns.csv", text: column(func(i int) string { return strings.Repeat(string(rune('A'+i%20)), 3) }), want: "note categorical;"},
		{file: "declared.csv", text: column(func(i int) string { return fmt.Sprintf("note %d", i) }), opt: declared, want: "note categorical;"},
		{file: "accents.csv", text: column(func(i int) string { return []string{"Käse", "Ka\u0308se", "Brot"}[i%3] }), want: "note categorical;", said: "are told apart"},
		{file: "alike.csv", text: column(func(i int) string { return []string{"Innere", "innere", "Chirurgie", "Innere "}[i%4] }), want: "note categorical;", said: `note: "Innere" and "innere" are told apart`},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}

// TestTypesOfFilesHold: what a spreadsheet stores as text is text, whatever it looks like.
func TestTypesOfFilesHold(t *testing.T) {
	sheet := func(kind string, value func(i int) string) []source.File {
		b := `<row><c t="str"><v>code</v></c><c t="str"><v>x</v></c><c t="str"><v>group</v></c></row>`
		for i := range 60 {
			b += fmt.Sprintf(`<row><c t="%s"><v>%s</v></c><c><v>%d</v></c><c t="str"><v>%s</v></c></row>`, kind, value(i), i%7, ab(i))
		}
		return []source.File{source.Bytes("t.xlsx", datatest.Book("s", b))}
	}
	codes := func(i int) string { return []string{"00501", "02139", "94103"}[i%3] }
	for _, c := range []struct {
		trial
		files []source.File
	}{
		{trial{file: "ZIP", want: "code categorical; x numeric; group label; classes a b; first 00501|", said: "code is text in the file"}, sheet("str", codes)},
		{trial{file: "ZIP as label", opt: run.CSV{Label: "code"}, want: "classes 00501 02139 94103;"}, sheet("str", codes)},
		{trial{file: "E", want: "code categorical;", said: "code is text in the file"}, sheet("str", func(i int) string { return []string{"40E1", "400", "12E0"}[i%3] })},
		{trial{file: "declared", opt: run.CSV{Columns: map[string]string{"code": "numeric"}}, want: "code numeric;"}, sheet("str", codes)},
		{trial{file: "dates", want: "code numeric; x numeric; group label; classes a b; first 2024-01-01 "}, sheet("str", func(i int) string { return fmt.Sprintf("2024-01-%02d", 1+i%28) })},
		{trial{file: "shares", want: "code numeric;"}, sheet("str", func(i int) string { return fmt.Sprintf("%d %%", i) })},
		{trial{file: "decimals", want: "code numeric; x numeric; group label; classes a b; first 0.5|"}, sheet("str", func(i int) string { return fmt.Sprintf("%d,5", i) })},
		{trial{file: "numbers", want: "code numeric; x numeric; group label; classes a b; first 0|"}, sheet("n", func(i int) string { return fmt.Sprint(i % 9) })},
	} {
		c.run(t, c.files)
	}
}

// TestWhatNobodyAsked: what could be read in two ways is asked, or decided by what else the table says.
func TestWhatNobodyAsked(t *testing.T) {
	numbers := func(i int) string { return fmt.Sprintf("%d,%d,%d", 7+i*37%41, 5+i*i%29, i%2) }
	texts := func(n int) string {
		b := `<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="B1" t="inlineStr"><is><t>amount</t></is></c></row>`
		for i := range n {
			b += fmt.Sprintf(`<row r="%d"><c r="A%[1]d"><v>%[2]d</v></c><c r="B%[1]d" t="inlineStr"><is><t>(%[3]d.5)</t></is></c></row>`, i+2, i*7%5, i*37%401)
		}
		return b
	}
	seconds := func(i int) string { return fmt.Sprintf("%d,%d,%s", 1700000000+i*7919%100_003, i%7, ab(i)) }
	for _, c := range []trial{
		{file: "integers.csv", text: lines("3,01,1", 40, numbers), want: "41 rows;", said: "If it names the columns, choose so under First row"},
		{file: "values.csv", text: lines("1.5,-7,1", 40, func(i int) string { return fmt.Sprintf("%g,%d,%d", float64(i)/4, -i*i%29, i%2) }), want: "41 rows;"},
		{file: "wavelengths.csv", text: lines("400.5,401.5,402.5,403.5", 40, func(i int) string {
			return fmt.Sprintf("%g,%g,%g,%d", float64(i*37%41)/8, float64(i*i%29)/8, float64(i)/8, i%2)
		}), want: "41 rows;", said: "If it names the columns, choose so under First row"},
		{file: "named.csv", text: lines("3,1E5,1", 40, numbers), opt: run.CSV{Label: "1E5"}, want: "40 rows; 3 numeric; 1E5 label;"},
		{file: "dash.csv", text: lines("-,4,0", 40, numbers), opt: run.CSV{Missing: "drop"}, want: "40 rows; column 1 numeric;", said: "If it names the columns"},
		{file: "text.xlsx", text: string(datatest.Book("s", texts(60))), want: "60 rows; x numeric; amount label; regression; first 0|-0.5;", said: "amount is text in the file, though its cells look like numbers: it is read as an amount"},
		{file: "seconds.csv", text: lines("1700000001,3,a", 80, seconds), want: "81 rows; column 1 numeric;", said: "column 1 is read as times (seconds since 1970 began)"},
		{file: "ids.csv", text: lines("tweet_id,x,group", 60, func(i int) string { return fmt.Sprintf("%d,%d,%s", 1234567890123456768+int64(i/2)<<22, i%7, ab(i)) }), want: "60 rows; tweet_id numeric; x numeric; group label; classes a b; first 1234568000000000000|", said: "29 fall together"},
		{file: "sql.csv", text: lines("x,y,group", 60, func(i int) string { return fmt.Sprintf("%d,%s,%s", i%7, []string{"2.5", `\N`, "…"}[i%3], ab(i)) }), opt: run.CSV{Missing: "indicator"}, want: "y numeric;"},
		{file: "lakhs.csv", text: lines("x,y,group", 60, func(i int) string { return fmt.Sprintf("%d,\"₹%d,%02d,567\",%s", i%7, 10+i%80, i, ab(i)) }), want: "y numeric; group label; classes a b; first 0|1000567|"},
		{file: "classes.csv", text: lines("x,name", 60, func(i int) string { return fmt.Sprintf("%d,p%d", i%7, i) }), want: "60 different values in 60 rows"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
	// Of several files the first is asked about.
	_, warnings := outcome(t.Context(), []source.File{source.Bytes("a.csv", []byte(lines("3,01,1", 40, numbers))), source.Bytes("b.csv", []byte(lines("4,2,0", 40, numbers)))}, run.CSV{})
	if n := strings.Count(strings.Join(warnings, "\n"), "First row"); n != 1 {
		t.Errorf("asked %d times: %q", n, warnings)
	}
}

// TestEveryTrialHasATest: each file of ../shared/trials is named by a test that reads it.
func TestEveryTrialHasATest(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "trials")
	var tests []byte
	for _, name := range []string{"trials_test.go", "picture_trials_test.go", "../../../web/e2e/doubts.test.mjs", "../../../web/e2e/parquet.test.mjs"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, b...)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skip("../shared/trials is not there; the siblings are generated")
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if name := strings.TrimSuffix(d.Name(), filepath.Ext(path)); err == nil && !d.IsDir() && name != "README" && !bytes.Contains(tests, []byte(name)) {
			t.Errorf("no test reads %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAttackTrials: the files of ../shared/trials/attack are refused by name, within the memory that is allowed.
func TestAttackTrials(t *testing.T) {
	for name, want := range map[string]string{
		"xlsx-sst-bomb-3MB.xlsx": "rows of at most 4 MB of text", "jpeg-prog-2000scans-25MP.zip": "over the limit of 32", "slashes-4MB.zip": "names of pictures of at most 65535 bytes",
	} {
		t.Run(name, func(t *testing.T) {
			files := datatest.Shared(t, "../trials/attack/"+name)
			loadtest.Refused(t, name, files, want)
		})
	}
}
