package model_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
