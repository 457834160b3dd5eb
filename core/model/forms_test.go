package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clipscope/core/compute/purego"
	"clipscope/core/data"
	"clipscope/core/nn"
	"clipscope/core/run"
)

// drawnForms are models that no trainer's test makes: of pictures of odd sides, of one and
// of many outputs, of tables whose rows are scaled and projected in every way.
func drawnForms() map[string]*File {
	all := map[string]*File{}
	for _, side := range []nn.Shape{{Height: 32, Width: 32, Channels: 3}, {Height: 9, Width: 6, Channels: 1}, {Height: 7, Width: 11, Channels: 4}} {
		for _, layers := range []string{
			"conv:4:3:s2:p1 groupnorm:4 dense",
			"skip:4:s2 conv:4:3:s2:p1 groupnorm:2 add relu skip conv:4:3:p1 tanh conv:4:3:p1 add avgpool:2 flatten dense",
			"maxpool:3:s2 wsconv:6:2:p1 tanh avgpool:2:s1 maxpool:2 dense",
			"conv:5:1 skip skip:5 wsconv:5:3:p1 add relu add globalpool flatten dense",
			"bias relu flatten bias dense",
			"groupnorm:1 globalpool dense",
		} {
			f := outline(side, 10, 9, strings.Fields(layers)...)
			for i := range f.Parameters {
				f.Parameters[i] *= 0.3
			}
			if side.Channels == 1 {
				f.Apply.Shape = f.Apply.Shape[1:]
			}
			all[fmt.Sprint(side, " ", layers)] = f
		}
		flat := outline(nn.Shape{Channels: side.Len()}, 1, 9, "dense:7", "relu", "dense")
		flat.Apply.Shape, flat.Apply.Task = []int{side.Channels, side.Height, side.Width}, "regression"
		flat.Apply.Scaling = run.AppliedScaling{Kind: "declared", Lo: []float64{0}, Hi: []float64{255}}
		for i := range flat.Parameters {
			flat.Parameters[i] *= 0.1
		}
		all[fmt.Sprint(side, " as numbers")] = flat
	}
	for _, outputs := range []int{1, 2, 100} {
		for _, task := range []string{"classification", "regression", "multi-label"} {
			f := outline(nn.Shape{Channels: 6}, outputs, 9, "dense:8", "tanh", "skip", "dense:8", "relu", "add", "dense")
			f.Apply.Task = task
			all[fmt.Sprint(task, " of ", outputs)] = f
		}
	}
	for _, layers := range []string{"embedding:200:4 conv:3:1 tanh globalpool dense", "embedding:200:3 bias flatten dense", "embedding:200:4 mean tanh dense", "embedding:200:4 conv1d:5:3 tanh mean dense",
		"embedding:200:6 position skip layernorm:e12 attention:3 add skip layernorm conv1d:9:1 gelu conv1d:6:1 add layernorm mean dense",
		"embedding:200:4 lstm:5 tanh lstm:3 last dense", "embedding:70:3:t3 position mean dense", "embedding:200:4 lstm:3 conv1d:5:2 first dense",
	} {
		all[layers] = outline(nn.Shape{Channels: 6}, 3, 9, strings.Fields(layers)...)
	}
	for _, kind := range []string{"row", "none", "declared"} {
		for _, directions := range []int{0, 2} {
			f := outline(nn.Shape{Channels: 4 - directions}, 3, 9, "dense:5", "relu", "dense")
			a := f.Apply
			a.Features, a.Scaling.Kind, a.MaxNorm = 4, kind, 0.5
			for i := range a.Features {
				a.Columns = append(a.Columns, run.AppliedColumn{Name: string(rune('a' + i)), Kind: "numeric", First: i})
			}
			if kind == "declared" {
				a.Scaling.Lo, a.Scaling.Hi = []float64{-2}, []float64{3}
			}
			if directions > 0 {
				a.PCA = &run.AppliedPCA{Components: directions, Directions: run.FloatBytes([]float32{1, 0, .5, .2, .1, -3, 2, 1})}
			}
			all[fmt.Sprint("a table, ", kind, ", ", directions, " directions")] = f
		}
	}
	return all
}

// formed is a model in its forms, with rows and the page's outputs for them.
type formed struct {
	Name string      `json:"name"`
	File *File       `json:"file"`
	ONNX []byte      `json:"onnx"`
	Rows [][]float64 `json:"rows"`
	want [][]run.Number
}

// form draws n rows, of which the first has nothing but 0, and asks the page's predictor.
func form(t *testing.T, name string, f *File, seed uint64, n int) *formed {
	t.Helper()
	var onnx bytes.Buffer
	if err := f.ONNX(&onnx); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p, err := Open(f, purego.New())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer p.Close()
	spec, err := f.spec()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	s, c := data.Split{N: n}, &formed{Name: name, File: f, ONNX: onnx.Bytes()}
	for i := range s.N {
		row := make([]float64, f.Apply.Features)
		for k := range row {
			switch {
			case i == 0:
			case f.Apply.Shape != nil || spec.Vocabulary() > 0:
				row[k] = float64(rng.IntN(256)) // of which 56 are no tokens
			default:
				row[k] = float64(float32(rng.NormFloat64()))
			}
			s.F32 = append(s.F32, float32(row[k]))
		}
		c.Rows = append(c.Rows, row)
	}
	z, err := p.outputs(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.N {
		c.want = append(c.want, p.answer(z[i*f.Apply.Outputs:][:f.Apply.Outputs], nil).Outputs)
	}
	return c
}

const inNode = `
import fs from "node:fs";
import * as ort from "onnxruntime-web";
import { load } from "./predict.mjs";
ort.env.logLevel = "error";
ort.env.wasm.numThreads = 1;
const told = [];
for (const { file, onnx, rows } of JSON.parse(fs.readFileSync(process.argv[1]))) {
  const model = load(JSON.stringify(file)), { columns, outputs } = model.apply;
  const session = await ort.InferenceSession.create(new Uint8Array(Buffer.from(onnx, "base64")), { executionProviders: ["wasm"] });
  const feeds = columns ? Object.fromEntries(session.inputNames.map((name, k) => [name, new ort.Tensor("float32", rows.map((r) => r[k]), [rows.length, 1])]))
    : { [session.inputNames[0]]: new ort.Tensor("float32", rows.flat(), [rows.length, ...session.inputMetadata[0].shape.slice(1)]) };
  const said = await session.run(feeds), flat = [...(said.probabilities ?? said.numbers).data];
  told.push({ "predict.mjs": rows.map((r) => model.predict(r).outputs), ONNX: rows.map((_, i) => flat.slice(outputs * i, outputs * (i + 1))) });
  await session.release();
}
console.log(JSON.stringify(told));
`

const inPython = `
import json, sys
import numpy as np
from predict import load
told = [{"predict.py": load(json.dumps(c["file"]).encode()).predict(np.array(c["rows"])).outputs.tolist()} for c in json.load(open(sys.argv[1]))]
json.dump(told, sys.stdout)
`

// TestFormsAgree: what predict.mjs, predict.py and the ONNX file make of rows is what the page
// does, of a blank picture, too.
func TestFormsAgree(t *testing.T) {
	t.Parallel()
	var all []*formed
	forms := drawnForms()
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		all = append(all, form(t, name, forms[name], uint64(len(all)), 12))
	}
	agree(t, all)
}

// agree compares what predict.mjs, ONNX Runtime and predict.py make of models with what the page does.
func agree(t *testing.T, all []*formed) {
	t.Helper()
	programs := []program{inNodeJS("predict.mjs and ONNX", onnxRuntime, inNode), inNumPy(inPython)}
	compare(t, all, programs, func(t *testing.T, _ string, told []map[string][][]float64) {
		for i, c := range all {
			for what, have := range told[i] {
				c.same(t, what, have)
			}
		}
	})
}

// program is one that applies models outside the page.
type program struct {
	name  string
	there string   // what fails where it is not to be had
	args  []string // what runs it on a file of cases, which is the last argument
}

// onnxRuntime fails where there is no ONNX Runtime.
const onnxRuntime = "node -e 'require.resolve(\"onnxruntime-web\")'"

func inNodeJS(name, there, script string) program {
	return program{name, there, []string{"node", "--input-type=module", "-e", script}}
}

func inNumPy(script string) program {
	const python = "/usr/bin/python3" // as the page's tests take
	return program{"predict.py", python + " -c 'import numpy'", []string{python, "-B", "-c", script}}
}

// compare has programs apply models to cases, and calls same with what each of them writes.
func compare[Told any](t *testing.T, cases any, programs []program, same func(t *testing.T, name string, told Told)) {
	t.Helper()
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			there := exec.Command("sh", "-c", p.there)
			there.Dir = "../../web"
			if there.Run() != nil {
				t.Skipf("%s fails: not compared with %s", p.there, p.name)
			}
			cmd := exec.Command(p.args[0], append(p.args[1:], file)...)
			cmd.Dir, cmd.Stderr = there.Dir, os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var told Told
			if err := json.Unmarshal(out, &told); err != nil {
				t.Fatal(err)
			}
			same(t, p.name, told)
		})
	}
}

func (c *formed) same(t *testing.T, what string, have [][]float64) {
	t.Helper()
	for i, want := range c.want {
		for k, w := range want {
			if off := math.Abs(have[i][k] - float64(w)); !(off <= 1e-5*max(1, math.Abs(float64(w)))) {
				t.Errorf("%s: %s makes %v of row %d, and the page %v", c.Name, what, have[i], i, want)
				return
			}
		}
	}
}

// TestEveryLayerIsTakenAway: of each layer there is a model whose forms are compared, a line in
// predict.mjs and in predict.py, a row in the guide, and its name in the help of the field. That its ONNX operators are written, and
// agree, is TestFormsAgree's.
func TestEveryLayerIsTakenAway(t *testing.T) {
	drawn := map[string]bool{}
	for _, f := range drawnForms() {
		for _, l := range f.Apply.Layers {
			name, _, _ := strings.Cut(l.Text, ":")
			drawn[name] = true
		}
	}
	read := func(file string) string {
		b, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	javaScript, python := read("web/predict.mjs"), read("web/predict.py")
	_, rows, found := strings.Cut(read("docs/scripting.md"), "| layer | |\n")
	rows, _, ended := strings.Cut(rows, "\n\n")
	if !found || !ended {
		t.Fatal("docs/scripting.md has no table of layers")
	}
	help := regexp.MustCompile(`Help: "For example conv:.*`).FindString(read("ui/form/fields.go"))
	for _, name := range nn.LayerNames() {
		for where, there := range map[string]bool{
			"drawnForms":        drawn[name],
			"web/predict.mjs":   strings.Contains(javaScript, fmt.Sprintf("case %q:", name)),
			"web/predict.py":    strings.Contains(python, fmt.Sprintf("name == %q", name)),
			"ui/form/fields.go": regexp.MustCompile(`\b` + name + `\b`).MatchString(help),
			"docs/scripting.md": strings.Contains(rows, "`"+name+"`") || strings.Contains(rows, "`"+name+":"),
		} {
			if !there {
				t.Errorf("the layer %s is missing in %s", name, where)
			}
		}
	}
}
