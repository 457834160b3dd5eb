package train

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"clipscope/core/data"
	"clipscope/core/model"
	"clipscope/core/run"
)

// TestNothingUnreleasedIsTaken: of cells that only one row has, and of what was measured
// without noise, nothing is in an archive of the model.
func TestNothingUnreleasedIsTaken(t *testing.T) {
	const number, text, ignored = 2718.28125, "Marker Street 77", "marker: nobody"
	var b strings.Builder
	b.WriteString("size,street,note,kind\n")
	for i := range 400 {
		cells := []any{i % 40, fmt.Sprintf("Street %d", i%90), "nothing", []string{"yes", "no"}[i%40/20]}
		if i == 200 {
			cells = []any{number, text, ignored, "no"}
		}
		fmt.Fprintf(&b, "%v,%v,%v,%v\n", cells...)
	}
	files := []data.File{data.Bytes("t.csv", []byte(b.String()))}
	opt := run.CSV{Columns: map[string]string{"street": "bucketed", "note": "ignored"}}
	for _, scaling := range []string{"private", "measured"} {
		ds, _, err := data.Load(t.Context(), files, files, opt, nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg := base("constant")
		cfg.Seed, cfg.Steps, cfg.NoiseMultiplier, cfg.Scaling.Kind, cfg.DiagnosticsEvery = nil, 10, ptr(1.0), scaling, 2
		r := started(t, cfg, ds)
		events, res := finish(t, r)
		statement, err := r.Statement(res.Steps)
		if err != nil {
			t.Fatal(err)
		}
		archive := archived(t, &res, cfg, statement.Text())
		secrets := map[string]string{"a cell's text": text, "an ignored cell": ignored}
		secret := func(name string, v float64) {
			if v == 0 || v == 1 || math.IsNaN(v) {
				return
			}
			secrets[name+" as text"] = fmt.Sprint(v)
			secrets[name+" in float32"] = string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))))
			secrets[name+" in float64"] = string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		secret("a cell's number", number)
		secret("test loss", float64(res.TestLoss))
		secret("RMSE of sureness", float64(res.TestScores.CalibrationError))
		for _, e := range events {
			if e.Diag != nil {
				secret(fmt.Sprintf("loss of step %d", e.Step), float64(e.Diag.TrainLoss))
			}
		}
		if scaling == "measured" {
			secret("the mean", mean(ds))
		}
		if len(secrets) < 30 {
			t.Fatalf("only %d secrets", len(secrets))
		}
		for name, content := range archive {
			for what, s := range secrets {
				if strings.Contains(content, s) {
					t.Errorf("%s scaling: %s has %s, %q", scaling, name, what, s)
				}
			}
		}
		// What is looked for would be found.
		if p := fmt.Sprint(res.Released.Parameters[0]); !strings.Contains(archive["model.json"], p) {
			t.Errorf("model.json has no parameter %s", p)
		}
		if p := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(res.Released.Parameters[0]))); !strings.Contains(archive["model.safetensors"], p) {
			t.Error("model.safetensors has no parameter")
		}
	}
}

// mean is that of the first feature.
func mean(ds *data.Dataset) float64 {
	sum := 0.0
	for i := range ds.Train.N {
		sum += float64(ds.Train.F32[i*ds.Features])
	}
	return sum / float64(ds.Train.N)
}

// archived is what an archive of a run's model has, by name.
func archived(t *testing.T, res *run.Result, cfg run.Config, statement string) map[string]string {
	t.Helper()
	f := &model.File{
		Config: cfg, Guarantee: res.Guarantee, Statement: statement, Epsilon: res.Epsilon, Delta: res.Delta, Accountant: res.Accountant, Steps: res.Steps,
		Apply: res.Released.Apply, Parameters: res.Released.Parameters,
	}
	var b bytes.Buffer
	if err := f.Bundle(&b, nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range z.File {
		in, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name] = string(content)
	}
	if have := len(all); have < 4 || slices.Contains([]string{all["model.json"], all["README.txt"]}, "") {
		t.Fatalf("an archive of %d files", have)
	}
	return all
}
