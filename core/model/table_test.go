package model_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/run"
)

// small is a model that is made up: size and colour decide between no and yes, a label
// that is called kind.
func small() *model.File {
	zero := 0.0
	return &model.File{
		Format: model.Format, Version: model.Version, Guarantee: "made up", Epsilon: 1, Delta: 1e-5, Accountant: "pld", Steps: 3,
		Apply: &run.Application{
			Task: "classification", Outputs: 2, Classes: []string{"no", "yes"}, Features: 4,
			Columns: []run.AppliedColumn{
				{Name: "size", Kind: "numeric", First: 0, IfMissing: &zero, Indicator: 1},
				{Name: "colour", Kind: "categorical", First: 2, Categories: []string{"blue", "red"}},
				{Name: "kind", Kind: "label", First: -1, Categories: []string{"no", "yes"}},
				{Name: "note", Kind: "ignored", First: -1},
			},
			Scaling: run.AppliedScaling{Kind: "none"},
			Layers:  []run.AppliedLayer{{Text: "dense", Shape: []int{2}, Parameters: 10, Tensors: []run.AppliedTensor{{Name: "weight", Shape: []int{4, 2}}, {Name: "bias", Shape: []int{2}}}}},
		},
		Parameters: []float32{-1, 1, 2, -2, 1, 0, 0, 1, 0, 0},
	}
}

func answersOf(t *testing.T, f *model.File, text string) (string, *run.PredictReply) {
	t.Helper()
	var out bytes.Buffer
	reply, err := opened(t, f).Answer(t.Context(), source.Bytes("t.csv", []byte(text)), &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), reply
}

// TestAnswersJoinTheTable: what comes back of a table.
func TestAnswersJoinTheTable(t *testing.T) {
	have, reply := answersOf(t, small(), "colour,extra,SIZE\nred,=1+1,0\nblue,x,2\n\"red\",\"a,b\",x\nmauve,,\nred,3\nred,,1\n")
	want := `colour,extra,SIZE,answer,p(no),p(yes),problem
red,=1+1,0,yes,0.268941,0.731059,
blue,x,2,yes,0.047426,0.952574,
red,"a,b",x,,,,"column 1 (""size""): expected a number, as in the training rows, found ""x"". Correct the cell."
mauve,,,no,0.982014,0.017986,"Not seen in training, and counted as none: the category in colour"
red,3,,,,,"t.csv, row 6: expected 3 cells, as in the rows before, found 2. Add or remove cells; quote cells that contain the delimiter; or skip rows that cannot be read."
red,,1,yes,0.047426,0.952574,
`
	if have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
	if reply.Rows != 6 || reply.Problems != 2 || reply.Unknown != 1 || reply.Missing != 1 || len(reply.First) != 6 || reply.First[1][3] != "yes" {
		t.Errorf("%+v", reply)
	}
	if !strings.HasPrefix(reply.Problem, `row 4, column 1 ("size"): `) {
		t.Errorf("the first problem is said to be: %s", reply.Problem)
	}
	if _, reply := answersOf(t, small(), "colour,size\nred,1\nred,2,3\n"); !strings.HasPrefix(reply.Problem, "t.csv, row 3: ") {
		t.Errorf("of a row that cannot be read: %s", reply.Problem)
	}
	whole := strings.Replace(have, want[strings.Index(want, "red,3"):strings.Index(want, "red,,1")], "", 1)
	if again, _ := answersOf(t, small(), whole); again != whole {
		t.Errorf("answers that come back get\n%s", again)
	}
}

// TestAnswersAreWrittenAsTheTableIs: with its delimiter, and a mark for spreadsheets
// where there is more than ASCII.
func TestAnswersAreWrittenAsTheTableIs(t *testing.T) {
	f := small()
	f.Apply.Columns[0].Decimal = ","
	have, _ := answersOf(t, f, "size;colour;näm\n1,5;red;é\n")
	if want := "\ufeffsize;colour;näm;answer;p(no);p(yes);problem\n1,5;red;é;yes;0,017986;0,982014;\n"; have != want {
		t.Errorf("%q, want %q", have, want)
	}
}

// TestClassNamesAreNoFormulas: the names of classes, which are the model's, are no formulas.
func TestClassNamesAreNoFormulas(t *testing.T) {
	f := small()
	f.Apply.Classes = []string{"-1", `=HYPERLINK("http://x")`}
	f.Apply.Columns[2].Categories = f.Apply.Classes
	have, _ := answersOf(t, f, "size,colour\n1,red\n-9,red\n")
	rows := records(t, have, ',')
	if rows[1][2] != `'=HYPERLINK("http://x")` || rows[2][2] != "-1" || rows[0][4] != `p(=HYPERLINK("http://x"))` {
		t.Errorf("%q", rows)
	}
}

// TestColumnsCalledAsOursStay: a table's column that is called as one of ours stays where the model
// was trained on it.
func TestColumnsCalledAsOursStay(t *testing.T) {
	f := small()
	f.Apply.Columns[1].Name = "answer"
	_, reply := answersOf(t, f, "size,answer,problem\n1,red,x\n")
	if want := []string{"size", "answer", "answer (model)", "p(no)", "p(yes)", "problem"}; !slices.Equal(reply.Head, want) {
		t.Errorf("%q, want %q", reply.Head, want)
	}
}

// TestTablesWithoutNamesAreReadInOrder: tables without a header are read in the order of training,
// with labels or without.
func TestTablesWithoutNamesAreReadInOrder(t *testing.T) {
	f := small()
	for i := range f.Apply.Columns {
		f.Apply.Columns[i].Name = data.Nameless(i)
	}
	for text, answer := range map[string]string{"3,red,yes,x\n4,red,no,x\n": "yes", "-3,red,x\n4,red,x\n": "no"} {
		if have, _ := answersOf(t, f, text); !strings.Contains(strings.Split(have, "\n")[1], ","+answer+",") {
			t.Errorf("%q: %s", text, have)
		}
	}
}

// TestTablesThatDoNotFitAreRefused: the error says what is amiss.
func TestTablesThatDoNotFitAreRefused(t *testing.T) {
	p := opened(t, small())
	for text, said := range map[string]string{
		"size,kind\n1,no\n":                    `expected a column "colour", which the model was trained on, found the columns size, kind`,
		"":                                     "an empty file",
		"size,colour\n":                        "expected rows of data",
		"size,size,colour\n1,2,red\n":          "a name of its own for each column",
		"size,colour\n1,\"red\n2,blue":         "its quote is still open",
		"\x00\x00\x08\x01\x00\x00\x00\x01\x05": "expected a table",
	} {
		if _, err := p.Answer(t.Context(), source.Bytes("t.csv", []byte(text)), new(bytes.Buffer), nil); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v, want %q", text, err, said)
		}
	}
	for text, said := range map[string]string{
		"size,colour\n1,red\n":              `expected the column "kind" with the labels`,
		"size,colour,kind\n1,red,perhaps\n": `t.csv, row 2, column 3 ("kind"): expected one of the classes no, yes, found "perhaps"`,
		"size,colour,kind\nx,red,no\n":      "none. The first: t.csv, row 2, column 1",
	} {
		if _, err := p.Evaluate(t.Context(), []source.File{source.Bytes("t.csv", []byte(text))}, nil); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%q: %v, want %q", text, err, said)
		}
	}
}

// TestEvaluateEqualsACountByHand counts by hand.
func TestEvaluateEqualsACountByHand(t *testing.T) {
	e, err := opened(t, small()).Evaluate(t.Context(), []source.File{
		source.Bytes("a.csv", []byte("kind,size,colour\nyes,1,red\nno,1,red\nno,,blue\nno.,-2,blue\n,1,red\nyes,x,red\n")), source.Bytes("b.csv", []byte("size,colour,kind\n2,mauve,yes\n")),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Rows != 5 || e.Problems != 2 || e.Unknown != 1 || e.Missing != 1 || e.Accuracy != 0.8 || e.Scores.Confusion[0][1] != 1 || e.Classes[1].Rows != 2 {
		t.Errorf("%+v", e)
	}
}

// TestTypedRowsAreAnswered: rows as a script or a form gives them.
func TestTypedRowsAreAnswered(t *testing.T) {
	var rows []run.Row
	text := `[{"size": 1, "colour": "red"}, {"colour": "red"}, [1, "red", null, true], ["1", "red", ""], {"size": "x", "colour": "red"}, {"length": 1}, [1], {"size": {"$numberDouble": "NaN"}, "colour": "green"}]`
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	f := small()
	f.Apply.Columns[0].Decimal, f.Apply.Columns[0].Thousands = ",", "."
	have, err := opened(t, f).Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ answer, problem string }{
		{"yes", ""}, {"no", ""}, {"yes", ""}, {"yes", ""}, {"", `"size"): expected a number such as 1.234,5`}, {"", `no column "length"`}, {"", "expected 4 cells"}, {"no", ""},
	} {
		if a := have[i]; want.answer != "" && a.Answer != want.answer || want.answer == "" && a.Answer != nil || !strings.Contains(a.Problem, want.problem) || (a.Problem == "") != (want.problem == "") {
			t.Errorf("row %d: %+v, want %v", i, a, want)
		}
	}
	if p := have[0].Outputs[1]; math.Abs(float64(p)-1/(1+math.Exp(-3))) > 1e-6 {
		t.Errorf("p = %v", p)
	}
	if u := have[7].Unknown; !slices.Equal(u, []string{"colour"}) {
		t.Errorf("unknown %q", u)
	}
	if g := have[7].Missing; !slices.Equal(g, []string{"size"}) || have[0].Missing != nil {
		t.Errorf("missing %q", g)
	}
}

// TestNumbersMeanTheSameInEveryStyle: a number means the same however its column writes numbers.
func TestNumbersMeanTheSameInEveryStyle(t *testing.T) {
	for _, style := range []run.AppliedColumn{{}, {Decimal: ","}, {Decimal: ",", Thousands: "."}, {Thousands: ","}, {Thousands: "'"}, {Date: "ymd"}, {Date: "dmy"}, {Date: "mdy"}} {
		f := small()
		c := &f.Apply.Columns[0]
		c.Decimal, c.Thousands, c.Date = style.Decimal, style.Thousands, style.Date
		p := opened(t, f)
		for _, v := range []float64{0, 1, -1, 0.25, 12345.5, 20000.75} {
			if style.Date != "" && v < 0 {
				continue
			}
			a, err := p.Predict(t.Context(), []run.Row{{Cells: []run.Cell{{Number: &v}, {Text: "red"}, {}, {}}}})
			if err != nil || a[0].Problem != "" {
				t.Fatalf("%+v: %v: %+v, %v", style, v, a, err)
			}
			if want := 1 / (1 + math.Exp(-2*v-1)); math.Abs(float64(a[0].Outputs[1])-want) > 1e-6 {
				t.Errorf("%+v: %v comes to %v, want %v", style, v, a[0].Outputs[1], want)
			}
		}
	}
}

func TestOutputsThatAreNoNumbersHaveNoAnswer(t *testing.T) {
	f := small()
	f.Parameters[0], f.Parameters[1] = 3e38, -3e38
	have, reply := answersOf(t, f, "size,colour\n1e9,red\n1,red\n")
	if reply.Problems != 1 || !strings.Contains(have, "not finite") {
		t.Errorf("%s", have)
	}
}

// workbook is a spreadsheet of numbers, as bytes: what stands in its first row are names.
func workbook(t *testing.T, rows string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"xl/workbook.xml":            `<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<R><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></R>`,
		"xl/styles.xml":              `<styleSheet><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="10"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	} {
		if f, err := w.Create(name); err != nil {
			t.Fatal(err)
		} else if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSharesAreOneNumberInEveryFile: a model that learnt from texts such as 12%, or from a spreadsheet's cells in a format of per cent,
// answers both alike, and refuses a row without the sign. One that learnt from shares reads all of them. An older model is
// answered as it was.
func TestSharesAreOneNumberInEveryFile(t *testing.T) {
	for _, c := range []struct {
		units         []string
		decimal       string
		written       string  // in a table of texts
		signed, plain float64 // the answers for it, or for 12% of a sheet, and for 0.12 of a sheet; NaN for a problem of the row
	}{
		{[]string{"%"}, "", "12%", 0.12, math.NaN()},
		{[]string{"%"}, ",", "12,0%", 0.12, math.NaN()},
		{[]string{""}, "", "12 %", 0.12, 0.12},
		{[]string{"", "%"}, ",", "12,0 %", 0.12, 0.12},
		{nil, ",", "0,12", 0.12, 0.12},
	} {
		f := small()
		f.Apply.Task, f.Apply.Outputs, f.Apply.Classes, f.Apply.Features = "regression", 1, nil, 1
		f.Apply.Columns = []run.AppliedColumn{{Name: "share", Kind: "numeric", Units: c.units, Decimal: c.decimal}, {Name: "other", Kind: "ignored", First: -1}}
		f.Apply.Layers = []run.AppliedLayer{{Text: "dense", Shape: []int{1}, Parameters: 2, Tensors: []run.AppliedTensor{{Name: "weight", Shape: []int{1, 1}}, {Name: "bias", Shape: []int{1}}}}}
		f.Parameters = []float32{1, 0}
		p := opened(t, f)
		asked := func(name string, b []byte) float64 {
			var out bytes.Buffer
			reply, err := p.Answer(t.Context(), source.Bytes(name, b), &out, nil)
			if err != nil || reply.Rows != 1 {
				t.Fatalf("%q, %s: %v, %+v", c.units, name, err, reply)
			}
			if reply.Problems == 1 && strings.Contains(reply.Problem, `a number with "%"`) {
				return math.NaN()
			}
			v, err := strconv.ParseFloat(strings.Replace(reply.First[0][slices.Index(reply.Head, "answer")], ",", ".", 1), 64)
			if err != nil {
				t.Errorf("%q, %s: %+v", c.units, name, reply)
			}
			return v
		}
		book := func(style string) []byte {
			return workbook(t, `<row><c t="str"><v>share</v></c><c t="str"><v>other</v></c></row><row><c s="`+style+`"><v>0.12</v></c><c t="str"><v>x</v></c></row>`)
		}
		for _, have := range []struct {
			what    string
			v, want float64
		}{
			{"texts", asked("t.csv", []byte("share;other\n"+c.written+";x\n")), c.signed},
			{"per cent of a sheet", asked("t.xlsx", book("2")), c.signed},
			{"shares of a sheet", asked("t.xlsx", book("0")), c.plain},
		} {
			if have.v != have.want && !(have.v != have.v && have.want != have.want) {
				t.Errorf("%q with %q, %s: %v, want %v", c.units, c.decimal, have.what, have.v, have.want)
			}
		}
	}
}

// TestSpreadsheetsHaveNoMarks: a model whose table had decimal commas, marks between thousands
// and dates with the day first reads what a spreadsheet stores, where nothing has them.
func TestSpreadsheetsHaveNoMarks(t *testing.T) {
	f := small()
	f.Apply.Task, f.Apply.Outputs, f.Apply.Classes, f.Apply.Features = "regression", 1, nil, 2
	f.Apply.Columns = []run.AppliedColumn{
		{Name: "size", Kind: "numeric", First: 0, Decimal: ",", Thousands: "."},
		{Name: "day", Kind: "numeric", First: 1, Date: "dmy"},
		{Name: "price", Kind: "label", First: -1, Decimal: ","},
	}
	f.Apply.Layers = []run.AppliedLayer{{Text: "dense", Shape: []int{1}, Parameters: 3, Tensors: []run.AppliedTensor{{Name: "weight", Shape: []int{2, 1}}, {Name: "bias", Shape: []int{1}}}}}
	f.Parameters = []float32{1, 1, 0}
	const names = `<row><c t="str"><v>size</v></c><c t="str"><v>day</v></c><c t="str"><v>price</v></c></row>`
	b := workbook(t, names+`<row><c><v>1.125</v></c><c s="1"><v>25570</v></c><c><v>2.125</v></c></row><row><c t="str"><v>1.000,5</v></c><c t="str"><v>3.1.1970</v></c><c t="str"><v>1002,5</v></c></row>`)
	p := opened(t, f)
	var out bytes.Buffer
	reply, err := p.Answer(t.Context(), source.Bytes("t.xlsx", b), &out, nil)
	want := "1.1250,1970-01-02,2.1250,\"2,125\",\n\"1.000,5\",3.1.1970,\"1002,5\",\"1002,5\",\n"
	if _, rows, _ := strings.Cut(out.String(), "\n"); err != nil || rows != want {
		t.Errorf("%v, %+v: have\n%s\nwant\n%s", err, reply, rows, want)
	}
	e, err := p.Evaluate(t.Context(), []source.File{source.Bytes("t.xlsx", b)}, nil)
	if err != nil || e.Rows != 2 || e.Problems != 0 || e.Scores.RootError != 0 {
		t.Errorf("%v, %+v", err, e)
	}
	// A cell that is no number costs its row, and no more.
	e, err = p.Evaluate(t.Context(), []source.File{source.Bytes("t.csv", []byte("size;day;price\n1;2.1.1970;2\n1;2.1.1970;many\n1;2.1.1970;\n1;2.1.1970;2\n"))}, nil)
	if err != nil || e.Rows != 2 || e.Problems != 2 || !strings.Contains(e.Problem, "many") {
		t.Errorf("%v, %+v", err, e)
	}
	// The same as text is what it says.
	if have, _ := answersOf(t, f, "size;day\n1.125;2.1.1970\n1.5;2.1.1970\n"); !strings.Contains(have, "1.125;2.1.1970;1126;") || !strings.Contains(have, `found ""1.5""`) {
		t.Error(have)
	}
}
