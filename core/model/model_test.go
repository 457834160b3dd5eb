package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/data/builtin"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/model"
	"clipscope/core/plan"
	"clipscope/core/run"
	"clipscope/core/train"
)

func ptr[T any](v T) *T { return &v }

// trained is a run's result on data.
func trained(t *testing.T, cfg run.Config, ds *data.Dataset) run.Result {
	t.Helper()
	if cfg.Method == "" {
		cfg.Method = "constant"
	}
	cfg.Accountant, cfg.Seed = "rdp", ptr(uint64(3)) // for speed
	if cfg.NoiseMultiplier == nil {
		cfg.NoiseMultiplier = ptr(0.8)
	}
	p, err := plan.New(cfg, ds.Meta())
	if err != nil {
		t.Fatal(err)
	}
	r, err := train.Start(t.Context(), p, ds, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, err := range r.Steps(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// fileOf is what is saved of a result.
func fileOf(cfg run.Config, res *run.Result) *model.File {
	return &model.File{
		Format: model.Format, Version: model.Version, Program: "test", Config: cfg, Guarantee: res.Guarantee, Statement: "all of it",
		Epsilon: res.Epsilon, Delta: res.Delta, Accountant: res.Accountant, Steps: res.Steps, Apply: res.Released.Apply, Parameters: res.Released.Parameters,
	}
}

func asJSON(t testing.TB, f *model.File) []byte {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// asTensors writes what the page saves as safetensors.
func asTensors(t testing.TB, f *model.File) []byte {
	t.Helper()
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	header, at := map[string]any{"__metadata__": map[string]string{
		"format": f.Format, "version": strconv.Itoa(f.Version), "program": f.Program, "config": text(f.Config), "guarantee": f.Guarantee, "statement": f.Statement,
		"epsilon": text(f.Epsilon), "delta": text(f.Delta), "accountant": f.Accountant, "steps": text(f.Steps), "apply": text(f.Apply),
	}}, 0
	for i, l := range f.Apply.Layers {
		for _, tensor := range l.Tensors {
			n := 4
			for _, d := range tensor.Shape {
				n *= d
			}
			header[fmt.Sprintf("layers.%d.%s", i, tensor.Name)] = map[string]any{"dtype": "F32", "shape": tensor.Shape, "data_offsets": []int{at, at + n}}
			at += n
		}
	}
	return tensorsOf(text(header), f.Parameters)
}

func tensorsOf(header string, parameters []float32) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for _, x := range parameters {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// opened is a file that was saved, read again and brought onto a backend.
func opened(t *testing.T, f *model.File) *model.Predictor {
	t.Helper()
	read, err := model.Read(asJSON(t, f))
	if err != nil {
		t.Fatal(err)
	}
	other, err := model.Read(asTensors(t, f))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, read), asJSON(t, other); !bytes.Equal(a, b) || !bytes.Equal(a, asJSON(t, f)) {
		t.Fatal("JSON and safetensors are read as different models")
	}
	p, err := model.Open(read, purego.New())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

const header = "price;age;since;colour;street;kind\n"

// cells are those of n rows of a table as it might be in Germany, with missing cells.
func cells(seed uint64, n int) (rows [][]string) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		cents := rng.IntN(400_000)
		price := fmt.Sprintf("%d,%02d", cents/100, cents%100)
		if cents >= 100_000 {
			price = price[:len(price)-6] + "." + price[len(price)-6:]
		}
		row := []string{price, strconv.Itoa(18 + rng.IntN(70)), time.Unix(0, 0).UTC().AddDate(0, 0, rng.IntN(18_000)).Format("02.01.2006"),
			[]string{"rot", "grün", "blau"}[rng.IntN(3)], fmt.Sprintf("Straße %d", rng.IntN(500)), []string{"ja", "nein"}[cents/200_000]}
		for k, word := range map[int]string{1: "k.A.", 2: "NA", 3: ""} {
			if rng.IntN(8) == 0 {
				row[k] = word
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func tableOf(head string, rows [][]string) source.File {
	var b strings.Builder
	b.WriteString(head)
	for _, r := range rows {
		b.WriteString(strings.Join(r, ";") + "\n")
	}
	return source.Bytes("t.csv", []byte(b.String()))
}

func content(t *testing.T, f source.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// node runs a script of node's, where there is node.
func node(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node: not compared with predict.mjs")
	}
	cmd := exec.Command("node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// tableCases are ways in which cells become features.
var tableCases = map[string]struct {
	csv  run.CSV
	edit func(*run.Config)
}{
	"private bounds": {run.CSV{Missing: "indicator", Columns: map[string]string{"street": "bucketed"}, Buckets: 8, Fill: map[string]float64{"since": 9000}, Bounds: map[string]run.Bounds{"age": {Lo: 0, Hi: 120}}},
		func(c *run.Config) {
			c.Scaling.Kind, c.Model = "private", run.Model{Kind: "mlp", Hidden: []int{6}, Activation: "tanh"}
		}},
	"declared":         {run.CSV{Missing: "zero", Columns: map[string]string{"street": "bucketed"}}, func(c *run.Config) { c.Scaling = run.Scaling{Kind: "declared", Lo: -10, Hi: 18_000} }},
	"rows of length 1": {run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) { c.Scaling.Kind = "row" }},
	"as they are":      {run.CSV{Missing: "zero", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) { c.Scaling.Kind, c.LearningRate = "none", 1e-6 }},
	"PCA":              {run.CSV{Missing: "indicator", Columns: map[string]string{"street": "ignored"}}, func(c *run.Config) { c.Scaling.Kind, c.PCA.Components = "private", 3 }},
	"bounded rows":     {run.CSV{Missing: "indicator", Columns: map[string]string{"street": "bucketed"}}, func(c *run.Config) { c.Method, c.Scaling.Kind = "norm-bound", "private" }},
	"numbers": {run.CSV{Missing: "zero", Columns: map[string]string{"street": "bucketed"}, Label: "price"}, func(c *run.Config) {
		c.Model.Kind, c.LearningRate, c.Scaling.Kind = "linear", 1e-3, "private"
	}},
}

// TestTablesAreAnsweredAsPredictDoes: a saved model answers 1,000 rows of a table as predict.mjs
// does, and fares on labelled ones as it did when it was trained.
func TestTablesAreAnsweredAsPredictDoes(t *testing.T) {
	rows := cells(2, 1000)
	rows[7][3] = "violett" // which no training row is
	test := tableOf(header, rows)
	for name, tc := range tableCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds, _, err := load.Load(t.Context(), []source.File{tableOf(header, cells(1, 400))}, []source.File{test}, tc.csv, nil)
			if err != nil {
				t.Fatal(err)
			}
			cfg := run.Config{Model: run.Model{Kind: "softmax"}, ExpectedBatchSize: 80, Steps: 15, LearningRate: 0.5}
			tc.edit(&cfg)
			res := trained(t, cfg, ds)
			f := fileOf(cfg, &res)
			p := opened(t, f)
			e, err := p.Evaluate(t.Context(), []source.File{test}, nil)
			if err != nil {
				t.Fatal(err)
			}
			sameScores(t, e, &res)
			if e.Problems != 0 || e.Unknown < 1 {
				t.Errorf("%d problems, %d unknown: %s", e.Problems, e.Unknown, e.Problem)
			}
			var out bytes.Buffer
			reply, err := p.Answer(t.Context(), test, &out, nil)
			if err != nil || reply.Rows != 1000 || reply.Problems != 0 {
				t.Fatalf("%+v, %v", reply, err)
			}
			sameAnswers(t, f, test, out.String())
		})
	}
}

func sameScores(t *testing.T, e *run.Evaluation, res *run.Result) {
	t.Helper()
	same := func(what string, have, want run.Number) {
		most := 1e-9
		if e.Scores.Confusion == nil { // a model of numbers has its scaling in its last layer, in float32
			most = 1e-7
		}
		if math.Abs(float64(have-want)) > most*math.Abs(float64(want)) || math.IsNaN(float64(have)) != math.IsNaN(float64(want)) {
			t.Errorf("%s %v, and the run's was %v", what, have, want)
		}
	}
	if e.Rows != res.TestRows {
		t.Errorf("%d rows, and the run's were %d", e.Rows, res.TestRows)
	}
	same("accuracy", e.Accuracy, res.TestAccuracy)
	same("area", e.Scores.ROCArea, res.TestScores.ROCArea)
	same("calibration", e.Scores.CalibrationError, res.TestScores.CalibrationError)
	same("squared error", e.Scores.RootError, res.TestScores.RootError)
}

// sameAnswers compares the answers' file with that of predict.mjs.
func sameAnswers(t *testing.T, f *model.File, table source.File, have string) {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, "model.json")
	rows := filepath.Join(dir, "rows.csv")
	for name, b := range map[string][]byte{at: asJSON(t, f), rows: content(t, table)} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := records(t, node(t, "../../web/predict.mjs", at, rows), ',')
	got := records(t, have, ';')
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	apart := false
	for i, w := range want {
		g := got[i][6:] // after the table's own columns
		for k := range w {
			x, err := strconv.ParseFloat(w[k], 64)
			if i == 0 || err != nil {
				if g[k] != w[k] {
					t.Fatalf("row %d: %q, want %q", i, g, w)
				}
				continue
			}
			y, err := strconv.ParseFloat(strings.Replace(g[k], ",", ".", 1), 64)
			if !(math.Abs(x-y) <= 1e-5*(1+math.Abs(x))) || err != nil {
				t.Fatalf("row %d: %q, want %q", i, g, w)
			}
			apart = apart || w[k] != want[1][k]
		}
	}
	if !apart {
		t.Error("all rows have the same answer")
	}
}

func records(t *testing.T, text string, comma rune) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comma = comma
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// idx are a split's pictures and labels as files.
func idx(ds *data.Dataset, s *data.Split) []source.File {
	dims := append([]int{s.N}, ds.Shape...)
	images := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		images = binary.BigEndian.AppendUint32(images, uint32(d))
	}
	labels := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, uint32(s.N))
	for _, y := range s.Y {
		labels = append(labels, byte(y))
	}
	return []source.File{source.Bytes("images-idx3-ubyte", append(images, s.U8...)), source.Bytes("labels-idx1-ubyte", labels)}
}

// TestPicturesAreAnsweredAsPredictDoes: models of pictures fare on files of them as they did when
// they were trained, and answer what is drawn as predict.mjs does.
func TestPicturesAreAnsweredAsPredictDoes(t *testing.T) {
	digits := builtin.Digits(1, 400, 300)
	colour := &data.Dataset{Task: data.Classification, Features: 192, Shape: []int{3, 8, 8}, Outputs: 3, Classes: []string{"0", "1", "2"}}
	rng := rand.New(rand.NewPCG(5, 6))
	for range colour.Features {
		colour.Bounds = append(colour.Bounds, data.Bound{Lo: 0, Hi: 255})
	}
	for _, s := range []*data.Split{&colour.Train, &colour.Test} {
		s.N = 200
		for i := range s.N {
			s.Y = append(s.Y, float32(i%3))
			for j := range colour.Features {
				s.U8 = append(s.U8, uint8(rng.IntN(150)+100*(j/64*i%3/2)))
			}
		}
	}
	for name, tc := range map[string]struct {
		ds    *data.Dataset
		model run.Model
	}{
		"softmax":        {digits, run.Model{Kind: "softmax"}},
		"mlp":            {digits, run.Model{Kind: "mlp", Hidden: []int{16}, Activation: "relu"}},
		"dropout":        {digits, run.Model{Kind: "mlp", Hidden: []int{16}, Activation: "tanh", Dropout: 0.5}},
		"convolutions":   {digits, run.Model{Kind: "layers", Layers: strings.Fields("conv:8:5:s2:p1 groupnorm:4 relu skip conv:8:3:p1 relu wsconv:8:3:p1 add tanh maxpool:2 conv:8:3 avgpool:2:s1 flatten dense:12 bias relu dense")}},
		"colour":         {colour, run.Model{Kind: "layers", Layers: strings.Fields("conv:4:3:p1 relu skip:8:s2 conv:8:3:s2:p1 add globalpool dense"), Dropout: 0.25}},
		"colour, linear": {colour, run.Model{Kind: "softmax"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := run.Config{Model: tc.model, ExpectedBatchSize: 100, Steps: 4, LearningRate: 0.3}
			res := trained(t, cfg, tc.ds)
			f := fileOf(cfg, &res)
			p := opened(t, f)
			e, err := p.Evaluate(t.Context(), idx(tc.ds, &tc.ds.Test), nil)
			if err != nil {
				t.Fatal(err)
			}
			sameScores(t, e, &res)
			samePictures(t, f, p, tc.ds, min(200, tc.ds.Test.N))
		})
	}
}

// shared are published files, where there are any.
func shared(t *testing.T, names ...string) (files []source.File) {
	t.Helper()
	root := os.Getenv("CLIPSCOPE_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(root, "data", filepath.FromSlash(name)))
		if err != nil {
			t.Skipf("no %s: not tested on it", name)
		}
		files = append(files, source.Bytes(path.Base(name), b))
	}
	return files
}

// TestPublishedTablesAreAnswered: files as they were published, without a header, with labels that
// end with a point, with numbered classes that the first line names.
func TestPublishedTablesAreAnswered(t *testing.T) {
	for name, tc := range map[string]struct{ train, test string }{
		"adult": {"tabular/adult.data", "tabular/adult.test"}, "breast cancer": {"tabular/breast_cancer.csv", "tabular/breast_cancer.csv"}, "iris": {"tabular/iris.csv", "tabular/iris.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			train, test := shared(t, tc.train), shared(t, tc.test)
			ds, _, err := load.Load(t.Context(), train, test, run.CSV{Missing: "zero"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			cfg := run.Config{Model: run.Model{Kind: "softmax"}, ExpectedBatchSize: 50, Steps: 20, LearningRate: 1, Scaling: run.Scaling{Kind: "private"}}
			res := trained(t, cfg, ds)
			e, err := opened(t, fileOf(cfg, &res)).Evaluate(t.Context(), test, nil)
			if err != nil {
				t.Fatal(err)
			}
			sameScores(t, e, &res)
		})
	}
}

// TestMNISTIsAnsweredAsPredictDoes: the published pictures, 1,000 of them.
func TestMNISTIsAnsweredAsPredictDoes(t *testing.T) {
	files := shared(t, "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz")
	ds, _, err := load.Load(t.Context(), files, nil, run.CSV{TestShare: 0.1, Roles: map[string]string{files[0].Name(): "train", files[1].Name(): "train"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := run.Config{Model: run.Model{Kind: "softmax"}, ExpectedBatchSize: 500, Steps: 15, LearningRate: 0.3}
	res := trained(t, cfg, ds)
	p := opened(t, fileOf(cfg, &res))
	e, err := p.Evaluate(t.Context(), idx(ds, &ds.Test), nil)
	if err != nil {
		t.Fatal(err)
	}
	sameScores(t, e, &res)
	samePictures(t, fileOf(cfg, &res), p, ds, 1000)
	t.Logf("accuracy %v on %d rows", e.Accuracy, e.Rows)
}

// samePictures compares the first n test rows' answers with those of predict.mjs.
func samePictures(t *testing.T, f *model.File, p *model.Predictor, ds *data.Dataset, n int) {
	t.Helper()
	var rows []run.Row
	var lists [][]int
	for i := range n {
		var r run.Row
		var list []int
		for _, b := range ds.Test.U8[i*ds.Features:][:ds.Features] {
			r.Cells, list = append(r.Cells, run.Cell{Number: ptr(float64(b))}), append(list, int(b))
		}
		rows, lists = append(rows, r), append(lists, list)
	}
	have, err := p.Predict(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := json.Marshal(lists)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"model.json": asJSON(t, f), "rows.json": text} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../../web/predict.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var want []run.Answer
	out := node(t, "--input-type=module", "-e", `import fs from "node:fs"; const [dir, script] = process.argv.slice(1), { load } = await import(script);
		const model = load(fs.readFileSync(dir + "/model.json", "utf8"));
		console.log(JSON.stringify(JSON.parse(fs.readFileSync(dir + "/rows.json", "utf8")).map((row) => model.predict(row))));`, dir, script)
	if err := json.Unmarshal([]byte(out), &want); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if have[i].Problem != "" {
			t.Fatal(have[i].Problem)
		}
		sure := run.Number(0)
		for k, x := range w.Outputs {
			sure = max(sure, x)
			if math.Abs(float64(x-have[i].Outputs[k])) > 1e-5 {
				t.Fatalf("row %d: %v, want %v", i, have[i].Outputs, w.Outputs)
			}
		}
		if have[i].Answer != w.Answer && sure > 0.5 {
			t.Fatalf("row %d: %v, want %v", i, have[i].Answer, w.Answer)
		}
	}
}

// TestCancellingEndsWithTheContextsError: what is called off ends with the context's error.
func TestCancellingEndsWithTheContextsError(t *testing.T) {
	p := opened(t, small())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Answer(ctx, source.Bytes("t.csv", []byte("size,colour\n1,red\n")), io.Discard, nil); ctx.Err() == nil || err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("%v", err)
	}
}

// TestShortenedRowsAreProjected: no trainer makes such a model, but its file says what is
// to be done, and predict.mjs does it.
func TestShortenedRowsAreProjected(t *testing.T) {
	f := small()
	a := f.Apply
	a.Columns, a.MaxNorm, a.PCA = nil, 0.5, &run.AppliedPCA{Components: 2}
	for _, x := range []float32{1, 0, 0.5, -1, 0, 2, -0.5, 0.25} {
		a.PCA.Directions = binary.LittleEndian.AppendUint32(a.PCA.Directions, math.Float32bits(x))
	}
	a.Layers[0].Parameters, a.Layers[0].Tensors[0].Shape, f.Parameters = 6, []int{2, 2}, []float32{3, -2, 1, 4, 0.5, 0}
	ds := &data.Dataset{Features: 4, Test: data.Split{N: 20}}
	for i := range 80 {
		ds.Test.U8 = append(ds.Test.U8, uint8(i*37))
	}
	samePictures(t, f, opened(t, f), ds, 20)
}
