package load_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// trial is a table as people have them, and what reading it has to give.
type trial struct {
	file  string // its name in ../shared/trials, or that of a sibling
	text  string // of a sibling
	opt   run.CSV
	want  string // a part of what outcome says
	said  string // a part of a warning; empty: none is needed
	wrong string // what is wrong today; empty: nothing
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
	right := strings.Contains(line, c.want) && strings.Contains(all, c.said)
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
		{file: "02b-percent-mixed.csv", want: "", said: "%", wrong: "12% is 100 times 0.12, without a word"},
		{file: "03c-unnamed.csv", want: "Unnamed: 0.1 ignored; Unnamed: 0 ignored; x numeric; outcome label;", wrong: "an index is a feature"},
		{file: "04-label-y.csv", want: "", said: "label", wrong: "y is taken as the label, without a word"},
		{file: "07-label-codes.csv", want: "classes 01 02 1 10 2;", wrong: "01 and 1 are one class"},
		{file: "07b-label-zip.csv", want: "classes 00501 02139 10001 94103;", wrong: "zeros in front are lost"},
		{file: "07c-label-E.csv", want: "classes 10 100 1E1 1E2 20 2E1;", wrong: "1E1 and 10 are one class"},
		{file: "07d-label-currency.csv", want: "classes $10 $5 £5 €5;", wrong: "$5 and €5 are one class"},
		{file: "08-codes-E.csv", want: "diag categorical;", wrong: "40E1 is 400"},
		{file: "10-multiline-semicolon.csv", want: "note categorical; x numeric; outcome label; classes a b;", wrong: "refused: one column"},
		{file: "10b-multiline-comma-inside.csv", want: "note categorical; x numeric; outcome label; classes a b;", wrong: "refused: commas within cells are taken as the delimiter"},
		{file: "11-swiss.csv", want: "lohn numeric; abt categorical; ergebnis label; classes a b; first 61000|", wrong: "61’000.00 is a category"},
		{file: "11b-thin-space.csv", want: "amount numeric; y numeric; outcome label; classes a b; first 1234.5|", opt: run.CSV{Label: "outcome"}, wrong: "1 234,50 is a category"},
		{file: "11c-parentheses.csv", want: "amount numeric; y numeric; outcome label; classes a b; first -45.1|", opt: run.CSV{Label: "outcome"}, wrong: "(3.00) is a category"},
		{file: "11e-div0.csv", want: "a numeric;", opt: run.CSV{Missing: "drop"}, wrong: "#DIV/0! is refused as a number"},
		{file: "12-epoch-ms.csv", want: "", said: "same value", wrong: "an hour of times in milliseconds is one value"},
		{file: "12c-datetime.csv", want: "", said: "same value", wrong: "times of one day fall together"},
		{file: "15-r-writetable.csv", want: "x numeric; y numeric; outcome label; classes a b;", wrong: "refused: 4 cells where the header has 3"},
		{file: "16-two-digit-years.csv", want: "first 2019-12-20", wrong: "a day is a category"},
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
		{file: "numbers.csv", text: lines("2019,2020,2021", 30, func(i int) string { return fmt.Sprintf("%d,%g,%d", i*7%5, float64(i)/4, i%2) }), want: "31 rows;", said: "Choose that there is a header"},
		{file: "data.csv", text: lines("1,0.5,7,b", 30, three), want: "31 rows; column 1 numeric;"},
	} {
		c.run(t, []source.File{source.Bytes(c.file, []byte(c.text))})
	}
}
