package model_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clipscope/core/data/datatest"
	"clipscope/core/data/load"
	"clipscope/core/data/source"
	"clipscope/core/run"
)

// TestLabelledTablesAreAnsweredAsPredictDoes: a model of three labels answers 1,000 rows of a table as predict.mjs and predict.py
// do, and fares on them as it did when it was trained.
func TestLabelledTablesAreAnsweredAsPredictDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	table := func(name string, n int) source.File {
		var b strings.Builder
		b.WriteString("wet,size,kind,\"big, too\",other,red\n")
		for range n {
			size, other, kind := rng.Float64()*100, rng.NormFloat64(), []string{"dog", "cat", "emu"}[rng.IntN(3)]
			yes := func(b bool) int {
				if b {
					return 1
				}
				return 0
			}
			fmt.Fprintf(&b, "%d,%.3f,%s,%d,%.4f,%d\n", yes(other > 0), size, kind, yes(size > 40), other, yes(kind == "dog"))
		}
		return source.Bytes(name, []byte(b.String()))
	}
	test := table("test.csv", 1000)
	opt := run.CSV{Columns: map[string]string{"wet": "label", "big, too": "label", "red": "label"}, Bounds: map[string]run.Bounds{"size": {Lo: 0, Hi: 100}, "other": {Lo: -3, Hi: 3}}}
	ds, _, err := load.Load(t.Context(), []source.File{table("train.csv", 2000)}, []source.File{test}, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := run.Config{CSV: opt, Model: run.Model{Kind: "linear"}, ExpectedBatchSize: 200, Steps: 100, LearningRate: 2}
	res := trained(t, cfg, ds)
	f := fileOf(cfg, &res)
	p := opened(t, f)
	e, err := p.Evaluate(t.Context(), []source.File{test}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameScores(t, e, &res)
	for k, l := range e.Scores.Labels {
		if l != res.TestScores.Labels[k] || !(l.Accuracy > l.Majority+0.1) {
			t.Errorf("%+v, and the run's was %+v", l, res.TestScores.Labels[k])
		}
	}
	var out bytes.Buffer
	if reply, err := p.Answer(t.Context(), test, &out, nil); err != nil || reply.Rows != 1000 || reply.Problems != 0 || reply.Own != 6 {
		t.Fatalf("%+v, %v", reply, err)
	}
	dir := t.TempDir()
	at, rows := filepath.Join(dir, "model.json"), filepath.Join(dir, "rows.csv")
	for name, b := range map[string][]byte{at: asJSON(t, f), rows: content(t, test)} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have := records(t, out.String(), ',')
	same := func(who, text string) {
		want := records(t, text, ',')
		if len(want) != len(have) {
			t.Fatalf("%s answers %d rows of %d", who, len(want)-1, len(have)-1)
		}
		for i, w := range want {
			for k, cell := range w {
				got := have[i][6+k]
				x, errX := strconv.ParseFloat(cell, 64)
				y, errY := strconv.ParseFloat(got, 64)
				if got != cell && (errX != nil || errY != nil || math.Abs(x-y) > 1e-5) {
					t.Fatalf("%s: row %d has %q, and the page %q", who, i, w, have[i][6:])
				}
			}
		}
	}
	same("predict.mjs", node(t, "../../web/predict.mjs", at, rows))
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("no numpy: not compared with predict.py")
	}
	text, err := exec.Command(python, "-B", "../../web/predict.py", at, rows).Output()
	if err != nil {
		t.Fatal(err)
	}
	same("predict.py", string(text))
}

// TestLabelledPicturesAreEvaluated: a model of pictures with several labels fares on a zip as it did in training, also where the table
// beside them has its columns in another order, and one more.
func TestLabelledPicturesAreEvaluated(t *testing.T) {
	zip := func(name, columns string, n int) source.File {
		rows, parts := "", []any{}
		for i := range n {
			left, top := i%2, i/2%2
			picture := datatest.Drawn(8, 8, func(x, y int) color.Color {
				return color.Gray{Y: uint8(10*(i%7) + 90*left*max(0, 1-x/4) + 90*top*max(0, 1-y/4))}
			})
			parts = append(parts, fmt.Sprintf("pictures/%c%d.png", name[0], i), datatest.PNG(picture))
			cells := strings.NewReplacer("left", fmt.Sprint(2*left-1), "top", fmt.Sprint(2*top-1), "odd", fmt.Sprint(2*(i%3%2)-1), "file", fmt.Sprintf("%c%d.png", name[0], i))
			rows += cells.Replace(columns) + "\n"
		}
		return source.Bytes(name, datatest.Zip(append(parts, "labels.csv", columns+"\n"+rows)...))
	}
	opt := run.CSV{Task: "multi-label", Columns: map[string]string{"left": "label", "top": "label"}}
	test := zip("later.test.zip", "file,left,top,odd", 40)
	ds, _, err := load.Load(t.Context(), []source.File{zip("train.zip", "file,left,top,odd", 120)}, []source.File{test}, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := run.Config{CSV: opt, Model: run.Model{Kind: "linear"}, ExpectedBatchSize: 60, Steps: 60, LearningRate: 1}
	res := trained(t, cfg, ds)
	p := opened(t, fileOf(cfg, &res))
	for name, file := range map[string]source.File{"the test file": test, "another order": zip("b.zip", "top,odd,file,left", 40)} {
		e, err := p.Evaluate(t.Context(), []source.File{file}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameScores(t, e, &res)
		for k, l := range e.Scores.Labels {
			if l != res.TestScores.Labels[k] || !(l.Accuracy > l.Majority+0.1) {
				t.Errorf("%s: %+v, and the run's was %+v", name, l, res.TestScores.Labels[k])
			}
		}
	}
	if _, err := p.Evaluate(t.Context(), []source.File{zip("c.zip", "file,left,odd", 40)}, nil); err == nil || !strings.Contains(err.Error(), `"top"`) {
		t.Error(err)
	}
}
