package model

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// textModel is a model of a number, a category and two texts.
func textModel() *File {
	const dense, buckets = 3, 1 << 8
	f := outline(nn.Shape{Channels: dense + 2*buckets}, 3, 5, "dense")
	f.Apply.Classes = []string{"a", "b", "c"}
	f.Apply.Scaling = run.AppliedScaling{Kind: "declared", Lo: []float64{-1, 0, 0}, Hi: []float64{3, 1, 1}}
	f.Apply.Columns = []run.AppliedColumn{
		{Name: "mail", Kind: "text", First: dense, Buckets: buckets}, {Name: "n", Kind: "numeric"}, {Name: "y", Kind: "label", First: -1, Categories: f.Apply.Classes},
		{Name: "c", Kind: "categorical", First: 1, Categories: []string{"p", "q"}}, {Name: "subject", Kind: "text", First: dense + buckets, Buckets: buckets},
	}
	return f
}

// textCase is the model with rows, and what the page makes of them.
type textCase struct {
	File *File      `json:"file"`
	Rows [][]string `json:"rows"`

	features [][]float32
	want     [][]run.Number
}

// hostileTexts are empty, long, of no words, and of characters at which tokenizers go apart.
func hostileTexts() []string {
	return []string{
		"", " ", "NA", "\x00", "a\x00b", "\ufffd", "x\ufffdy \ufffd", "\xff\xfe", "👍🏽👩\u200d🚀 😀", "日本語のテキスト、とても長い。", "한국어 텍스트", "שלום עולם, مرحبا بالعالم؟",
		"e\u0301 é ﬁ ſ ı İ ǅ Ⅷ ß ẞ", strings.Repeat("\u0301", 300), strings.Repeat("free money ", 9000), strings.Repeat("x", 1<<16), "<b>&amp;</b> ; , \" ' \r\n\t", "\ufeffmark", "A\u00a0B\u2028C\u3000D",
		"\U0010ffff\U0001f600\U00020000\U0002fa1d", "ΣΊΣΥΦΟΣ ς σ", "ЀЏЯя Ђ", "½ ¼ ² ª º µ × ÷ ¿ ¡",
	}
}

// TestTextsAgree: predict.mjs and predict.py make the same features of 1,000 rows with texts, to the bit, and their
// answers agree with the page's to 1e−5. Halves of pairs, which Go's strings have not, are U+FFFD for all of them.
func TestTextsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	for _, f := range []*File{textModel(), sequenceModel()} {
		textsAgree(t, rng, &textCase{File: f})
	}
}

// sequenceModel is a model of letters and of words in their order.
func sequenceModel() *File { return sequenceModelOf("embedding:4096:3 conv1d:4:2 tanh mean dense") }

func sequenceModelOf(layers string) *File {
	f := outline(nn.Shape{Channels: 12 + 9}, 3, 5, strings.Fields(layers)...)
	f.Apply.Classes = []string{"a", "b", "c"}
	f.Apply.Columns = []run.AppliedColumn{
		{Name: "mail", Kind: "words", Buckets: 4096, Tokens: 12}, {Name: "n", Kind: "ignored", First: -1}, {Name: "y", Kind: "label", First: -1, Categories: f.Apply.Classes},
		{Name: "c", Kind: "ignored", First: -1}, {Name: "subject", Kind: "letters", First: 12, Buckets: 256, Tokens: 9},
	}
	return f
}

func textsAgree(t *testing.T, rng *rand.Rand, c *textCase) {
	hostile := hostileTexts()
	draw := func(i int) string {
		if i < len(hostile) {
			return hostile[i]
		}
		var b strings.Builder
		for range rng.IntN(25) {
			for range 1 + rng.IntN(9) {
				switch rng.IntN(8) {
				case 0:
					b.WriteRune(rune(rng.IntN(0x3000)))
				case 1:
					b.WriteRune(rune(rng.IntN(0x110000)))
				default:
					b.WriteByte("abcdefghijklmnopQRSTUVWXYZ0123456789"[rng.IntN(36)])
				}
			}
			b.WriteString([]string{" ", " ", ", ", ".\n", "-", "\u3000", "!"}[rng.IntN(7)])
		}
		return b.String()
	}
	p, err := Open(c.File, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var rows []run.Row
	for i := range 1000 {
		cells := []string{strings.ToValidUTF8(draw(i), "\ufffd"), "1.5", "", "q", strings.ToValidUTF8(draw(1000-i), "\ufffd")}
		c.Rows = append(c.Rows, cells)
		var row run.Row
		for _, s := range cells {
			row.Cells = append(row.Cells, run.Cell{Text: s})
		}
		rows = append(rows, row)
		x := make([]float32, c.File.Apply.Features)
		words, _, _, err := p.encoder.Features(x[:p.encoder.Dense()], cells)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			x[w.Feature] = w.Value
		}
		c.features = append(c.features, x)
	}
	answers, err := p.Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		c.want = append(c.want, a.Outputs)
	}
	type told struct{ Features, Outputs [][]float64 }
	programs := []program{inNodeJS("predict.mjs", "node -e 1", textsInNode), inNumPy(textsInPython)}
	compare(t, c, programs, func(t *testing.T, name string, have told) {
		for i := range c.Rows {
			for k, v := range c.features[i] {
				if float32(have.Features[i][k]) != v {
					t.Fatalf("%s: feature %d of row %d, %.60q and %.60q, is %v, and the page's %v", name, k, i, c.Rows[i][0], c.Rows[i][4], have.Features[i][k], v)
				}
			}
			for k, v := range c.want[i] {
				if off := math.Abs(have.Outputs[i][k] - float64(v)); !(off <= 1e-5) {
					t.Fatalf("%s: row %d has outputs %v, and on the page %v", name, i, have.Outputs[i], c.want[i])
				}
			}
		}
	})
}

const textsInNode = `
import fs from "node:fs";
import { load } from "./predict.mjs";
const { file, rows } = JSON.parse(fs.readFileSync(process.argv[1])), model = load(JSON.stringify(file));
const odd = rows.map((r, i) => i % 2 ? r.map((s) => s.replaceAll("\ufffd", "\ud800")) : r);
const features = odd.map((r) => model.features(r));
console.log(JSON.stringify({ Features: features.map((x) => [...x]), Outputs: features.map((x) => model.predict(x).outputs) }));
`

const textsInPython = `
import json, sys
from predict import load
case = json.load(open(sys.argv[1]))
model = load(json.dumps(case["file"]).encode())
rows = [[s.replace("\ufffd", "\ud800") for s in r] if i % 2 else r for i, r in enumerate(case["rows"])]
features = model.features(rows)
json.dump({"Features": features.tolist(), "Outputs": model.predict(features).outputs.tolist()}, sys.stdout)
`

// TestSequencesThatLieAreRefused: what would change tokens, or not know them.
func TestSequencesThatLieAreRefused(t *testing.T) {
	for says, edit := range map[string]func(f *File){
		"":                                 func(*File) {},
		"of which dense:4 knows 0":         func(f *File) { *f = *sequenceModelOf("dense:4 tanh dense") },
		"of which embedding:27:3 knows 27": func(f *File) { *f = *sequenceModelOf("embedding:27:3 mean dense") },
		"which nothing may change":         func(f *File) { f.Apply.Scaling.Kind = "row" },
		"nothing may change":               func(f *File) { f.Apply.MaxNorm = 3 },
		"are no sequence of words":         func(f *File) { f.Apply.Columns[0].Tokens = 0 },
		"no sequence of words":             func(f *File) { f.Apply.Columns[0].Buckets = 7 },
		"feature 13 is of another column":  func(f *File) { f.Apply.Columns[0].First = 1 },
	} {
		f := sequenceModel()
		edit(f)
		if err := f.Check(); says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("want %q, have %v", says, err)
		}
	}
}

// TestTextsHaveNoONNX: ONNX has no operator that hashes words, which is said by the column's name, also in the archive.
func TestTextsHaveNoONNX(t *testing.T) {
	f := textModel()
	if err := f.ONNX(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), `column "mail" holds texts`) {
		t.Errorf("%v", err)
	}
	var zip bytes.Buffer
	if err := f.Bundle(&zip, nil); err != nil {
		t.Fatal(err)
	}
}

// TestTextModelsAreRead: what a file says of texts comes back, and files that lie are refused.
func TestTextModelsAreRead(t *testing.T) {
	var b bytes.Buffer
	if err := textModel().JSON(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if c := back.Apply.Columns[4]; c.Kind != string(data.Text) || c.First != 3+1<<8 || c.Buckets != 1<<8 {
		t.Errorf("%+v", c)
	}
	for says, edit := range map[string]func(a *run.Application){
		"no power of two":        func(a *run.Application) { a.Columns[0].Buckets = 7 },
		"is of another column":   func(a *run.Application) { a.Columns[4].First = 3 },
		"for 3 features":         func(a *run.Application) { a.Scaling.Lo = make([]float64, 515) },
		"come behind all others": func(a *run.Application) { a.Columns[0].First = 0 },
	} {
		var a run.Application
		text, _ := json.Marshal(textModel().Apply)
		json.Unmarshal(text, &a)
		edit(&a)
		f := textModel()
		f.Apply = &a
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, have %v", says, err)
		}
	}
}
