package model

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// measured is a model of columns with units and times.
func measured() *File {
	f := outline(nn.Shape{Channels: 9}, 3, 17, "dense:5", "tanh", "dense")
	fill := 19767.5
	f.Apply.Columns = []run.AppliedColumn{
		{Name: "share", Kind: "numeric", First: 0, Units: []string{"%"}, Decimal: ","},
		{Name: "price", Kind: "numeric", First: 1, Units: []string{"$"}, Decimal: ".", Thousands: ","},
		{Name: "rate", Kind: "numeric", First: 2, Units: []string{""}},
		{Name: "id", Kind: "numeric", First: 3, Units: []string{""}, Offset: 170795412779050},
		{Name: "t", Kind: "numeric", First: 4, Units: []string{""}, Time: "ms", Offset: 19767 + 9.5/24},
		{Name: "day", Kind: "numeric", First: 5, Units: []string{""}, Time: "yyyymmdd", Offset: 10957},
		{Name: "when", Kind: "numeric", First: 6, Clock: 7, Indicator: 8, IfMissing: &fill, Date: "dmy", Offset: 10957},
		{Name: "class", Kind: "label", First: -1, Categories: []string{"a", "b", "c"}},
	}
	f.Apply.Classes = []string{"a", "b", "c"}
	f.Apply.Scaling = run.AppliedScaling{Kind: "declared",
		Lo: []float64{0, 0, 0, -50, -.5 / 24, 7000, 8809, 0, 0}, Hi: []float64{1, 4000, 1, 50, .5 / 24, 9000, 8812, 1, 1}}
	return f
}

// measuredRow returns cells of a row, and what the inputs of an ONNX file are of it.
func measuredRow(rng *rand.Rand) (cells []string, values []float64) {
	share, price, rate, id := rng.IntN(1000), rng.IntN(400_000), rng.IntN(1000), 170795412779000+int64(rng.IntN(100))
	t := time.Date(2024, 2, 14, 9, 0, 0, rng.IntN(1000)*1e6, time.UTC).Add(time.Duration(rng.IntN(3600)) * time.Second)
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(1500))
	when := time.Date(2024, 2, 13, 0, 0, rng.IntN(3*86_400), 0, time.UTC)
	days := func(t time.Time) float64 { return float64(t.UnixMilli()) / 86_400e3 }
	dollars := fmt.Sprintf("$%d.%02d", price/100, price%100)
	if price >= 100_000 {
		dollars = fmt.Sprintf("$%d,%03d.%02d", price/100_000, price/100%1000, price%100)
	}
	cells = []string{fmt.Sprintf("%d,%d%%", share/10, share%10), dollars, fmt.Sprintf("0.%03d", rate), strconv.FormatInt(id, 10), strconv.FormatInt(t.UnixMilli(), 10), day.Format("20060102"), when.Format("02.01.2006 15:04:05"), ""}
	values = []float64{float64(share) / 1000, float64(price) / 100, float64(rate) / 1000, float64(id), days(t), days(day), days(when)}
	switch rng.IntN(5) {
	case 0: // the other way to write a share
		cells[2] = fmt.Sprintf("%d.%d %%", rate/10, rate%10)
	case 1:
		cells[6], values[6] = "NA", math.NaN()
	}
	return cells, values
}

const cellsInNode = `
import fs from "node:fs";
import { load } from "./predict.mjs";
const { file, cells } = JSON.parse(fs.readFileSync(process.argv[1])), model = load(JSON.stringify(file));
console.log(JSON.stringify(cells.map((row) => {
  try {
    return model.predict(row);
  } catch {
    return null;
  }
})));
`

const cellsInONNX = `
import fs from "node:fs";
import * as ort from "onnxruntime-web";
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;
const { onnx, rows } = JSON.parse(fs.readFileSync(process.argv[1]));
const session = await ort.InferenceSession.create(new Uint8Array(Buffer.from(onnx, "base64")), { executionProviders: ["wasm"] });
const made = { float32: (c) => Float32Array.from(c), float64: (c) => Float64Array.from(c), int64: (c) => BigInt64Array.from(c, BigInt), string: (c) => c };
const feeds = Object.fromEntries(session.inputMetadata.map(({ name, type }, k) => [name, new ort.Tensor(type, made[type](rows.map((r) => r[k] ?? NaN)), [rows.length, 1])]));
const { probabilities: { data }, label } = await session.run(feeds), n = data.length / rows.length;
console.log(JSON.stringify(rows.map((_, i) => ({ answer: label.data[i], outputs: [...data.slice(n * i, n * (i + 1))] }))));
`

const cellsInPython = `
import json, sys
from predict import load
c = json.load(open(sys.argv[1]))
model = load(json.dumps(c["file"]).encode())
def told(row):
    try:
        answers, outputs = model.predict([row])
        return {"answer": answers[0], "outputs": outputs[0].tolist()}
    except ValueError:
        return None
json.dump([told(row) for row in c["cells"]], sys.stdout)
`

// agreeOnCells checks that predict.mjs, predict.py and the ONNX file of a model of classes answer rows of cells as the page does, within 1e-5. inputs are
// what the ONNX file takes of the first of them; those behind are refused by the page and both programs. It returns the page's answers.
func agreeOnCells(t *testing.T, f *File, cells [][]string, inputs [][]any) []run.Answer {
	t.Helper()
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var asked []run.Row
	for _, row := range cells {
		var r run.Row
		for _, cell := range row {
			r.Cells = append(r.Cells, run.Cell{Text: cell})
		}
		asked = append(asked, r)
	}
	answers, err := p.Predict(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if (a.Problem != "") != (i >= len(inputs)) {
			t.Errorf("row %d, %q: problem %q", i, cells[i], a.Problem)
		}
	}
	var onnx bytes.Buffer
	if err := f.ONNX(&onnx); err != nil {
		t.Fatal(err)
	}
	c := struct {
		File  *File      `json:"file"`
		ONNX  []byte     `json:"onnx"`
		Cells [][]string `json:"cells"`
		Rows  [][]any    `json:"rows"`
	}{f, onnx.Bytes(), cells, inputs}
	type told struct {
		Answer  string
		Outputs []float64
	}
	programs := []program{inNodeJS("predict.mjs", "node -e 0", cellsInNode), inNodeJS("ONNX", onnxRuntime, cellsInONNX), inNumPy(cellsInPython)}
	compare(t, c, programs, func(t *testing.T, name string, all []*told) {
		most := 0.0
		for i, have := range all {
			switch {
			case (have == nil) != (i >= len(inputs)):
				t.Errorf("%q: %v", cells[i], have)
			case have == nil:
				continue
			case have.Answer != answers[i].Answer:
				t.Errorf("%q: %q, and the page answers %q", cells[i], have.Answer, answers[i].Answer)
			}
			for k, v := range have.Outputs {
				most = max(most, math.Abs(v-float64(answers[i].Outputs[k])))
			}
		}
		t.Logf("%d rows are %.1e apart", len(all), most)
		if !(most <= 1e-5) || len(all) < len(inputs) {
			t.Errorf("%s: %d rows are %v apart", name, len(all), most)
		}
	})
	return answers
}

// strangers are rows with a cell that does not fit its column: no unit, another unit, no time.
var strangers = [][2]string{
	{"share", "0,12"}, {"share", "12"}, {"share", "$12"}, {"price", "12"}, {"price", "€12"}, {"price", "12%"}, {"rate", "$0.5"}, {"rate", "5 kr"},
	{"t", "$1707954127790"}, {"t", "2024-02-14"}, {"day", "20240230"}, {"day", "2024-02-14"}, {"day", "20240214.5"}, {"day", "-20240214"}, {"when", "20240214"},
}

// TestUnitsAgree: of units and times predict.mjs, predict.py and the ONNX file make what the page makes, and what
// does not fit is refused by all of them.
func TestUnitsAgree(t *testing.T) {
	t.Parallel()
	f := measured()
	rng := rand.New(rand.NewPCG(3, 5))
	const rows = 1000
	var all [][]string
	var inputs [][]any
	for range rows {
		cells, values := measuredRow(rng)
		var row []any
		for _, v := range values {
			if row = append(row, v); v != v {
				row[len(row)-1] = nil
			}
		}
		all, inputs = append(all, cells), append(inputs, row)
	}
	for _, s := range strangers {
		cells, _ := measuredRow(rng)
		for i, col := range f.Apply.Columns {
			if col.Name == s[0] {
				cells[i] = s[1]
			}
		}
		all = append(all, cells)
	}
	apart := map[string]bool{}
	for _, a := range agreeOnCells(t, f, all, inputs) {
		apart[fmt.Sprintf("%.7f", a.Outputs)] = true
	}
	if len(apart) < rows*9/10 {
		t.Errorf("%d rows have %d outputs", rows, len(apart))
	}
}

// TestUnitsSayWhatToWrite: a cell in another unit than the training rows' is a problem of its row, which says
// what to write; an older model passes over signs, as it did.
func TestUnitsSayWhatToWrite(t *testing.T) {
	f := measured()
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	whole, _ := measuredRow(rand.New(rand.NewPCG(3, 6)))
	said := func(p *Predictor, column int, cell string) string {
		var r run.Row
		for i, c := range whole {
			if i == column {
				c = cell
			}
			r.Cells = append(r.Cells, run.Cell{Text: c})
		}
		all, err := p.Predict(t.Context(), []run.Row{r})
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Problem
	}
	for _, c := range []struct {
		column     int
		cell, want string
	}{
		{0, "0,12", "Write 0,12% if that is the number of per cent, or 12% if it is a share of 1."},
		{0, "0,07", "or 7% if it is a share"},
		{1, "1,200", "Write $1200 if it is in the unit of the training rows."},
		{1, "€5", "Bring it to the unit of the training rows, and write it as $5."},
		{2, "0.5 kr", "Write 0.5 if it is in the unit of the training rows"},
		{4, "2024-02-14 09:30", "Write 1707903000000, as the training rows have their times."},
		{5, "2024-02-14", "Write 20240214, as"},
		{6, "2024-02-14", "Write 14.02.2024, as the training rows have their dates."},
	} {
		if have := said(p, c.column, c.cell); !strings.Contains(have, c.want) {
			t.Errorf("%q: %q, want %q", c.cell, have, c.want)
		}
	}
	old := measured()
	for i := range old.Apply.Columns {
		old.Apply.Columns[i].Units = nil
	}
	q, err := Open(old, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, c := range []struct {
		column int
		cell   string
	}{{0, "0,12"}, {1, "€5"}, {2, "12%"}} {
		if have := said(q, c.column, c.cell); have != "" {
			t.Errorf("an older model says of %q: %s", c.cell, have)
		}
	}
	x := make([]float32, old.Apply.Features)
	if whole[0] = "12%"; true {
		if _, _, _, err := q.encoder.Features(x, whole); err != nil || x[0] != 12 {
			t.Errorf("an older model reads 12%% as %v, %v", x[0], err)
		}
	}
	if _, _, _, err := p.encoder.Features(x, whole); err != nil || x[0] != 0.12 {
		t.Errorf("a model reads 12%% as %v, %v", x[0], err)
	}
}

// TestUnitsOfFilesAreChecked: a file with units or times that no column has is refused.
func TestUnitsOfFilesAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(c []run.AppliedColumn){
		"another name":          func(c []run.AppliedColumn) { c[0].Units = []string{"EUR"} },
		"no unit":               func(c []run.AppliedColumn) { c[0].Units = []string{"miles"} },
		"none":                  func(c []run.AppliedColumn) { c[0].Units = []string{} },
		"units of classes":      func(c []run.AppliedColumn) { c[7].Units = []string{""} },
		"unknown times":         func(c []run.AppliedColumn) { c[4].Time = "h" },
		"a date of integers":    func(c []run.AppliedColumn) { c[6].Time = "ms" },
		"a clock of numbers":    func(c []run.AppliedColumn) { c[2].Clock, c[6].Clock = 7, 0 },
		"a feature of two":      func(c []run.AppliedColumn) { c[6].Clock = 5 },
		"an offset":             func(c []run.AppliedColumn) { c[3].Offset = math.Inf(1) },
		"an offset of a label":  func(c []run.AppliedColumn) { c[7].Offset = 1 },
		"an offset that is NaN": func(c []run.AppliedColumn) { c[3].Offset = math.NaN() },
	} {
		f := measured()
		if spoil(f.Apply.Columns); f.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
	if err := measured().Check(); err != nil {
		t.Error(err)
	}
}
