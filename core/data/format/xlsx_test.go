package format_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"clipscope/core/data/datatest"
	"clipscope/core/data/format"
	"clipscope/core/data/load"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// textOf is the CSV text of the first sheet.
func textOf(t *testing.T, opt run.CSV, b []byte) (string, error) {
	t.Helper()
	in := source.NewReading(t.Context(), opt)
	defer in.Close()
	a, err := source.OpenArchive(in, source.Bytes("b.xlsx", b))
	if err != nil {
		return "", err
	}
	k, err := format.OfMany(a)
	if err != nil {
		return "", err
	}
	s, err := k.Table(in, a)
	if err != nil {
		return "", err
	}
	src, err := in.Open(s, source.PhaseSniff)
	if err != nil {
		return "", err
	}
	defer src.Close()
	var text strings.Builder
	_, err = src.WriteTo(&text)
	return text.String(), err
}

func TestSheet(t *testing.T) {
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("b.xlsx", datatest.Book("One", datatest.RowsOfSheet(40), "Two", `<row><c><v>1</v></c></row>`))})
	if ds.Train.N != 40 || !slices.Equal(ds.Classes, []string{"no", "yes"}) || ds.Columns[0].Name != "width" || ds.Train.F32[5] != 1.25 || ds.Train.Y[0] != 1 {
		t.Errorf("%d rows, %v, %v", ds.Train.N, ds.Classes, ds.Columns)
	}
	if said := strings.Join(r.Warnings, "\n"); r.Format != "xlsx" || !r.IsTable() || !slices.Equal(r.Sheets, []string{"One", "Two"}) || !strings.Contains(said, "of the sheets One, Two the first is read") {
		t.Errorf("%s, %v: %s", r.Format, r.Sheets, said)
	}
}

// TestCellsOfSheets: every kind of cell, as CSV text.
func TestCellsOfSheets(t *testing.T) {
	for name, tc := range map[string]struct{ rows, want string }{
		"texts":         {`<row><c t="inlineStr"><is><t>a,"b</t></is></c><c t="str"><f>A1</f><v>c d</v></c><c t="s"><v>2</v></c></row>`, `"a,""b",c d,yes`},
		"lines":         {"<row><c t=\"str\"><v>a\nb</v></c><c><v>1</v></c></row>", `"a b",1`},
		"truth":         {`<row><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#DIV/0!</v></c></row>`, "TRUE,FALSE,#N/A"},
		"dates":         {`<row><c s="1"><v>45000</v></c><c s="2"><v>45000.5</v></c><c s="1"><v>1</v></c><c s="1"><v>60</v></c><c s="1"><v>61</v></c></row>`, "2023-03-15,2023-03-15T12:00:00,1900-01-01,1900-02-28,1900-03-01"},
		"no dates":      {`<row><c s="3"><v>0.5</v></c><c s="1"><v>-1</v></c><c s="1"><v>1e9</v></c><c s="99"><v>3</v></c><c s="1"><v>x</v></c></row>`, "0.5,-1,1e9,3,x"},
		"gaps":          {`<row><c r="A1"><v>1</v></c><c r="D1"><v>2</v></c></row><row r="4"><c r="B4"><v>3</v></c></row>`, "1,,,2\n\n\n,3,,"},
		"blank ends":    {`<row><c><v>1</v></c><c><v>2</v></c><c s="1"/></row><row><c><v>3</v></c></row>`, "1,2\n3,"},
		"a title":       {`<row><c t="str"><v>T</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>`, "T\n1,2\n3,"},
		"no places":     {`<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c r="B9"><v>4</v></c></row>`, "1,2\n3,4"},
		"entities":      {`<row><c t="str"><v>a &lt; b &#8364; &amp;</v></c><c><v>1</v></c></row>`, "a < b € &,1"},
		"a prefix":      {`<x:row><x:c><x:v>1</x:v></x:c><x:c><x:v>2</x:v></x:c></x:row>`, "1,2"},
		"how it sounds": {`<row><c t="inlineStr"><is><r><t>東</t></r><r><t>京</t></r><rPh><t>トウ</t></rPh></is></c><c><v>1</v></c></row>`, "東京,1"},
		"escapes":       {`<row><c t="str"><v>a_x000D_</v></c><c t="inlineStr"><is><t>_x005F_x000D_ _x_ _x00G0_ __x0041_</t></is></c><c><v>1</v></c></row>`, "\"a \",_x000D_ _x_ _x00G0_ _A,1"},
		"no thousands":  {`<row><c><v>1.234</v></c><c t="n"><v>-12.345</v></c><c t="str"><v>1.234</v></c><c><v>0.125</v></c><c><v>1234.567</v></c></row>`, "1.2340,-12.3450,1.234,0.125,1234.567"},
		"per cent":      {`<row><c s="4"><v>0.12</v></c><c s="6"><v>-0.285</v></c><c s="4"><v>0.28999999999999998</v></c><c s="5"><v>12</v></c><c s="4"><v>1E-3</v></c><c s="4"><v>0.12345</v></c><c s="4"/><c s="4"><v>x</v></c><c s="4"><v>1e307</v></c><c s="5"><v/></c><c s="4" t="str"><v>0.12</v></c></row>`, "12%,-28.5%,29%,12%,0.1%,12.3450%,,x,1e307,,0.12"},
		"back in rows":  {`<row r="5"><c><v>1</v></c></row><row r="2"><c><v>2</v></c></row>`, "\n\n\n\n1\n2"},
	} {
		got, err := textOf(t, run.CSV{}, datatest.Book("S", tc.rows))
		if err != nil || strings.TrimSuffix(got, "\n") != tc.want {
			t.Errorf("%s: %q, want %q: %v", name, got, tc.want, err)
		}
	}
	odd := datatest.Book("S", `<row><c><v>1</v></c></row>`, "xl/workbook.xml", "none", "xl/_rels/workbook.xml.rels", "none",
		"xl/workbook22.xml", `<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook22.xml.rels", `<R><Relationship Id="r1" Type="x/worksheet" Target="/xl/worksheets/sheet1.xml"/></R>`)
	if got, err := textOf(t, run.CSV{}, odd); got != "1\n" {
		t.Errorf("a workbook with a number: %q, %v", got, err)
	}
	b := datatest.Book("S", `<row><c s="1"><v>0</v></c><c s="1"><v>1.5</v></c></row>`, "xl/workbook.xml", `<workbook><workbookPr date1904="1"/><sheets><sheet name="H" state="hidden" r:id="r9"/><sheet name="S" r:id="r1"/></sheets></workbook>`)
	if got, err := textOf(t, run.CSV{}, b); got != "1904-01-01,1904-01-02T12:00:00\n" {
		t.Errorf("from 1904: %q, %v", got, err)
	}
	two := datatest.Book("One", `<row><c><v>1</v></c></row>`, "Two &amp; more", `<row><c><v>2</v></c></row>`)
	if got, err := textOf(t, run.CSV{Sheet: "Two & more"}, two); got != "2\n" {
		t.Errorf("the second sheet: %q, %v", got, err)
	}
	if _, err := textOf(t, run.CSV{Sheet: "Three"}, two); err == nil || !strings.Contains(err.Error(), `expected csv.sheet to be one of One, Two & more, found "Three"`) {
		t.Errorf("a sheet that is not there: %v", err)
	}
}

// TestSheetOfOldPacker: backslashes part the folders, as .NET once wrote them.
func TestSheetOfOldPacker(t *testing.T) {
	b := bytes.ReplaceAll(datatest.Book("One", datatest.RowsOfSheet(40)), []byte("xl/worksheets/"), []byte(`xl\worksheets\`))
	b = bytes.ReplaceAll(b, []byte("xl/workbook"), []byte(`xl\workbook`))
	if ds, _ := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("b.xlsx", b)}); ds.Train.N != 40 {
		t.Errorf("%d rows", ds.Train.N)
	}
}

// TestSheetBesideDecimalCommas: numbers that are stored have a point before the decimals,
// and texts beside them may have a comma.
func TestSheetBesideDecimalCommas(t *testing.T) {
	rows := `<row><c t="str"><v>weight</v></c><c t="str"><v>price</v></c><c t="str"><v>label</v></c></row>`
	for i := range 30 {
		rows += fmt.Sprintf(`<row><c><v>1.%03d</v></c><c t="str"><v>%[1]d,5</v></c><c t="str"><v>%c</v></c></row>`, 100+i, 'a'+i%2)
	}
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{}), []source.File{source.Bytes("b.xlsx", datatest.Book("S", rows))})
	if !slices.Equal(ds.Train.F32[:2], []float32{1.1, 100.5}) || r.Columns[1].Decimal != "," {
		t.Errorf("%v, %+v", ds.Train.F32[:2], r.Columns)
	}
}

// TestSheetWithMuchBehind: links and the like behind the rows are not read to their end.
func TestSheetWithMuchBehind(t *testing.T) {
	in := source.NewReading(t.Context(), run.CSV{TestShare: -1})
	in.Limits.Record = 1 << 14
	rows := datatest.RowsOfSheet(30) + `</sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells>` + strings.Repeat("<hyperlink/>", 10_000) + "<row><c><v>1</v></c></row>"
	ds, err := load.Files(in, []source.File{source.Bytes("b.xlsx", datatest.Book("S", rows))}, nil)
	if err != nil || ds.Train.N != 30 || !strings.Contains(strings.Join(in.Report.Warnings, "\n"), "1 ranges of merged cells") {
		t.Errorf("%v: %q", err, in.Report.Warnings)
	}
}

// TestSheetTellsHowFar: what is read before the rows, and behind them, may be long, and is told of.
func TestSheetTellsHowFar(t *testing.T) {
	in := source.NewReading(t.Context(), run.CSV{})
	clock := time.Unix(0, 0)
	in.Now = func() time.Time {
		clock = clock.Add(source.ProgressAfter)
		return clock
	}
	seen := map[string]int{}
	last, most := int64(0), int64(0) // bytes of the sheet's rows, and from one report of the first pass to the next
	in.Progress = func(p source.Progress) {
		seen[p.File[strings.LastIndex(p.File, "/")+1:]]++
		if p.File == "b.xlsx" && p.Phase == source.PhaseScan {
			last, most = p.Done, max(most, p.Done-last)
		}
	}
	words := "<sst><si><t>width</t></si><si><t>kind</t></si><si><t>a</t></si>" + strings.Repeat("<si><t>b</t></si>", 50_000) + "</sst>"
	if _, err := load.Files(in, []source.File{source.Bytes("b.xlsx", datatest.Book("S", datatest.RowsOfSheet(20)+"</sheetData><mergeCells>"+strings.Repeat(`<mergeCell ref="A1:B1"/>`, 50_000), "xl/sharedStrings.xml", words, "xl/styles.xml", "<s>"+strings.Repeat("<xf/>", 50_000)+"</s>"))}, nil); err != nil {
		t.Fatal(err)
	}
	if seen["sharedStrings.xml"] < 5 || seen["styles.xml"] < 5 || most > 300_000 {
		t.Errorf("reports: %v, up to %d bytes apart", seen, most)
	}
}

// TestOpenTableOfSheet reads a sheet row by row.
func TestOpenTableOfSheet(t *testing.T) {
	r, err := load.OpenTable(t.Context(), source.Bytes("b.xlsx", datatest.Book("One", datatest.RowsOfSheet(3))), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cells, line, err := r.Row(); !slices.Equal(r.Names(), []string{"width", "kind"}) || !slices.Equal(cells, []string{"0", "yes"}) || line != 2 || err != nil {
		t.Errorf("%v, row %d: %v, %v", r.Names(), line, cells, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpenpyxl reads what openpyxl 3.0 wrote.
func TestOpenpyxl(t *testing.T) {
	b, err := os.ReadFile("testdata/openpyxl.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	ds, r := loadtest.Read(t, datatest.AllToTrain(run.CSV{Sheet: "Data", Missing: "zero"}), []source.File{source.Bytes("openpyxl.xlsx", b)})
	said := strings.Join(r.Warnings, "\n")
	if ds.Train.N != 30 || !slices.Equal(ds.Classes, []string{"no", "yes"}) || ds.Columns[1].Date != "ymd" || !slices.Equal(ds.Columns[4].Categories, []string{`Köln "am Rhein"`, "Ulm Donau"}) || r.Missing != 1 {
		t.Errorf("%d rows, %v, %+v, %d missing", ds.Train.N, ds.Classes, ds.Columns, r.Missing)
	}
	for _, want := range []string{"is not of the table and is skipped (A survey of some people)", "1 formulas have no value", "name is ignored: 30 of its 30 different texts"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	if got := r.Preview.Rows[9]; got[1] != "1989-10-10" || got[2] != "1.59" || got[3] != "TRUE" {
		t.Errorf("row 10 is %q", got)
	}
}

// hostileBooks are spreadsheets that lie, or cannot be read.
func hostileBooks() map[string][]byte {
	good := datatest.RowsOfSheet(20)
	m := map[string][]byte{
		"no relations": datatest.Book("S", good, "xl/_rels/workbook.xml.rels", "none"), "no sheets": datatest.Book(), "a sheet that is not there": datatest.Book("S", good, "xl/worksheets/sheet1.xml", "none"),
		"an empty workbook": datatest.Book("S", good, "xl/workbook.xml", " "), "a workbook that is cut short": datatest.Book("S", good, "xl/workbook.xml", "<workbook><sheets><sheet name='S'"),
		"all hidden":                    datatest.Book("S", good, "xl/workbook.xml", `<workbook><sheets><sheet name="S" state="hidden" r:id="r1"/></sheets></workbook>`),
		"a target that leads out":       datatest.Book("S", good, "xl/_rels/workbook.xml.rels", `<R><Relationship Id="r1" Type="x/worksheet" Target="../../../etc/passwd"/></R>`),
		"a target on the net":           datatest.Book("S", good, "xl/_rels/workbook.xml.rels", `<R><Relationship Id="r1" Type="x/worksheet" TargetMode="External" Target="https://example.org/x"/></R>`),
		"no shared texts":               datatest.Book("S", good, "xl/sharedStrings.xml", "none"),
		"shared texts cut":              datatest.Book("S", good, "xl/sharedStrings.xml", "<sst><si><t>wid"),
		"an entity bomb":                datatest.Book("S", good, "xl/sharedStrings.xml", `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><sst><si><t>&c;</t></si></sst>`),
		"an outer entity":               datatest.Book("S", good, "xl/sharedStrings.xml", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><sst><si><t>&a;</t></si></sst>`),
		"2 MB of shared texts":          datatest.Book("S", good, "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si><t>"+strings.Repeat("word ", 2000)+"</t></si>", 120)+"</sst>"),
		"300,000 shared texts":          datatest.Book("S", good, "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si/>", 300_000)+"</sst>"),
		"one text of 200 kB":            datatest.Book("S", good, "xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("long", 50_000)+"</t></si></sst>"),
		"a name of 200 kB":              datatest.Book("S", good, "xl/sharedStrings.xml", "<"+strings.Repeat("long", 50_000)+"/>"),
		"a cell of 200 kB":              datatest.Book("S", `<row><c t="str"><v>`+strings.Repeat("<b/>long", 50_000)+`</v></c></row>`),
		"an attribute of 200 kB":        datatest.Book("S", `<row r="`+strings.Repeat("1", 200_000)+`"/>`),
		"a comment of 200 kB":           datatest.Book("S", `<!-- `+strings.Repeat("long", 50_000)+` -->`),
		"styles that are cut":           datatest.Book("S", good, "xl/styles.xml", `<styleSheet><cellXfs`),
		"an empty sheet":                datatest.Book("S", ""),
		"empty rows alone":              datatest.Book("S", strings.Repeat("<row/>", 9)),
		"a column beyond the last":      datatest.Book("S", `<row><c r="XFE1"><v>1</v></c></row>`),
		"a column that overflows":       datatest.Book("S", `<row><c r="ZZZZZZZZZZZZ1"><v>1</v></c></row>`),
		"a text that is not there":      datatest.Book("S", `<row><c t="s"><v>77</v></c><c><v>1</v></c></row>`),
		"a text before the first":       datatest.Book("S", `<row><c t="s"><v>-1</v></c><c><v>1</v></c></row>`),
		"a text of no number":           datatest.Book("S", `<row><c t="s"><v>x</v></c><c><v>1</v></c></row>`),
		"a row that does not end":       datatest.Book("S", good+`<row><c><v>1</v></c>`, "xl/worksheets/x.xml", ""),
		"a cell that does not end":      datatest.Book("S", good+`<row><c><v>1</v>`),
		"tags that cross":               datatest.Book("S", `<row><c><v>1</c></v></row`),
		"one column":                    datatest.Book("S", strings.Repeat(`<row><c><v>1</v></c></row>`, 5)),
		"one class":                     datatest.Book("S", strings.Repeat(`<row><c><v>1</v></c><c t="str"><v>a</v></c></row>`, 5)),
		"wider than its first rows":     datatest.Book("S", good+strings.Repeat(`<row><c><v>1</v></c><c t="s"><v>2</v></c></row>`, 200)+`<row><c><v>1</v></c><c><v>1</v></c><c><v>1</v></c></row>`),
		"a row after the last there is": datatest.Book("S", `<row r="99999999999"><c><v>1</v></c></row>`),
		"more rows than Excel has":      datatest.Book("S", good+strings.Repeat("<row/>", 1<<20)),
		"tags before the first row":     datatest.Book("S", strings.Repeat("<a/>", 100_000)+good),
		"tags without end in a row":     datatest.Book("S", good+"<row>"+strings.Repeat("<a/>", 100_000)+"</row>"),
		"tags without end in a cell":    datatest.Book("S", good+"<row><c>"+strings.Repeat("<a/>", 100_000)+"</c></row>"),
		"tags behind the last row":      datatest.Book("S", good+strings.Repeat("<a/>", 100_000)),
		"packed twice":                  datatest.GzipOf(datatest.Book("S", good)),
		"not XML":                       datatest.Book("S", good, "xl/worksheets/y.xml", "", "xl/workbook.xml", "\x00\x01\x02"),
		"UTF-16":                        datatest.Book("S", good, "xl/workbook.xml", `<?xml version="1.0" encoding="UTF-16"?><workbook/>`),
		"a binary workbook":             datatest.Zip("[Content_Types].xml", "x", "xl/workbook.bin", "x"),
		"an OpenDocument table":         datatest.Zip("mimetype", "x", "content.xml", "x"),
		"XML in place of a zip":         []byte(`<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook/>`),
		"the old kind":                  append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...),
	}
	for i, cut := range []int{100, 400, 900} {
		m[fmt.Sprintf("cut short %d", i)] = datatest.Book("S", good)[:cut]
	}
	for i, rows := range []string{"<row", "<row><c", "<row><c><v", "<row>&x;</row>", "<row><c><v>&#xFFFFFFFF;</v></c></row>", "<row><c><v>\x00</v></c></row>", "]]>", "<row><![CDATA[", "<?xml"} {
		m[fmt.Sprintf("broken rows %d", i)] = datatest.Book("S", rows)
	}
	return m
}

func TestHostileBooks(t *testing.T) {
	all := hostileBooks()
	if len(all) < 50 {
		t.Errorf("%d hostile spreadsheets", len(all))
	}
	for name, b := range all {
		loadtest.Refused(t, name, []source.File{source.Bytes("b.xlsx", b)}, "", func(l *source.Limits) { l.Texts, l.Record = 1<<20, 1<<16 })
	}
}

func FuzzXLSX(f *testing.F) {
	f.Add(datatest.RowsOfSheet(6), "<sst><si><t>a</t></si><si><t>b</t></si><si><t>c</t></si><si><t>d</t></si></sst>", "<styleSheet/>", "")
	f.Add(`<row r="3"><c r="B3" s="1"><v>45000.25</v></c><c t="inlineStr"><is><t>x</t></is></c></row>`, "<sst/>", `<styleSheet><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>`, "S")
	f.Fuzz(func(t *testing.T, rows, words, styles, name string) {
		loadtest.Sound(t, []source.File{source.Bytes("b.xlsx", datatest.Book("S", rows, "xl/sharedStrings.xml", words, "xl/styles.xml", styles))}, nil, run.CSV{Sheet: name, BadRows: "skip", Missing: "zero"})
	})
}
