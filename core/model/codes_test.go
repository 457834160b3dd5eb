package model

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/data/datatest"
	"clipscope/core/data/loadtest"
	"clipscope/core/data/source"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// codes are texts that are one number, or would be with another unit, and stay apart as codes.
var codes = []string{"01", "1", "02", "2", "1E1", "10", "1E2", "100", "$5", "€5", "5", "00501", "501", "02139", "94103"}

// codeRow returns a row of the table of codes: a code and a ZIP, both of which may be one that no training row has, a number and, as the label, a code.
func codeRow(rng *rand.Rand, strange bool) []string {
	code, zip := codes[rng.IntN(len(codes))], codes[11+rng.IntN(4)]
	if strange {
		code = []string{code, "001", "1.0", "1e1", "10.0", "5.00", "$ 5", "+1", "0501", "501.0"}[rng.IntN(10)]
		zip = []string{zip, "2139", "0094103"}[rng.IntN(3)]
	}
	return []string{code, zip, codes[rng.IntN(len(codes))], fmt.Sprint(rng.IntN(90)), codes[rng.IntN(len(codes))]}
}

// ofCodes returns a model of a table of codes, as it is read.
func ofCodes(t *testing.T, f source.File, opt run.CSV) *File {
	t.Helper()
	opt.Label = "answer"
	ds, _ := loadtest.Read(t, datatest.AllToTrain(opt), []source.File{f})
	m := outline(nn.Shape{Channels: ds.Features}, len(ds.Classes), 39, "dense:9", "tanh", "dense")
	m.Apply.Classes = ds.Classes
	for _, c := range ds.Columns {
		m.Apply.Columns = append(m.Apply.Columns, run.AppliedColumn{
			Name: c.Name, Kind: string(c.Kind), First: c.First, Decimal: c.Decimal, Thousands: c.Thousands, Units: c.Units, Categories: c.Categories, Buckets: c.Buckets, IfMissing: c.Fill, Indicator: c.Indicator,
		})
	}
	return m
}

// TestCodesAgree: codes that are one number stay apart as features and as labels, and answers keep their zeros, signs and letters: on the page, in
// predict.mjs, in predict.py and in the ONNX file, whether a table of texts declares them or a spreadsheet stores them as texts.
func TestCodesAgree(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(39, 4))
	csv, sheet := "", ""
	for i := range 400 {
		row := codeRow(rng, false)
		if i == 0 {
			row = []string{"code", "zip", "hashed", "x", "answer"}
		}
		csv += strings.Join(row, ",") + "\n"
		sheet += "<row>"
		for k, c := range row {
			kind := "str"
			if i > 0 && k == 3 {
				kind = "n"
			}
			sheet += fmt.Sprintf(`<c t="%s"><v>%s</v></c>`, kind, c)
		}
		sheet += "</row>"
	}
	f := ofCodes(t, source.Bytes("codes.csv", []byte(csv)), run.CSV{Columns: map[string]string{"code": "categorical", "zip": "categorical", "hashed": "bucketed"}})
	stored := ofCodes(t, source.Bytes("codes.xlsx", datatest.Book("s", sheet)), run.CSV{Columns: map[string]string{"hashed": "bucketed"}})
	if !reflect.DeepEqual(f.Apply, stored.Apply) {
		t.Errorf("of a table of texts\n%+v, of a spreadsheet\n%+v", f.Apply, stored.Apply)
	}
	columns, sorted := f.Apply.Columns, slices.Sorted(slices.Values(codes))
	for _, have := range [][]string{f.Apply.Classes, columns[0].Categories} {
		if have = slices.Sorted(slices.Values(have)); !slices.Equal(have, sorted) {
			t.Fatalf("%q, want %q", have, sorted)
		}
	}
	if columns[2].Buckets == 0 || columns[3].Kind != string(data.Numeric) {
		t.Fatalf("%+v", columns)
	}
	rng = rand.New(rand.NewPCG(39, 5))
	var cells [][]string
	var inputs [][]any
	for i := range 1000 {
		row := codeRow(rng, i%4 == 0)
		row[4] = ""
		if i < len(codes) { // alike but for the code
			row = []string{codes[i], "00501", "1", "7", ""}
		}
		h := fnv.New32a()
		h.Write([]byte(row[2]))
		cells, inputs = append(cells, row), append(inputs, []any{row[0], row[1], h.Sum32() % uint32(columns[2].Buckets), row[3]})
	}
	answered, apart := map[any]bool{}, map[string]bool{}
	for i, a := range agreeOnCells(t, f, cells, inputs) {
		answered[a.Answer] = true
		if i < len(codes) {
			apart[fmt.Sprint(a.Outputs)] = true
		}
		if unknown := !slices.Contains(codes, cells[i][0]); unknown != slices.Contains(a.Unknown, "code") {
			t.Errorf("%q: unknown are %q", cells[i], a.Unknown)
		}
		if !slices.Contains(codes, a.Answer.(string)) {
			t.Errorf("%q: an answer %q", cells[i], a.Answer)
		}
	}
	if len(apart) != len(codes) || len(answered) < 8 {
		t.Errorf("%d codes have %d outputs, and all rows %d answers", len(codes), len(apart), len(answered))
	}
}
