package table_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestDialects reads one small table written in many ways.
func TestDialects(t *testing.T) {
	const nine = "1,2.5,\"x,y\",a\n-3,4e1,z,b\n5,.5,z,a\n"
	for name, s := range map[string]string{
		"comma":        nine,
		"header":       "one,two,three,label\n" + nine,
		"CRLF":         strings.ReplaceAll(nine, "\n", "\r\n"),
		"no last LF":   strings.TrimSuffix(nine, "\n"),
		"BOM":          "\ufeff" + nine,
		"BOM, header":  "\ufeff" + "\"one\",two,three,label\n" + nine,
		"blank lines":  strings.ReplaceAll(nine, "\n", "\n\n"),
		"spaces":       "1, 2.5, \"x,y\", a\n-3 , 4e1 ,z ,b \n5,.5,z,a\n",
		"semicolon":    "1;2.5;x,y;a\n-3;4e1;z;b\n5;.5;z;a\n",
		"decimal ,":    "1;2,5;\"x,y\";a\n-3;40,0;z;b\n5;0,5;z;a\n",
		"sep":          "sep=;\n1;2.5;x,y;a\n-3;4e1;z;b\n5;.5;z;a\n",
		"sep, quoted":  "\"sep=;\"\r\none;two;three;label\r\n1;2.5;x,y;a\r\n-3;4e1;z;b\r\n5;.5;z;a\r\n",
		"tab":          "1\t2.5\tx,y\ta\n-3\t4e1\tz\tb\n5\t.5\tz\ta\n",
		"bar":          "1|2.5|x,y|a\n-3|4e1|z|b\n5|.5|z|a\n",
		"comment":      "# made today\n# by hand, with care\n" + nine,
		"odd line":     "|1x3 Cross validator\n" + nine,
		"title":        "My table\none,two,three,label\n" + nine,
		"quoted lines": "one,two,three,label\n1,2.5,\"x,y\",\"a\"\n\"-3\",\"4e1\",\"z\",\"b\"\n5,.5,z,a",
	} {
		ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One(s))
		want := []float32{1, 2.5, 1, 0, -3, 40, 0, 1, 5, .5, 0, 1}
		if !slices.Equal(ds.Train.F32, want) || !slices.Equal(ds.Train.Y, []float32{0, 1, 0}) {
			t.Errorf("%s: rows %v, labels %v", name, ds.Train.F32, ds.Train.Y)
		}
		if !slices.Equal(ds.Classes, []string{"a", "b"}) || !slices.Equal(ds.Columns[2].Categories, []string{"x,y", "z"}) {
			t.Errorf("%s: classes %q, columns %+v", name, ds.Classes, ds.Columns)
		}
		header := strings.Contains(s, "label")
		if r.Header != header || header && ds.Columns[1].Name != "two" || !header && ds.Columns[1].Name != "column 2" {
			t.Errorf("%s: header %v, columns %+v", name, r.Header, ds.Columns)
		}
		if want := strings.Count(s, "Cross") + strings.Count(s, "# made") + strings.Count(s, "My"); !header && len(r.Warnings) != 1+want {
			t.Errorf("%s: warnings %q", name, r.Warnings)
		}
	}
}

func TestLabelAndTask(t *testing.T) {
	real := "a,target,b\n"
	for i := range 60 {
		real += fmt.Sprintf("%d,%d.5,%d\n", i%7, i, i%2)
	}
	texts := "" // no header, the last column real, one column of text
	for i := range 60 {
		texts += fmt.Sprintf("%d.5,%s,%d.25\n", i, []string{"m", "b"}[i%2], i)
	}
	names := "a,class,b\n" // the last column real
	for i := range 60 {
		names += fmt.Sprintf("%d,%s,%d.25\n", i%7, []string{"m", "b"}[i%2], i)
	}
	twoInts := "a,b\n"
	for i := range 60 {
		twoInts += fmt.Sprintf("%d,%d\n", i%9, i%2)
	}
	for name, tc := range map[string]struct {
		s    string
		opt  run.CSV
		name string
		task data.Task
		outs int
	}{
		"last before name": {real, run.CSV{}, "b", data.Classification, 2},
		"by its name":      {names, run.CSV{}, "class", data.Classification, 2},
		"label":            {strings.Replace(real, "target", "Label", 1), run.CSV{}, "Label", data.Regression, 1},
		"chosen name":      {real, run.CSV{Label: "b"}, "b", data.Classification, 2},
		"chosen number":    {real, run.CSV{Label: "3"}, "b", data.Classification, 2},
		"few integers":     {real, run.CSV{Label: "a"}, "a", data.Classification, 7},
		"declared reals":   {real, run.CSV{Label: "a", Task: "regression"}, "a", data.Regression, 1},
		"declared classes": {real, run.CSV{Label: "a", Task: "classification"}, "a", data.Classification, 7},
		"categorical":      {real, run.CSV{Label: "a", Columns: map[string]string{"a": "categorical"}}, "a", data.Classification, 7},
		"last":             {twoInts, run.CSV{}, "b", data.Classification, 2},
		"only text":        {texts, run.CSV{}, "column 2", data.Classification, 2},
		"number wins":      {texts, run.CSV{Label: "3"}, "column 3", data.Regression, 1},
	} {
		ds, r := loadtest.Read(t, tc.opt, datatest.One(tc.s))
		if r.Label != tc.name || ds.Task != tc.task || ds.Outputs != tc.outs {
			t.Errorf("%s: label %q, task %s, %d outputs", name, r.Label, ds.Task, ds.Outputs)
		}
	}
}

func TestNumericClassesAreSortedByValue(t *testing.T) {
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{Task: "classification"}), datatest.One("x,y\n1,10\n2,9\n3,9.0\n4,+10\n5,-1\n6,-1\n"))
	if !slices.Equal(ds.Classes, []string{"-1", "9", "10"}) || !slices.Equal(ds.Train.Y, []float32{2, 1, 1, 2, 0, 0}) {
		t.Errorf("classes %q, labels %v", ds.Classes, ds.Train.Y)
	}
}

func TestMissing(t *testing.T) {
	const s = "n,c,junk,label\n1,red,,a\n,blue,,b\n3,?,,a\n4,NULL,,b\n5,red,,\n6,blue,,b\n"
	drop, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Missing: "drop"}), datatest.One(s))
	if !slices.Equal(drop.Train.F32, []float32{1, 0, 1, 6, 1, 0}) || r.Dropped != 4 || r.Missing != 4 {
		t.Errorf("drop: %v, %d rows dropped, %d cells missing", drop.Train.F32, r.Dropped, r.Missing)
	}
	zero, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Missing: "zero"}), datatest.One(s))
	if want := []float32{1, 0, 1, 0, 0, 1, 0, 0, 3, 0, 0, 1, 4, 0, 0, 1, 6, 1, 0, 0}; !slices.Equal(zero.Train.F32, want) {
		t.Errorf("zero: %v", zero.Train.F32)
	}
	if c := zero.Columns[1]; !slices.Equal(c.Categories, []string{"blue", "red", data.MissingCategory}) || c.Missing != 2 {
		t.Errorf("zero: %+v", c)
	}
	said, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{Missing: "zero"}), datatest.One("n,c,label\n1,(missing),a\n2,,b\n3,red,a\n4,red,b\n"))
	if c := said.Columns[1]; !slices.Equal(c.Categories, []string{data.MissingCategory, "red"}) || !slices.Equal(said.Train.F32, []float32{1, 1, 0, 2, 1, 0, 3, 0, 1, 4, 0, 1}) {
		t.Errorf("cells that say %s, and empty ones: %+v, %v", data.MissingCategory, c, said.Train.F32)
	}
	if zero.Columns[2].Kind != data.Ignored || r.Dropped != 1 {
		t.Errorf("zero: %+v, %d dropped", zero.Columns[2], r.Dropped)
	}
	_, r, err := load.Load(t.Context(), datatest.One(s), nil, run.CSV{}, nil)
	if err == nil || !strings.Contains(err.Error(), "4 missing cells in all: n (1), c (2), label (1)") {
		t.Errorf("error: %v", err)
	}
	if r.Missing != 4 || len(r.Columns) != 4 || r.Columns[0].Missing != 1 || len(r.Preview.Rows) != 6 {
		t.Errorf("the report beside the error is %+v", r)
	}
}

// TestHeaderAlone: a header with nothing under it is not taken for the one class of a row.
func TestHeaderAlone(t *testing.T) {
	for text, want := range map[string]string{"age,weight,label\n": "If this is a header, there are no rows under it", "age,weight,label\n1,2,yes\n": `only class "yes"`} {
		if _, _, err := load.Load(t.Context(), datatest.One(text), nil, run.CSV{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestListsThatCountAsPublic: a column of many texts is taken, and said to be published; dates of
// which some are written in another way are no such texts.
func TestListsThatCountAsPublic(t *testing.T) {
	var b strings.Builder
	b.WriteString("admission,ward,place,label\n")
	for i := range 300 {
		day := fmt.Sprintf("2024-%02d-%02d", 1+i%9, 10+i%10)
		if i%7 == 0 {
			day = fmt.Sprintf("%d.%d.2024", 13+i%9, 1+i%9)
		}
		fmt.Fprintf(&b, "%s,w%d,p%d,%d\n", day, i%60, i%61, i%2)
	}
	ds, r := loadtest.Read(t, run.CSV{}, datatest.One(b.String()))
	if ds.Columns[0].Kind != data.Ignored || len(ds.Columns[1].Categories) != 60 || len(ds.Columns[2].Categories) != 61 {
		t.Fatalf("columns %+v", ds.Columns)
	}
	text := strings.Join(r.Doubts, "\n")
	for _, want := range []string{`admission is ignored: it mixes dates and what is none in the same notation (such as "13.1.2024")`, "The 61 different texts of place are its categories, which count as public"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if all := strings.Join(r.Warnings, "\n"); strings.Contains(all, "ward") || !strings.Contains(all, r.Doubts[0]) {
		t.Errorf("a few wards are warned of, or doubts are no warnings:\n%s", all)
	}
}

func TestColumnKinds(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,age,grade,name,mixed,label\n")
	for i := range 60 {
		mixed := fmt.Sprint(i % 3)
		if i%4 == 0 {
			mixed = "3+"
		}
		fmt.Fprintf(&b, "%d,%d,%s,n%d,%s,%d\n", 100+i, 20+i%30, []string{"A", "B", "C"}[i%3], i, mixed, i%2)
	}
	ds, r := loadtest.Read(t, run.CSV{}, datatest.One(b.String()))
	var kinds []data.ColumnKind
	for _, c := range ds.Columns {
		kinds = append(kinds, c.Kind)
	}
	if want := []data.ColumnKind{data.Ignored, data.Numeric, data.Categorical, data.Ignored, data.Categorical, data.Label}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v", kinds)
	}
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "id numbers the rows") || !strings.Contains(text, "name is ignored") || !strings.Contains(text, "mixed mixes") {
		t.Errorf("warnings %s", text)
	}
	if ds.Bounds != nil {
		t.Error("age has declared bounds that nobody declared")
	}
	ds, _ = loadtest.Read(t, run.CSV{Columns: map[string]string{"id": "numeric", "age": "ignored", "name": "categorical", "grade": "ignored"}}, datatest.One(b.String()))
	if ds.Columns[0].Kind != data.Numeric || ds.Columns[1].Kind != data.Ignored || len(ds.Columns[3].Categories) != 60 || ds.Columns[4].First != 61 {
		t.Errorf("columns %+v", ds.Columns)
	}
	ds, _ = loadtest.Read(t, run.CSV{Columns: map[string]string{"age": "ignored"}}, datatest.One(b.String()))
	if ds.Bounds[2] != (data.Bound{Lo: 0, Hi: 1}) {
		t.Errorf("bounds of categories %v", ds.Bounds)
	}
	for name, want := range map[string]data.ColumnKind{"Kundennummer": data.Ignored, "Lfd. Nr.": data.Ignored, "order number": data.Ignored, "Jahre": data.Numeric} {
		if ds, _ := loadtest.Read(t, run.CSV{}, datatest.One(strings.Replace(b.String(), "id", name, 1))); ds.Columns[0].Kind != want {
			t.Errorf("%s is %s", name, ds.Columns[0].Kind)
		}
	}
	// Without a header only a first column of many distinct integers is an id.
	long := b.String()[strings.Index(b.String(), "\n")+1:]
	if ds, _ := loadtest.Read(t, run.CSV{}, datatest.One(long)); ds.Columns[0].Kind != data.Ignored {
		t.Error("an unnamed id is used")
	}
	lines := strings.SplitAfter(long, "\n")
	if ds, _ := loadtest.Read(t, run.CSV{}, datatest.One(strings.Join(lines[:40], ""))); ds.Columns[0].Kind != data.Numeric {
		t.Error("40 different integers pass as an id")
	}
}

func TestTestFile(t *testing.T) {
	train := "x,c,income\n1,red,<=50K\n2,blue,>50K\n3,red,<=50K\n"
	ds, r := loadtest.Read(t, run.CSV{}, datatest.One(train), source.Bytes("u.csv", []byte("X,c,income\n7,blue,<=50K.\n8,green,>50K.\n")))
	if ds.Train.N != 3 || !slices.Equal(ds.Test.F32, []float32{7, 1, 0, 8, 0, 0}) || !slices.Equal(ds.Test.Y, []float32{0, 1}) {
		t.Errorf("test rows %v, labels %v", ds.Test.F32, ds.Test.Y)
	}
	if text := strings.Join(r.Warnings, "\n"); !strings.Contains(text, "end with a point") || !strings.Contains(text, `category "green" of c`) {
		t.Errorf("warnings %s", text)
	}
	// Both given as training rows make two classes, not four.
	ds, _ = loadtest.Read(t, run.CSV{}, []source.File{source.Bytes("a", []byte(train)), source.Bytes("b", []byte("x,c,income\n7,blue,<=50K.\n8,green,>50K.\n"))})
	if len(ds.Classes) != 2 || ds.Train.N+ds.Test.N != 5 {
		t.Errorf("classes %q of %d rows", ds.Classes, ds.Train.N+ds.Test.N)
	}
}

func TestScikitLearnFirstLine(t *testing.T) {
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One("4,2,setosa,virginica\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n"))
	if !slices.Equal(ds.Classes, []string{"setosa", "virginica"}) || ds.Train.N != 4 || ds.Features != 2 || r.Header {
		t.Errorf("classes %q, %d rows of %d", ds.Classes, ds.Train.N, ds.Features)
	}
	_, r = loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One("5,2,setosa,virginica\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n"))
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "promises 5 rows") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestRowsAreThoseOfASpreadsheet(t *testing.T) {
	for s, want := range map[string]int{
		"a,label\n1,x\n2,y\n3,x\nz,y\n":                         5,
		"\"a\n\nb\",c,label\n1,1,x\n2,1,y\n3,1,x\nz,1,y\n":      5,
		"# c\n\"a\nb\",label\n1,x\n2,y\n3,x\nz,y\n":             6,
		"\"of\n2024\"\na,b,label\n1,1,x\n2,1,y\n3,1,x\nz,1,y\n": 6,
		"# c\n\n1,x\n2,y\n3,x\nz,y\n":                           6,
		"1,x\n\n\n2,y\n3,x\nz,y\n":                              6,
		"1,\"x\n\"\n2,y\n3,y\nz,y\n":                            4,
		"\ufeff1,x\r\n2,y\r\n3,x\r\nz,y\r\n":                    4,
		"|1x3 Cross\n1,2,x\n2,3,y\n3,2,x\nz,1,y\n":              5,
	} {
		_, _, err := load.Load(t.Context(), datatest.One(s), nil, run.CSV{}, nil)
		e, ok := err.(*data.Error)
		if !ok || e.Row != want || e.Column != 1 {
			t.Errorf("%q: %v, want row %d", s, err, want)
		}
	}
}

// TestManyNames: a header that is longer than what is looked at of other tables is one.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&b, "a long name %d,", i)
	}
	b.WriteString("label\n")
	for i := range 12 {
		b.WriteString(strings.Repeat([]string{"AA,", "AG,", "GG,"}[i%3], 8000) + "ab"[i%2:i%2+1] + "\n")
	}
	ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), datatest.One(b.String()))
	if ds.Train.N != 12 || ds.Columns[7999].Name != "a long name 7999" || len(ds.Classes) != 2 {
		t.Errorf("%d rows, %q, classes %v", ds.Train.N, ds.Columns[7999].Name, ds.Classes)
	}
}

// TestNamesWithLineBreaks: a name that a spreadsheet broke into lines is one, in the first
// column too, and no row is lost for it.
func TestNamesWithLineBreaks(t *testing.T) {
	rows := strings.Repeat("1,2,x\n3,4,y\n", 20)
	for head, want := range map[string]string{
		"\"size\nin cm\",b,kind\n": "size\nin cm", "\"size\r\nin cm\",\"b\",kind\r\n": "size\nin cm", " \"a\n\nb\"\"\",b,kind\n": "a\n\nb\"",
	} {
		for _, header := range []string{"", "yes"} {
			ds, _, err := load.Load(t.Context(), datatest.One(head+rows), nil, run.CSV{Header: header, TestShare: -1}, nil)
			if err != nil || ds.Columns[0].Name != want || ds.Columns[1].Name != "b" || ds.Train.N != 40 {
				t.Errorf("%q, header %q: %d rows, columns %+v, %v", head, header, ds.Train.N, ds.Columns, err)
			}
		}
	}
}
